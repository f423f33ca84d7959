// MARK: The twin of the App Store

extension Limits {
    /// Connections of a twin's listener. One more is closed.
    package static let twinConnectionsMax = 256

    /// Bytes of a request of the App Store Server API, its head and its body. A longer one closes the connection.
    package static let twinRequestBytesMax = 64 * 1024

    /// Milliseconds within which a connection of the twin must send its next request.
    package static let twinIdleMilliseconds: Int64 = 60_000

    /// Entries of a page, as the App Store has them.
    package static let twinPageSize = 20

    /// Seconds that a caller's token may live.
    package static let callerTokenSeconds: Int64 = 3_600

    /// Seconds that the clocks of a caller and of the twin may differ.
    package static let callerClockSeconds: Int64 = 60

    /// Seconds of a rate that a caller may use at once.
    package static let twinBurstSeconds: Int64 = 10

    /// Events of an account that one request reads at a time.
    package static let twinEventsAtOnce = 1_000

    /// Events of an account that the history of one customer holds. More are refused with Apple's general error.
    package static let twinEventsMax = 100_000

    /// Notifications of an app that the twin remembers. The oldest are forgotten.
    package static let twinNoticesKept = 50_000

    /// Accounts that a mass extension reads at a time.
    package static let twinAccountsAtOnce = 64

    /// Mass extensions that are remembered. One more forgets all.
    package static let twinMassExtensionsKept = 1_000

    /// Notifications or requests that one mishap concerns.
    package static let mishapTimesMax: UInt32 = 1_000_000

    /// Notifications that one mishap reorders, and holds until all are there.
    package static let mishapReorderMax: UInt32 = 1_000

    /// Milliseconds by which a mishap may delay a notification, on the app's clock.
    package static let mishapDelayMillisecondsMax: Int64 = 365 * 86_400_000

    /// Bytes of the path that a mishap names.
    package static let mishapPathBytesMax = 256

    /// Mishaps that wait. One more is refused.
    package static let twinMishapsMax = 100

    /// Milliseconds after which the next request is welcome, as a mishap says it.
    package static let twinMishapRetryMilliseconds: Int64 = 1_000

    /// Test notifications that are remembered. One more forgets all.
    package static let twinTestsKept = 1_000

    /// Milliseconds between two looks for notifications to deliver.
    package static let twinPollMilliseconds: Int64 = 100

    /// Milliseconds that a backend has to answer a notification.
    package static let twinAnswerMilliseconds: Int64 = 30_000

    /// Lines of an outbox's file that a start keeps.
    package static let twinNotesKept = 50_000

    /// Bytes of a token of a page.
    package static let twinPageTokenBytesMax = 100
}
