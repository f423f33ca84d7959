import PerchBase
import PerchModel

/// The decisions of a batch so far. The engine accepts them after the commit, and drops them if the batch fails.
///
/// The body of a batch writes to storage and to this value only. So it can run again: after another node was first, or after
/// a lost connection.
struct Batch {
    /// The store as this batch leaves it.
    var header: StoreHeader
    var apps: StoredApps
    var answers: [Answered] = []
    var changes: [Change] = []
    /// Renewals that become due at another instant.
    var dueMoves: [DueMove] = []
    /// Mutations of accounts that are too far behind with their renewals: for the next batch.
    var deferred: [StoreRequest] = []
    /// Clock moves that are answered after everything due up to the new instant is settled.
    var settlings: [Settling] = []
    /// All revoked tokens, if this batch changes them.
    var revocations: [String: Instant]?
    /// When old kept answers were deleted, if this batch did so.
    var answersSwept: Instant?
    var attemptsSettled = RenewalCount()
    var milestones = Milestones()
    var replays: UInt64 = 0

    /// An answer, and the loop that asked.
    struct Answered {
        var loop: Int
        var ticket: UInt64
        var answer: StoreAnswer
    }

    /// A call that moved a clock, and waits until the renewals due up to the new instant are settled.
    struct Settling {
        var app: AppNumber
        var target: Instant
        var loop: Int
        var ticket: UInt64
        var attemptsBefore: RenewalCount
        var stopsClock: Bool
    }

    /// An account's next renewal moves from one instant to another; nil for none.
    struct DueMove {
        var app: AppNumber
        var account: AccountNumber
        var from: Instant?
        var to: Instant?
    }

    init(header: StoreHeader, apps: StoredApps) {
        self.header = header
        self.apps = apps
    }

    /// Empties the batch for another run on the store as it is now. Its lists keep their capacity.
    mutating func start(header: StoreHeader, apps: StoredApps) {
        self.header = header
        self.apps = apps
        if !self.answers.isEmpty { self.answers.removeAll(keepingCapacity: true) }
        if !self.changes.isEmpty { self.changes.removeAll(keepingCapacity: true) }
        if !self.dueMoves.isEmpty { self.dueMoves.removeAll(keepingCapacity: true) }
        if !self.deferred.isEmpty { self.deferred = [] }
        if !self.settlings.isEmpty { self.settlings = [] }
        self.revocations = nil
        self.answersSwept = nil
        self.attemptsSettled = RenewalCount()
        self.milestones = Milestones()
        self.replays = 0
    }

    /// Whether the lists are short enough to be kept for the next batch.
    var isWorthKeeping: Bool {
        max(self.answers.capacity, self.changes.capacity, self.dueMoves.capacity) <= Limits.inboxCapacityKept
    }
}
