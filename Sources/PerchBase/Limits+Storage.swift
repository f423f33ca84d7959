// MARK: The store's file

extension Limits {
    /// Bytes of the store file's pages that its connection caches.
    ///
    /// 64 MiB hold the inner index pages of about ten million accounts and the leaves in use. Other pages usually come
    /// from the kernel's cache. Records have a separate cache above the storage seam.
    package static let storePageCacheBytes = 64 * 1024 * 1024

    /// Bytes of write-ahead log from which the store checkpoints before its next batch. The log file is also truncated to
    /// this length after a larger batch.
    ///
    /// All callers wait for a checkpoint, and most of its time is the fsync of pages at random: 10 ms for 256 pages, 80 ms
    /// for 10,000. So a short log makes many callers wait and costs half of the throughput. 64 MiB are some 200 batches of
    /// 64 purchases, so fewer than one purchase in 100 waits. A start after a crash reads at most this and one batch. On a
    /// full disk the log grows until it fails too; then writes are refused until space is free.
    package static let storeLogBytes = 64 * 1024 * 1024

    /// Free bytes on the store's disk below which `perch doctor` reports a problem. The log may grow to
    /// `storeLogBytes` between two checkpoints; the other half leaves time to act.
    package static let storeRoomWantedBytes = 2 * storeLogBytes

    /// Pages of 4 KiB that a backup copies in one step. The store thread checks the time between steps.
    ///
    /// 32 pages take about 0.2 ms from the kernel's cache.
    package static let backupPagesPerStep = 32

    /// Microseconds that a backup blocks the store thread at a time, plus one step.
    ///
    /// Requests in between wait no longer than for another batch. An idle store continues at once, so its copy runs at
    /// the disk's speed.
    package static let backupTurnMicroseconds: UInt64 = 2_000

    /// Accounts that a count of subscriptions reads in one step. A step takes some 100 microseconds.
    package static let subscriptionCountAccountsPerStep = 32

    /// Microseconds that a count of subscriptions blocks the store thread at a time, plus one step.
    package static let subscriptionCountTurnMicroseconds: UInt64 = 500

    /// Milliseconds between two such times: the count takes about 1 % of the thread.
    package static let subscriptionCountPauseMilliseconds: Int64 = 50

    /// Milliseconds for which a count of subscriptions is recent enough for a report.
    package static let subscriptionCountMilliseconds: Int64 = 15_000

    /// Bytes of pages that a backup caches before it writes them.
    package static let backupCacheBytes = 2 * 1024 * 1024

    /// Bytes of a backup that are read or copied at a time.
    package static let storeCopyBytes = 1024 * 1024

    /// Age of the newest backup, in days, above which `perch doctor` asks for a new one.
    package static let backupAgeDays: Int64 = 7

    /// Free bytes at which a store stopped by a full disk accepts writes again before any write was tried: about a
    /// hundred purchases.
    package static let storeRoomBytes = 4 * 1024 * 1024

    /// Accounts that a generated store inserts in one transaction, so that its cost becomes negligible.
    package static let generatedAccountsPerBatch = 20_000
}
