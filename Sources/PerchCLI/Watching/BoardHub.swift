import PerchBase
import PerchClient
import PerchLoop
import PerchModel
import PerchWire

/// Collects the values of all streams of `perch store watch` in a board, and shows it: as a picture on a terminal,
/// elsewhere as a line for each change.
actor BoardHub {
    /// The number of values of `--count` is printed.
    struct Finished: Error {}

    private static let eventLines = 6

    let isLive: Bool
    private let printer: Printer
    private let place: String
    private var board: StoreBoard
    private var screen: BoardScreen
    private var events: [BoardEvent] = []
    private var linesLeft: Int64
    private var connection = ""
    /// The last answer of the app's clock, and the wall clock at that time.
    private var clock: (state: AppClockState, wall: Instant)?
    /// The lines on the terminal.
    private var drawn: [String] = []
    /// The number of rows on it.
    private var page = 1
    private var hasKeyboard = false

    init(
        _ printer: Printer, filter: StoreBoard.Filter, order: BoardScreen.Order, place: String, count: Int64?
    ) {
        self.screen = BoardScreen(order: order)
        self.printer = printer
        self.board = StoreBoard(filter: filter)
        self.place = place
        self.linesLeft = count ?? .max
        self.isLive = printer.format == .text && printer.console.isTerminal
    }

    func set(_ rows: [BoardRow], of source: StoreBoard.Source, account: String, asOf: Instant?) throws {
        if let asOf { self.board.reached(asOf) }
        for change in self.board.set(rows, of: source, account: account) {
            try self.tell { json, now in
                json.boardChange(change, now: now)
            } text: { writer, now in
                writer.boardLine(change, now: now)
            }
        }
    }

    func fail(_ failure: EntitlementTaskFailure, of source: StoreBoard.Source, account: String) {
        self.board.fail("\(printable(failure.message)) (\(failure.reason))", of: source, account: account)
        guard !self.isLive else { return }
        self.printer.console.talk("perch: \(printable(account)): no value now: \(printable(failure.message))")
    }

    /// Takes an event of a transaction.
    func happened(_ update: TransactionUpdate, account: String) throws {
        let product = update.transaction.value.productID
        let filter = self.board.filter
        guard filter.states.isEmpty, filter.products.isEmpty || filter.products.contains(product) else { return }
        if self.isLive {
            self.events.append(self.printer.text.boardEvent(update, account: account, now: self.board.now))
            self.events = self.events.suffix(Self.eventLines)
            return
        }
        try self.tell { json, _ in
            json.text("change", "event")
            json.text("account", account)
            json.message("update", .transactionUpdates(update.message))
        } text: { writer, _ in
            "\(printable(account))  \(writer.update(update).joined())"
        }
    }

    func stands(_ clock: AppClockState) {
        self.clock = (clock, Clocks.wall())
        self.board.reached(clock.now)
    }

    /// Takes the trouble of the connection; empty when it is back.
    func lost(_ connection: String) {
        self.connection = connection
    }

    private func tell(
        json: (inout DocumentWriter, Instant) -> Void, text: (TextWriter, Instant) -> String
    ) throws {
        guard !self.isLive, self.linesLeft > 0 else { return }
        let now = self.board.now
        try self.printer.print {
            json(&$0, now)
        } text: {
            [text($0, now)]
        }
        self.linesLeft -= 1
        if self.linesLeft == 0 { throw Finished() }
    }

    // MARK: On a terminal

    /// Takes keys. True when the reader wants to quit.
    func press(_ keys: [BoardScreen.Key]) -> Bool {
        for key in keys {
            let count = self.screen.arranged(self.board.rows).count
            if self.screen.press(key, page: self.page, count: count) == .quit { return true }
        }
        return false
    }

    /// A keyboard is there, so the last line names its keys.
    func takesKeys() { self.hasKeyboard = true }

    /// Draws if the picture has changed. Each line replaces the one before, so nothing flickers.
    func draw() throws {
        let frame = self.frame(of: self.printer.console.size, hasKeys: true)
        guard frame != self.drawn else { return }
        self.drawn = frame
        let lines = frame.map { $0 + "\u{1B}[K\n" }.joined()
        try self.printer.console.data("\u{1B}[H" + lines + "\u{1B}[J")
    }

    func frame(of size: TerminalSize, hasKeys: Bool = false) -> [String] {
        if let clock, !clock.state.isFrozen {
            let passed = Clocks.wall().milliseconds(since: clock.wall)
            self.board.reached(clock.state.now.advanced(byMilliseconds: max(0, passed)))
        }
        let (lines, page) = self.printer.text.board(
            self.board, &self.screen, title: self.title(of: size.columns), events: self.events,
            keys: hasKeys ? self.keys : [], size: size)
        self.page = page
        return lines
    }

    /// The connection's trouble, or as many of its parts as the width has space for.
    private func title(of width: Int) -> String {
        guard self.connection.isEmpty else { return self.connection }
        let rows = self.board.rows.count
        let accounts = self.board.accounts.count
        let second = Instant(milliseconds: self.board.now.milliseconds / 1_000 * 1_000)
        return TextWriter.joined(
            [
                "app's clock \(second) \(self.clock?.state.isFrozen == true ? "frozen" : "running")",
                "\(counted(accounts, "account")), \(counted(rows, "row"))", self.place,
            ], width: width)
    }

    private var keys: [String] {
        guard self.hasKeyboard else { return ["Ctrl-C quits"] }
        guard !self.screen.isTyping else {
            return ["filter: \(self.screen.filter)_", "Enter keeps it", "Esc drops it"]
        }
        let filter = self.screen.filter
        return [
            "q quit", "↑↓ scroll", "s sort: \(self.screen.order.rawValue)",
            filter.isEmpty ? "/ filter" : "/ filter: \(filter), Esc drops it",
        ]
    }
}
