import PerchSQLite
import PerchStore
import PerchTesting

/// Stores that lose power again and again: written to, cut off in the middle of any operation, opened again, and held
/// against what they had acknowledged.
///
/// A life is one store over so many cuts. It goes on where it stood, so that what one cut left behind is there at the
/// next; cuts during a recovery and during a checkpoint are among them. A seed alone brings a life back.
package struct PowerCuts {
    package struct Report: Sendable, CustomStringConvertible {
        package var cuts = 0
        /// Processes that died alone, between losses of power.
        package var kills = 0
        package var batches = 0
        /// Batches whose commit was under way when power was lost, and that were there afterwards, or not.
        package var unansweredKept = 0
        package var unansweredLost = 0
        /// Deaths while the store was being opened.
        package var deathsInOpening = 0
        package var breaches: [String] = []

        package init() {}

        package var description: String {
            "\(self.breaches.count) breaches, \(self.batches) batches acknowledged, \(self.kills) processes killed "
                + "besides, \(self.deathsInOpening) deaths in an opening; of batches nobody heard of, "
                + "\(self.unansweredKept) were there whole and \(self.unansweredLost) were not"
        }
    }

    private let seed: UInt64
    private var random: SeededRandom
    private let disk: FaultyDisk
    /// What the store has acknowledged, or was found to have after its process died: a store in memory, and the script
    /// that asks it.
    private let acknowledged = MemoryStorage(identity: World.identity)
    private var script: StorageScript
    /// The batch whose commit nobody heard of.
    private var unanswered: (changes: [StoredChange], script: StorageScript)?
    private var report = Report()

    /// Cuts in one life: a store grows with each, and so does the time that looking at it takes.
    private static let cutsPerLife = 25
    private static let batchesPerCutMax = 6
    /// A batch is some twenty operations that change something.
    private static let changesAheadMax = 120

    private init(seed: UInt64) {
        self.seed = seed
        self.random = SeededRandom(seed: seed)
        self.disk = FaultyDisk(seed: self.random.next())
        self.script = StorageScript(seed: self.random.next())
    }

    /// So many losses of power, from a seed on: each life has the next. Tells of what came of them so far as lives end.
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
        // Sometimes only the process dies, and leaves in the kernel's hands what power may take later.
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
            // A store that was closed properly has lost nothing either.
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

    /// One batch, sometimes behind a checkpoint.
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

    /// Holds the store against what it acknowledged. What it shows now, later cuts may not take back.
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
