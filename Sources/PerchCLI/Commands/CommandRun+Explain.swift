import PerchBase
import PerchClient
import PerchModel

// `perch explain`, and which moment a read is about.
extension CommandRun {
    func explain() async throws {
        try await self.withClient { client in
            let account = self.text("ACCOUNT")
            let answer =
                if self.invocation.action == .explainStatus {
                    try await client.explainStatus(account: account, group: self.text("GROUP"), asOf: self.moment)
                } else {
                    try await client.explainEntitlement(
                        account: account, product: self.text("PRODUCT"), asOf: self.moment)
                }
            try self.printer.print {
                $0.explanations(answer)
            } text: { _ in
                Self.lines(of: answer.value)
            }
        }
    }

    /// Now, unless `--at` or `--known-at` says otherwise.
    var moment: AsOf {
        AsOf(
            instant: self.settings.number("at").map { Instant(milliseconds: $0) },
            revision: self.settings.number("known-at").map { UInt64($0) })
    }

    /// The answer, then each thing that was looked at, with its facts and what comes next.
    private static func lines(of explanations: Explanations) -> [String] {
        var lines = [printable(explanations.message)]
        for explanation in explanations.explanations {
            let state = explanation.state == .unspecified ? "" : "  \(explanation.state)"
            lines.append("")
            lines.append("\(explanation.rule)\(state)\(explanation.isEntitled ? "  entitles" : "")")
            lines.append("  \(printable(explanation.message))")
            for fact in explanation.facts {
                lines.append("  transaction \(fact.transactionID)  \(fact.field) = \(printable(fact.value))")
            }
            lines.append("  \(printable(explanation.nextMessage))")
        }
        return lines
    }
}
