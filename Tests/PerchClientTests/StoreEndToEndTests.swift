import PerchBase
import PerchClient
import PerchModel
import Testing
import TestingThreads

/// The calls and streams of a test store beside purchases, over sockets.
@Suite(.onOwnThreads) struct `a test store, end to end` {
    private let stage: LoopbackStage
    private let client: PerchClient

    init() throws {
        self.stage = try LoopbackStage()
        self.client = try self.stage.client()
    }

    @Test func `an intent waits on its stream until the app buys or it is dismissed`() async throws {
        var intents = self.client.purchaseIntents(account: "anna").makeAsyncIterator()
        #expect(await intents.next(where: { $0 != .loading })?.value == [])
        try await self.client.operate(.createIntent(productID: "coins", offer: nil), account: "anna")
        let waiting = try #require(await intents.next()?.value)
        #expect(waiting.map(\.productID) == ["coins"])
        _ = try await self.client.purchase("coins", account: "anna")
        #expect(await intents.next()?.value == [])
        let second = try await self.client.operate(.createIntent(productID: "gold", offer: nil), account: "anna")
        #expect(await intents.next()?.value?.count == 1)
        try await self.client.operate(.endIntent(id: try #require(second.number)), account: "anna")
        #expect(await intents.next()?.value == [])
    }

    @Test func `a message is on its stream for as long as it matters`() async throws {
        var messages = self.client.messages(account: "anna").makeAsyncIterator()
        #expect(await messages.next(where: { $0 != .loading })?.value == [])
        let bought = try await self.client.purchase("gold", account: "anna")
        let price = try #require(bought.transaction?.value.price)
        try await self.client.operate(
            .raisePrice(.product("gold"), milliunits: 3 * price.milliunits, needsConsent: true), account: "anna")
        let asked = try #require(await messages.next()?.value?.first)
        #expect(asked.reason == .priceIncreaseConsent && asked.productID == "gold")
        #expect(asked.price == Money(milliunits: 3 * price.milliunits, currency: price.currency))
        try await self.client.operate(.answerPriceIncrease(.product("gold"), agrees: true), account: "anna")
        #expect(await messages.next()?.value == [])
    }

    @Test func `an explanation names the transaction, and changes with it`() async throws {
        let bought = try await self.client.purchase("gold", account: "anna")
        let id = try #require(bought.transaction?.value.id)
        let before = try await self.client.explainEntitlement(
            account: "anna", product: "gold", atLeast: bought.position)
        #expect(before.value.isEntitled)
        #expect(before.value.explanations.first?.facts.contains { $0.transactionID == id } == true)
        #expect(before.value.explanations.first?.nextChange?.at == bought.transaction?.value.expirationDate)
        let refund = try await self.client.operate(.refund(.transaction(id), reason: .other, share: .prorated))
        let after = try await self.client.explainStatus(account: "anna", group: "premium", atLeast: refund.position)
        #expect(!after.value.isEntitled && after.value.explanations.first?.state == .revoked)
        #expect(refund.transaction?.value.revocation?.type == .refundProrated)
    }

    @Test func `reads of another moment, and of what was known then, agree with what was pushed`() async throws {
        let bought = try await self.client.purchase("gold", account: "anna")
        let transaction = try #require(bought.transaction?.value)
        let end = try #require(transaction.expirationDate)
        let off = try await self.client.operate(.setAutoRenew(.product("gold"), isOn: false), account: "anna")
        func state(_ asOf: AsOf) async throws -> RenewalState? {
            try await self.client.subscriptionStatus(
                account: "anna", group: "premium", asOf: asOf, atLeast: off.position
            ).value.statuses.first?.state
        }
        #expect(try await state(.now) == .subscribed)
        #expect(try await state(AsOf(instant: end.advanced(byMilliseconds: -1))) == .subscribed)
        #expect(try await state(AsOf(instant: end)) == .expired)
        #expect(try await state(AsOf(instant: transaction.purchaseDate.advanced(byMilliseconds: -1))) == nil)
        let known = try await self.client.subscriptionStatus(
            account: "anna", group: "premium", asOf: AsOf(revision: try #require(bought.position).revision))
        #expect(known.value.statuses.first?.renewalInfo.value.willAutoRenew == true)
        let entitled = try await self.client.currentEntitlement(
            account: "anna", product: "gold", asOf: AsOf(instant: end))
        #expect(entitled.value == nil)
    }

    @Test func `a purchase that waits is inspected, declined and approved`() async throws {
        try await self.client.configure([.askToBuy(true)])
        #expect(try await self.client.settings().contains(.askToBuy(true)))
        guard case .pending(let first) = try await self.client.purchase("coins", account: "anna").result,
            case .pending(let second) = try await self.client.purchase("gold", account: "anna").result
        else { throw PerchError(code: .internal, reason: "NOT_PENDING", message: "asking to buy did not wait") }
        #expect(try await self.client.inspect(account: "anna").value.pendingPurchases.map(\.id) == [first, second])
        try await self.client.operate(.decidePurchase(id: first, approves: false), account: "anna")
        let approved = try await self.client.operate(.decidePurchase(id: second, approves: true), account: "anna")
        #expect(approved.transaction?.value.productID == "gold")
        #expect(try await self.client.inspect(account: "anna").value.pendingPurchases.isEmpty)
    }

    @Test func `where dialogs are on, a purchase waits unless the customer has confirmed it`() async throws {
        try await self.client.configure([.dialogs(true)])
        #expect(try await self.client.policies().showsDialogs)
        guard case .pending = try await self.client.purchase("coins", account: "anna").result else {
            throw PerchError(
                code: .internal, reason: "NOT_PENDING", message: "a purchase without a dialog did not wait")
        }
        let bought = try await self.client.purchase("gold", account: "anna", isConfirmed: true)
        #expect(bought.transaction?.value.productID == "gold")
        let order = PurchaseOrder(productID: "coins", quantity: 2)
        let more = try await self.client.purchase(order, account: "anna", isConfirmed: true)
        #expect(more.transaction?.value.quantity == 2)
    }

    // MARK: Tokens that outlive a process

    @Test func `a stream with a kept token gets unchanged, and then the changes`() async throws {
        _ = try await self.client.purchase("coins", account: "anna")
        var before = self.client.subscriptionStatusTask(account: "anna", group: "premium").makeAsyncIterator()
        let known = try #require(await before.next(where: { $0.info != nil })?.info)

        let other = try self.stage.client()
        let task = other.subscriptionStatusTask(account: "anna", group: "premium").since(known.token)
        var states = task.makeAsyncIterator()
        guard case .unchanged(let info)? = await states.next(where: { $0 != .loading }) else {
            Issue.record("the same value was delivered again")
            return
        }
        #expect(task.last == nil && !info.token.isEmpty)
        await self.stage.server.reaches { $0.unchangedAnswers == 1 && $0.resumedWithValue == 0 }

        _ = try await self.client.purchase("gold", account: "anna")
        #expect(await states.next()?.value?.statuses.count == 1)
        var third = other.subscriptionStatusTask(account: "anna", group: "premium").since(known.token)
            .makeAsyncIterator()
        #expect(await third.next(where: { $0 != .loading })?.value?.statuses.count == 1)
        await self.stage.server.reaches { $0.unchangedAnswers == 1 && $0.resumedWithValue == 1 }
    }

    @Test func `a stream that got unchanged continues after a lost connection`() async throws {
        var before = self.client.currentEntitlementTask(account: "anna", product: "gold").makeAsyncIterator()
        let known = try #require(await before.next(where: { $0.info != nil })?.info)
        let other = try self.stage.client()
        var states = other.currentEntitlementTask(account: "anna", product: "gold").since(known.token)
            .makeAsyncIterator()
        _ = await states.next(where: { $0.info != nil })
        self.stage.server.breakConnections()
        let bought = try await self.client.purchase("gold", account: "anna")
        #expect(await states.next()?.value == .some(bought.transaction))
    }

    @Test func `a restarted stream loads, and then shows the current value`() async throws {
        _ = try await self.client.purchase("gold", account: "anna")
        let task = self.client.currentEntitlementTask(account: "anna", product: "gold")
        for await state in task where state.info != nil { break }
        let held = try #require(task.last ?? nil)
        // Nothing has happened since.
        var again: [EntitlementTaskState<Verified<Transaction>?>] = []
        for await state in task {
            again.append(state)
            if state.info != nil { break }
        }
        #expect(again.last?.value == .some(held))
        await self.stage.server.reaches { $0.unchangedAnswers == 1 }
        // While nobody looks, it is refunded.
        _ = try await self.client.operate(.refund(.transaction(held.value.id), reason: .other, share: .full))
        again = []
        for await state in task {
            again.append(state)
            if state.info != nil { break }
        }
        #expect(again.last?.value == .some(nil))
        #expect(again.allSatisfy { $0.value == nil || $0.value == .some(nil) }, "what was so is not shown")
    }

    /// The token belongs to one value, and the failure kept another.
    @Test func `a stream with a kept token that is begun again in a failure shows the value that is so`() async throws {
        let token = try await self.client.products(["gold"]).info.token
        #expect(!token.isEmpty)
        let cheap = try await self.client.products(["gold"]).value.products[0].price
        let task = self.client.productsTask(["gold"]).since(token)
        var states = task.makeAsyncIterator()
        #expect(await states.next(where: { $0.info != nil })?.value == nil, "unchanged")
        func price(_ milliunits: Int64) -> AppSettingChange {
            var edit = ProductEdit(productID: "gold")
            edit.priceMilliunits = milliunits
            return .product(edit)
        }
        _ = try await self.client.configure([price(55_000)])
        #expect(await states.next(where: { $0.value != nil })?.value?.products[0].price.milliunits == 55_000)
        _ = try await self.client.configure([.simulatedError(.loadProducts, .networkError)])
        let failed = await states.next(where: { if case .failure = $0 { true } else { false } })
        #expect(failed?.value?.products[0].price.milliunits == 55_000)
        // Nobody looks for a moment.
        states = self.client.productsTask(["gold"]).makeAsyncIterator()
        _ = try await self.client.configure([.simulatedError(.loadProducts, nil), price(cheap.milliunits)])
        for await state in task {
            guard let value = state.value, state.info != nil else { continue }
            #expect(value.products[0].price == cheap)
            break
        }
    }

    @Test func `a token of another view is refused, and its stream ends`() async throws {
        var before = self.client.currentEntitlementTask(account: "anna", product: "gold").makeAsyncIterator()
        let known = try #require(await before.next(where: { $0.info != nil })?.info)
        let task = self.client.currentEntitlementTask(account: "berta", product: "gold").since(known.token)
        var last: EntitlementTaskState<Verified<Transaction>?>?
        for await state in task { last = state }
        guard case .failure(let failure, last: nil)? = last else {
            Issue.record("the stream ended with \(String(describing: last))")
            return
        }
        #expect(failure.isFinal && failure.reason == "TOKEN_OTHER_VIEW")
        #expect(failure.error?.code == .invalidArgument)
    }
}
