import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

// The requests of these tests, in few words.
extension Request {
    static func status(
        _ account: String = "anna", group: String = "plans", token: [UInt8] = [], atLeast: Position? = nil
    ) -> Request {
        .subscriptionStatusTask(
            SubscriptionStatusRequest(account: account, groupID: group, resumeToken: token, atLeast: atLeast))
    }

    static func entitlement(
        _ account: String = "anna", product: String = "gold", token: [UInt8] = [], atLeast: Position? = nil
    ) -> Request {
        .currentEntitlementTask(
            CurrentEntitlementRequest(account: account, productID: product, resumeToken: token, atLeast: atLeast))
    }

    static func products(
        _ ids: [String] = TestShop.all, locale: String = "", storefront: String = "", token: [UInt8] = []
    ) -> Request {
        .productsTask(ProductsRequest(productIDs: ids, locale: locale, storefront: storefront, resumeToken: token))
    }

    static func updates(_ account: String = "anna", cursor: [UInt8] = [], atLeast: Position? = nil) -> Request {
        .transactionUpdates(TransactionUpdatesRequest(account: account, cursor: cursor, atLeast: atLeast))
    }

    static func buy(_ product: String, _ account: String = "anna", key: [UInt8] = []) -> Request {
        .purchase(PurchaseRequest(account: account, order: PurchaseOrder(productID: product), idempotencyKey: key))
    }

    static func readStatus(_ account: String = "anna", group: String = "plans", atLeast: Position? = nil) -> Request {
        .getSubscriptionStatus(SubscriptionStatusRequest(account: account, groupID: group, atLeast: atLeast))
    }

    static func clock(_ change: ClockChange) -> Request { .setClock(SetClockRequest(change: change)) }

    static func refund(_ id: TransactionID) -> Request {
        .operate(.refund(.transaction(id), reason: .other, share: .full))
    }

    static func autoRenew(_ id: TransactionID, _ isOn: Bool) -> Request {
        .operate(.setAutoRenew(.transaction(id), isOn: isOn))
    }

    static func operate(_ operation: StoreOperation, _ account: String = "", key: [UInt8] = []) -> Request {
        .operate(OperateRequest(account: account, idempotencyKey: key, operation: operation))
    }

    static func configure(_ settings: AppSettingChange..., key: [UInt8] = []) -> Request {
        .configure(ConfigureRequest(settings: settings, idempotencyKey: key))
    }
}

extension World {
    /// Buys, and gives the transaction.
    @discardableResult
    func buy(_ product: String, _ account: String = "anna", from client: WireClient) throws -> Transaction {
        let (response, status) = self.answer(to: .buy(product, account), from: client)
        guard case .purchase(let purchase)? = response, let transaction = purchase.transaction else {
            throw NoAnswer(status: status)
        }
        return transaction.value
    }

    /// Asks for something that has to succeed.
    @discardableResult
    func require(_ request: Request, from client: WireClient) throws -> Response {
        let (response, status) = self.answer(to: request, from: client)
        guard let response, status?.code == 0 else { throw NoAnswer(status: status) }
        return response
    }

    /// Lets a client ask for something without waiting for anything.
    func position(of response: Response) -> Position? {
        switch response {
        case .purchase(let purchase): purchase.position
        case .operate(let done): done.position
        case .finish(let done), .configure(let done), .sync(let done), .manageSubscriptions(let done): done.position
        case .setClock(let clock): clock.position
        case .loadCatalog(let loaded): loaded.position
        default: nil
        }
    }
}

struct NoAnswer: Error, CustomStringConvertible {
    var status: Status?
    var description: String { "refused: \(self.status.map { "\($0.reason): \($0.message)" } ?? "no status at all")" }
}

/// A number that closures of a test share.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

extension SubscriptionStatuses {
    var states: [RenewalState] { self.statuses.map(\.state) }
}
