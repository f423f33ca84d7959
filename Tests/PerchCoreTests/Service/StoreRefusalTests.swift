import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// What a refusal of the test store tells the author of the request.
@Suite(.onChosenStorage) struct StoreRefusalTests {
    private let world = World()
    private let client: WireClient

    init() { self.client = self.world.welcomedClient() }

    private func ask(_ request: Request) -> (response: Response?, reason: String) {
        let (response, status) = self.world.answer(to: request, from: self.client)
        return (response, status?.reason ?? "")
    }

    /// A program that is refused has only the details to go by; the words are for people.
    @Test func `a refusal of the store names its field and its numbers`() {
        func details(_ request: Request) -> [String: String] {
            let (_, status) = self.world.answer(to: request, from: self.client)
            return Dictionary((status?.details ?? []).map { ($0.key, $0.value) }) { first, _ in first }
        }
        var offer = OfferEdit(type: .introductory, id: "")
        offer.paymentMode = .freeTrial
        offer.priceMilliunits = -1
        var edit = ProductEdit(productID: "gold")
        edit.offers = [offer]
        for (setting, field) in [
            (.gracePeriodDays(5), "grace_period_days"), (.timeRate(99), "time_rate"), (.storefront("us"), "storefront"),
            (.locale("!"), "locale"), (.simulatedError(StoreKitAPI(rawValue: 99), nil), "simulated_error.api"),
            (.product(edit), "product.offers.price_milliunits"),
        ] as [(AppSettingChange, String)] {
            #expect(details(.configure(ConfigureRequest(settings: [setting])))["field"] == "settings.\(field)")
        }
        let far = details(.clock(.advanceBy(milliseconds: Limits.advanceMillisecondsMax + 1)))
        #expect(far["limit"] == "\(Limits.advanceMillisecondsMax)")
        #expect(far["found"] == "\(Limits.advanceMillisecondsMax + 1)")
    }

    /// The path of the invalid field, for the author of the request.
    @Test func `a refusal names the field as its request has it`() throws {
        try self.world.buy("gold", from: self.client)
        func order(_ change: (inout PurchaseOrder) -> Void = { _ in }) -> PurchaseOrder {
            var order = PurchaseOrder(productID: "coins")
            change(&order)
            return order
        }
        func products(_ locale: String, _ storefront: String) -> ProductsRequest {
            ProductsRequest(productIDs: ["gold"], locale: locale, storefront: storefront)
        }
        let token = order { $0.appAccountToken = "anna" }
        let country = order { $0.seenStorefront = "de" }
        let later = order { $0.date = .distantFuture }
        let before = order { $0.date = Instant(milliseconds: -1) }
        let eligibility = order { $0.introductoryEligibility = IntroductoryEligibility(rawValue: 3) }
        let behaviour = order { $0.renewalBehaviour = RenewalBehaviour(rawValue: -1) }
        let many = order { $0.quantity = 11 }
        let orders: [(PurchaseOrder, String, String)] = [
            (PurchaseOrder(productID: ""), "FIELD_MISSING", "product_id"),
            (token, "FIELD_INVALID", "app_account_token"), (country, "FIELD_INVALID", "seen_storefront"),
            (later, "FIELD_INVALID", "purchase_date_ms"), (before, "FIELD_INVALID", "purchase_date_ms"),
            (eligibility, "FIELD_INVALID", "introductory_eligibility"),
            (behaviour, "FIELD_INVALID", "renewal_behaviour"), (many, "PURCHASE_INVALID_QUANTITY", "quantity"),
        ]
        var cases: [(Request, String, String)] = []
        for (order, reason, field) in orders {
            cases.append((.operate(.buy(order), "anna"), reason, "operation.buy." + field))
            cases.append((.purchase(PurchaseRequest(account: "anna", order: order)), reason, "order." + field))
        }
        let target = OperationTarget.product("gold")
        cases += [
            (.operate(.share(target, member: ""), "anna"), "ACCOUNT_KEY", "operation.share.member"),
            (
                .operate(.stopSharing(target, member: String(repeating: "x", count: 256)), "anna"), "ACCOUNT_KEY",
                "operation.stop_sharing.member"
            ),
            (.operate(.setStorefront("de"), "anna"), "FIELD_INVALID", "operation.set_storefront.storefront"),
            (
                .operate(.extendRenewal(target, milliseconds: 0), "anna"), "EXTENSION_INVALID",
                "operation.extend_renewal.by_ms"
            ),
            (.clock(.advanceToBoundary(account: "")), "ACCOUNT_KEY", "advance_to_boundary.account"),
            (.getProducts(products("", "DE")), "FIELD_INVALID", "storefront"),
            (.productsTask(products("", "usa")), "FIELD_INVALID", "storefront"),
            (.getProducts(products("!!", "")), "FIELD_INVALID", "locale"),
            (.getAppPolicies(AppPoliciesRequest(locale: "!!")), "FIELD_INVALID", "locale"),
            (
                .listPlanOptions(PlanOptionsRequest(account: "anna", groupID: "plans", locale: "!!")), "FIELD_INVALID",
                "locale"
            ),
            (
                .getSubscriptionStatus(SubscriptionStatusRequest(account: "", groupID: "plans")), "ACCOUNT_KEY",
                "account"
            ),
        ]
        for (request, reason, field) in cases {
            let (_, status) = self.world.answer(to: request, from: self.client)
            #expect(status?.reason == reason, "\(field): \(status?.message ?? "")")
            #expect(status?.details.first { $0.key == "field" }?.value == field, "\(status?.message ?? "")")
        }
        #expect(self.ask(.getProducts(products("de-DE", "DEU"))).reason == "")
    }

