import PerchBase
import PerchIdentity
import PerchWire

/// The identities that a loop knows: those of its connections and calls, and some recently used ones.
///
/// Connections and calls hold an index. Index 0 is a caller without credentials.
struct IdentityTable {
    /// The key of an identity: the hash of its token, or a certificate.
    enum Key: Hashable {
        case token(ContentHash)
        case certificate([UInt8])
    }

    struct Entry {
        var identity: Identity
        var key: Key?
        /// Number of connections and calls that use this identity.
        var useCount = 0
        /// Why the identity ended, and when, in monotonic milliseconds.
        var ended: WireStatus?
        var endedAt: Int64 = 0
        var meter = RateMeter()
        fileprivate var timer = TimerHeap.ID.none
        /// When its last user released it; distinguishes its newest entry in `idle` from older ones.
        fileprivate var idleMark: UInt64 = 0
    }

    static let nobody: UInt32 = 0

    private var entries: [Entry?]
    private var free: [UInt32] = []
    private var index: [Key: UInt32] = [:]
    /// When identities end, by the wall clock.
    private var ends = TimerHeap()
    /// Unused identities, oldest first. May contain entries of identities that are used again.
    private var idle: [(index: UInt32, mark: UInt64)] = []
    private var idleHead = 0
    private var idleCount = 0
    private var marks: UInt64 = 0
    private let keptMax: Int

    init(nobody: Identity, keptMax: Int) {
        self.entries = [Entry(identity: nobody)]
        self.keptMax = keptMax
    }

    /// Number of identities, without the one for callers without credentials.
    var count: Int { self.entries.count - self.free.count - 1 }

    subscript(index: UInt32) -> Entry {
        get {
            guard let entry = self.entries[Int(index)] else { preconditionFailure("identity \(index) is gone") }
            return entry
        }
        set { self.entries[Int(index)] = newValue }
    }

    func find(_ key: Key) -> UInt32? { self.index[key] }

    /// Adds a new identity, without users yet.
    mutating func insert(_ identity: Identity, _ key: Key) -> UInt32 {
        precondition(self.index[key] == nil, "an identity is kept twice")
        let slot: UInt32
        if let reused = self.free.popLast() {
            slot = reused
        } else {
            slot = UInt32(self.entries.count)
            self.entries.append(nil)
        }
        var entry = Entry(identity: identity, key: key)
        if identity.expires != .distantFuture {
            entry.timer = self.ends.schedule(at: identity.expires.milliseconds, payload: UInt64(slot))
        }
        self.entries[Int(slot)] = entry
        self.index[key] = slot
        self.rest(slot)
        return slot
    }

    mutating func use(_ index: UInt32) {
        guard index != Self.nobody else { return }
        if self[index].useCount == 0 {
            self.idleCount -= 1
            self[index].idleMark = 0
        }
        self[index].useCount += 1
    }

    mutating func letGo(_ index: UInt32) {
        guard index != Self.nobody else { return }
        precondition(self[index].useCount > 0, "identity \(index) was let go twice")
        self[index].useCount -= 1
        guard self[index].useCount == 0 else { return }
        if self[index].ended == nil { self.rest(index) } else { self.remove(index) }
    }

    private mutating func rest(_ index: UInt32) {
        self.marks += 1
        self[index].idleMark = self.marks
        self.idle.append((index, self.marks))
        self.idleCount += 1
        while self.idleCount > self.keptMax { self.removeOldest() }
        // Entries of identities in use are dropped before they outnumber the others.
        if self.idle.count > 64, self.idle.count > self.idleCount * 2 {
            self.idle = self.idle[self.idleHead...].filter { self.isIdle($0) }
            self.idleHead = 0
        }
    }

    private func isIdle(_ mark: (index: UInt32, mark: UInt64)) -> Bool {
        self.entries[Int(mark.index)]?.idleMark == mark.mark
    }

    private mutating func removeOldest() {
        while self.idleHead < self.idle.count {
            let oldest = self.idle[self.idleHead]
            self.idleHead += 1
            if self.isIdle(oldest) {
                self.idleCount -= 1
                self.remove(oldest.index)
                return
            }
        }
        preconditionFailure("idle identities are counted that are none")
    }

    /// Marks an identity as ended. The caller notifies its users; an unused one is removed at once.
    mutating func end(_ index: UInt32, _ status: WireStatus, at monotonic: Int64) {
        guard self[index].ended == nil else { return }
        self[index].ended = status
        self[index].endedAt = monotonic
        if let key = self[index].key { self.index[key] = nil }
        if self[index].timer != .none { _ = self.ends.cancel(self[index].timer) }
        self[index].timer = .none
        if self[index].useCount == 0 {
            self.idleCount -= 1
            self.remove(index)
        }
    }

    private mutating func remove(_ index: UInt32) {
        let entry = self[index]
        if entry.timer != .none { _ = self.ends.cancel(entry.timer) }
        if let key = entry.key, self.index[key] == index { self.index[key] = nil }
        self.entries[Int(index)] = nil
        self.free.append(index)
    }

    /// The next identity that has expired; nil for none.
    mutating func popEnded(at now: Instant) -> UInt32? {
        guard let due = self.ends.popDue(at: now.milliseconds) else { return nil }
        let index = UInt32(truncatingIfNeeded: due.payload)
        self[index].timer = .none
        return index
    }

    /// When the next identity expires, by the wall clock.
    var nextEnd: Int64? { self.ends.nextTime }

    /// The identities that have not ended, by index.
    var live: [UInt32] {
        self.entries.indices.dropFirst().compactMap { index in
            self.entries[index].map { $0.ended == nil } == true ? UInt32(index) : nil
        }
    }

    func checkInvariants(uses: [UInt32: Int]) {
        var idle = 0
        for (number, entry) in self.entries.enumerated().dropFirst() {
            guard let entry else { continue }
            precondition(
                entry.useCount == uses[UInt32(number)] ?? 0, "identity \(number) counts \(entry.useCount) uses")
            precondition(entry.useCount > 0 || entry.ended == nil, "identity \(number) is over, and kept")
            if entry.useCount == 0 { idle += 1 }
        }
        precondition(idle == self.idleCount, "\(self.idleCount) idle identities are counted, there are \(idle)")
        precondition(idle <= self.keptMax, "\(idle) idle identities are kept")
    }
}
