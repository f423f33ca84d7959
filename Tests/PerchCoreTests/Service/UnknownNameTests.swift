import PerchBase
import PerchModel
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

private func info<Value>(of state: TaskState<Value>?) -> ValueInfo? {
    if case .success(_, let info)? = state { info } else { nil }
}

@Suite(.onChosenStorage) struct `a name that the catalogue does not have` {
    @Test(arguments: [("plans", false), ("plnas", true)])
    func `is marked in the status of an account`(group: String, isUnknown: Bool) throws {
        let world = World()
        let client = world.welcomedClient()
        guard case .getSubscriptionStatus(let read) = try world.require(.readStatus(group: group), from: client) else {
            Issue.record("another answer")
            return
        }
        #expect(info(of: read)?.isNotInCatalog == isUnknown)
        let stream = client.call(.status(group: group))
        world.settle()
        #expect(client.statuses(on: stream).last.flatMap { info(of: $0) }?.isNotInCatalog == isUnknown)
    }

    @Test(arguments: [("gold", false), ("glod", true)])
    func `is marked in the entitlement of an account`(product: String, isUnknown: Bool) throws {
        let world = World()
        let client = world.welcomedClient()
        let request = CurrentEntitlementRequest(account: "anna", productID: product)
        guard case .getCurrentEntitlement(let read) = try world.require(.getCurrentEntitlement(request), from: client)
        else {
            Issue.record("another answer")
            return
        }
        #expect(info(of: read)?.isNotInCatalog == isUnknown)
    }

    @Test(arguments: [("plans", "", true), ("plnas", "", false), ("", "gold", true), ("", "glod", false)])
    func `makes no account eligible for an introductory offer`(group: String, product: String, isKnown: Bool) throws {
        let world = World()
        let client = world.welcomedClient()
        let request = OfferEligibilityRequest(account: "anna", productID: product, groupID: group)
        guard case .getOfferEligibility(let answer) = try world.require(.getOfferEligibility(request), from: client)
        else {
            Issue.record("another answer")
            return
        }
        #expect(answer.isNotInCatalog == !isKnown)
        #expect(answer.value.isEligibleForIntroductory == isKnown)
    }

    @Test(arguments: [("plans", false), ("plnas", true)])
    func `is marked in plan options and explanations`(group: String, isUnknown: Bool) throws {
        let world = World()
        let client = world.welcomedClient()
        let options = try world.require(
            .listPlanOptions(PlanOptionsRequest(account: "anna", groupID: group)), from: client)
        if case .listPlanOptions(let list) = options { #expect(list.isNotInCatalog == isUnknown) }
        let explained = try world.require(
            .explain(ExplainRequest(account: "anna", about: .group(group))), from: client)
        if case .explain(let answer) = explained { #expect(answer.isNotInCatalog == isUnknown) }
    }

    @Test(arguments: [("gold", false), ("glod", true)])
    func `is marked where an account has no transaction of it`(product: String, isUnknown: Bool) throws {
        let world = World()
        let client = world.welcomedClient()
        let latest = LatestTransactionRequest(account: "anna", productID: product)
        guard case .getLatestTransaction(let answer) = try world.require(.getLatestTransaction(latest), from: client)
        else {
            Issue.record("another answer")
            return
        }
        #expect(answer.transaction == nil && answer.isNotInCatalog == isUnknown)
        let history = ListTransactionsRequest(account: "anna", productID: product)
        guard case .listTransactions(let page) = try world.require(.listTransactions(history), from: client) else {
            Issue.record("another answer")
            return
        }
        #expect(page.transactions.isEmpty && page.isNotInCatalog == isUnknown)
        let all = try world.require(.listTransactions(ListTransactionsRequest(account: "anna")), from: client)
        if case .listTransactions(let page) = all { #expect(!page.isNotInCatalog) }
    }
}

@Suite(.onChosenStorage) struct `an account's right to pay` {
    @Test func `ends while its charges are set to fail`() throws {
        let world = World()
        let client = world.welcomedClient()
        func canPay() throws -> Bool? {
            let request = AppTransactionRequest(account: "anna")
            guard case .getAppTransaction(let answer) = try world.require(.getAppTransaction(request), from: client)
            else { return nil }
            return answer.canMakePayments
        }
        #expect(try canPay() == true)
        for (fails, expected) in [(true, false), (false, true)] {
            _ = try world.require(
                .operate(OperateRequest(account: "anna", operation: .setCharges(fail: fails))), from: client)
            #expect(try canPay() == expected)
        }
    }
}
