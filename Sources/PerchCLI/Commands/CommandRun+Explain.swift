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
            let answer =
                if self.invocation.action == .explainStatus {
                    try await client.explainStatus(account: account, group: self.text("GROUP"), asOf: moment)
                } else {
                    try await client.explainEntitlement(
                        account: account, product: self.text("PRODUCT"), asOf: moment)
                }
            let explained = ExplainAnswer(
                value: answer.value, position: answer.position, isNotInCatalog: answer.isNotInCatalog)
            try self.printer.print(.explain(explained)) {
                $0.explanations(
                    answer, account: account, width: self.console.isTerminal ? self.console.size.columns : nil)
            }
        }
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
    private func now(_ client: PerchClient) async throws(PerchError) -> Instant {
        do throws(PerchError) {
            return try await client.clock().now
        } catch {
            guard error.isAboutTestApps else { throw error }
            return Clocks.wall()
        }
    }
}
