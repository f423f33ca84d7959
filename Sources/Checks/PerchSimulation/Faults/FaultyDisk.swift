import CPerchFaults
package import PerchBase
package import PerchSQLite

/// A disk in memory for one store, which fails when it is told to and forgets what was not synced when it loses power.
///
/// One thread at a time. All that it draws comes from its seed. Close the stores on it before letting go of it.
package final class FaultyDisk {
    private let number: Int32

    package enum Fault: Int32, CaseIterable, Sendable {
        /// No room for a write.
        case full = 1
        /// Half of a write is done, then there is no room.
        case shortWrite = 2
        /// An error of the device, whatever is asked of it.
        case device = 3
    }

    package init(seed: UInt64) { self.number = perch_disk_create(seed) }

    deinit { perch_disk_destroy(self.number) }

    /// Opens the store on this disk, and creates it where there is none.
    package func open(identity: StoreIdentity = World.identity) throws(StoreOpenError) -> SQLiteStorage {
        try SQLiteStorage(path: "/\(self.number)/store", on: .registered("faulty"), identity: identity)
    }

    /// Operations asked of it so far.
    package var operations: Int { Int(perch_disk_operations(self.number)) }
    /// Syncs that succeeded.
    package var syncs: Int { Int(perch_disk_syncs(self.number)) }
    package var bytes: Int { Int(perch_disk_bytes(self.number)) }

    /// Lets the operation fail that is so many ahead; with `stays` those after it too.
    package func fail(ahead: Int, _ fault: Fault, stays: Bool) {
        perch_disk_fail(self.number, Int64(ahead), fault.rawValue, stays ? 1 : 0)
    }

    /// Lets the next sync fail; what of the writes before it survives is drawn.
    package func failNextSync() { perch_disk_fail_next_sync(self.number) }

    /// No fault, and no death that was ordered.
    package func heal() { perch_disk_heal(self.number) }

    /// Bytes that all files may have; nil for as many as they like.
    package var room: Int? {
        didSet { perch_disk_set_room(self.number, self.room.map { Int64($0) } ?? -1) }
    }

    /// Lets the process die within the operation that is so many ahead, of those that change something. What it asks
    /// afterwards has no effect.
    package func killProcess(ahead: Int) { perch_disk_die(self.number, Int64(ahead)) }

    /// Lets the process die in the sync that is so many ahead: everything is written then, and nothing is certain.
    package func killProcess(syncsAhead: Int) { perch_disk_die_in_sync(self.number, Int64(syncsAhead)) }

    /// The process dies now.
    package func killProcess() { perch_disk_die(self.number, -1) }

    /// The process that used it is dead.
    package var isProcessDead: Bool { perch_disk_is_dead(self.number) != 0 }

    package enum Loss: Sendable {
        /// The machine went on: everything written is there.
        case process
        /// What was not synced is drawn, sector by sector.
        case power
    }

    /// Another process begins; the store of the one before must be closed.
    package func start(after loss: Loss) { perch_disk_start(self.number, loss == .power ? 1 : 0) }
}
