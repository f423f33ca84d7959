import PerchBase
import PerchClient
import PerchJSON
import PerchLoop
import PerchModel
import PerchWire

/// What a copy has of an account.
struct CopiedAccount {
    struct Segment {
        var grade: EntitlementGrade
        var until: Int64
        var reason: EntitlementReason
    }

    /// By name, and in order within a name.
    var segments: [Segment]
    var aliases: [String]

    /// The segment of each name that the account has at an instant.
    func active(at now: Instant) -> [Segment] {
        var seen: Set<String> = []
        return self.segments.filter { segment in
            now.milliseconds < segment.until && seen.insert(segment.grade.name).inserted
                && segment.reason != .unspecified
        }
    }
}

/// A copy of an app's entitlements, filled from its parts.
struct CopiedEntitlements {
    private(set) var accounts: [String: CopiedAccount] = [:]
    private(set) var isComplete = false
    private(set) var position = Position.blank
    private var grades: [EntitlementGrade] = []
    private var building: [String: CopiedAccount]?
    private var clock = CopyClock()
    private var clockSet = Clocks.monotonic()

    /// The app's clock.
    var now: Instant {
        if self.clock.isFrozen { return self.clock.appTime }
        let passed = (Clocks.monotonic().nanoseconds - self.clockSet.nanoseconds) / 1_000_000
        return self.clock.appTime.advanced(byMilliseconds: passed)
    }

    /// Takes a part. True: the accounts are others than before.
    mutating func take(_ part: CopyPart) -> Bool {
        if let begin = part.begin {
            self.grades = begin.grades
            self.set(begin.clock)
            self.building = begin.isResumed ? nil : [:]
            return false
        }
        if let batch = part.accounts {
            if let clock = batch.clock { self.set(clock) }
            if var building = self.building.take() {
                self.apply(batch, to: &building)
                self.building = building
                return false
            }
            self.apply(batch, to: &self.accounts)
            self.position = batch.position ?? self.position
            return !batch.keyEnds.isEmpty
        }
        guard let end = part.end, let built = self.building.take() else { return false }
        (self.accounts, self.position, self.isComplete) = (built, end.position, true)
        return true
    }

    private mutating func set(_ clock: CopyClock) {
        (self.clock, self.clockSet) = (clock, Clocks.monotonic())
    }

    private func apply(_ batch: CopyBatch, to accounts: inout [String: CopiedAccount]) {
        var aliases: [Int: [String]] = [:]
        for (place, account) in batch.aliasAccounts.enumerated() {
            aliases[Int(account), default: []].append(Self.text(batch.aliases, batch.aliasEnds, place))
        }
        for place in batch.keyEnds.indices {
            let key = Self.text(batch.keys, batch.keyEnds, place)
            let range = Self.range(batch.segmentEnds, place)
            guard !range.isEmpty else {
                accounts[key] = nil
                continue
            }
            accounts[key] = CopiedAccount(
                segments: range.map { index in
                    let grade = Int(batch.grades[index])
                    return CopiedAccount.Segment(
                        grade: grade < self.grades.count
                            ? self.grades[grade] : batch.moreGrades[grade - self.grades.count],
                        until: batch.untils[index],
                        reason: EntitlementReason(rawValue: Int32(batch.reasons[index])))
                }, aliases: aliases[place] ?? [])
        }
    }

    private static func range(_ ends: [UInt32], _ place: Int) -> Range<Int> {
        (place == 0 ? 0 : Int(ends[place - 1]))..<Int(ends[place])
    }

    private static func text(_ bytes: [UInt8], _ ends: [UInt32], _ place: Int) -> String {
        String(decoding: bytes[Self.range(ends, place)], as: UTF8.self)
    }
}

extension CommandRun {
    /// `perch entitlements list --all`
    func listAllEntitlements() async throws {
        try await self.withClient { client in
            var copy = CopiedEntitlements()
            for try await part in client.entitlementParts() {
                _ = copy.take(part)
                if copy.isComplete { break }
            }
            let now = copy.now
            for (account, entry) in copy.accounts.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                let active = entry.active(at: now)
                guard !active.isEmpty else { continue }
                try self.printer.print { json in
                    Self.write(account, entry, active, to: &json)
                } text: { _ in
                    active.map { segment in
                        let tier = segment.grade.tier.isEmpty ? "" : "  \(printable(segment.grade.tier))"
                        let end =
                            segment.until == .max
                            ? "without end" : "until \(Instant(milliseconds: segment.until))"
                        return
                            "\(printable(account))  \(printable(segment.grade.name))\(tier)  \(end)  \(segment.reason)"
                    }
                }
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
                    let copy = SharedCopy()
                    return try await withThrowingTaskGroup(of: Void.self, returning: ExitCode?.self) { parts in
                        parts.addTask {
                            for try await part in client.entitlementParts() { await copy.take(part) }
                        }
                        parts.addTask {
                            while true {
                                if let lines = await copy.news() {
                                    try Files.replace(path, with: lines.text)
                                    self.console.talk(
                                        "\(printable(path)): \(lines.count) accounts, at \(lines.revision)")
                                }
                                try await Task.sleep(for: .milliseconds(pause))
                            }
                        }
                        defer { parts.cancelAll() }
                        _ = try await parts.next()
                        return .success
                    }
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

    /// A line for an account: its entitlements, and its other keys.
    static func write(
        _ account: String, _ entry: CopiedAccount, _ segments: [CopiedAccount.Segment], to json: inout DocumentWriter
    ) {
        json.text("account", account)
        if !entry.aliases.isEmpty { json.texts("aliases", entry.aliases) }
        json.messages("entitlements", segments) { json, segment in
            json.text("name", segment.grade.name)
            json.text("tier", segment.grade.tier)
            json.instant("untilMs", ifAny: segment.until == .max ? nil : Instant(milliseconds: segment.until))
            json.choice("reason", segment.reason, "ENTITLEMENT_REASON")
        }
    }
}

/// A copy that one task fills and another writes.
private actor SharedCopy {
    private var copy = CopiedEntitlements()
    private var isNew = false

    func take(_ part: CopyPart) {
        if self.copy.take(part) { self.isNew = true }
    }

    /// The whole file, if it is other than before: a line for each account, in bytewise order.
    func news() -> (text: [UInt8], count: Int, revision: UInt64)? {
        guard self.isNew, self.copy.isComplete else { return nil }
        self.isNew = false
        var text: [UInt8] = []
        for (account, entry) in self.copy.accounts.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            text +=
                DocumentWriter.document(.compact) { json in
                    CommandRun.write(account, entry, entry.segments, to: &json)
                }.utf8
        }
        return (text, self.copy.accounts.count, self.copy.position.revision)
    }
}
