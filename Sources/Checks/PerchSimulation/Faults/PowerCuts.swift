import PerchSQLite
import PerchStore
import PerchTesting

/// Stores that lose power again and again. Each is written to, cut off within any operation, opened again, and compared
/// with its acknowledged batches.
///
/// A life is one store over several cuts. It continues from its last state, so the effects of one cut are present at
/// the next. Some cuts hit a recovery or a checkpoint. A seed alone reproduces a life.
package struct PowerCuts {
    package struct Report: Sendable, CustomStringConvertible {
        package var cuts = 0
        /// Processes that died without a loss of power.
        package var kills = 0
        package var batches = 0
        /// Batches in commit at a loss of power, present afterwards or not.
        package var unansweredKept = 0
        package var unansweredLost = 0
        /// Deaths during an opening.
        package var deathsInOpening = 0
        package var breaches: [String] = []

        package init() {}

        package var description: String {
            "\(self.breaches.count) breaches, \(self.batches) batches acknowledged, \(self.kills) processes killed "
                + "besides, \(self.deathsInOpening) deaths in an opening; of unacknowledged batches, "
                + "\(self.unansweredKept) were there whole and \(self.unansweredLost) were not"
        }
    }

    private let seed: UInt64
    private var random: SeededRandom
    private let disk: FaultyDisk
    /// The acknowledged state: a store in memory, and its script. After a death it includes what was found.
    private let acknowledged = MemoryStorage(identity: World.identity)
    private var script: StorageScript
    /// The batch without an acknowledgement.
    private var unanswered: (changes: [StoredChange], script: StorageScript)?
    private var report = Report()

    /// Cuts in one life. A store and the time to check it grow with each.
    private static let cutsPerLife = 25
    private static let batchesPerCutMax = 6
    /// A batch has about twenty changing operations.
    private static let changesAheadMax = 120

    private init(seed: UInt64) {
        self.seed = seed
        self.random = SeededRandom(seed: seed)
        self.disk = FaultyDisk(seed: self.random.next())
        self.script = StorageScript(seed: self.random.next())
    }

    /// Runs this number of losses of power, one life for each seed from a first one on. Reports the total after each
    /// life.
    package static func run(cuts: Int, seed: UInt64, onLife: (Report) -> Void = { _ in }) -> Report {
        var total = Report()
        var lifeSeed = seed
        while total.cuts < cuts, total.breaches.isEmpty {
            var life = PowerCuts(seed: lifeSeed)
            let count = min(Self.cutsPerLife, cuts - total.cuts)
            while life.report.cuts < count, life.report.breaches.isEmpty { life.liveToNextDeath() }
            total.add(life.report)
            lifeSeed += 1
            onLife(total)
        }
        return total
    }

    private mutating func breach(_ what: String) {
        self.report.breaches.append(
            "seed \(self.seed), after \(self.report.cuts) cuts and \(self.report.kills) kills: \(what)")
    }

    /// From one opening to the next death.
    private mutating func liveToNextDeath() {
        // Sometimes only the process dies, and later cuts may take the data in the kernel.
        let loss: FaultyDisk.Loss = self.random.below(4) == 0 ? .process : .power
        if self.random.below(3) == 0 {
            self.disk.killProcess(syncsAhead: self.random.below(Self.batchesPerCutMax))
        } else {
            self.disk.killProcess(ahead: self.random.below(Self.changesAheadMax))
        }
        do throws(StoreOpenError) {
            let storage = try self.disk.open()
            self.examine(storage)
            for _ in 0...self.random.below(Self.batchesPerCutMax) where !self.disk.isProcessDead {
                self.write(to: storage)
            }
            // A properly closed store has lost nothing either.
            if self.random.below(4) != 0 { self.disk.killProcess() }
            storage.close()
        } catch {
            if self.disk.isProcessDead {
                self.report.deathsInOpening += 1
            } else {
                self.breach("it could not be opened: \(error)")
            }
        }
        switch loss {
        case .power: self.report.cuts += 1
        case .process: self.report.kills += 1
        }
        self.disk.start(after: loss)
    }

    /// Writes one batch, sometimes after a checkpoint.
    private mutating func write(to storage: SQLiteStorage) {
        var script = self.script
        var changes: [StoredChange] = []
        for _ in 0...self.random.below(4) { changes.append(script.change()) }
        do throws(StorageError) {
            if self.random.below(5) == 0 { try storage.checkpoint() }
            try storage.begin()
            for change in changes { try storage.apply(change) }
            self.unanswered = (changes, script)
            try storage.commit()
            self.acknowledgeUnanswered()
            self.report.batches += 1
        } catch {
            storage.rollback()
            if !self.disk.isProcessDead { self.breach("a write failed without a fault: \(error)") }
        }
    }

    private mutating func acknowledgeUnanswered() {
        guard let (changes, script) = self.unanswered else { return }
        self.unanswered = nil
        self.script = script
        self.acknowledged.begin()
        for change in changes { self.acknowledged.apply(change) }
        do throws(StorageError) {
            try self.acknowledged.commit()
        } catch {
            preconditionFailure("storage in memory failed without being told to: \(error)")
        }
    }

    /// Compares the store with the acknowledged batches. Later cuts must keep everything that it shows now.
    private mutating func examine(_ storage: SQLiteStorage) {
        do throws(StorageError) {
            let revision = storage.header().revision
            if let unanswered = self.unanswered {
                if revision == unanswered.script.revision {
                    self.report.unansweredKept += 1
                    self.acknowledgeUnanswered()
                } else {
                    self.report.unansweredLost += 1
                    self.unanswered = nil
                }
            }
            guard revision == self.script.revision else {
                self.breach("the store is at revision \(revision), acknowledged was \(self.script.revision)")
                return
            }
            if let finding = try storage.findings().first { self.breach("SQLite finds: \(finding)") }
            let found = try storage.transcript(of: self.script)
            let expected = try self.acknowledged.transcript(of: self.script)
            if let (left, right) = zip(found, expected).first(where: { $0 != $1 }) {
                self.breach("revision \(revision) is not whole: found \(left), acknowledged \(right)")
            }
        } catch {
            if !self.disk.isProcessDead { self.breach("it could not be read: \(error)") }
        }
    }
}

extension PowerCuts.Report {
    fileprivate mutating func add(_ other: Self) {
        self.cuts += other.cuts
        self.kills += other.kills
        self.batches += other.batches
        self.unansweredKept += other.unansweredKept
        self.unansweredLost += other.unansweredLost
        self.deathsInOpening += other.deathsInOpening
        self.breaches += other.breaches
    }
}
