import PerchBase
import PerchClient
import PerchLoop
import PerchModel
import PerchWire

import struct PerchClient.AsOf

// `perch explain`, and which moment a read is about.
extension CommandRun {
    func explain() async throws {
        try await self.withClient { client in
            let account = self.text("ACCOUNT")
            let moment = try await self.moment(client)
            let reader = Reader(locale: self.settings.text("locale") ?? "")
            let supposed = try self.supposition()
            let answer =
                switch self.invocation.action {
                case .explainStatus:
                    try await client.explainStatus(
                        account: account, group: self.text("GROUP"), asOf: moment, for: reader, supposing: supposed)
                case .explainEntitlement:
                    try await client.explainEntitlement(
                        account: account, product: self.text("PRODUCT"), asOf: moment, for: reader,
                        supposing: supposed)
                default:
                    try await client.explain(
                        account: account, asOf: moment, for: reader, supposing: supposed,
                        withHistory: self.settings.flag("history"))
                }
            let explained = ExplainAnswer(
                value: answer.value, position: answer.position, isNotInCatalog: answer.isNotInCatalog)
            try self.printer.print(.explain(explained)) {
                $0.explanations(
                    answer, account: account, supposing: self.settings.text("if") ?? "",
                    width: self.console.isTerminal ? self.console.size.columns : nil)
            }
        }
    }

    /// The event of `--if`; nil without one.
    private func supposition() throws(UsageError) -> Supposition? {
        guard let text = self.settings.text("if") else { return nil }
        guard let supposed = Supposition(parsing: text) else {
            throw UsageError(
                "--if is \(printable(text)); write 'charge fails', 'refund', 'cancel', 'change to PRODUCT', 'price agreed 5.99' or 'price refused'",
                command: self.invocation.name)
        }
        return supposed
    }

    /// Now, unless `--at` or `--known-at` says otherwise.
    func moment(_ client: PerchClient) async throws(PerchError) -> AsOf {
        AsOf(
            instant: try await self.instant(client), revision: self.settings.number("known-at").map { UInt64($0) })
    }

    /// The instant of `--at`; nil where it is not given. A distance counts from the app's clock.
    func instant(_ client: PerchClient) async throws(PerchError) -> Instant? {
        switch self.settings.entry("at")?.value {
        case .number(let milliseconds): return Instant(milliseconds: milliseconds)
        case .duration(let distance): return distance.end(from: try await self.now(client))
        default: return nil
        }
    }

    /// The app's clock. Apps of the App Store use the wall clock.
    func now(_ client: PerchClient) async throws(PerchError) -> Instant {
        do throws(PerchError) {
            return try await client.clock().now
        } catch {
            guard error.isAboutTestApps else { throw error }
            return Clocks.wall()
        }
    }
}

extension Supposition {
    /// Reads the words of `--if`; nil for others.
    init?(parsing text: String) {
        let words = text.split(separator: " ").map(String.init)
        switch words {
        case ["charge", "fails"]: self.init(event: .chargeFails)
        case ["refund"]: self.init(event: .refund)
        case ["cancel"]: self.init(event: .cancelled)
        case ["price", "agreed"]: self.init(event: .priceAgreed)
        case ["price", "refused"]: self.init(event: .priceNotAgreed)
        default:
            if words.count == 3, words[0] == "change", words[1] == "to" {
                self.init(event: .planChange, productID: words[2])
            } else if words.count == 3, words[0] == "price", words[1] == "agreed",
                let price = Money.milliunits(parsing: words[2]), price > 0
            {
                self.init(event: .priceAgreed, priceMilliunits: price)
            } else {
                return nil
            }
        }
    }
}
