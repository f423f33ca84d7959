public import PerchBase
public import PerchModel
import PerchWire

// The views of the streams, read once.
//
// `atLeast` is the position of a mutation: the server answers when it has reached that position, or ends the call with
// `BEHIND` at its timeout. A position of before a restore of the store is refused with `TOKEN_OTHER_STORE`: this history may lack
// the mutation. The default of `timeout` is `PerchClientOptions.callTimeout`.
extension PerchClient {
    /// Products with their prices, and which identifiers are unavailable.
    public func products(
        _ ids: [String], locale: String = "", storefront: String = "", atLeast: Position? = nil,
        timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<Products> {
        let request = ProductsRequest(
            app: self.app, productIDs: ids, locale: locale, storefront: storefront, atLeast: atLeast)
        return try await self.call(Calls.getProducts, request, timeout: timeout) { state throws(PerchError) in
            try state.snapshot()
        }
    }

    /// A promotional image of the catalogue, by a product's `promotionalImageID`.
    ///
    /// `known` is the `contentHash` of the bytes that the caller has: if they are still the image, they are not sent again.
    public func image(
        _ id: String, known: [UInt8] = [], atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> PromotionalImage {
        let request = GetImageRequest(app: self.app, imageID: id, knownHash: known, atLeast: atLeast)
        return try await self.call(Calls.getImage, request, timeout: timeout) { answer in
            PromotionalImage(answer)
        }
    }

    /// The statuses of an account in a subscription group.
    public func subscriptionStatus(
        account: String, group: String, asOf: AsOf = .now, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<SubscriptionStatuses> {
        let request = SubscriptionStatusRequest(
            app: self.app, account: account, groupID: group, atLeast: atLeast,
            includesJWS: self.includesJWS, asOf: asOf.onWire)
        return try await self.call(Calls.getSubscriptionStatus, request, timeout: timeout) { state throws(PerchError) in
            try state.snapshot()
        }
    }

    /// The statuses of an account in all groups, one group after another, as StoreKit's `Status.all`.
    public func subscriptionStatusOfAllGroups(
        account: String, asOf: AsOf = .now, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<SubscriptionStatuses> {
        let request = SubscriptionStatusRequest(
            app: self.app, account: account, atLeast: atLeast, includesJWS: self.includesJWS, allGroups: true,
            asOf: asOf.onWire)
        return try await self.call(Calls.getSubscriptionStatus, request, timeout: timeout) { state throws(PerchError) in
            try state.snapshot()
        }
    }

    /// The transaction that entitles an account to a product, or nil. One that is not verified would entitle, and does not:
    /// use its `verifiedValue`.
    public func currentEntitlement(
        account: String, product: String, asOf: AsOf = .now, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<Verified<Transaction>?> {
        let request = CurrentEntitlementRequest(
            app: self.app, account: account, productID: product, atLeast: atLeast,
            includesJWS: self.includesJWS, asOf: asOf.onWire)
        return try await self.call(Calls.getCurrentEntitlement, request, timeout: timeout) { state throws(PerchError) in
            try state.snapshot()
        }
    }

    /// Everything that an account is entitled to, by product, own before shared.
    public func currentEntitlements(
        account: String, asOf: AsOf = .now, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<[Verified<Transaction>]> {
        let request = ListCurrentEntitlementsRequest(
            app: self.app, account: account, atLeast: atLeast, asOf: asOf.onWire, includesJWS: self.includesJWS)
        return try await self.call(Calls.listCurrentEntitlements, request, timeout: timeout) { list in
            Snapshot(list.transactions, info: ValueInfo(list.info))
        }
    }

    // MARK: Plans, offers, policies, reasons

    /// The products of a group, and the relation of each to the account's current plan.
    public func planOptions(
        account: String, group: String, locale: String = "", atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<[PlanOption]> {
        let request = PlanOptionsRequest(
            app: self.app, account: account, groupID: group, locale: locale, atLeast: atLeast)
        return try await self.call(Calls.listPlanOptions, request, timeout: timeout) { list in
            Positioned(list.options, position: list.position, isNotInCatalog: list.isNotInCatalog)
        }
    }

    /// The offers of a product, or of all products of a group, and the account's eligibility for each.
    public func offerEligibility(
        account: String, group: String = "", product: String = "", atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<OfferEligibilities> {
        let request = OfferEligibilityRequest(
            app: self.app, account: account, productID: product, groupID: group, atLeast: atLeast)
        return try await self.call(Calls.getOfferEligibility, request, timeout: timeout) { answer in
            Positioned(answer.value, position: answer.position, isNotInCatalog: answer.isNotInCatalog)
        }
    }

    /// The app's licence agreement and privacy policy. An empty `locale` means the app's.
    public func policies(locale: String = "", timeout: Duration? = nil) async throws(PerchError) -> ShownPolicies {
        let request = AppPoliciesRequest(app: self.app, locale: locale)
        return try await self.call(Calls.getAppPolicies, request, timeout: timeout) { answer in
            var policies = ShownPolicies(licenceAgreement: answer.licenceAgreement)
            policies.privacyPolicyText = answer.privacyPolicyText
            policies.privacyPolicyURL = answer.privacyPolicyURL
            policies.privacyPolicyLocale = answer.privacyPolicyLocale
            policies.showsDialogs = answer.showsDialogs
            return policies
        }
    }

    /// Everything that an account has, why, and what will change automatically, with the sentences that can be read to the customer.
    ///
    /// `withHistory`: also what happened to the account.
    public func explain(
        account: String, asOf: AsOf = .now, for reader: Reader = Reader(), supposing: Supposition? = nil,
        withHistory: Bool = false, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<Explanations> {
        try await self.explain(
            nil, account: account, asOf: asOf, reader, supposing, withHistory: withHistory, atLeast: atLeast,
            timeout: timeout)
    }

    /// Why an account is subscribed in a group, or not, and what will change automatically.
    public func explainStatus(
        account: String, group: String, asOf: AsOf = .now, for reader: Reader = Reader(),
        supposing: Supposition? = nil, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<Explanations> {
        try await self.explain(
            .group(group), account: account, asOf: asOf, reader, supposing, atLeast: atLeast, timeout: timeout)
    }

    /// Why an account is entitled to a product, or not, and what will change automatically.
    public func explainEntitlement(
        account: String, product: String, asOf: AsOf = .now, for reader: Reader = Reader(),
        supposing: Supposition? = nil, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<Explanations> {
        try await self.explain(
            .product(product), account: account, asOf: asOf, reader, supposing, atLeast: atLeast, timeout: timeout)
    }

    private func explain(
        _ about: ExplainRequest.About?, account: String, asOf: AsOf, _ reader: Reader, _ supposing: Supposition?,
        withHistory: Bool = false, atLeast: Position?, timeout: Duration?
    ) async throws(PerchError) -> Positioned<Explanations> {
        let request = ExplainRequest(
            app: self.app, account: account, about: about, asOf: asOf.onWire, atLeast: atLeast, locale: reader.locale,
            utcOffsetMinutes: Int32(clamping: reader.utcOffsetMinutes), suppose: supposing, withHistory: withHistory)
        return try await self.call(Calls.explain, request, timeout: timeout) { answer in
            Positioned(answer.value, position: answer.position, isNotInCatalog: answer.isNotInCatalog)
        }
    }
}

/// Who reads the texts for people in an answer.
public struct Reader: Hashable, Sendable {
    /// Such as `de_AT`; empty for English.
    public var locale: String
    /// Minutes between the reader's clock and UTC; positive in the east.
    public var utcOffsetMinutes: Int

    /// A reader of English in UTC, if nothing else is said.
    public init(locale: String = "", utcOffsetMinutes: Int = 0) {
        self.locale = locale
        self.utcOffsetMinutes = utcOffsetMinutes
    }
}

extension TaskState {
    /// The answer of a read. Nil for states that only streams have.
    fileprivate func snapshot() throws(PerchError) -> Snapshot<Value>? {
        switch self {
        case .success(let value, let info): return Snapshot(value, info: ValueInfo(info))
        case .failure(let failure, _):
            throw PerchError(
                code: .unavailable, reason: PerchError.Reason(rawValue: failure.reason), message: failure.message)
        case .loading, .unchanged: return nil
        }
    }
}
