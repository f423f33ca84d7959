import PerchBase
import PerchClient
import PerchJSON
import PerchModel
import PerchWire

extension CommandRun {
    /// `perch entitlements list --all`
    func listAllEntitlements() async throws {
        try await self.withClient { client in
            let copy = try client.copy()
            try await self.complete(copy)
            guard let all = copy.snapshot() else { preconditionFailure("a copy that is complete has no accounts") }
            try all.forEach { account in
                let active = account.active(at: all.now)
                guard !active.isEmpty else { return }
                try self.printer.print { json in
                    Self.write(account, active, to: &json)
                } text: { _ in
                    active.map { segment in
                        let tier = segment.tier.isEmpty ? "" : "  \(printable(segment.tier))"
                        let end = segment.until == .distantFuture ? "without end" : "until \(segment.until)"
                        return "\(printable(account.key))  \(printable(segment.name))\(tier)  \(end)  \(segment.reason)"
                    }
                }
            }
        }
    }

    /// Waits until a copy is complete. A big one may take longer than --timeout, which is for a server that says nothing.
    private func complete(_ copy: EntitlementCopy) async throws {
        let limit = self.settings.number("timeout").map { Duration.milliseconds($0) }
        while true {
            do throws(PerchError) {
                return try await copy.ready(timeout: limit)
            } catch {
                guard error.reason == .deadline, let age = copy.age, let limit, age < limit else { throw error }
            }
        }
    }

    /// `perch copy FILE`: ends at an interrupt, or when the server refuses the stream.
    func keepCopy() async throws -> ExitCode {
        let path = self.text("FILE")
        try Files.requireReplaceable(path)
        let pause = self.settings.number("every") ?? 1_000
        return try await self.withClient { client in
            try await withThrowingTaskGroup(of: ExitCode?.self) { group in
                group.addTask {
                    let copy = try client.copy()
                    let changes = copy.changes.makeAsyncIterator()
                    var written: UInt64?
                    // The copy may be whole before anybody hears of its changes. Those that came during a pause are in one file.
                    repeat {
                        guard let all = copy.snapshot(after: written) else { continue }
                        try Files.replace(path, with: Self.lines(of: all), for: .ownerAtFirst)
                        written = all.changeCount
                        self.console.talk("\(printable(path)): \(all.count) accounts, at \(all.position.revision)")
                        try await Task.sleep(for: .milliseconds(pause))
                    } while try await changes.next() != nil
                    return .success
                }
                group.addTask {
                    try await self.followConnection(client) { text in
                        self.console.talk("perch: \(text.isEmpty ? "connected again" : text)")
                    }
                }
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let code = ended { return code }
                }
                return .success
            }
        }
    }

    /// A line for each account, in bytewise order.
    private static func lines(of all: CopySnapshot) -> [UInt8] {
        var text: [UInt8] = []
        all.forEach { account in
            text += DocumentWriter.document(.compact) { Self.write(account, account.segments, to: &$0) }.utf8
        }
        return text
    }

    /// A line for an account: its entitlements, and its other keys.
    private static func write(
        _ account: CopiedAccount, _ segments: [CopiedAccount.Segment], to json: inout DocumentWriter
    ) {
        json.text("account", account.key)
        if !account.aliases.isEmpty { json.texts("aliases", account.aliases) }
        json.messages("entitlements", segments) { json, segment in
            json.text("name", segment.name)
            json.text("tier", segment.tier)
            json.instant("untilMs", ifAny: segment.until == .distantFuture ? nil : segment.until)
            json.choice("reason", segment.reason, "ENTITLEMENT_REASON")
        }
    }
}
