import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

// Plain purchases: nearly all. They take the same steps as other calls. They are
// separate because the answer needs no part of the request, so none is kept or copied.
extension Service {
    /// A plain order as the store takes it; nil for any other request, and for one that will be refused: the general way
    /// reads it again, and says why. Inlined, as `order` is, because each call would copy the order.
    @inline(__always)
    mutating func plainOrder(
        _ request: UnsafeRawBufferPointer, _ method: Method, _ connection: Int32, _ stream: UInt32, _ caller: UInt32,
        _ tables: inout Tables, _ sink: inout some Sink
    ) -> StoreOrder? {
        let isPurchase = method == .purchase
        guard let quick = tables.codec.decodeQuickOrder(request, isPurchase: isPurchase),
            let app = self.plainApp(quick, caller, tables), app.isTestApp,
            // A dialog asks the app's customer, which a plain order does not say.
            !(isPurchase && app.settings.asksBeforePurchases),
            let account = OrderAccount(app: app.number, quick.account), let key = OrderKey(quick.key)
        else { return nil }
        let codec = tables.codec
        guard
            let product = self.orderProducts.place(
                at: quick.productPlace, version: quick.productVersion, of: app, { codec.name(at: quick.productPlace) })
        else { return nil }
        // A change outside the app has no origin: every reader of the account's transactions receives it.
        let origin =
            isPurchase
            ? sink.clientID(connection, stream: stream, tables).map { OrderOrigin($0) } ?? .none : .none
        return StoreOrder(
            app: app.number, product: product, catalogueRevision: app.catalogueRevision,
            quantity: max(quick.quantity, 1), accountToken: quick.accountToken, account: account, origin: origin,
            key: key, digest: key.isEmpty ? .zero : Self.digest(of: method, request))
    }

    /// The app of a plain order, where the caller may buy for its account there.
    private func plainApp(_ order: QuickOrder, _ caller: UInt32, _ tables: borrowing Tables) -> AppState? {
        guard let app = tables.apps.app(order.app) else { return nil }
        guard self.hasAuthenticator else { return app }
        let identity = self.identities[caller].identity
        guard identity.apps.includes(app.name) else { return nil }
        // Bytewise, as keys are compared.
        if let own = identity.account, !own.utf8.elementsEqual(order.account) { return nil }
        return app
    }

    @inline(__always)
    mutating func order(_ call: Int32, _ order: StoreOrder, _ tables: inout Tables) {
        tables.calls[call].state = .order(app: order.app)
        let ticket = tables.issue(.call(call, generation: tables.calls.generation(call)))
        tables.asks.append(StoreRequest(loop: tables.loop, ticket: ticket, order: order))
    }

    /// Finishes an order that the store has decided.
    mutating func finishOrder(
        _ call: Int32, _ answer: consuming StoreAnswer, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        let isOperation = tables.calls[call].method == .operate
        switch consume answer {
        case .mutated(.transaction(let transaction, let wasHeld, let failure), let position):
            do throws(MessageError) {
                self.answer(
                    call,
                    encoded: try tables.codec.encodePurchase(
                        transaction, failure, wasHeld: wasHeld, at: position, isOperation: isOperation), &tables,
                    &views, &sink)
            } catch {
                self.couldNotEncode(call, error, &tables, &views, &sink)
            }
        case .mutated(let result, let position):
            self.answer(
                call,
                isOperation
                    ? .operate(OperateResponse(result, at: position, isPurchase: true))
                    : .purchase(PurchaseResponse(result, at: position, signing: nil)), &tables, &views, &sink)
        case .refused(let refusal):
            self.end(call, WireStatus(isOperation ? refusal.inOperate(isOrder: true) : refusal), &tables, &views, &sink)
        default:
            preconditionFailure("an order was asked for")
        }
    }
}
