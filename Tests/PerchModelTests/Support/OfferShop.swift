import PerchBase
import PerchModel
import Testing

/// The shop with offers on its silver subscriptions.
///
/// | Product | Offers |
/// |---|---|
/// | silver | a free week; promotional `half` (pay as you go, 4.99 for 3 months); codes `WELCOME` (new), `STAY` (existing), `BACK` (expired), `STACK` (all, stackable), each 1.99 for a month; win-back `return` (0.99, by rule) and `again` (free, by its switch) |
/// | bronze | code `STAY` |
/// | gold | promotional `gold.half` (9.99 up front for a month) |
/// | silver.yearly | billing plans: up front 99.00, monthly 9.00 twelve times; a free month with the monthly one |
enum OfferShop {
    static func offer(
        _ type: OfferType, _ id: String, _ mode: PaymentMode = .payUpFront, price: Int64 = 1_990,
        _ period: Period = Period(1, .month), count: Int32 = 1
    ) -> SubscriptionOffer {
        SubscriptionOffer(id: id, type: type, paymentMode: mode, price: usd(price), period: period, periodCount: count)
    }

    static func code(_ id: String, _ eligibility: CodeOffer.Eligibility, isStackable: Bool = false) -> CodeOffer {
        CodeOffer(offer: Self.offer(.code, id), eligibility: eligibility, isStackable: isStackable)
    }

    static var rule: WinBackRule {
        var rule = WinBackRule()
        rule.paidMonthsMin = 2
        rule.lapsedMonthsMin = 1
        rule.lapsedMonthsMax = 6
        rule.waitMonths = 12
        return rule
    }

    static func catalogue(
        winBacks: [WinBackOffer]? = nil,
        introductory: SubscriptionOffer? = Shop.introductory(.freeTrial, Period(1, .week))
    ) -> Catalogue {
        Self.changed(Shop.catalogue(introductory: introductory)) { product in
            switch product.id {
            case "silver":
                product.subscription?.promotionalOffers = [
                    Self.offer(.promotional, "half", .payAsYouGo, price: 4_990, count: 3)
                ]
                product.subscription?.codeOffers = [
                    Self.code("WELCOME", .new), Self.code("STAY", .existing), Self.code("BACK", .expired),
                    Self.code("STACK", [.new, .existing, .expired], isStackable: true),
                ]
                product.subscription?.winBackOffers =
                    winBacks ?? [
                        WinBackOffer(
                            offer: Self.offer(.winBack, "return", price: 990), isEligible: false, isHighPriority: false,
                            rule: Self.rule),
                        WinBackOffer(
                            offer: Self.offer(.winBack, "again", .freeTrial, price: 0), isEligible: true,
                            isHighPriority: false),
                    ]
            case "bronze":
                product.subscription?.codeOffers = [Self.code("STAY", .existing)]
            case "gold":
                product.subscription?.promotionalOffers = [Self.offer(.promotional, "gold.half", price: 9_990)]
            case "silver.yearly":
                product.subscription?.billingPlans = [
                    BillingPlan(type: .upFront, price: usd(99_000), commitmentPrice: usd(99_000), chargeCount: 1),
                    BillingPlan(type: .monthly, price: usd(9_000), commitmentPrice: usd(108_000), chargeCount: 12),
                ]
                var month = Shop.introductory(.freeTrial, Period(1, .month))
                month.billingPlan = .monthly
                product.subscription?.introductoryOffers = [month]
            default:
                break
            }
        }
    }

    static func changed(_ catalogue: Catalogue, _ change: (inout CatalogueProduct) -> Void) -> Catalogue {
        var products = catalogue.products
        for index in products.indices { change(&products[index]) }
        return Catalogue(
            products: products, groups: catalogue.groups, schemaVersion: catalogue.schemaVersion,
            policies: catalogue.policies)
    }
}

extension TestAccount {
    /// One operation of the test store, decided and committed.
    @discardableResult
    mutating func ask(_ operation: StoreOperation) throws -> OperationOutcome {
        let subject = OperationSubject(record: self.record)
        let decision = try PerchModel.decide(
            operation, on: subject, app: self.app, now: self.now, numbers: &self.numbers)
        guard case .done(let outcome) = decision else {
            Issue.record("\(operation) needs rows")
            return OperationOutcome()
        }
        self.commit(outcome.facts)
        return outcome
    }

    @discardableResult
    mutating func order(
        _ productID: String, _ change: (inout PurchaseOrder) -> Void = { _ in }
    ) throws -> OperationOutcome {
        var order = PurchaseOrder(productID: productID)
        change(&order)
        return try self.ask(.buy(order))
    }

    @discardableResult
    mutating func order(_ productID: String, _ type: OfferType, _ id: String) throws -> OperationOutcome {
        try self.order(productID) { $0.offer = OrderedOffer(type: type, id: id) }
    }
}

/// The reason of a refusal; nil if the body succeeds.
func refusal(_ body: () throws -> Void) -> Refusal.Reason? {
    do {
        try body()
        return nil
    } catch let refusal as Refusal {
        return refusal.reason
    } catch {
        Issue.record("\(error) is no refusal")
        return nil
    }
}
