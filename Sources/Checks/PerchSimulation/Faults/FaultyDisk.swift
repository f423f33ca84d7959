import CPerchFaults
package import PerchBase
package import PerchSQLite

/// A disk in memory for one store. It fails on request, and loses data that was not synced when it loses power.
///
/// One thread at a time. Its seed determines all its random choices. Close its stores before releasing it.
package final class FaultyDisk {
    private let number: Int32

    package enum Fault: Int32, CaseIterable, Sendable {
        /// No space for a write.
        case full = 1
        /// Half of a write succeeds, then there is no space.
        case shortWrite = 2
        /// A device error for every operation.
        case device = 3
    }

    package init(seed: UInt64) { self.number = perch_disk_create(seed) }

    deinit { perch_disk_destroy(self.number) }

    /// Opens the store on this disk, and creates it if there is none.
    package func open(identity: StoreIdentity = World.identity) throws(StoreOpenError) -> SQLiteStorage {
        try SQLiteStorage(path: "/\(self.number)/store", on: .registered("faulty"), identity: identity)
    }

    /// Number of operations so far.
    package var operations: Int { Int(perch_disk_operations(self.number)) }
    /// Number of successful syncs.
    package var syncs: Int { Int(perch_disk_syncs(self.number)) }
    package var bytes: Int { Int(perch_disk_bytes(self.number)) }

    /// Makes the operation fail that comes after this number of others; with `stays` all after it too.
    package func fail(ahead: Int, _ fault: Fault, stays: Bool) {
        perch_disk_fail(self.number, Int64(ahead), fault.rawValue, stays ? 1 : 0)
    }

    /// Makes the next sync fail. A random part of the writes before it survives.
    package func failNextSync() { perch_disk_fail_next_sync(self.number) }

    /// Removes all faults and pending deaths.
    package func heal() { perch_disk_heal(self.number) }

    /// Bytes of all files at most; nil for no limit.
    package var room: Int? {
        didSet { perch_disk_set_room(self.number, self.room.map { Int64($0) } ?? -1) }
    }

    /// Lets the process die in the changing operation that comes after this number of others. Its later operations have
    /// no effect.
    package func killProcess(ahead: Int) { perch_disk_die(self.number, Int64(ahead)) }

    /// Lets the process die in the sync that comes after this number of others: everything is written, and nothing is
    /// durable for certain.
    package func killProcess(syncsAhead: Int) { perch_disk_die_in_sync(self.number, Int64(syncsAhead)) }

    /// The process dies now.
    package func killProcess() { perch_disk_die(self.number, -1) }

    /// Whether the process is dead.
    package var isProcessDead: Bool { perch_disk_is_dead(self.number) != 0 }

    package enum Loss: Sendable {
        /// The machine kept running: everything written is present.
        case process
        /// A random part of the data that was not synced is present, sector by sector.
        case power
    }

    /// Starts another process. The store of the previous one must be closed.
    package func start(after loss: Loss) { perch_disk_start(self.number, loss == .power ? 1 : 0) }
}
