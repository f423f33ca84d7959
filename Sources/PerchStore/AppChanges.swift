package import PerchBase
package import PerchModel

// The changes of an app: the facts of all its accounts in revision order, and between them the crossings that time causes.
//
// A crossing is an instant at which a line of an account changes its state without a fact. Its place is before the first
// commit at or after its instant on the app's clock; crossings between two commits are ordered by instant, then account. Of several
// nodes, a crossing is shown once its instant has passed for all of them: then no later commit is decided before it.

/// A place in the changes of an app. Every change up to it has been read.
package struct ChangePlace: Hashable, Comparable, Sendable {
    package var revision: UInt64
    /// The last account of this revision, as an index among the accounts that it changed. `allAccounts`: the whole revision.
    package var ordinal: UInt32
    /// The last crossing.
    package var crossing: DueEntry

    package static let allAccounts = UInt32.max
    /// An account number above all others.
    package static let lastAccount = AccountNumber(Int64.max)

    package init(revision: UInt64, ordinal: UInt32 = Self.allAccounts, crossing: DueEntry) {
        self.revision = revision
        self.ordinal = ordinal
        self.crossing = crossing
    }

    /// The place after a whole revision that was committed at an instant of the app's clock, and after the crossings of
    /// before.
    package init(through revision: UInt64, at instant: Instant) {
        self.init(revision: revision, crossing: DueEntry(instant: instant, account: Self.lastAccount))
    }

    package static func < (left: ChangePlace, right: ChangePlace) -> Bool {
        (left.revision, left.ordinal, left.crossing.instant, left.crossing.account)
            < (right.revision, right.ordinal, right.crossing.instant, right.crossing.account)
    }
}

/// Asks for the next changes of an app.
package struct ChangesAsked: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        /// What follows the newest change.
        case now
        /// The oldest change that a cursor may stand before.
        case oldest
        case after(ChangePlace)

        /// The revision that the store must have reached.
        var revision: UInt64 {
            if case .after(let place) = self { place.revision } else { 0 }
        }
    }

    package var app: AppNumber
    package var start: Start
    /// Whether accounts come with all their names, and erased ones too: for copies.
    package var isForCopy: Bool

    package init(app: AppNumber, start: Start, isForCopy: Bool = false) {
        self.app = app
        self.start = start
        self.isForCopy = isForCopy
    }
}

/// One change of an account, or of the app itself.
package struct ChangeEntry: Sendable {
    /// The place after it.
    package var place: ChangePlace
    /// Nil: the app itself has changed.
    package var account: ChangedAccount?
    package var cause: Cause
    /// The last revision up to it, and its instant on the app's clock.
    package var position: Position
    /// When its facts were committed; of a crossing, when the account's last facts were.
    package var committed: Instant
    /// The client whose call caused it; empty for the store itself.
    package var origin: [UInt8]
    /// Of the account in this revision; none of a crossing.
    package var facts: [Fact] = []
}

/// An account before and after a change.
package struct ChangedAccount: Sendable {
    package var key: [UInt8]
    package var before: AccountRecord
    package var after: AccountRecord
    /// The app in force.
    package var app: AppState
    /// Time changed it, and not a fact: the record is the same before and after.
    package var isCrossing: Bool
    /// For copies: the present names; nil for an account that was erased before this process began, so its names are not known.
    package var names: AccountNames?
    /// For copies: the change gave the account a key, or took one.
    package var hasOtherNames = false
    /// For copies: the change erased the account.
    package var isErased = false
}

/// Some changes of an app, in order.
package struct ChangePage: Sendable {
    package var entries: [ChangeEntry] = []
    /// The place after which it begins.
    package let from: ChangePlace
    /// The place from which to go on.
    package var through: ChangePlace
    /// The store's revision when it was read.
    package var revision: UInt64
    /// Nothing more is stored.
    package var isComplete = false
    /// The next crossing, on the app's clock. Nil: none is known, or the page is not complete.
    package var nextCrossing: Instant?
    /// It has no entry, and the next crossing waits until its instant has passed for every node.
    var waitsForTime = false

    init(after place: ChangePlace, revision: UInt64) {
        self.from = place
        self.through = place
        self.revision = revision
    }
}

/// Crossings of an account that a change adds and removes, all later than the change.
package struct CrossingMoves: Hashable, Sendable {
    package var account: AccountNumber
    package var removed: [Instant]
    package var added: [Instant]

    package init(account: AccountNumber, removed: [Instant], added: [Instant]) {
        self.account = account
        self.removed = removed
        self.added = added
    }

    /// Nil: the crossings stay the same. `now`: the app's clock at the change. Earlier crossings have happened, and stay.
    init?(from before: AccountRecord, to after: AccountRecord, app: AppState, at now: Instant) {
        if before.hasNoLines, after.hasNoLines { return nil }
        let old = before.crossings(after: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
        let new = after.crossings(after: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
        guard old != new else { return nil }
        let (gone, come) = (Set(old).subtracting(new), Set(new).subtracting(old))
        self.init(account: after.account, removed: gone.sorted(), added: come.sorted())
    }
}
