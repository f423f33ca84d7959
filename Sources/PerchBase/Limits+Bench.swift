// MARK: The load tester

extension Limits {
    /// Watches of one bench. Each costs the generator 40 bytes, beside what the server needs.
    package static let benchWatchesMax = 10_000_000

    /// Changes of one round: they are kept until its end, since any watch may still have to show each. 40 bytes each.
    package static let benchChangesMax = 50_000_000

    /// Connections that a bench has before WELCOME at a time: half of what a server takes (`handshakesMax`).
    package static let benchHandshakesMax = 256

    /// Changes that a bench sends in one turn of its loop. Beyond it, sockets are read first: who only writes measures
    /// his own queue.
    package static let benchChangesPerTurn = 256

    /// Bytes that a bench reads from one connection at a time.
    package static let benchReadBytes = 256 * 1024

    /// Share of its core from which a generator counts as the bottleneck: what it measures is itself then.
    package static let benchBusyShareMax = 0.95

    /// Milliseconds that one change in a hundred may be sent later than it was meant to be. Beyond it, the generator
    /// counts as the bottleneck.
    package static let benchLagMilliseconds: Int64 = 5

    /// Milliseconds from which it does, where half of what the slowest hundredth of pushes took was that lateness.
    package static let benchLagShareMilliseconds: Int64 = 1

    /// Share of the window that the generator may have waited for its core while something else ran there. Beyond it, the
    /// generator counts as the bottleneck: what it waited is in what it measured.
    package static let benchWaitShareMax = 0.1

    /// Milliseconds without any progress after which a round is given up, with what it has.
    package static let benchStallMilliseconds: Int64 = 20_000

    /// Milliseconds that a server, started as a child, may take until it serves.
    package static let benchStartMilliseconds: Int64 = 15_000

    /// Bytes of a report that is read to be compared. The longest have some megabytes: a line for each second.
    package static let benchReportBytesMax = 64 * 1024 * 1024

    /// Expressions of --fail-if.
    package static let benchConditionsMax = 64

    /// Times that the disk of a store is tried before each round, and bytes of each: the pages of a small batch. At 4 ms
    /// a sync it takes 0.4 s.
    package static let benchSyncCount = 100
    package static let benchSyncBytes = 16 * 1024

    /// Accounts of a scenario whose going wrong is told in words; all are counted.
    package static let benchFindingsMax = 20

    /// Connections of a scenario's bench that speak for the store: charges, refunds, the clock.
    package static let benchStoreConnections = 4

    /// Accounts that one scenario is played for: as many connections.
    package static let benchPlayersMax = 100_000
}
