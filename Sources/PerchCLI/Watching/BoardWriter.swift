import PerchBase
import PerchClient
import PerchModel

/// A transaction's change, for the list below the table.
struct BoardEvent: Hashable, Sendable {
    /// On the app's clock.
    var at: Instant
    var text: String
}

extension TextWriter {
    /// All lines of a terminal, at most `size.rows - 1` of at most `size.columns`, and how many rows they show.
    func board(
        _ board: StoreBoard, _ screen: inout BoardScreen, title: String, events: [BoardEvent], keys: [String],
        size: TerminalSize
    ) -> (lines: [String], page: Int) {
        let width = max(1, size.columns)
        let space = max(1, size.rows - 1)
        let rows = screen.arranged(board.rows)
        let table = BoardTable(rows, now: board.now, width: width, paint: self.paint)
        let failures = board.failureLines.map { self.paint(.red, String("no value now: \($0)".prefix(width))) }
        // The title, two lines of the heading and the keys stay. Rows come before failures, failures before events.
        let fixed = 3 + (keys.isEmpty ? 0 : 1)
        let wanted = min(Self.rowLinesLeast, table.items.reduce(0) { $0 + $1.count })
        let tail = (failures + self.recent(events, now: board.now, width: width)).prefix(max(0, space - fixed - wanted))
        let body = max(1, space - fixed - tail.count)
        screen.clamp(to: rows.count - Self.count(of: table.items.reversed(), in: body))
        let shown = table.items.dropFirst(screen.offset)
        let page = min(shown.count, Self.count(of: shown, in: body))
        var lines = [String(title.prefix(width))]
        lines += table.head.map { self.paint(.bold, String($0.prefix(width))) }
        if rows.isEmpty {
            let why = screen.filter.isEmpty ? "nothing yet" : "no row has \(quoted(screen.filter)) in it"
            lines.append(self.paint(.dim, String(why.prefix(width))))
        }
        lines = Array((lines + shown.prefix(page).joined() + tail).prefix(space - (keys.isEmpty ? 0 : 1)))
        guard !keys.isEmpty else { return (lines, page) }
        var parts = keys
        if page < rows.count {
            parts.insert("rows \(screen.offset + 1) to \(screen.offset + page) of \(rows.count)", at: 1)
        }
        while lines.count < space - 1 { lines.append("") }
        return (lines + [self.paint(.dim, Self.joined(parts, width: width))], page)
    }

    /// The first parts that fit the width.
    static func joined(_ parts: [String], width: Int) -> String {
        parts.dropFirst().reduce(String((parts.first ?? "").prefix(width))) { line, part in
            line.count + 2 + part.count <= width ? "\(line)  \(part)" : line
        }
    }

    /// Lines that the table has at least, however many events there are.
    private static let rowLinesLeast = 6

    /// How many rows from the first fit whole; at least one.
    private static func count(of items: some Sequence<[String]>, in lines: Int) -> Int {
        var left = lines
        var count = 0
        for item in items {
            left -= item.count
            if left < 0 { break }
            count += 1
        }
        return max(1, count)
    }

    private func recent(_ events: [BoardEvent], now: Instant, width: Int) -> [String] {
        guard !events.isEmpty else { return [] }
        let times = events.map { relative($0.at, to: now) }
        let column = times.map(\.count).max() ?? 0
        return ["", self.paint(.bold, String("RECENT \(BoardTable.clock)".prefix(width)))]
            + zip(events, times).reversed().map { event, time in
                BoardTable.fitted("\(time.padded(to: column))  \(event.text)", width).trimmed
            }
    }

    /// An event in few words.
    func boardEvent(_ update: TransactionUpdate, account: String, now: Instant) -> BoardEvent {
        let transaction = update.transaction.value
        let isNew = transaction.revocation == nil && transaction.purchaseDate <= now && !transaction.isUpgraded
        let at = transaction.revocation?.date ?? (isNew ? transaction.purchaseDate : now)
        var text = "\(Self.words(update.kind))  \(printable(transaction.productID))  \(printable(account))"
        text += "  transaction \(transaction.id)"
        if let price = transaction.price { text += "  \(price)" }
        return BoardEvent(at: at, text: text)
    }

