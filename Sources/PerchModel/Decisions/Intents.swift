import PerchBase

/// Records a purchase that a customer begins outside the app: a promoted product, or a win-back offer. Nothing is
/// bought; eligibility for the offer is checked when the app buys.
func decideIntent(
    _ productID: String, offer: OrderedOffer?, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    let product = try productForSale(productID, app: app)
    if let offer { try requireOffer(offer, of: product) }
    guard subject.record.intents.count < Limits.purchaseIntentsMax else {
        throw Refusal(
            .intentLimit,
            "\(subject.record.intents.count) purchase intents of the account wait, the limit is "
                + "\(Limits.purchaseIntentsMax); buy or dismiss some",
            found: Int64(subject.record.intents.count), limit: Int64(Limits.purchaseIntentsMax))
    }
    let intent = PurchaseIntent(id: numbers.take(), productID: productID, offer: offer, since: now)
    var outcome = OperationOutcome()
    outcome.facts = [Fact(.intentCreated(intent), effective: now)]
    outcome.number = intent.id
    return .done(outcome)
}

func decideEndOfIntent(_ id: UInt64, _ subject: OperationSubject, now: Instant) throws(Refusal) -> OperationDecision {
    guard subject.record.intents.contains(where: { $0.id == id }) else {
        throw Refusal(
            .intentUnknown,
            "no purchase intent \(id) of the account waits; `perch store inspect ACCOUNT` lists those that do")
    }
    return .done(OperationOutcome([Fact(.intentEnded(id: id), effective: now)]))
}

/// Sets the storefront of future purchases; earlier ones keep theirs.
func decideStorefront(_ storefront: String, _ subject: OperationSubject, now: Instant) throws(Refusal)
    -> OperationDecision
{
    if !storefront.isEmpty { try checkCountry(storefront, field: "operation.set_storefront.storefront") }
    guard storefront != subject.record.storefront else { return .done(OperationOutcome()) }
    return .done(OperationOutcome([Fact(.storefrontSet(storefront), effective: now)]))
}

func decideMessage(_ subject: OperationSubject, now: Instant) throws(Refusal) -> OperationDecision {
    .done(OperationOutcome([Fact(.messagePosted, effective: now)]))
}

/// Requires an ISO 3166-1 alpha-3 code. A country whose currency is not in the table has prices in US dollars.
package func checkCountry(_ country: String, field: String) throws(Refusal) {
    guard Country.isCode(country) else {
        let meant = Country.meant(by: country)
        throw Refusal(
            .fieldInvalid,
            "the storefront \(quoted(country)) is no country code of three capital letters (ISO 3166-1 alpha-3), such as USA"
                + (meant.map { "; for \($0.name) it is \($0.code)" } ?? ""),
            field: field)
    }
}

extension OperationOutcome {
    fileprivate init(_ facts: [Fact]) {
        self.init()
        self.facts = facts
    }
}
