import PerchBase
import PerchModel

/// The products of an app's state, each prepared for plain purchases when it is first bought.
///
/// Belongs to one state of the app: another state is another value.
struct PreparedSales {
    let state: AppState
    private var sales: [Int32: PreparedSale?] = [:]
    /// The sale that was used last: most orders of a batch are for the same few products.
    private var last: (product: Int32, sale: PreparedSale?)?

    init(of state: AppState) { self.state = state }

    /// Nil where the purchases of a product take the general way.
    @inline(__always)
    mutating func sale(_ product: Int32) -> PreparedSale? {
        if let last = self.last, last.product == product { return last.sale }
        return self.find(product)
    }

    private mutating func find(_ product: Int32) -> PreparedSale? {
        let sale: PreparedSale?
        if let known = self.sales[product] {
            sale = known
        } else {
            sale = PreparedSale(self.state.catalogue.products[Int(product)], app: self.state)
            self.sales[product] = sale
        }
        self.last = (product, sale)
        return sale
    }
}

// Plain purchases: decided in one step, without the lists and copies of a general decision.
extension StoreEngine {
    /// Decides one order. Nil: it waits, and is answered later.
    func decide(_ order: StoreOrder, _ call: Call, _ batch: inout Batch) throws(StorageError) -> StoreAnswer? {
        guard let app = batch.apps[order.app] else {
            return .refused(Refusal(.appUnknown, "this store has no app with number \(order.app)"))
        }
        let key = order.mutationKey
        if let key, let answer = try self.keptAnswer(to: key, order.digest, call, &batch) { return answer }
        if app.state.catalogueRevision == order.catalogueRevision,
            let answer = try self.buy(order, under: key, app.state, call, &batch)
        {
            return answer
        }
        return try self.decide(order.general(try self.catalogue(of: order, app.state)), call, &batch)
    }

    /// The catalogue in which an order names its product. A loop may not have applied a newer one yet.
    private func catalogue(of order: StoreOrder, _ current: AppState) throws(StorageError) -> Catalogue {
        if current.catalogueRevision == order.catalogueRevision { return current.catalogue }
        guard let earlier = try self.storage.appState(order.app, at: order.catalogueRevision),
            earlier.state.catalogueRevision == order.catalogueRevision
        else { throw .corrupt("app \(order.app) has no catalogue of revision \(order.catalogueRevision)") }
        return earlier.state.catalogue
    }

    /// A plain purchase; nil where it takes the general way.
    private func buy(
        _ order: StoreOrder, under key: MutationKey?, _ app: AppState, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer? {
        if self.prepared?.state !== app { self.prepared = PreparedSales(of: app) }
        guard let sale = self.prepared?.sale(order.product) else { return nil }
        guard let account = try self.storage.account(order.account, app: order.app),
            let record = try self.record(account)
        else { return nil }
        let now = app.clock.now(wall: call.wall)
        let id = batch.header.nextTransaction
        guard !record.isDue(by: now),
            let transaction = decidePlainPurchase(
                sale, quantity: order.quantity, accountToken: order.accountToken, record: record, now: now, id: id)
        else { return nil }
        let revision = batch.header.revision + 1
        let origin = order.origin.clientID
        var bought = record
        bought.buy(transaction, revision: revision, committed: call.wall)
        // The general way refuses, with the numbers.
        guard bought.entryCount <= self.limits.recordEntriesMax else { return nil }
        let result = MutationResult.transaction(transaction, wasHeld: false)
        let position = Position(revision: revision, asOf: now)
        let answer = key.map {
            KeyedAnswer(
                key: $0,
                answer: KeptAnswer(digest: order.digest, result: result, position: position, kept: call.wall))
        }
        try self.write(
            StoredPurchase(
                revision: revision, committed: call.wall, app: order.app, account: account, transaction: transaction,
                effective: now, origin: origin, record: bought, due: bought.attemptDue,
                nextTransaction: id + 1, nextAccount: batch.header.nextAccount, answer: answer), &batch)
        return .mutated(result, position)
    }
}