    /// The approved order is from an earlier request, so no field of the approval is wrong.
    @Test func `a refusal of an order that waited names no field`() throws {
        try self.world.require(.configure(.askToBuy(true)), from: self.client)
        guard case .purchase(let purchase) = try self.world.require(.buy("gold"), from: self.client) else { return }
        var edit = ProductEdit(productID: "gold")
        edit.isWithdrawn = true
        try self.world.require(.configure(ConfigureRequest(settings: [.product(edit)])), from: self.client)
        let approve = Request.operate(.decidePurchase(id: purchase.pendingNumber, approves: true), "anna")
        let (_, status) = self.world.answer(to: approve, from: self.client)
        #expect(status?.reason == "PURCHASE_PRODUCT_UNAVAILABLE")
        #expect(status?.details.contains { $0.key == "field" } == false)
    }

    @Test(arguments: [
        (AppReference(bundleID: "com.example.none"), "com.example.none", "no app com.example.none;"),
        (
            AppReference(bundleID: TestShop.bundleID, environment: .production), "\(TestShop.bundleID) (production)",
            "it has it as xcode"
        ),
        (AppReference(environment: .sandbox), "any (sandbox)", "no app of the environment sandbox;"),
    ])
    func `an app that is not here is named`(_ app: AppReference, _ found: String, _ words: String) {
        let request = Request.getClock(ClockRequest(app: app))
        let (_, status) = self.world.answer(to: request, from: self.client)
        #expect(status?.reason == "APP_UNKNOWN" && status?.message.contains(words) == true, "\(status?.message ?? "")")
        #expect(status?.details.first { $0.key == "found" }?.value == found)
    }

    @Test func `a refusal about an unsold product does not advise to buy it`() throws {
        try self.world.buy("coins", from: self.client)
        for operation in [
            .expire(.product("zz")), .renew(.product("zz")), .setAutoRenew(.product("zz"), isOn: true),
            .refund(.product("zz"), reason: .other, share: .full), .declineRefund(.product("zz")),
        ] as [StoreOperation] {
            #expect(self.ask(.operate(operation, "anna")).reason == "PRODUCT_UNKNOWN", "\(operation)")
        }
        #expect(self.ask(.operate(.expire(.product("gold")), "anna")).reason == "NOT_SUBSCRIBED")
        #expect(
            self.ask(.operate(.refund(.product("season"), reason: .other, share: .full), "anna")).reason
                == "TRANSACTION_UNKNOWN")
    }
}
