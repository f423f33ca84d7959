import PerchBase
import PerchClient
import PerchModel

extension TextWriter {
    /// The answer with the account's name, then each explanation with its facts and its next change.
    ///
    /// `supposing`: the words of the event that was supposed, which head what would be. `width`: columns of the terminal; nil for
    /// lines of any length.
    func explanations(
        _ found: Positioned<Explanations>, account: String, supposing event: String = "", width: Int? = nil
    ) -> [String] {
        func lines(_ text: String, _ indent: Int) -> [String] {
            width.map { wrapped(text, indent: indent, width: $0) } ?? [String(repeating: " ", count: indent) + text]
        }
        let now = found.position.asOf
        func said(_ text: String) -> String {
            printable(Self.naming(account, in: Self.withDistances(text, from: now)))
        }
        let value = found.value
        // The server's answer ends with the first explanation, which has its own lines here.
        let first = value.explanations.first?.message ?? ""
        let isAll = value.message == first
        let answer =
            isAll || first.isEmpty || !value.message.hasSuffix(first)
            ? value.message : String(value.message.dropLast(first.count)).trimmed
        var all: [String] = []
        if !value.summary.isEmpty { all += lines(printable(value.summary), 0) }
        for change in value.changes { all += lines(Self.line(of: change), 2) }
        if let supposed = value.supposed {
            all += [""] + lines(printable("\(event): \(supposed.summary)"), 0)
            for change in supposed.changes { all += lines(Self.line(of: change), 2) }
        }
        for grant in value.grants { all += lines(printable("\(grant.name): \(grant.message)"), 2) }
        if !value.history.isEmpty { all.append("") }
        for each in value.history { all += lines("\(each.at)  \(printable(each.message))", 2) }
        if value.historyIsCut { all += lines("older entries are left out", 2) }
        if !all.isEmpty { all.append("") }
        all += lines(said(answer), 0) + [self.paint(.dim, "as of \(now) on the app's clock")]
        for (index, explanation) in value.explanations.enumerated() {
            all.append("")
            var head = ""
            if explanation.state != .unspecified {
                head = explanation.originalTransactionID.map { "subscription of transaction \($0)  " } ?? ""
                head += Self.words(explanation.state) + "  "
            }
            if explanation.isEntitled { head += self.paint(.green, "entitles") + "  " }
            all.append(head + explanation.rule)
            if !(isAll && index == 0) { all += lines(said(explanation.message), 2) }
            for fact in explanation.facts {
                all += lines("transaction \(fact.transactionID) \(fact.field) = \(said(fact.value))", 2)
            }
            all += lines(said(explanation.nextMessage), 2)
        }
        return all
    }

    private static func line(of change: ExpectedChange) -> String {
        "\(change.at)  \(printable(change.message))"
    }

    /// The server's sentences say `the account`, because a token may not show its key. The caller knows it.
    private static func naming(_ account: String, in text: String) -> String {
        text.replacing("The account", with: account).replacing("the account", with: account)
    }

    /// Each instant in a text with its distance behind it: `2026-11-21T12:00:00Z (in 2d)`.
    static func withDistances(_ text: String, from now: Instant) -> String {
        text.replacing(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z/) { match in
            CivilTime(parsing: match.output).map { "\(match.output) (\(relative($0.instant, to: now)))" }
                ?? String(match.output)
        }
    }
}
