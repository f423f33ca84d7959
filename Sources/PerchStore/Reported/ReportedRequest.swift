package import PerchBase
package import PerchModel

/// A change that was reported, and not decided by a test store. Erasing and dead letters are of any app.
package enum ReportedRequest: Sendable {
    /// Verified reports. `claimant`: the account that the app's backend names as the owner of their originals. `names`:
    /// names of the claimant, as an app transaction has one. `notice`: the notification that they came in. `dropping`: an item that is
    /// no longer needed.
    case reports(
        [ReportedValue], source: FactSource, claimant: AccountKey?, names: [AccountAlias] = [],
        notice: NotedNotification? = nil, dropping: ItemKey? = nil)
    /// A name of a customer belongs to an account from now on.
    case attach(AccountAlias, to: AccountKey)
    case detach(AccountAlias)
    /// An administrator names the owner of an original transaction, whatever the policy.
    case claim(TransactionID, for: AccountKey)
    /// All that one account has goes to another, and so does its key.
    case merge(AccountKey, into: AccountKey)
    /// The hash of a customer's e-mail address finds an account from now on.
    case attachEmail(ContentHash, to: AccountKey)
    case detachEmail(ContentHash)
    /// A note is written beside an account, which must exist; in a test app too, by its clock.
    case note(String, by: String, on: AccountKey)
    /// A note is deleted.
    case dropNote(UInt64, of: AccountKey)
    /// A named entitlement is granted to an account, which is opened if there is none.
    case grant(EntitlementGrant, to: AccountKey)
    /// Everything that is known of an account goes, in a test app too.
    case erase(AccountKey)
    /// An answer to a question of the App Store about a purchase.
    case answer(TransactionID, ConsumptionAnswer)
    /// What the App Store said to such an answer; `refusing` nil: it took it.
    case answered(TransactionID, ConsumptionAnswer, refusing: String?)
    /// What the App Store said to an update; `refusing` nil: it took it.
    case updated(AppStoreUpdate, refusing: String?)
    /// The histories of all customers were read whose purchases the account of these originals has.
    case read(ReportedHistory, of: [TransactionID])
    /// An item, such as a dead letter. Refused where its kind and group have `limit` items already.
    case keep(StoredItem, limit: Int)
    case drop(ItemKey)

    /// Whether it is about the store itself, and no app.
    var isOfStore: Bool {
        switch self {
        case .keep, .drop: true
        case .reports, .attach, .detach, .attachEmail, .detachEmail, .claim, .merge, .note, .dropNote, .grant, .erase,
            .answer, .answered, .updated, .read:
            false
        }
    }
}

/// A notification as the accounts of its purchases note it.
package struct NotedNotification: Hashable, Sendable {
    package var notice: NotificationNotice
    /// Apple's word for why the customer wants a refund, where it asks the app about one; empty for none.
    package var consumptionReason: String
    /// The notification as it came, where it is to be kept.
    package var kept: KeptNotification?

    package init(_ notice: NotificationNotice, consumptionReason: String = "", kept: KeptNotification? = nil) {
        self.notice = notice
        self.consumptionReason = consumptionReason
        self.kept = kept
    }
}

/// A group that a catalogue and the App Store's values name differently.
package struct GroupDifference: Hashable, Sendable, CustomStringConvertible {
    package var bundleID: String
    package var catalogueGroup: String
    package var reportedGroup: String

    package var description: String {
        "the group \(printable(self.catalogueGroup)) of the catalogue of \(printable(self.bundleID)) is "
            + "\(printable(self.reportedGroup)) in what the App Store signs"
    }
}

/// What a change of an App Store app did.
package struct ReportedOutcome: Hashable, Sendable {
    /// Reports that changed something.
    package var news: UInt32 = 0
    /// Reports that are older than what is known. They are kept, because they tell about the past.
    package var stale: UInt32 = 0
    /// Reports that were known.
    package var duplicates: UInt32 = 0
    /// Originals that went from one account to another.
    package var moved: UInt32 = 0
    /// Reports of originals of erased accounts, which are not kept. A repeated answer does not say it.
    package var erased: UInt32 = 0
    /// Of the news those that say what a notification would have told, and are not only signed later or of another token. A repeated answer does
    /// not say it.
    package var changed: UInt32 = 0
    /// Notifications that had not come before. A repeated answer does not say it.
    package var notices: UInt32 = 0
    /// The key of the account that had what another one has now, or nobody; empty for none. A repeated answer does not say it.
    package var previousKey: [UInt8] = []

    package init() {}
}

extension Mutation {
    /// Keeps or drops an item of the store itself.
    package static func item(_ request: ReportedRequest) -> Mutation {
        precondition(request.isOfStore, "a change of an app")
        return Mutation(reported: request, app: 0, origin: [])
    }

    /// A reported change.
    package static func reported(_ request: ReportedRequest, app: AppNumber, origin: [UInt8] = []) -> Mutation {
        Mutation(reported: request, app: app, origin: origin)
    }
}
