import PerchBase
import PerchModel
import Testing

@Suite struct `a purchase while charges fail` {
    private static func reason(_ body: () throws -> Void) -> Refusal.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Refusal)?.reason
        }
    }

    /// An account in its grace or billing retry period; its charges fail as the app's setting says.
    private static func failing(grace: Bool = false) throws -> TestAccount {
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(
            catalogue: Shop.catalogue(introductory: trial), settings: Shop.settings(billingIssues: true, grace: grace))
        try account.buy("gold")
        try account.advanceToBoundary()
        return account
    }

    @Test(arguments: [true, false])
    func `a purchase is refused while a subscription is in grace or retry, whatever its product`(_ hasGrace: Bool)
        throws
    {
        var account = try Self.failing(grace: hasGrace)
        #expect(account.state() == (hasGrace ? .inGracePeriod : .inBillingRetryPeriod))
        for product in ["coins", "lifetime", "season"] + (hasGrace ? [] : ["gold", "silver.yearly"]) {
            #expect(Self.reason { try account.buy(product) } == .purchaseNotAllowed, "\(product)")
        }
        #expect(try account.buy("weekly").transaction.price == usd(0), "a trial charges nothing")
        try account.operate(.setCharges(fail: false))
        try account.buy("coins")
        if !hasGrace { #expect(try account.buy("gold").transaction.originalID == 1) }
        #expect(account.state() == (hasGrace ? .inGracePeriod : .subscribed))
    }
}

@Suite struct `buying` {
    @Test(
        arguments: [
            ("coins", 0, .purchaseInvalidQuantity), ("coins", 11, .purchaseInvalidQuantity),
            ("coins", .max, .purchaseInvalidQuantity), ("lifetime", 2, .purchaseInvalidQuantity),
            ("season", 2, .purchaseInvalidQuantity), ("silver", 2, .purchaseInvalidQuantity),
            ("silver", 0, .purchaseInvalidQuantity), ("nothing", 1, .purchaseProductUnavailable),
            ("", 1, .purchaseProductUnavailable), ("Silver", 1, .purchaseProductUnavailable),
        ] as [(String, UInt32, Refusal.Reason)])
    func `an order that cannot be is refused, and uses no number`(
        _ product: String, _ quantity: UInt32, _ reason: Refusal.Reason
    ) {
        var account = TestAccount()
        let before = account.record
        let error = #expect(throws: Refusal.self) { try account.buy(product, quantity: quantity) }
        #expect(error?.reason == reason)
        #expect(account.record == before)
        #expect(account.numbers == TransactionNumbers(next: 1))
    }

    @Test func `a price that does not fit is refused`() {
        let product = CatalogueProduct(
            id: "dear", type: .consumable, referenceName: "dear", price: usd(.max / 5), isFamilyShareable: false,
            localizations: [])
        var account = TestAccount(catalogue: Catalogue(products: [product], groups: [], schemaVersion: "4.0"))
        let error = #expect(throws: Refusal.self) { try account.buy("dear", quantity: 10) }
        #expect(error?.reason == .purchaseInvalidQuantity)
    }
}
