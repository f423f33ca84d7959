import PerchBase
import PerchClient
import PerchModel

// The changes of an app, for people: one line for each status and each entitlement.
extension TextWriter {
    func change(_ value: AppChange) -> [String] {
        let head = "\(value.position.asOf)  \(self.cause(of: value))  "
        guard let account = value.account else { return [head + "the app has changed"] }
        let name = printable(account)
        var lines: [String] = []
        for group in value.groups {
            for status in group.statuses.statuses {
                let transaction = status.transaction.value
                var text = "\(name)  \(self.padded(status)) \(printable(transaction.productID))"
                if let end = transaction.expirationDate {
                    text += status.state == .expired ? "  since \(end)" : "  until \(end)"
                }
                lines.append(head + text + self.verification(of: status))
            }
        }
        // A subscription's own line says it already.
        let shown = Set(value.groups.flatMap(\.statuses.statuses).map(\.transaction.value.productID))
        for entitlement in value.entitlements where !shown.contains(entitlement.productID) {
            let word =
                entitlement.transaction?.isVerified != true
                ? self.paint(.red, "not entitled".padded(to: Self.stateWidth))
                : self.paint(.green, "entitled".padded(to: Self.stateWidth))
            let failure = entitlement.transaction?.failure ?? .noFailure
            lines.append(head + "\(name)  \(word) \(printable(entitlement.productID))" + self.verification(failure))
        }
        return lines.isEmpty ? [head + "\(name)  no status has changed"] : lines
    }

    private func cause(of value: AppChange) -> String {
        let word = value.cause == .unspecified ? "other" : Self.words(value.cause)
        return word.padded(to: Self.causeWidth)
    }
}
