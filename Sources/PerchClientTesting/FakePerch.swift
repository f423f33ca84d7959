public import PerchBase
public import PerchClient
public import PerchModel
import PerchWire

/// A client for unit tests, without a server, a socket or a thread.
///
/// The test says what accounts own; the client's streams and reads show it, and its streams see each change.
///
///     let perch = FakePerch()
///     perch.give("plus", to: "anna")
///     let shop = Shop(client: perch.client)
///     #expect(try await shop.mayRead("anna"))
///     perch.fail(with: .init(code: .unavailable, reason: .connectFailed, message: "no server"))
///
/// Reads that have no value here, and mutations other than grants, fail with `UNIMPLEMENTED` and name the method. A test of what a
/// purchase leads to needs a server: `perch serve` starts in milliseconds.
public final class FakePerch: Sendable {
    /// The client to test with.
    public let client: PerchClient
    private let store = FakeStore()

    /// Creates a double in which no account owns anything.
    public init(options: PerchClientOptions = PerchClientOptions()) {
        do throws(PerchError) {
            self.client = try PerchClient(
                address: "127.0.0.1:7447", options: options, on: ClientLoop(double: self.store))
        } catch {
            preconditionFailure("options that no client accepts: \(error)")
        }
    }

    /// The methods that were called and opened so far, in order, such as `EntitlementService/GetEntitlements`.
    public var asked: [String] { self.store.asked }

    // MARK: What accounts own

    /// Gives an account a named entitlement, or replaces it. `until` nil: it has no end.
    public func give(_ name: String, to account: String, tier: String = "", until: Instant? = nil) {
        var entitlement = NamedEntitlement(name: name)
        entitlement.isActive = true
        entitlement.tier = tier
        entitlement.until = until
        entitlement.isLifetime = until == nil
        entitlement.origin = .grant
        entitlement.reason = "granted"
        self.store.change { $0.give(entitlement, to: account) }
    }

    /// Takes a named entitlement away: it is listed as one that the account does not have.
    public func take(_ name: String, from account: String) {
        self.store.change { $0.give(NamedEntitlement(name: name), to: account) }
    }

    /// Replaces all named entitlements of an account.
    public func setEntitlements(_ entitlements: [NamedEntitlement], of account: String) {
        self.store.change { $0.named[account] = entitlements }
    }

    /// Sets the transaction that entitles an account to a product; nil: it is not entitled.
    public func setTransaction(_ transaction: Verified<Transaction>?, product: String, of account: String) {
        self.store.change { $0.transactions[account, default: [:]][product] = transaction }
    }

    /// Sets the statuses of an account in a subscription group.
    public func setStatuses(_ statuses: SubscriptionStatuses, group: String, of account: String) {
        self.store.change { $0.statuses[account, default: [:]][group] = statuses }
    }

    /// Replaces the products of the catalogue.
    public func setProducts(_ products: [Product]) {
        self.store.change { $0.products = products }
    }

    // MARK: What happens

    /// Delivers an event to each open stream of the account's transactions.
    public func deliver(_ update: TransactionUpdate, of account: String) {
        self.store.deliver(UpdateItem(update: update, cursor: update.cursor)) { request in
            guard case .transactionUpdates(let request) = request else { return false }
            return request.account == account
        }
    }

    /// Delivers a change to each open stream of the app's changes.
    public func deliver(_ change: AppChange) {
        self.store.deliver(UpdateItem(update: nil, change: change, cursor: change.cursor)) { request in
            if case .appChanges = request { true } else { false }
        }
    }

    /// From now on every call fails with `error`, and state streams show it with their last value; nil ends that.
    ///
    /// A final error, by `PerchError.isTransient`, ends the streams.
    public func fail(with error: PerchError?) {
        self.store.change { $0.failure = error }
    }
}
