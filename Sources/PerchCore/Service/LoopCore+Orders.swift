import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

// Purchases, the hot path of the service. They take the same steps as other calls. They are separate because the answer
// needs no part of the request, so none is kept or copied.
extension LoopCore {
    /// A plain order as the store takes it; nil for any other request, and for one that will be refused: the general way
    /// reads it again, and says why. Inlined, as `order` is, because each call would copy the order.
    @inline(__always)
    mutating func plainOrder(
        _ request: UnsafeRawBufferPointer, _ method: Method, _ connection: Int32, _ stream: UInt32, _ caller: UInt32
    ) -> StoreOrder? {
        let isPurchase = method == .purchase
        guard let quick = self.codec.decodeQuickOrder(request, isPurchase: isPurchase),
            let app = self.plainApp(quick, caller), app.isTestApp,
            // A dialog asks the app's customer, which a plain order does not say.
            !(isPurchase && app.settings.asksBeforePurchases),
            let account = OrderAccount(app: app.number, quick.account)
        else { return nil }
        let codec = self.codec
        guard
            let product = self.service.orderProducts.place(
                at: quick.productPlace, version: quick.productVersion, of: app, { codec.name(at: quick.productPlace) })
        else { return nil }
        // A change outside the app has no origin: every reader of the account's transactions receives it.
        let origin =
            isPurchase ? self.clientID(connection, stream: stream).map { OrderOrigin($0) } ?? .none : .none
        return StoreOrder(
            app: app.number, product: product, catalogueRevision: app.catalogueRevision,
            quantity: max(quick.quantity, 1), accountToken: quick.accountToken, account: account, origin: origin)
    }

    /// The app of a plain order, where the caller may buy for its account there.
    private func plainApp(_ order: QuickOrder, _ caller: UInt32) -> AppState? {
        guard let only = self.apps.only else { return nil }
        if let named = order.app, !only.fits(named) { return nil }
        guard self.service.hasAuthenticator else { return only }
        let identity = self.service.identities[caller].identity
        guard identity.apps.includes(only.name) else { return nil }
        // Bytewise, as keys are compared.
        if let own = identity.account, !own.utf8.elementsEqual(order.account) { return nil }
        return only
    }

    @inline(__always)
    mutating func order(_ call: Int32, _ order: StoreOrder) {
        self.calls[call].state = .order(app: order.app)
        let ticket = self.issue(.call(call, generation: self.calls.generation(call)))
        self.asks.append(StoreRequest(loop: self.loop, ticket: ticket, order: order))
    }

    /// Starts an order of a test store's customer.
    mutating func order(_ call: Int32, _ asked: OperateRequest) throws(CallRefusal) {
        guard let operation = asked.operation, case .buy(let order) = operation else {
            preconditionFailure("an order is an operation")
        }
        let app = try self.app(asked.app, ofCall: call)
        if self.service.hasAuthenticator { try self.permit(call, .operate(asked), of: app) }
        try Self.check(key: asked.idempotencyKey, account: asked.account, order, at: Self.operatedOrder)
        let meant = order.saysWhatIsMeant ? operation : operation.meant
        // A change outside the app has no origin: every reader of the account's transactions receives it.
        let mutation = Mutation.operation(meant, account: Self.key(asked.account, app), app: app)
        self.askForOrder(
            call,
            asked.idempotencyKey.isEmpty ? mutation : self.keyed(asked.idempotencyKey, mutation, .operate(asked)),
            of: app)
    }

    /// Starts an order of the app's own customer.
    mutating func order(_ call: Int32, _ asked: PurchaseRequest, _ request: Request) throws(CallRefusal) {
        let app = try self.app(asked.app, ofCall: call)
        if self.service.hasAuthenticator { try self.permit(call, request, of: app) }
        try Self.check(key: asked.idempotencyKey, account: asked.account, asked.order)
        if asked.includesJWS { self.service.signedCalls.insert(call) }
        var order = asked.order
        // A customer who has agreed is not asked again.
        order.isByApp = !asked.isConfirmed
        let operation = StoreOperation.buy(order).meant
        let mutation = Mutation.operation(
            operation, account: Self.key(asked.account, app), app: app,
            origin: self.clientID(ofCall: call))
        self.askForOrder(call, self.keyed(asked.idempotencyKey, mutation, request), of: app)
    }

