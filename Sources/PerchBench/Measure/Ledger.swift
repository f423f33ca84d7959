/// Matches every change with every value that arrives, and counts missed, repeated and reordered values.
///
/// A key is an account or the catalogue. Each watch follows one key. The answer to a change contains its revision, and
/// a value contains its own revision. Values are matched with changes by revision alone, in any order of arrival. A
/// value that precedes its change's answer waits for it, with its own time of arrival.
///
///     change ──answered(revision)──▶ known ──seen or skipped by each watch of its key──▶ converged
///
/// All changes of one key must be sent on one connection, so that their revisions rise.
package struct Ledger: Sendable {
    /// Receives the result of one value. Its arguments are the planned starts of the changes that its watch no longer
    /// waits for, skipped ones first and the shown one last, and the time of arrival.
    package typealias Reached = (_ intended: borrowing Span<Int64>, _ arrived: Int64) -> Void

    struct Change {
        /// Planned start, in nanoseconds.
        var intended: Int64
        /// 0 until it is answered.
        var revision: UInt64 = 0
        var key: Int32
        /// The next change of its key; -1 if there is none yet.
        var next: Int32 = -1
        /// Position among the changes of its key, from 1.
        var ordinal: Int32
        /// Watches that have neither seen nor skipped it; below 0 for a refused change.
        var remaining: Int32
    }

    struct Watch {
        var revision: UInt64 = 0
        var asOf: Int64 = 0
        var key: Int32
        /// The newest change that it has seen; -1 for none.
        var change: Int32 = -1
        /// Whether it has received a value, on this connection or an earlier one.
        var hasValue = false
        /// Whether its connection is lost, so that no change waits for it.
        var hasLeft = false
    }

    struct Key {
        var first: Int32 = -1
        var last: Int32 = -1
        /// The newest answered change.
        var answered: Int32 = -1
        var watches: Int32 = 0
    }

    private struct Waiting {
        var watch: Int32
        var arrived: Int64
        var next: Int32
        /// The first value of its watch: a starting point that ends no wait.
        var isFirst: Bool
    }

    package struct Counts: Hashable, Sendable {
        /// Values that showed a new change.
        package var deliveries: UInt64 = 0
        /// Changes that a watch did not see because it received a newer one. Legitimate for a state stream.
        package var conflated: UInt64 = 0
        /// Values of the same position as the one before.
        package var duplicates: UInt64 = 0
        /// Values of an earlier position than the one before.
        package var reorderings: UInt64 = 0
        /// Values of revisions that no change of this bench had: another client writes to this server.
        package var foreign: UInt64 = 0
        /// Changes that every watch of their key has seen or skipped.
        package var converged: UInt64 = 0
        /// Watches that never received the last change of their key. Computed at the end.
        package var gaps: UInt64 = 0
    }

    private(set) var changes: [Change] = []
    private(set) var watches: [Watch] = []
    private(set) var keys: [Key]
    package private(set) var counts = Counts()
    /// The change of each revision, from `base`.
    private var known: [Int32] = []
    private var base: UInt64 = 0
    private var waiting: [Waiting] = []
    private var freeWaiting: Int32 = -1
    /// The result of the last value, in reused memory.
    private var passed: [Int64] = []
    private var firstWaiting: [UInt64: Int32] = [:]
    /// The last lookup among waiting values, because the values of one change arrive in a row.
    private var lastLooked: (revision: UInt64, head: Int32) = (.max, -1)

    package init(keys: Int) {
        self.keys = Array(repeating: Key(), count: keys)
    }

    package var changeCount: Int { self.changes.count }

    /// Reserves capacity, so that no table is copied during the measurement. Untouched memory costs nothing.
    package mutating func reserve(watches: Int, changes: Int) {
        self.watches.reserveCapacity(watches)
        self.changes.reserveCapacity(changes)
        self.known.reserveCapacity(changes)
    }

    /// Adds a watch and returns its number, from 0.
    @discardableResult
    package mutating func addWatch(key: Int) -> Int {
        self.watches.append(Watch(key: Int32(key)))
        self.keys[key].watches += 1
        return self.watches.count - 1
    }

    // MARK: Changes

    /// Registers a change before it is sent, and returns its number, from 0.
    package mutating func begin(key: Int, intended: Int64) -> Int32 {
        let index = Int32(self.changes.count)
        let last = self.keys[key].last
        let ordinal = last < 0 ? 1 : self.changes[Int(last)].ordinal + 1
        self.changes.append(
            Change(intended: intended, key: Int32(key), ordinal: ordinal, remaining: self.keys[key].watches))
        if last < 0 {
            self.keys[key].first = index
        } else {
            self.changes[Int(last)].next = index
        }
        self.keys[key].last = index
        return index
    }

    /// Registers a change's answer. `reached` receives the results of values that arrived before it.
    @inline(__always)
    package mutating func answered(_ index: Int32, revision: UInt64, _ reached: Reached) {
        self.learn(index, revision)
        guard let head = self.firstWaiting.removeValue(forKey: revision) else { return }
        self.lastLooked = (.max, -1)
        var next = head
        while next >= 0 {
            let entry = self.waiting[Int(next)]
            self.waiting[Int(next)].next = self.freeWaiting
            self.freeWaiting = next
            next = entry.next
            self.match(entry.watch, index, at: entry.arrived, isFirst: entry.isFirst, reached)
        }
    }

    private mutating func learn(_ index: Int32, _ revision: UInt64) {
        self.changes[Int(index)].revision = revision
        let key = Int(self.changes[Int(index)].key)
        let before = self.keys[key].answered
        if before < 0 || self.changes[Int(before)].ordinal < self.changes[Int(index)].ordinal {
            self.keys[key].answered = index
        }
        self.remember(revision, index)
    }

    /// Registers a refused change, or one whose answer is lost. No watch waits for it.
    package mutating func failed(_ index: Int32) {
        self.changes[Int(index)].remaining = -1
    }

    /// Removes a watch whose connection is lost for good: nothing waits for it any more.
    package mutating func leave(_ watch: Int32) {
        guard !self.watches[Int(watch)].hasLeft else { return }
        self.watches[Int(watch)].hasLeft = true
        self.keys[Int(self.watches[Int(watch)].key)].watches -= 1
        // A watch without a value waits for nothing.
        guard self.watches[Int(watch)].hasValue else { return }
        let seen = self.watches[Int(watch)].change
        var next = seen >= 0 ? self.changes[Int(seen)].next : self.keys[Int(self.watches[Int(watch)].key)].first
        while next >= 0 {
            self.pass(next)
            next = self.changes[Int(next)].next
        }
    }

    private mutating func remember(_ revision: UInt64, _ index: Int32) {
        if self.known.isEmpty { self.base = revision }
        guard revision >= self.base else { return }
        let place = Int(revision - self.base)
        // Revisions may have holes if other clients write. A larger jump means that revisions are not consecutive.
        guard place < self.known.count + 10_000_000 else { return }
        while self.known.count <= place { self.known.append(-1) }
        self.known[place] = index
    }

    @inline(__always)
    private func change(of revision: UInt64) -> Int32 {
        let place = revision &- self.base
        return place < UInt64(self.known.count) ? self.known[Int(truncatingIfNeeded: place)] : -1
    }

    // MARK: Values

    /// Handles a value. `reached` receives its result, unless it is not new or its change is not known yet.
    @inline(__always)
    package mutating func value(
        _ watch: Int32, revision: UInt64, asOf: Int64, at arrived: Int64, _ reached: Reached
    ) {
        let before = self.watches[Int(watch)]
        self.watches[Int(watch)].revision = revision
        self.watches[Int(watch)].asOf = asOf
        self.watches[Int(watch)].hasValue = true
        if before.hasValue {
            if (revision, asOf) == (before.revision, before.asOf) {
                self.counts.duplicates += 1
                return
            }
            if (revision, asOf) < (before.revision, before.asOf) {
                self.counts.reorderings += 1
                return
            }
        }
        let index = self.change(of: revision)
        if index >= 0 {
            self.match(watch, index, at: arrived, isFirst: !before.hasValue, reached)
        } else {
            self.wait(watch, revision, arrived, isFirst: !before.hasValue)
        }
    }

    /// Handles the first message of a resumed watch: its value is unchanged since the token. The gap count at the end
    /// verifies this.
    package mutating func unchanged(_ watch: Int32) {
        self.watches[Int(watch)].hasValue = true
    }

    /// Moves a watch to change `index`. It will never see the changes that it skipped.
    @inline(__always)
    private mutating func match(
        _ watch: Int32, _ index: Int32, at arrived: Int64, isFirst: Bool, _ reached: Reached
    ) {
        let seen = self.watches[Int(watch)].change
        guard seen != index, !self.watches[Int(watch)].hasLeft else { return }
        let key = Int(self.watches[Int(watch)].key)
        guard Int(self.changes[Int(index)].key) == key else { return }
        if seen >= 0, self.changes[Int(seen)].ordinal > self.changes[Int(index)].ordinal { return }
        self.watches[Int(watch)].change = index
        // A watch without a value has missed nothing.
        guard !isFirst else { return }
        self.counts.deliveries += 1
        self.passAll(from: seen >= 0 ? self.changes[Int(seen)].next : self.keys[key].first, through: index)
        reached(self.passed.span, arrived)
    }

    /// Skips up to thousands of changes for each of thousands of watches: one loop over plain memory.
    private mutating func passAll(from oldest: Int32, through index: Int32) {
        var passed: [Int64] = []
        swap(&passed, &self.passed)
        passed.removeAll(keepingCapacity: true)
        var converged = 0
        var changes = self.changes.mutableSpan
        var next = oldest
        while true {
            let change = changes[Int(next)]
            // A refused change reached no watch; the shown one did.
            if change.remaining >= 0 || next == index { passed.append(change.intended) }
            if change.remaining > 0 { changes[Int(next)].remaining = change.remaining - 1 }
            if change.remaining == 1 { converged += 1 }
            guard next != index else { break }
            next = change.next
        }
        self.counts.conflated += UInt64(passed.count - 1)
        self.counts.converged += UInt64(converged)
        self.convergedNow += converged
        swap(&passed, &self.passed)
    }

    @inline(__always)
    private mutating func pass(_ index: Int32) {
        guard self.changes[Int(index)].remaining > 0 else { return }
        self.changes[Int(index)].remaining -= 1
        guard self.changes[Int(index)].remaining == 0 else { return }
        self.counts.converged += 1
        self.convergedNow += 1
    }

    /// Changes that have converged since this was last reset to 0.
    package var convergedNow = 0

    private mutating func wait(_ watch: Int32, _ revision: UInt64, _ arrived: Int64, isFirst: Bool) {
        let head: Int32
        if self.lastLooked.revision == revision {
            head = self.lastLooked.head
        } else {
            head = self.firstWaiting[revision] ?? -1
        }
        let behind = head < 0 ? -1 : self.waiting[Int(head)].next
        let entry = Waiting(watch: watch, arrived: arrived, next: behind, isFirst: isFirst)
        let place: Int32
        if self.freeWaiting >= 0 {
            place = self.freeWaiting
            self.freeWaiting = self.waiting[Int(place)].next
            self.waiting[Int(place)] = entry
        } else {
            place = Int32(self.waiting.count)
            self.waiting.append(entry)
        }
        if head < 0 {
            self.firstWaiting[revision] = place
            self.lastLooked = (revision, place)
        } else {
            // Inserted after the first, so that the table's entry stays valid.
            self.waiting[Int(head)].next = place
            self.lastLooked = (revision, head)
        }
    }

    // MARK: Queries

    package func intended(_ change: Int32) -> Int64 { self.changes[Int(change)].intended }

    package func isAnswered(_ change: Int32) -> Bool { self.changes[Int(change)].revision > 0 }

    package func isConverged(_ change: Int32) -> Bool { self.changes[Int(change)].remaining <= 0 }

    package func isWatched(_ change: Int32) -> Bool {
        self.keys[Int(self.changes[Int(change)].key)].watches > 0
    }

    package func key(ofWatch watch: Int) -> Int { Int(self.watches[watch].key) }

    package func hasValue(_ watch: Int) -> Bool { self.watches[watch].hasValue }

    /// Counts gaps and foreign values at the end, when no change is under way. A gap is a watch in `isOpen` that has
    /// not received the last answered change of its key.
    package mutating func settle(isOpen: (Int) -> Bool) {
        (self.counts.gaps, self.counts.foreign) = (0, 0)
        for (index, watch) in self.watches.enumerated() where isOpen(index) {
            let last = self.keys[Int(watch.key)].answered
            guard last >= 0 else { continue }
            let seen = watch.change < 0 ? 0 : self.changes[Int(watch.change)].ordinal
            if seen < self.changes[Int(last)].ordinal { self.counts.gaps += 1 }
        }
        for head in self.firstWaiting.values {
            var next = head
            while next >= 0 {
                if !self.waiting[Int(next)].isFirst { self.counts.foreign += 1 }
                next = self.waiting[Int(next)].next
            }
        }
    }

    /// Lists each change that watches in `isOpen` never received, with its planned start and their number.
    package func eachMissed(isOpen: (Int) -> Bool, _ body: (_ intended: Int64, _ watches: UInt64) -> Void) {
        // Number of watches at each change, and before the first change of each key.
        var standing = [UInt64](repeating: 0, count: self.changes.count)
        var waiting = [UInt64](repeating: 0, count: self.keys.count)
        for (index, watch) in self.watches.enumerated() where !watch.hasLeft && isOpen(index) {
            if watch.change < 0 { waiting[Int(watch.key)] += 1 } else { standing[Int(watch.change)] += 1 }
        }
        for (key, entry) in self.keys.enumerated() {
            var next = entry.first
            while next >= 0 {
                let change = self.changes[Int(next)]
                if waiting[key] > 0, change.remaining >= 0 { body(change.intended, waiting[key]) }
                waiting[key] += standing[Int(next)]
                next = change.next
            }
        }
    }
}