    /// One line for one change, for a pipe.
    func boardLine(_ change: StoreBoard.Change, now: Instant) -> String {
        let row = change.row
        let cells = self.cells(row, now: now)
        var text = "\(now)  "
        switch change {
        case .shown, .changed: break
        case .gone: return text + "\(printable(row.key.account))  " + self.paint(.dim, "gone") + "  \(cells[2].text)"
        }
        text += cells.dropLast(2).map { self.painted($0.text, $0) }.filter { !$0.isEmpty }.joined(separator: "  ")
        for badge in row.badges { text += "  " + self.paint(badge.colour, "[\(badge.rawValue)]") }
        return text + "  -> \(cells[5].text)"
    }

    /// A group's line of `perch store inspect`.
    func boardBadges(_ row: BoardRow, now: Instant) -> String {
        row.badges.map { self.paint($0.colour, "[\($0.rawValue)]") + " " }.joined()
            + "-> \(self.next(row.next, now: now))"
    }

    private struct Cell {
        var text: String
        var colour: Paint.Colour?
        /// The badges of its text, each with its colour.
        var badges: [BoardRow.Badge] = []

        init(_ text: String, _ colour: Paint.Colour? = nil) {
            self.text = text
            self.colour = colour
        }
    }

    private func cells(_ row: BoardRow, now: Instant) -> [Cell] {
        let colour: Paint.Colour? = row.renewalState.map { state in
            state == .subscribed ? .green : state.isEntitled ? .yellow : .red
        }
        var badges = Cell(row.badges.map(\.rawValue).joined(separator: " "))
        badges.badges = row.badges
        return [
            Cell(printable(row.key.account)), Cell(printable(row.key.group)), Cell(printable(row.productID)),
            Cell(row.state, colour), badges, Cell(self.next(row.next, now: now)),
        ]
    }

    private func next(_ next: BoardRow.Next, now: Instant) -> String {
        if let since = next.since { return "\(next.text) since \(since)" }
        guard let at = next.at else { return next.text }
        let left = at.milliseconds(since: now)
        return "\(next.text) \(at)" + (left > 0 ? " (in \(roughly(milliseconds: left)))" : "")
    }

    /// Colours words only, because widths are computed without colour.
    private func painted(_ text: String, _ cell: Cell) -> String {
        guard self.paint.isOn else { return text }
        if let colour = cell.colour { return self.paint(colour, text) }
        guard !cell.badges.isEmpty else { return text }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return words.map { word in
            BoardRow.Badge(rawValue: String(word)).map { self.paint($0.colour, String(word)) } ?? String(word)
        }
        .joined(separator: " ")
    }
}

extension DocumentWriter {
    /// A line of `perch store watch`: a document that is no message of the contract.
    mutating func boardChange(_ change: StoreBoard.Change, now: Instant) {
        let row = change.row
        switch change {
        case .shown: self.text("change", "shown")
        case .changed: self.text("change", "changed")
        case .gone: self.text("change", "gone")
        }
        self.instant("asOfMs", now)
        self.text("account", row.key.account)
        self.text("kind", row.key.kind.rawValue)
        self.text("groupId", row.key.group)
        self.text("productId", row.productID)
        self.choice("state", row.renewalState ?? .unspecified, "RENEWAL_STATE")
        self.texts("badges", row.badges.map(\.rawValue))
        self.long("transactionId", ifAny: row.transactionID)
        if row.key.kind == .pending || row.key.kind == .intent { self.long("number", row.key.number) }
        self.message("next") { json in
            json.instant("atMs", ifAny: row.next.at)
            json.choice("kind", row.next.kind, "FORECAST_KIND")
            json.text("text", row.next.text + (row.next.since.map { " since \($0)" } ?? ""))
        }
    }
}
