package import PerchBase

/// What an account has, as views ask for it: subscription lines, owned transactions, offers, messages, and when they change
/// automatically.
///
/// No view asks where purchases happen. `TestHoldings` answers from the decisions of this store, `ReportedHoldings` from the reports of
/// the App Store. A function with a default here says once what is the same for both; it is a requirement, so that each type has a
/// specialised one.
package protocol Holdings {
    /// A subscription line.
    associatedtype Held

    var record: AccountRecord? { get }
    var app: AppState { get }
    var now: Instant { get }

    // MARK: Subscription lines

    /// The lines of a group, own ones first.
    func lines(inGroup groupID: String) -> [Held]
    /// Nil before the line's first period.
    func status(of held: Held, winBacks: [String]) -> SubscriptionStatus?
    /// The level of service of the product that the line holds.
    func level(of held: Held) -> Int32
    func note(_ held: Held, in outlook: inout Outlook)
    /// The win-back offers that the store computes for own lines of a group, and when they change.
    func winBacks(inGroup groupID: String) -> (offerIDs: [String], nextChange: Forecast?)
    /// The statuses of a group: one for each line, own lines first.
    func statuses(inGroup groupID: String) -> Viewed<SubscriptionStatuses>
    /// When a line stops entitling whose renewal is awaited beyond its period; nil if nothing limits the wait.
    func awaitedUntil(original id: TransactionID) -> Instant?
    /// When the last access by a line ended or ends if nothing happens: a grace period counts, what was refunded does not.
    func serviceEnd(original id: TransactionID) -> Instant?
    var lineCount: Int { get }
    /// The states of lines that no family member shares. Overdue: its renewal was awaited for the whole leeway, and never reported.
    var ownLines: [(state: RenewalState, isOverdue: Bool)] { get }

    // MARK: Owned transactions

    /// The transaction that entitles to a product. Adds to `outlook` instead of returning it, because taking a value out of a
    /// result copies it.
    func entitlement(toProduct productID: String, noting outlook: inout Outlook) -> Verified<Transaction>?
    /// Everything that entitles, in any order.
    var entitling: [Transaction] { get }
    /// Whether the first of two entitling transactions of one product is shown before the other.
    static func precedes(_ left: Transaction, _ right: Transaction) -> Bool
    /// Everything that entitles, by product.
    var entitlements: [Verified<Transaction>] { get }
    /// Non-consumables and non-renewing subscriptions.
    var owned: [Verified<Transaction>] { get }
    /// Purchases of no known account.
    var unclaimedCount: Int { get }

    // MARK: Reasons

    /// Why statuses are as they are. `rows` are the account's newest transactions of the group.
    func explanations(of statuses: SubscriptionStatuses, inGroup groupID: String, rows: [Transaction]) -> [Explanation]
    /// The sentence after "Nothing entitles the account", with a space before it.
    func summary(ofEnded explanations: [Explanation]) -> String
    /// Why the line that counts does, of several.
    func reason(_ reason: EffectiveReason, lines: Int) -> String
    /// Why lines and purchases of a product entitle or not; empty if the account has none.
    func explanations(ofProduct productID: String, counting: Transaction?, rows: [Transaction]) -> [Explanation]

    // MARK: Offers and the customer

    func offers(inGroup groupID: String) -> any GroupOffers
    var messages: Viewed<[StoreMessage]> { get }
    var appTransaction: AppTransaction { get }
    /// What is known of whether the account may make payments.
    var payments: Eligibility { get }
}

/// An account's permission for the offers of a group, and the plan that it holds there.
package protocol GroupOffers {
    /// Whether the account may have an introductory offer in the group.
    var introductoryEligibility: Eligibility { get }
    var introductory: OfferRuling { get }
    var promotional: OfferRuling { get }
    /// Nil where nothing is said of codes for such a product.
    func ruling(onCode code: CodeOffer, of product: CatalogueProduct) -> OfferRuling?
    func ruling(onWinBack offer: WinBackOffer) -> OfferRuling
    /// Best first.
    func ordered(_ winBacks: [(product: CatalogueProduct, offer: WinBackOffer)]) -> [(
        product: CatalogueProduct, offer: WinBackOffer
    )]
    var heldPlan: HeldPlan? { get }
    /// The product of the next charge.
    var preferredProductID: String? { get }
}

/// What an account of an app has at an instant. `record`: nil for an account that does not exist.
package func holdings(of record: AccountRecord?, in app: AppState, at now: Instant) -> any Holdings {
    app.isTestApp
        ? TestHoldings(record: record, app: app, now: now) : ReportedHoldings(record: record, app: app, now: now)
}

extension Holdings {
    package func statuses(inGroup groupID: String) -> Viewed<SubscriptionStatuses> {
        var viewed = Viewed(value: SubscriptionStatuses(statuses: []))
        guard self.record != nil else { return viewed }
        let winBacks = self.winBacks(inGroup: groupID)
        var levels: [Int32] = []
        for line in self.lines(inGroup: groupID) {
            self.note(line, in: &viewed.outlook)
            guard let status = self.status(of: line, winBacks: winBacks.offerIDs) else { continue }
            viewed.value.statuses.append(status)
            levels.append(self.level(of: line))
        }
        if let change = winBacks.nextChange { viewed.outlook.note(change) }
        (viewed.value.effectiveIndex, viewed.value.effectiveReason) = effectiveStatus(
            among: viewed.value.statuses, levels: levels)
        return viewed
    }

    package var entitlements: [Verified<Transaction>] {
        self.entitling
            .sorted { $0.productID == $1.productID ? Self.precedes($0, $1) : $0.productID < $1.productID }
            .map { verified($0, app: self.app) }
    }
}

/// Own before shared, then the later end; nil: neither decides.
func precedesByEnd(_ left: Transaction, _ right: Transaction) -> Bool? {
    let leftIsOwn = left.ownership != .familyShared
    if leftIsOwn != (right.ownership != .familyShared) { return leftIsOwn }
    let leftEnd = left.expirationDate ?? .distantFuture
    let rightEnd = right.expirationDate ?? .distantFuture
    return leftEnd == rightEnd ? nil : leftEnd > rightEnd
}
