import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// Rules of the model as a client meets them.
@Suite(.onChosenStorage) struct `the store's rules on the wire` {
    private let world = World()
    private let client: WireClient

    init() { self.client = self.world.welcomedClient() }

    private func reason(of request: Request) -> String {
        self.world.answer(to: request, from: self.client).1?.reason ?? ""
    }

    private func operate(_ operation: StoreOperation, _ account: String = "anna") -> Request {
        .operate(OperateRequest(account: account, operation: operation))
    }

    @Test func `no products are asked for, and none is the answer`() throws {
        let answer = try self.world.require(.getProducts(ProductsRequest()), from: self.client)
        guard case .getProducts(.success(let products, _)) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(products.products.isEmpty && products.unavailableIDs.isEmpty)
        #expect(self.reason(of: .getProducts(ProductsRequest(productIDs: [""]))) == "FIELD_INVALID")
    }

    @Test func `a dialog asks the app's customer, and no tester`() throws {
        try self.world.require(.configure(.dialogs(true)), from: self.client)
        let order = PurchaseOrder(productID: "coins")
        let outside = try self.world.require(self.operate(.buy(order)), from: self.client)
        guard case .operate(let done) = outside else {
            Issue.record("\(outside)")
            return
        }
        #expect(done.purchaseResult == .success)
        let inside = try self.world.require(
            .purchase(PurchaseRequest(account: "anna", order: order)), from: self.client)
        guard case .purchase(let waits) = inside else {
            Issue.record("\(inside)")
            return
        }
        #expect(waits.result == .pending)
    }

    @Test func `the statuses of all groups are one answer, and of one group or all`() throws {
        for product in ["gold", "weekly"] {
            try self.world.require(self.operate(.buy(PurchaseOrder(productID: product))), from: self.client)
        }
        let all = SubscriptionStatusRequest(account: "anna", allGroups: true)
        let answer = try self.world.require(.getSubscriptionStatus(all), from: self.client)
        guard case .getSubscriptionStatus(.success(let statuses, let info)) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(!info.isNotInCatalog)
        let groups = statuses.statuses.map(\.transaction.value.subscriptionGroupID)
        #expect(groups == groups.sorted() && Set(groups).count == 2)
        #expect(statuses.effectiveIndex == nil)
        #expect(statuses.effectiveInGroups.map(\.groupID) == groups)
        #expect(statuses.effectiveInGroups.map(\.index) == [0, 1])
        for group in groups {
            #expect(statuses.effective(inGroup: group)?.transaction.value.subscriptionGroupID == group)
        }
        let both = SubscriptionStatusRequest(account: "anna", groupID: "plans", allGroups: true)
        #expect(self.reason(of: .getSubscriptionStatus(both)) == "FIELD_INVALID")
        #expect(self.reason(of: .getSubscriptionStatus(SubscriptionStatusRequest(account: "anna"))) == "FIELD_MISSING")
    }

    @Test func `a code works as often as it says, for all accounts together`() throws {
        var offer = OfferEdit(type: .code, id: "campaign")
        (offer.paymentMode, offer.priceMilliunits) = (.oneTime, 10)
        offer.codes = [OfferCode(code: "TWICE", redemptionLimit: 2)]
        var edit = ProductEdit(productID: "coins")
        edit.offers = [offer]
        try self.world.require(.configure(.product(edit)), from: self.client)
        func redeem(_ account: String) -> String {
            self.reason(of: .redeemOfferCode(RedeemOfferCodeRequest(account: account, code: "TWICE")))
        }
        #expect(redeem("anna").isEmpty)
        #expect(redeem("anna") == "PURCHASE_INELIGIBLE_FOR_OFFER", "once for each account")
        #expect(redeem("bert").isEmpty)
        #expect(redeem("carl") == "PURCHASE_INELIGIBLE_FOR_OFFER", "used up")
        #expect(self.reason(of: self.operate(.clearTransactions, "bert")).isEmpty)
        #expect(redeem("carl").isEmpty, "what never happened redeemed nothing")
    }

    @Test func `payments that are forbidden show, and are refused`() throws {
        func paying() throws -> [Bool] {
            let request = AppTransactionRequest(account: "anna")
            guard
                case .getAppTransaction(let answer) = try self.world.require(
                    .getAppTransaction(request), from: self.client)
            else { return [] }
            return [answer.canMakePayments, answer.arePaymentsForbidden]
        }
        #expect(try paying() == [true, false])
        try self.world.require(self.operate(.setPayments(isAllowed: false)), from: self.client)
        #expect(try paying() == [false, true])
        let order = PurchaseOrder(productID: "coins")
        #expect(self.reason(of: .purchase(PurchaseRequest(account: "anna", order: order))) == "PURCHASE_NOT_ALLOWED")
        #expect(self.reason(of: self.operate(.buy(order))) == "PURCHASE_NOT_ALLOWED")
    }
}
