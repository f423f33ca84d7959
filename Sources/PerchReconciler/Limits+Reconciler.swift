package import PerchBase

// MARK: Asking the App Store back

extension Limits {
    /// How long after the end of its last known period a subscription is asked about: after ten minutes, one, six and 24 hours.
    package static let reconcileDelaysMilliseconds: [Int64] = [600_000, 3_600_000, 21_600_000, 86_400_000]

    /// Milliseconds between two looks for such ends.
    package static let reconcileSweepMilliseconds: Int64 = 60_000

    /// Ends of the last day are looked at where nothing is known of an earlier look.
    package static let reconcileLookBackMilliseconds: Int64 = 86_400_000

    /// Subscriptions of an app that are asked about at once, and ends that are read at once.
    package static let reconcileChecksMax = 100

    /// Milliseconds between two walks over the notifications that failed, and what they overlap.
    package static let reconcileWalkMilliseconds: Int64 = 86_400_000
    package static let reconcileOverlapMilliseconds: Int64 = 3_600_000

    /// Pages of one walk: 200,000 notifications. The next walk begins at the same place.
    package static let reconcilePagesMax = 10_000

    /// Milliseconds until what failed is tried again.
    package static let reconcileRetryMilliseconds: Int64 = 600_000

    /// Accounts that are looked through at once for what is awaited, and the pause until the next ones, and between pages of updates.
    package static let reconcileScannedAtOnce = 100
    package static let reconcileScanPauseMilliseconds: Int64 = 50

    /// Milliseconds after the start of a server until it asks for a test notification, so that one which crashes and starts again and
    /// again does not ask more often than the App Store allows, which is once a second.
    package static let reconcileTestPauseMilliseconds: Int64 = 1_000

    /// Milliseconds between two looks at what became of a test notification, until the first one, and their number.
    package static let reconcileTestMilliseconds: Int64 = 30_000
    package static let reconcileTestFirstMilliseconds: Int64 = 5_000
    package static let reconcileTestLooksMax = 10

    /// Milliseconds after a test notification that failed until another one is asked for.
    package static let reconcileTestAgainMilliseconds: Int64 = 3_600_000

    /// Milliseconds after which the places are stored again.
    package static let reconcileSaveMilliseconds: Int64 = 3_600_000

    /// Milliseconds after which the history of a customer is read again.
    package static let reconcileHistoryMilliseconds: Int64 = 7 * 86_400_000

    /// Accounts whose histories are read at once.
    package static let reconcileReadingsMax = 20

    /// Customers of the App Store of one account whose histories are read. Of an account with more nothing is known for sure.
    package static let reconcileCustomersMax = 16

    /// Milliseconds between two looks for answers that the App Store is to get, questions that are read at once, and the time until an
    /// answer that did not reach the App Store is sent again.
    package static let reconcileQuestionsMilliseconds: Int64 = 5_000
    package static let reconcileQuestionsAtOnce = 1_000
    package static let reconcileAnswerMilliseconds: Int64 = 60_000

    /// Milliseconds after its deadline until a question is forgotten.
    package static let reconcileForgetMilliseconds: Int64 = 86_400_000

    /// Milliseconds between two looks for what the App Store is to be told about purchases.
    package static let reconcileUpdatesMilliseconds: Int64 = 5_000

    /// Updates of an app that are read at once, and those that are under way at once.
    package static let reconcileUpdatesAtOnce = 100

    /// Milliseconds until an update that the App Store refuses is forgotten, and the number of those that reports name.
    package static let reconcileRefusedMilliseconds: Int64 = 30 * 86_400_000
    package static let reconcileRefusedNamedMax = 5

    /// Differences that a run lists. Others are only counted.
    package static let reconcileDifferencesMax = 1_000

    /// Milliseconds by which the clock of this machine may differ from the App Store's before it is named as the cause of a 401.
    package static let reconcileClockMilliseconds: Int64 = 120_000
}
