// MARK: Apple's signed values

extension Limits {
    /// Bytes of one signed value from Apple: a transaction, renewal information or an app transaction. A longer one is
    /// refused unread with APPLE_TOO_LONG. Apple's have about 6 KiB, of which the certificates are 4.4 KiB.
    package static let appleSignedBytesMax = 64 * 1024

    /// Bytes of a signed notification, which holds up to two signed values. A longer one is refused unread with
    /// APPLE_TOO_LONG. Apple's have about 20 KiB.
    package static let appleNotificationBytesMax = 128 * 1024

    /// Depth of the JSON of a signed value. A deeper one is refused with APPLE_MALFORMED. Apple's nest five deep.
    package static let appleDepthMax = 16

    /// Values of the JSON of a signed value. More are refused with APPLE_MALFORMED. A summary with every storefront has
    /// 200.
    package static let appleValuesMax = 8_192

    /// Identifiers of transactions that are taken. From 2^63-1 on no storage holds them: such a value is kept as a dead letter.
    package static let reportedTransactionIDs: ClosedRange<UInt64> = 0...UInt64(Int64.max) - 1

    /// Amounts of money that are taken, in thousandths of the currency's unit: sums and texts of them cannot overflow.
    package static let reportedAmounts: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

    /// Bytes of a text of a signed value that becomes part of a key or a row: an identifier of a product, a group, an offer, a
    /// customer. A value with a longer one, or with NUL in it, is kept as a dead letter. Apple's have at most 100.
    package static let reportedTextBytesMax = 1_024

    /// Characters of the type, the subtype and the UUID of a notification that its account notes; the rest is cut off. A UUID has 36.
    package static let reportedNoticeTextMax = 64

    /// How long after a consumption request was signed the App Store takes an answer.
    package static let consumptionAnswerMilliseconds: Int64 = 12 * 3_600_000

    /// Differences between groups of catalogues and of signed values that are kept for the log and `perch doctor`. More are not looked at.
    package static let groupDifferencesMax = 100

    /// Bytes of one certificate. A longer one is refused with APPLE_CERTIFICATE. Apple's have about 1 KiB.
    package static let appleCertificateBytesMax = 8 * 1024

    /// Verified certificate chains that a verifier caches. The least recently used is evicted. Apple signs with one or
    /// two chains at a time; old values need those of earlier years.
    package static let appleChainsKeptMax = 32

    /// Roots that an app trusts besides Apple's. More are refused where they are configured.
    package static let appleRootsMax = 16

    /// How long a subscription stays subscribed after its period where its news may be late. A setting of each app.
    package static let leewayMilliseconds: Int64 = 24 * 3_600_000

    /// The same in Apple's sandbox, where a month lasts five minutes.
    package static let sandboxLeewayMilliseconds: Int64 = 120_000

    /// The longest leeway that an app may have. A longer one is refused at the start.
    package static let leewayMillisecondsMax: Int64 = 7 * 24 * 3_600_000

    /// Bytes of an entitlement's name. A longer one is refused with FIELD_INVALID, and in a file where it is loaded.
    package static let entitlementNameBytesMax = 64

    /// Sources in a file of named entitlements. More are refused where the file is loaded.
    package static let entitlementRulesMax = 1_024

    /// Bytes of a file of named entitlements. A longer one is refused where it is loaded.
    package static let entitlementFileBytesMax = 256 * 1024

    /// Grants of one account. More are refused with RECORD_LIMIT.
    package static let grantsMax = 64

    /// Minutes between UTC and the clock of a reader, in both directions.
    package static let utcOffsetMinutesMax: Int64 = 18 * 60

    /// The highest price that an answer supposes, in thousandths of the currency's unit.
    package static let priceMilliunitsMax: Int64 = 1_000_000_000_000

    /// Bytes of a note beside a customer. A longer one is refused with FIELD_INVALID.
    package static let noteBytesMax = 2_000

    /// Notes beside one customer. More are refused with RECORD_LIMIT.
    package static let notesMax = 100

    /// Customers that one search returns, and when the caller names no number.
    package static let customersFoundMax = 100
    package static let customersFoundDefault = 20

    /// Places of the keys' index that a search for other capitals looks at, and keys that it reads at each. A name of n letters takes
    /// about n places. A search that would take more says that there may be more customers.
    package static let customerPlacesMax = 96
    package static let customerKeysAtOnce = 8

    /// Consumables of an account of the App Store that its record keeps, the newest. Older ones leave the record and stay in the list of
    /// transactions, so they never fill the record (`recordEntriesMax`); a late refund finds them.
    package static let reportedConsumablesMax = 256

    /// Submitted transactions of an account that wait to be finished. The oldest count as finished when there are more.
    package static let reportedUnfinishedMax = 256

    /// Purchases of one name that are looked at for the account of a customer whose name is no account's. Those with the greatest
    /// original IDs are not.
    package static let linkedOriginalsMax = 256

    /// Signed values in one submission. More are refused with FIELD_INVALID.
    package static let appleSubmissionValuesMax = 50

    /// Bytes of a submission. A longer one is refused with REQUEST_TOO_LONG.
    package static let appleSubmissionBytesMax = 4 * 1024 * 1024

    /// Bytes of a request with one notification. A longer one is refused with APPLE_TOO_LONG.
    package static let appleRequestBytesMax = Self.appleNotificationBytesMax + 1_024

    /// Values of configured apps that are kept as dead letters. At the limit a notification is answered 503, and Apple sends
    /// it again.
    package static let deadLettersMax = 10_000

    /// The same of apps that are not configured: they share fewer places, because strangers can fill them.
    package static let strangeDeadLettersMax = 1_000

    /// Notifications of sandbox apps that are kept as they came, for people to look at. The oldest goes when another comes.
    package static let notificationsKeptMax = 200

    /// Bytes of the file that names the apps of the App Store. A longer one is refused at the start.
    package static let appleAppsFileBytesMax = 256 * 1024

    /// Values that wait to be verified. More are refused with INTAKE_FULL, and Apple sends them again.
    package static let intakeQueueMax = 4_096

    /// Bytes of a file that `perch ingest` reads: about 100,000 notifications. A longer one is refused by the command.
    package static let ingestFileBytesMax = 1024 * 1024 * 1024

    /// Entries of a page of transactions with their signed forms, whatever size was asked for: a signed form has 6 KiB, and takes
    /// 25 us. The page's token leads to the others.
    package static let signedPageSizeMax = 50

    /// The life of a pass.
    package static let passMillisecondsMax: Int64 = 86_400_000

    /// How long a key signs passes. A server that starts later makes a new one, and shows the one before beside it.
    package static let passKeyMilliseconds: Int64 = 90 * 86_400_000

    /// What the setting for that may be: a pass lives for a day, so a key before the one before has nothing to verify.
    package static let passKeyMillisecondsRange: ClosedRange<Int64> = 86_400_000...3_650 * 86_400_000

    /// Signed values that a signer caches, so that a value that is read again keeps its bytes. The oldest half is dropped
    /// when the cache is full. One has about 6 KiB.
    package static let appleSignaturesKeptMax = 4_096
}
