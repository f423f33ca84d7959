// MARK: Scenarios

extension Limits {
    /// Bytes of a scenario file. A longer one is refused; a page of steps has about 2 KiB.
    package static let scenarioBytesMax = 1024 * 1024

    /// Mistakes of one scenario that are listed; the rest are only counted.
    package static let scenarioFaultsMax = 50

    /// Milliseconds to connect to one address of the server. Then the next address is tried.
    package static let scenarioConnectMilliseconds: Int64 = 10_000

    /// Milliseconds that a scenario waits for one answer, or for its streams to become quiet.
    ///
    /// A large clock advance settles every due renewal before it answers. A year of two-second renewals takes longer.
    package static let scenarioAnswerMilliseconds: Int64 = 60_000

    /// Milliseconds without BEAT after which a scenario asks its streams again whether they are quiet. The retry is
    /// needed because the two calls may fall into two iterations of the server's loop.
    package static let scenarioQuietRetryMilliseconds: Int64 = 250

    /// Unread bytes that a scenario accepts from its server. More count as a stream that never ends.
    package static let scenarioReceiveBytes = 64 * 1024

    /// Transactions that a scenario reads of one account: more than a person can compare.
    package static let scenarioTransactionsMax = 10_000
}
