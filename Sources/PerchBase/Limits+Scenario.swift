// MARK: Scenarios

extension Limits {
    /// Bytes of a scenario. Beyond it, it is not one that a person wrote: a page of steps has about 2 KiB.
    package static let scenarioBytesMax = 1024 * 1024

    /// Mistakes that are told of one scenario; those behind them are counted. After so many, the first ones are what
    /// matters.
    package static let scenarioFaultsMax = 50

    /// Milliseconds that an address of the server may take until it has taken a connection; then the next is tried.
    package static let scenarioConnectMilliseconds: Int64 = 10_000

    /// Milliseconds that a scenario waits for one answer, and for its streams to be quiet. A clock that moves far settles
    /// all that is due on its way before it answers: a year of two-second renewals is more than anybody writes.
    package static let scenarioAnswerMilliseconds: Int64 = 60_000

    /// Milliseconds after which the streams are asked again whether they are quiet, where no BEAT came: the two calls that
    /// ask can fall into two turns of the server.
    package static let scenarioQuietRetryMilliseconds: Int64 = 250

    /// Bytes that a scenario's server may have said before anybody looks: a stream that never ends is no answer.
    package static let scenarioReceiveBytes = 64 * 1024

    /// Transactions that a scenario reads of one account. More than that cannot be compared by a person.
    package static let scenarioTransactionsMax = 10_000
}
