package import PerchBase
package import PerchModel
package import PerchStore
package import PerchWire

/// The subject of a watch.
package enum WatchSubject: Hashable, Sendable {
    case status(account: String, group: String)
    case entitlement(account: String, product: String)
    case products(ids: [String], locale: String)
    case updates(account: String)
    case intents(account: String)
    case messages(account: String)

    package func request(token: [UInt8], atLeast: Position?) -> Request {
        switch self {
        case .status(let account, let group):
            .subscriptionStatusTask(
                SubscriptionStatusRequest(account: account, groupID: group, resumeToken: token, atLeast: atLeast))
        case .entitlement(let account, let product):
            .currentEntitlementTask(
                CurrentEntitlementRequest(account: account, productID: product, resumeToken: token, atLeast: atLeast))
        case .products(let ids, let locale):
            .productsTask(ProductsRequest(productIDs: ids, locale: locale, resumeToken: token, atLeast: atLeast))
        case .intents(let account):
            .purchaseIntents(AccountWatchRequest(account: account, resumeToken: token, atLeast: atLeast))
        case .messages(let account):
            .messages(AccountWatchRequest(account: account, resumeToken: token, atLeast: atLeast))
        case .updates(let account):
            .transactionUpdates(TransactionUpdatesRequest(account: account, cursor: token, atLeast: atLeast))
        }
    }

    /// The unary read of the same view; nil if there is none.
    package var read: Request? {
        switch self {
        case .status(let account, let group):
            return .getSubscriptionStatus(SubscriptionStatusRequest(account: account, groupID: group))
        case .entitlement(let account, let product):
            return .getCurrentEntitlement(CurrentEntitlementRequest(account: account, productID: product))
        case .products(let ids, let locale):
            return .getProducts(ProductsRequest(productIDs: ids, locale: locale))
        case .updates, .intents, .messages: return nil
        }
    }

    package var account: String? {
        switch self {
        case .status(let account, _), .entitlement(let account, _), .updates(let account), .intents(let account),
            .messages(let account):
            account
        case .products: nil
        }
    }
}

/// A value of any view, for comparisons.
package enum SeenValue: Hashable, Sendable {
    case statuses(SubscriptionStatuses)
    case entitlement(Verified<Transaction>?)
    case products(Products)
    case intents([PurchaseIntent])
    case messages([StoreMessage])
}

extension History {
    package func key(_ account: String) -> AccountKey { AccountKey(app: 1, bytes: Array(account.utf8)) }

    /// The value of a view at an instant, from the commits up to a revision; nil for events.
    package func value(of subject: WatchSubject, at revision: UInt64, asOf instant: Instant) -> SeenValue? {
        let app = self.app(1, at: revision)
        switch subject {
        case .status(let account, let group):
            let record = self.record(self.key(account), at: revision)
            return .statuses(subscriptionStatuses(of: record, inGroup: group, app: app, at: instant).value)
        case .entitlement(let account, let product):
            let record = self.record(self.key(account), at: revision)
            return .entitlement(currentEntitlement(of: record, toProduct: product, app: app, at: instant).value)
        case .products(let ids, let locale):
            return .products(PerchModel.products(ids, locale: locale, storefront: "", app: app))
        case .intents(let account):
            return .intents(purchaseIntents(of: self.record(self.key(account), at: revision)).value)
        case .messages(let account):
            let record = self.record(self.key(account), at: revision)
            return .messages(storeMessages(of: record, app: app, at: instant).value)
        case .updates:
            return nil
        }
    }

    /// The last revision up to `revision` that changed an input of the view.
    package func revisionOfState(_ subject: WatchSubject, at revision: UInt64) -> UInt64 {
        let app = self.app(1, at: revision).revision
        guard let account = subject.account else { return app }
        return max(app, self.record(self.key(account), at: revision)?.revision ?? 0)
    }

    package func clock(at revision: UInt64, wall: Instant) -> Instant {
        self.app(1, at: revision).clock.now(wall: wall)
    }
}

/// One watch as its reader sees it, over all its calls and connections.
package final class SeenWatch {
    package let subject: WatchSubject
    /// The last value over all calls, which the token stands for.
    package var value: SeenValue?
    package var token: [UInt8] = []
    /// The position of that value. No server may send an older one upon the token.
    package var tokenPosition = Position(revision: 0, asOf: .distantPast)

    // This call.
    package var stream: UInt32?
    package var hadToken = false
    /// The instant before which the server may not answer.
    package var awaited = Instant.distantPast
    package var messageCount = 0
    /// The last value of this call; nil before the first.
    package var said: SeenValue?
    package var position = Position(revision: 0, asOf: .distantPast)
    /// The committed revision when the first message of this call arrived.
    package var revisionAtFirst: UInt64 = 0

    // Of events.
    package var place: EventPlace?
    /// The place where new events begin; nil before the marker.
    package var start: EventPlace?
    package var events: [EventPlace] = []
    package var unfinished: [TransactionID] = []
    package var hasMarker = false

    package init(_ subject: WatchSubject) { self.subject = subject }

    package var isUpdates: Bool {
        if case .updates = self.subject { true } else { false }
    }

    package func opened(on stream: UInt32, withToken hadToken: Bool, atLeast: Position?) {
        self.stream = stream
        self.awaited = max(hadToken ? self.tokenPosition.asOf : .distantPast, atLeast?.asOf ?? .distantPast)
        self.hadToken = hadToken
        self.messageCount = 0
        self.said = nil
        self.position = Position(revision: 0, asOf: .distantPast)
        if self.isUpdates, !hadToken {
            self.token = []
            self.place = nil
            self.start = nil
            self.events = []
            self.unfinished = []
            self.hasMarker = false
        }
    }

    package func closed() { self.stream = nil }
}
