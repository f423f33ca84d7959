import PerchBase
import PerchModel

extension TextWriter {
    /// The table of a terminal, at most so many lines of at most so many columns.
    func board(_ board: StoreBoard, title: String, events: [String], height: Int, width: Int) -> [String] {
        let rows = board.rows
        let cells = rows.map { self.cells($0, now: board.now) }
        let heads = ["ACCOUNT", "GROUP", "PRODUCT", "STATE", "BADGES", "NEXT"]
        let widths = heads.indices.map { column in
            cells.map { $0[column].text.count }.reduce(heads[column].count, max)
        }
        func line(_ cells: [Cell]) -> String {
            var left = width
            var text = ""
            for (column, cell) in cells.enumerated() where left > 0 {
                let isLast = column == cells.count - 1
                let plain = String((isLast ? cell.text : cell.text.padded(to: widths[column] + 2)).prefix(left))
                left -= plain.count
                text += self.painted(plain, cell)
            }
            return text
        }
        var lines = [String(title.prefix(width)), ""]
        lines.append(self.paint(.bold, line(heads.map { Cell($0) })))
        let failures = board.failureLines.map { self.paint(.red, String("no value now: \($0)".prefix(width))) }
        let tail = failures + (events.isEmpty ? [] : [""] + events.map { String($0.prefix(width)) })
        let room = max(1, height - lines.count - tail.count - 1)
        lines += cells.prefix(cells.count > room ? room - 1 : room).map { line($0) }
        if cells.count > room {
            lines.append(self.paint(.dim, "and \(cells.count - room + 1) more; filter with --product or --state"))
        }
        if cells.isEmpty { lines.append(self.paint(.dim, "nothing yet")) }
        return Array((lines + tail).prefix(max(1, height - 1)))
    }

    /// One line for one change, for who reads lines.
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
        /// The parts of its text that have a colour of their own.
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
        guard let at = next.at else { return next.text }
        let left = at.milliseconds(since: now)
        return "\(next.text) \(at)" + (left > 0 ? " (in \(roughly(milliseconds: left)))" : "")
    }

    /// Colour where it is wanted, around words only: widths are counted without it.
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

extension ContractWriter {
    /// A line of `perch store watch`: names as in the contract, for what is no message of it.
    mutating func boardChange(_ change: StoreBoard.Change, now: Instant) {
        let row = change.row
        switch change {
        case .shown: self.text("change", "shown")
        case .changed: self.text("change", "changed")
        case .gone: self.text("change", "gone")
        }
        self.instant("as_of_ms", now)
        self.text("account", row.key.account)
        self.text("kind", row.key.kind.rawValue)
        self.text("group_id", row.key.group)
        self.text("product_id", row.productID)
        self.choice("state", row.renewalState ?? .unspecified, "RENEWAL_STATE")
        self.texts("badges", row.badges.map(\.rawValue))
        self.long("transaction_id", ifAny: row.transactionID)
        if row.key.kind == .pending || row.key.kind == .intent { self.long("number", row.key.number) }
        self.message("next") { json in
            json.instant("at_ms", ifAny: row.next.at)
            json.choice("kind", row.next.kind, "FORECAST_KIND")
            json.text("text", row.next.text)
        }
    }
}
