// MARK: The store's file

extension Limits {
    /// Bytes of pages of the store's file that its connection keeps in memory.
    ///
    /// 64 MiB hold the inner pages of every index of some ten million accounts and the leaves that are in use. What does
    /// not fit is read again, from the kernel's cache as a rule. Records have a cache of their own, above the seam.
    package static let storePageCacheBytes = 64 * 1024 * 1024

    /// Bytes of write-ahead log from which the store checkpoints before it begins its next batch, where checkpoints have
    /// many pages to write.
    ///
    /// A single purchase writes about 12 pages, so one in some 340 waits for a checkpoint, of about 100 ms in a large
    /// store. When there is no room to checkpoint, the log grows until it, too, finds none; then writes are refused until
    /// there is.
    package static let storeLogBytes = 16 * 1024 * 1024

    /// The same where the same pages change again and again, so that a longer log has hardly more of them; and the bytes
    /// to which the log's file is cut back after a batch that grew it beyond.
    ///
    /// A start after a crash reads no more than this and one batch.
    package static let storeLogFileBytes = 64 * 1024 * 1024

    /// Bytes free on the store's disk below which the doctor calls it a problem. The log grows to `storeLogFileBytes` between two
    /// checkpoints, and as much again is wanted to act before the disk is full.
    package static let storeRoomWantedBytes = 2 * storeLogFileBytes

    /// Pages of 4 KiB that a checkpoint may write and the log still grow to twice its length. With more than twice as many
    /// it shrinks to half of it.
    ///
    /// 1,024 pages are 4 MiB: 16 ms to copy and sync them where an fdatasync of one page takes a quarter of one.
    package static let checkpointPagesFew = 1_024

    /// Pages of 4 KiB that a backup copies in one step, between which the store's thread looks at the time.
    ///
    /// 32 pages take about 0.2 ms from the kernel's cache.
    package static let backupPagesPerStep = 32

    /// Microseconds for which a backup keeps the store's thread at a time, and one step more.
    ///
    /// What is asked in between waits no longer than for another batch. While nobody asks anything the steps follow one
    /// another at once, so a quiet store is copied at the speed of its disk.
    package static let backupTurnMicroseconds: UInt64 = 2_000

    /// Bytes of pages that a backup keeps in memory before it writes them.
    package static let backupCacheBytes = 2 * 1024 * 1024

    /// Bytes of a backup that are read, or copied, at a time.
    package static let storeCopyBytes = 1024 * 1024

    /// Days after which `perch doctor` asks for a backup.
    package static let backupAgeDays: Int64 = 7

    /// Bytes that the store's disk must have free for a full one to count as having room again, where nobody has tried to
    /// write anything: some hundred purchases.
    package static let storeRoomBytes = 4 * 1024 * 1024

    /// Accounts that a generated store gets in one transaction: enough to make its cost disappear.
    package static let generatedAccountsPerBatch = 20_000
}
