// MARK: The load tester

extension Limits {
    /// Watches of one bench. Each costs the generator 40 bytes, beside the server's own cost.
    package static let benchWatchesMax = 10_000_000

    /// Changes of one round, 40 bytes each. The generator stores them until the round ends, because any watch may still
    /// have to show each of them.
    package static let benchChangesMax = 50_000_000

    /// Bench connections that wait for their WELCOME at a time. A server allows 64 times as many (`handshakesMax`).
    package static let benchHandshakesMax = 256
    /// The same where `bench storm --closed` asks for more: all clients of a server that has restarted, at once.
    package static let benchHandshakesAtOnceMax = 65_536

    /// Bytes of a Lua script for Redis.
    package static let benchScriptBytesMax = 1 << 20

    /// Changes that a bench sends in one iteration of its loop. Then it reads sockets, because a generator that only
    /// writes would measure its own queue.
    package static let benchChangesPerTurn = 256

    /// Bytes that a bench reads from one connection at a time.
    package static let benchReadBytes = 256 * 1024

    /// CPU share of its core from which a generator counts as the bottleneck: it then measures itself.
    package static let benchBusyShareMax = 0.95

    /// Send lateness at p99, in milliseconds, above which the generator counts as the bottleneck.
    package static let benchLagMilliseconds: Int64 = 5

    /// Send lateness at p99, in milliseconds, above which the generator counts as the bottleneck if lateness makes up
    /// half of the push latency at p99.
    package static let benchLagShareMilliseconds: Int64 = 1

    /// Share of the window that the generator waited for a busy core. Above it the generator counts as the bottleneck,
    /// because the measured latencies include that wait.
    package static let benchWaitShareMax = 0.1

    /// Milliseconds without progress after which a round is abandoned; its results so far are kept.
    package static let benchStallMilliseconds: Int64 = 20_000

    /// Milliseconds that a server started as a child process may take until it serves.
    package static let benchStartMilliseconds: Int64 = 60_000

    /// Bytes of a report that `compare` reads. The longest reports have some megabytes: a line for each second.
    package static let benchReportBytesMax = 64 * 1024 * 1024

    /// Expressions of --fail-if.
    package static let benchConditionsMax = 64

    /// Syncs that test the store's disk before each round, and bytes of each: the pages of a small batch. At 4 ms a
    /// sync the test takes 0.4 s.
    package static let benchSyncCount = 100
    package static let benchSyncBytes = 16 * 1024

    /// Accounts of a scenario whose failures are listed one by one; the rest are only counted.
    package static let benchFindingsMax = 20

    /// Bytes of one chart's values in a report page; a run of hours with more has no picture of them.
    package static let benchChartBytesMax = 16 * 1024 * 1024

    /// Connections of a scenario bench that play the store: charges, refunds, the clock.
    package static let benchStoreConnections = 4

    /// Accounts for which one scenario is played. Each has its own connection.
    package static let benchPlayersMax = 100_000
}
