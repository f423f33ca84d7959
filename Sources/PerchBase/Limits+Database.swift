// MARK: The store on a database server

extension Limits {
    /// Milliseconds for a connection to one host of the database, TLS and authentication included. The next host is tried then.
    package static let databaseConnectMilliseconds: Int64 = 2_000

    /// Milliseconds for the connection to a further host, once one that writes is found: it may have taken over.
    package static let databaseOtherHostMilliseconds: Int64 = 500

    /// Milliseconds for which a node waits for its database at the start. Then it ends, and its supervisor starts it again.
    package static let databaseStartMilliseconds: Int64 = 60_000

    /// Milliseconds for the answer to one pipeline. Then the connection is given up.
    ///
    /// More than `databaseLockMilliseconds`, so that a busy lock is told from a dead server.
    package static let databaseAnswerMilliseconds: Int64 = 3_000

    /// Milliseconds that a batch waits for the store's lock. Then its callers get UNAVAILABLE.
    package static let databaseLockMilliseconds: Int64 = 1_000

    /// Milliseconds that PostgreSQL lets a session hold the store's lock without a request. A node that was stopped in the middle
    /// of a batch blocks the others no longer.
    package static let databaseIdleMilliseconds: Int64 = 2_000

    /// Unanswered probes, one a second, after which PostgreSQL ends the session of a node whose network is gone.
    package static let databaseProbesMax = 3

    /// Milliseconds between two looks at the feed of changes where no notification arrives.
    package static let feedPollMilliseconds: Int64 = 250

    /// Revisions that the feed of changes keeps at least, and the milliseconds for which it keeps all. A node that is further behind
    /// starts again.
    package static let feedRevisionsMin: UInt64 = 100_000
    package static let feedMilliseconds: Int64 = 600_000

    /// Milliseconds between two heartbeats of a node.
    package static let heartbeatMilliseconds: Int64 = 1_000

    /// Milliseconds after the last heartbeat that was stored, from which a node answers no read: it cannot know what others have
    /// written.
    package static let freshnessMilliseconds: Int64 = 3_000

    /// Milliseconds between two small writes of all nodes that let time pass, while readers wait for what time causes.
    package static let passedMilliseconds: Int64 = 100

    /// Milliseconds by which the database's clock may differ from the one that a node goes on with. Beyond, it has jumped.
    package static let clockToleranceMilliseconds: Int64 = 1_000

    /// Milliseconds for which a jump of the database's clock lasts before a node follows it; twice the jump, if that is longer.
    package static let clockJumpMilliseconds: Int64 = 60_000

    /// Milliseconds for which a change of the tables may keep writers waiting; it is tried again as often as this.
    package static let databaseGrowthMilliseconds: Int64 = 300
    package static let databaseGrowthTriesMax = 40

    /// Rows that a migration writes with one command.
    package static let migratedRowsAtOnce = 2_000

    /// Milliseconds after the last heartbeat from which a node counts as gone, and sends its own clients to the others.
    package static let nodeGoneMilliseconds: Int64 = 10_000

    /// Milliseconds after the last heartbeat of a node of the version before from which it is not awaited any more: the schema rises. A node
    /// that stops says so, and is not awaited at all.
    package static let versionGoneMilliseconds: Int64 = 60_000

    /// Milliseconds after which the row of a node that is gone is deleted. Until then operators see it.
    package static let nodeForgottenMilliseconds: Int64 = 3_600_000
}