    private mutating func askForOrder(_ call: Int32, _ mutation: consuming Mutation, of app: AppNumber) {
        self.calls[call].state = .order(app: app)
        self.ask(.call(call, generation: self.calls.generation(call)), .mutate(mutation))
    }

    /// Finishes an order that the store has decided.
    mutating func finishOrder(_ call: Int32, of app: AppNumber, _ answer: consuming StoreAnswer) {
        switch consume answer {
        case .mutated(.transaction(let transaction, let wasHeld, let failure), let position) where !self.wantsJWS(call):
            do throws(MessageError) {
                self.answer(
                    call,
                    encoded: try self.codec.encodePurchase(
                        transaction, failure, wasHeld: wasHeld, at: position,
                        isOperation: self.calls[call].method == .operate))
            } catch {
                self.couldNotEncode(call, error)
            }
        case .mutated(let result, let position):
            if self.calls[call].method == .operate {
                let response = self.operateResponse(result, at: position, isPurchase: true)
                do throws(MessageError) {
                    self.answer(call, encoded: try self.codec.encode(response))
                } catch {
                    self.couldNotEncode(call, error)
                }
            } else {
                let response = self.purchaseResponse(
                    result, at: position, of: app, isSigned: self.wantsJWS(call))
                do throws(MessageError) {
                    self.answer(call, encoded: try self.codec.encode(response))
                } catch {
                    self.couldNotEncode(call, error)
                }
            }
        case .refused(let refusal):
            self.refuse(call, refusal)
        default:
            preconditionFailure("an order was asked for")
        }
    }

    // MARK: Answers

    /// Ends a call with the model's refusal. The model does not know the request of an order: in `Operate` the field
    /// has another path, and for an approval of an earlier order it has none.
    mutating func refuse(_ call: Int32, _ refusal: Refusal) {
        var refusal = refusal
        let path = Self.purchasedOrder + "."
        if self.calls[call].method != .purchase, refusal.field.hasPrefix(path) {
            if case .order = self.calls[call].state {
                refusal.field = "\(Self.operatedOrder).\(refusal.field.dropFirst(path.count))"
            } else {
                refusal.field = ""
            }
        }
        self.end(call, WireStatus(refusal))
    }

    /// `isPurchase`: the response includes the result of a purchase.
    func operateResponse(_ result: MutationResult, at position: Position, isPurchase: Bool) -> OperateResponse {
        let became: PurchaseResult = isPurchase ? result.purchaseResult : .unspecified
        // Built at once in each case, because changing it later would copy it.
        switch result {
        case .transaction(let transaction, let wasHeld, let failure):
            return OperateResponse(
                position: position, transaction: Verified(transaction, failure: failure), purchaseResult: became,
                wasHeld: isPurchase && wasHeld)
        case .pending(let number), .number(let number):
            return OperateResponse(position: position, purchaseResult: became, number: number)
        case .none, .cancelled, .clock, .told:
            return OperateResponse(position: position, purchaseResult: became)
        }
    }

    private mutating func purchaseResponse(
        _ result: MutationResult, at position: Position, of app: AppNumber, isSigned: Bool
    ) -> PurchaseResponse {
        var response = PurchaseResponse(position: position, result: result.purchaseResult)
        if case .transaction(let transaction, let wasHeld, let failure) = result {
            var shown = Verified(transaction, failure: failure)
            if isSigned { self.sign(&shown, app) }
            (response.transaction, response.wasHeld) = (shown, wasHeld)
        }
        if case .pending(let number) = result { response.pendingNumber = number }
        return response
    }
}

extension PurchaseOrder {
    /// Whether the order needs no defaults.
    var saysWhatIsMeant: Bool { self.quantity > 0 }
}

extension OperateRequest {
    /// Whether it is a purchase.
    var isOrder: Bool {
        if case .buy? = self.operation { return true }
        return false
    }
}
