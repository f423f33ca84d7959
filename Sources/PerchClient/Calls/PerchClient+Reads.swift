public import PerchBase
public import PerchModel
import PerchWire

// The views of the streams, read once.
//
// `atLeast` is a position that a mutation answered with: the answer is from a server that has come that far, or the call
// ends with `BEHIND` at its timeout. `timeout` is `PerchClientOptions.callTimeout` where it is left out.
extension PerchClient {
    /// Products with their prices, and which identifiers are unavailable.
    public func products(
        _ ids: [String], locale: String = "", storefront: String = "", atLeast: Position? = nil,
        timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<Products> {
        let request = ProductsRequest(
            app: self.app, productIDs: ids, locale: locale, storefront: storefront, atLeast: atLeast)
        return try await self.call(.getProducts(request), timeout: timeout) { response throws(PerchError) in
            guard case .getProducts(let state) = response else { return nil }
            return try state.snapshot()
        }
    }

    /// A promotional image of the catalogue, by the `promotionalImageID` of a product.
    ///
    /// `known` is the `contentHash` of the bytes that the caller has: if they are still the image, they are not sent again.
    public func image(
        _ id: String, known: [UInt8] = [], atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> PromotionalImage {
        let request = GetImageRequest(app: self.app, imageID: id, knownHash: known, atLeast: atLeast)
        return try await self.call(.getImage(request), timeout: timeout) { response in
            guard case .getImage(let answer) = response else { return nil }
            return PromotionalImage(answer)
        }
    }

    /// The statuses of an account in a subscription group.
    public func subscriptionStatus(
        account: String, group: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<SubscriptionStatuses> {
        let request = SubscriptionStatusRequest(
            app: self.app, account: account, groupID: group, atLeast: atLeast)
        return try await self.call(.getSubscriptionStatus(request), timeout: timeout) { response throws(PerchError) in
            guard case .getSubscriptionStatus(let state) = response else { return nil }
            return try state.snapshot()
        }
    }

    /// The transaction that entitles an account to a product, or nil.
    public func currentEntitlement(
        account: String, product: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<Verified<Transaction>?> {
        let request = CurrentEntitlementRequest(
            app: self.app, account: account, productID: product, atLeast: atLeast)
        return try await self.call(.getCurrentEntitlement(request), timeout: timeout) { response throws(PerchError) in
            guard case .getCurrentEntitlement(let state) = response else { return nil }
            return try state.snapshot()
        }
    }

    /// Everything that an account is entitled to, by product, own before shared.
    public func currentEntitlements(
        account: String, atLeast: Position? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Snapshot<[Verified<Transaction>]> {
        let request = ListCurrentEntitlementsRequest(app: self.app, account: account, atLeast: atLeast)
        return try await self.call(.listCurrentEntitlements(request), timeout: timeout) { response in
            guard case .listCurrentEntitlements(let list) = response else { return nil }
            return Snapshot(list.transactions, info: ValueInfo(list.info))
        }
    }
}

extension TaskState {
    /// The answer of a read. Nil for states that only streams have.
    fileprivate func snapshot() throws(PerchError) -> Snapshot<Value>? {
        switch self {
        case .success(let value, let info): return Snapshot(value, info: ValueInfo(info))
        case .failure(let failure, _):
            throw PerchError(code: .unavailable, reason: failure.reason, message: failure.message)
        case .loading, .unchanged: return nil
        }
    }
}
