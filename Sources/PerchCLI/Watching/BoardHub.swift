import PerchBase
import PerchClient
import PerchLoop
import PerchModel

/// The board that all streams of `perch store watch` tell, one after another, and where it is shown: drawn anew on a
/// terminal, else a line for each change.
actor BoardHub {
    /// As many values as `--count` says have been printed.
    struct Finished: Error {}

    private static let eventLines = 6

    let isLive: Bool
    private let printer: Printer
    private let place: String
    private var board: StoreBoard
    private var events: [String] = []
    private var linesLeft: Int64
    private var connection = ""
    /// The app's clock when it was asked last, and the wall then.
    private var clock: (state: AppClockState, wall: Instant)?
    private var isDirty = true

    init(_ printer: Printer, filter: StoreBoard.Filter, place: String, count: Int64?) {
        self.printer = printer
        self.board = StoreBoard(filter: filter)
        self.place = place
        self.linesLeft = count ?? .max
        self.isLive = printer.format == .text && printer.console.isTerminal
    }

    func set(_ rows: [BoardRow], of source: StoreBoard.Source, account: String, asOf: Instant?) throws {
        if let asOf { self.board.reached(asOf) }
        self.isDirty = true
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
        self.isDirty = true
        guard !self.isLive else { return }
        self.printer.console.talk("perch: \(printable(account)): no value now: \(printable(failure.message))")
    }

    /// Something happened to a transaction.
    func happened(_ update: TransactionUpdate, account: String) throws {
        let product = update.transaction.value.productID
        let filter = self.board.filter
        guard filter.states.isEmpty, filter.products.isEmpty || filter.products.contains(product) else { return }
        self.isDirty = true
        if self.isLive {
            self.events += self.printer.text.update(update).map { "\(printable(account))  \($0)" }
            self.events = self.events.suffix(Self.eventLines)
            return
        }
        try self.tell { json, _ in
            json.text("change", "event")
            json.text("account", account)
            json.message("update") { $0.update(update) }
        } text: { writer, _ in
            "\(printable(account))  \(writer.update(update).joined())"
        }
    }

    func stands(_ clock: AppClockState) {
        self.clock = (clock, Clocks.wall())
        self.board.reached(clock.now)
        self.isDirty = true
    }

    /// Empty while there is one.
    func lost(_ connection: String) {
        self.connection = connection
        self.isDirty = true
    }

    private func tell(
        json: (inout ContractWriter, Instant) -> Void, text: (TextWriter, Instant) -> String
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

    /// Draws if something changed, or the clock runs. Each line is written over the one before: nothing flickers.
    func draw() throws {
        guard self.isDirty || self.clock?.state.isFrozen == false else { return }
        self.isDirty = false
        let frame = self.frame(of: self.printer.console.size)
        let lines = frame.map { $0 + "\u{1B}[K\n" }.joined()
        try self.printer.console.data("\u{1B}[H" + lines + "\u{1B}[J")
    }

    func frame(of size: TerminalSize) -> [String] {
        if let clock, !clock.state.isFrozen {
            let passed = Clocks.wall().milliseconds(since: clock.wall)
            self.board.reached(clock.state.now.advanced(byMilliseconds: max(0, passed)))
        }
        let rows = self.board.rows.count
        let accounts = self.board.accounts.count
        var title = "\(self.place)  \(self.board.now) \(self.clock?.state.isFrozen == true ? "frozen" : "running")"
        title += "  \(accounts) account\(accounts == 1 ? "" : "s"), \(rows) row\(rows == 1 ? "" : "s")"
        title += self.connection.isEmpty ? "  Ctrl-C ends" : "  \(self.connection)"
        return self.printer.text.board(
            self.board, title: title, events: self.events, height: size.rows, width: size.columns)
    }
}
