import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// Fills the columns of a batch: see `EntitlementsBatch` in the contract.
struct CopyColumns {
    private let content: CopyContent
    private var batch = CopyBatch()
    /// The places of grades that the mapping does not have.
    private var more: [EntitlementGrade: UInt32] = [:]

    init(_ content: CopyContent) { self.content = content }

    var isEmpty: Bool { self.batch.keyEnds.isEmpty }

    /// Whether the next account belongs into another batch, so that each fits into a frame.
    var isFull: Bool {
        self.batch.keys.count + self.batch.aliases.count + 13 * self.batch.reasons.count > Limits.copyBatchBytes
    }

    /// Adds an entry, if the account is of the copy's shard.
    mutating func add(_ names: AccountNames, _ segments: [EntitlementSegment]) {
        guard self.content.includes(names.key) else { return }
        for segment in segments where self.content.includes(segment) {
            self.batch.grades.append(self.place(of: segment.grade))
            self.batch.untils.append(segment.until.milliseconds)
            self.batch.reasons.append(UInt8(truncatingIfNeeded: segment.reason.rawValue))
        }
        let account = UInt32(self.batch.keyEnds.count)
        self.batch.keys += names.key
        self.batch.keyEnds.append(UInt32(self.batch.keys.count))
        self.batch.segmentEnds.append(UInt32(self.batch.reasons.count))
        // An account that has nothing needs no alias.
        guard self.batch.segmentEnds[Int(account)] > (account == 0 ? 0 : self.batch.segmentEnds[Int(account) - 1])
        else { return }
        for alias in (names.otherKeys + names.attached).prefix(Limits.copyAliasesMax) {
            self.batch.aliases += alias
            self.batch.aliasEnds.append(UInt32(self.batch.aliases.count))
            self.batch.aliasAccounts.append(account)
        }
    }

    /// Adds an entry that says: nothing any more.
    mutating func remove(_ key: [UInt8]) {
        guard self.content.includes(key) else { return }
        self.batch.keys += key
        self.batch.keyEnds.append(UInt32(self.batch.keys.count))
        self.batch.segmentEnds.append(UInt32(self.batch.reasons.count))
    }

    /// The batch so far. Begins another.
    mutating func take() -> CopyBatch {
        defer {
            self.batch = CopyBatch()
            self.more.removeAll(keepingCapacity: true)
        }
        return self.batch
    }

    private mutating func place(of grade: EntitlementGrade) -> UInt32 {
        if let known = self.content.places[grade] { return known }
        if let known = self.more[grade] { return known }
        let place = UInt32(self.content.places.count + self.batch.moreGrades.count)
        self.batch.moreGrades.append(grade)
        self.more[grade] = place
        return place
    }
}

/// What a copy has: the app's mapping at one revision, and which names and accounts a call asks for. Shared by equal calls.
final class CopyContent: Sendable {
    let plan: EntitlementPlan
    let catalogueRevision: UInt64
    /// A checksum of everything else that decides what the copy has.
    let checksum: UInt32
    /// The places of the mapping's grades.
    let places: [EntitlementGrade: UInt32]
    /// All names of the mapping.
    let names: [String]
    let asked: CopyAskedFor
    /// Empty: all.
    private let wanted: Set<String>

    init(_ app: AppState, _ asked: CopyAskedFor) {
        self.wanted = Set(asked.names)
        self.plan = EntitlementPlan(app)
        self.catalogueRevision = app.catalogueRevision
        self.asked = asked
        self.checksum = Self.checksum(app, asked)
        self.places = Dictionary(
            self.plan.grades.enumerated().map { ($1, UInt32($0)) }, uniquingKeysWith: { first, _ in first })
        var names: [String] = []
        for grade in self.plan.grades where !names.contains(grade.name) { names.append(grade.name) }
        self.names = names
    }

    /// Whether it is what a call gets of the app's present state.
    func isOf(_ app: AppState) -> Bool {
        self.catalogueRevision == app.catalogueRevision && self.checksum == Self.checksum(app, self.asked)
    }

    private static func checksum(_ app: AppState, _ asked: CopyAskedFor) -> UInt32 {
        var text = "\(asked.shard)/\(asked.shardCount) \(app.renewalLeewayMilliseconds ?? -1) "
        text += "\(!app.isTestApp || simulatedVerification(app) == .noFailure)"
        for name in asked.names { text += "\0\(name)" }
        return CRC32C.checksum(Array(text.utf8))
    }

    func includes(_ segment: EntitlementSegment) -> Bool {
        self.wanted.isEmpty || self.wanted.contains(segment.grade.name)
    }

    func includes(_ key: [UInt8]) -> Bool {
        self.asked.shardCount <= 1 || CRC32.checksum(key) % self.asked.shardCount == self.asked.shard
    }
}

/// The part of the accounts and names that a call asks for.
struct CopyAskedFor: Hashable, Sendable {
    /// In bytewise order, each once; empty: all.
    var names: [String]
    var shard: UInt32
    var shardCount: UInt32

    init(_ asked: AppEntitlementsRequest) {
        self.names = Set(asked.names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        self.shard = asked.shard
        self.shardCount = max(asked.shardCount, 1)
    }
}

/// The checksum of zlib, gzip and PNG, by which the contract divides accounts into shards.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { value, byte in
            value >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: value) ^ byte)]
        }
    }
}
