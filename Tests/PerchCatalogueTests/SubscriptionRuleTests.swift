import PerchBase
import PerchCatalogue
import PerchModel
import Testing

@Suite struct `subscriptions and offers in a file` {
    private let s = Made.subscription("s")

    private func subscription(_ made: Made) throws -> (CatalogueSubscription, [CatalogueWarning.Reason]) {
        let loaded = try Made.file(made).load()
        return (try #require(loaded.catalogue.product("s")?.subscription), loaded.reasons)
    }

    @Test func `a group keeps its ID, name and texts, and its subscriptions their levels`() throws {
        let group = Made.group("21852566", [self.s.with("groupNumber", "3"), .subscription("t")])
            .with("localizations", Made.texts)
        let loaded = try Made.file(groups: [group]).load()
        #expect(
            loaded.catalogue.groups == [
                CatalogueGroup(
                    id: "21852566", name: "Group",
                    localizations: [Localization(locale: "en_US", displayName: "Name", description: "")])
            ])
        #expect(loaded.catalogue.products.map(\.subscription?.level) == [3, 1])
        #expect(loaded.catalogue.products.map(\.subscription?.groupID) == ["21852566", "21852566"])
        #expect(loaded.warnings == [])
    }

    @Test(arguments: ["\"other\"", "\"\"", "7"])
    func `the group that a subscription stands in wins over the one that it names`(_ stated: String) throws {
        let (subscription, reasons) = try self.subscription(self.s.with("subscriptionGroupID", stated))
        #expect(subscription.groupID == "g")
        #expect(reasons == [.groupMismatch])
        #expect(try self.subscription(self.s.with("subscriptionGroupID", "\"g\"")).1 == [])
    }

    @Test(arguments: ["0", "-1", "1.5", "\"one\"", "\"01\"", "null", "99999999999", "true"])
    func `a level that is none is taken as the highest, and reported`(_ level: String) throws {
        let (subscription, reasons) = try self.subscription(self.s.with("groupNumber", level))
        #expect(subscription.level == 1)
        #expect(reasons == [.level])
    }

    @Test(arguments: [
        ("P1W", Period(1, .week)), ("P1M", Period(1, .month)), ("P2M", Period(2, .month)), ("P3M", Period(3, .month)),
        ("P6M", Period(6, .month)), ("P1Y", Period(1, .year)),
    ])
    func `the six billing periods of the App Store are read`(_ text: String, _ period: Period) throws {
        let (subscription, reasons) = try self.subscription(self.s.with("recurringSubscriptionPeriod", "\"\(text)\""))
        #expect(subscription.period == period)
        #expect(reasons == [])
    }

    @Test(arguments: ["P1D", "P2W", "P12M", "P2Y"])
    func `an unusual billing period is accepted, and reported`(_ text: String) throws {
        let (subscription, reasons) = try self.subscription(self.s.with("recurringSubscriptionPeriod", "\"\(text)\""))
        #expect(subscription.period.description == text)
        #expect(reasons == [.unusableValue])
    }

    // MARK: Introductory offers

    private let paid = Made.offer.with("paymentMode", "\"payUpFront\"").with("displayPrice", "\"1.99\"")

    @Test func `an introductory offer is read from the older key, the newer key, or both`() throws {
        let one = Made.offer.json
        for (older, newer, count) in [
            (nil, nil, 0), ("null", nil, 0), (one, nil, 1), (nil, "[\(one)]", 1), (one, "[\(one)]", 1),
            ("null", "[\(one)]", 1), (one, "[]", 1), (nil, "[]", 0),
        ] as [(String?, String?, Int)] {
            var made = self.s
            if let older { made = made.with("introductoryOffer", older) }
            if let newer { made = made.with("introductoryOffers", newer) }
            let (subscription, reasons) = try self.subscription(made)
            #expect(subscription.introductoryOffers.count == count, "\(older ?? "-") \(newer ?? "-")")
            #expect(subscription.introductoryOffers.allSatisfy { $0.id == "" && $0.type == .introductory })
            #expect(reasons == [])
        }
    }

    @Test func `a mirrored offer is the same one whether or not it states its billing plan`() throws {
        let stated = Made.offer.with("billingPlanType", "\"BILLED_UPFRONT\"")
        let made = self.s.with("introductoryOffer", Made.offer.json).with("introductoryOffers", Made.list([stated]))
        let (subscription, reasons) = try self.subscription(made)
        #expect(subscription.introductoryOffers.map(\.billingPlan) == [.upFront])
        #expect(reasons == [])
    }

    @Test func `if the two keys differ, the newer one counts and the older is reported`() throws {
        let made = self.s.with("introductoryOffer", self.paid.json).with("introductoryOffers", Made.list([Made.offer]))
        let (subscription, reasons) = try self.subscription(made)
        #expect(subscription.introductoryOffers.map(\.paymentMode) == [.freeTrial])
        #expect(reasons == [.leftOut])
    }

    @Test func `a product has at most one introductory offer for each billing plan`() throws {
        let monthly = self.paid.with("billingPlanType", "\"MONTHLY\"")
        let (subscription, reasons) = try self.subscription(
            self.s.with("introductoryOffers", Made.list([Made.offer, monthly, self.paid])))
        #expect(subscription.introductoryOffers.map(\.billingPlan) == [.unspecified, .monthly])
        #expect(reasons == [.leftOut])
        let (joined, none) = try self.subscription(
            self.s.with("introductoryOffers", Made.list([Made.offer])).with("introductoryOffer", monthly.json))
        #expect(joined.introductoryOffers.count == 2)
        #expect(none == [])
    }

    // MARK: All offers

    @Test(arguments: [
        ("free", PaymentMode.freeTrial, 0 as Int64), ("payAsYouGo", .payAsYouGo, 1_990),
        ("payUpFront", .payUpFront, 1_990),
    ])
    func `an offer is read in each payment mode and in each list`(_ text: String, _ mode: PaymentMode, _ price: Int64)
        throws
    {
        var offer = Made.offer.with("paymentMode", "\"\(text)\"")
        if mode != .freeTrial { offer = offer.with("displayPrice", "\"1.99\"") }
        let list = Made.list([offer])
        let (subscription, reasons) = try self.subscription(
            self.s.with("introductoryOffers", list).with("adHocOffers", list).with("codeOffers", list)
                .with("winbackOffers", list))
        let offers =
            subscription.introductoryOffers + subscription.promotionalOffers + subscription.codeOffers.map(\.offer)
            + subscription.winBackOffers.map(\.offer)
        #expect(offers.map(\.id) == ["", "offer", "CODE", "offer"])
        #expect(offers.map(\.type) == [.introductory, .promotional, .code, .winBack])
        #expect(offers.allSatisfy { $0.paymentMode == mode && $0.price.milliunits == price && $0.displayPrice == "" })
        #expect(offers.allSatisfy { $0.period == Period(1, .week) && $0.periodCount == 1 })
        #expect(reasons == [])
    }

    @Test(arguments: ["\"0.99\"", "\"garbage\"", "1", "true"])
    func `a free offer with a price stays free, and is reported`(_ price: String) throws {
        let (subscription, reasons) = try self.subscription(
            self.s.with("introductoryOffer", Made.offer.with("displayPrice", price).json))
        #expect(subscription.introductoryOffers.map(\.price.milliunits) == [0])
        #expect(reasons == [.freeOfferWithPrice])
    }

    @Test(arguments: ["\"0\"", "\"0.00\"", "\"\"", "null"])
    func `a free offer that says its price is nothing is not odd`(_ price: String) throws {
        #expect(
            try self.subscription(self.s.with("introductoryOffer", Made.offer.with("displayPrice", price).json)).1 == []
        )
    }

    @Test(arguments: ["\"oneTime\"", "\"\"", "7", nil])
    func `an offer in an unknown payment mode is left out, whatever else it says`(_ mode: String?) throws {
        var offer = Made.offer.with("subscriptionPeriod", "\"once\"").with("displayPrice", "\"?\"").without(
            "paymentMode")
        if let mode { offer = offer.with("paymentMode", mode) }
        let (subscription, reasons) = try self.subscription(self.s.with("adHocOffers", Made.list([offer, Made.offer])))
        #expect(subscription.promotionalOffers.map(\.paymentMode) == [.freeTrial])
        #expect(reasons == [.leftOut])
    }

    @Test(arguments: [
        ("payAsYouGo", "3", 3 as Int32, [] as [CatalogueWarning.Reason]), ("payAsYouGo", "null", 1, []),
        ("payAsYouGo", "0", 1, [.unusableValue]), ("payAsYouGo", "-2", 1, [.unusableValue]),
        ("payAsYouGo", "10001", 1, [.unusableValue]), ("payAsYouGo", "\"3\"", 3, [.unusableValue]),
        ("payAsYouGo", "2.0", 2, [.unusableValue]), ("payAsYouGo", "2.5", 1, [.unusableValue]),
        ("payUpFront", "1", 1, []), ("payUpFront", "3", 1, [.unusableValue]), ("free", "2", 1, [.unusableValue]),
    ])
    func `only pay as you go counts periods, from one`(
        _ mode: String, _ count: String, _ expected: Int32, _ warnings: [CatalogueWarning.Reason]
    ) throws {
        var offer = Made.offer.with("paymentMode", "\"\(mode)\"").with("numberOfPeriods", count)
        if mode != "free" { offer = offer.with("displayPrice", "\"1\"") }
        let (subscription, reasons) = try self.subscription(self.s.with("introductoryOffer", offer.json))
        #expect(subscription.introductoryOffers.map(\.periodCount) == [expected])
        #expect(reasons == warnings)
    }

    @Test(arguments: [("adHocOffers", "offerID"), ("winbackOffers", "offerID"), ("codeOffers", "referenceName")])
    func `an offer without a name is left out, and so is a second one with the same name`(
        _ list: String, _ key: String
    ) throws {
        let long = "\"" + String(repeating: "x", count: Limits.catalogueIdentifierBytes + 1) + "\""
        let offers = [
            Made.offer, Made.offer.without(key), Made.offer.with(key, "\"\""), Made.offer.with(key, long), Made.offer,
            Made.offer.with("billingPlanType", "\"MONTHLY\""),
        ]
        let loaded = try Made.file(self.s.with(list, Made.list(offers))).load()
        #expect(loaded.summary.offerCount == 2)
        #expect(loaded.reasons == [.leftOut, .leftOut, .leftOut, .leftOut])
    }

    @Test func `a code says who may redeem it, in any order, and whether it stacks`() throws {
        let offers = [
            Made.offer.with("eligibility", "[\"existing\",\"new\",\"expired\"]").with("isStackable", "true"),
            Made.offer.with("referenceName", "\"B\"").with("eligibility", "[\"expired\",\"friends\"]"),
            Made.offer.with("referenceName", "\"C\"").without("eligibility"),
        ]
        let (subscription, reasons) = try self.subscription(self.s.with("codeOffers", Made.list(offers)))
        #expect(subscription.codeOffers.map(\.eligibility) == [[.new, .existing, .expired], [.expired], []])
        #expect(subscription.codeOffers.map(\.isStackable) == [true, false, false])
        #expect(reasons == [.unusableValue, .unusableValue])
    }

    @Test(arguments: [
        ("\"high\"", true, [] as [CatalogueWarning.Reason]), ("\"normal\"", false, []), ("null", false, []),
        ("\"urgent\"", false, [.unusableValue]), ("1", false, [.unusableValue]),
    ])
    func `a win-back offer has its switch and its priority`(
        _ priority: String, _ isHigh: Bool, _ warnings: [CatalogueWarning.Reason]
    ) throws {
        let offer = Made.offer.with("isEligible", "true").with("priority", priority)
        let (subscription, reasons) = try self.subscription(self.s.with("winbackOffers", Made.list([offer])))
        #expect(subscription.winBackOffers.map(\.isEligible) == [true])
        #expect(subscription.winBackOffers.map(\.isHighPriority) == [isHigh])
        #expect(reasons == warnings)
    }

    @Test(arguments: ["introductoryOffers", "adHocOffers", "codeOffers", "winbackOffers", "billingPlans"])
    func `a list of offers that is none is empty, and an entry that is none is left out`(_ list: String) throws {
        #expect(try self.subscription(self.s.with(list, "{}")).1 == [.unusableValue])
        #expect(try self.subscription(self.s.with(list, "[null,1]")).1 == [.leftOut, .leftOut])
        #expect(try self.subscription(self.s.with("introductoryOffer", "[]")).1 == [.leftOut])
    }

    // MARK: Billing plans

    private func plan(_ type: String) -> Made {
        Made(members: [("billingPlanType", "\"\(type)\""), ("displayPrice", "\"2.5\""), ("isEnabled", "true")])
    }

    @Test func `plans are listed where there is more than the plain one, monthly ones with twelve charges`() throws {
        let yearly = self.s.with("recurringSubscriptionPeriod", "\"P1Y\"")
        let upFront = self.plan("BILLED_UPFRONT")
        #expect(try self.subscription(yearly.with("billingPlans", Made.list([upFront]))).0.billingPlans == [])
        let (both, reasons) = try self.subscription(
            yearly.with("billingPlans", Made.list([upFront, self.plan("MONTHLY")])))
        #expect(both.billingPlans.map(\.type) == [.upFront, .monthly])
        #expect(both.billingPlans.map(\.commitmentPrice.milliunits) == [2_500, 30_000])
        #expect(both.billingPlans.map(\.chargeCount) == [1, 12])
        #expect(reasons == [])
    }

    @Test func `a plan that is off, of no known type, twice there or monthly for no year is left out`() throws {
        let yearly = self.s.with("recurringSubscriptionPeriod", "\"P1Y\"")
        let monthly = self.plan("MONTHLY")
        func reasons(_ subscription: Made, _ plans: [Made]) throws -> [CatalogueWarning.Reason] {
            let (subscription, reasons) = try self.subscription(subscription.with("billingPlans", Made.list(plans)))
            #expect(subscription.billingPlans.count <= 1)
            return reasons
        }
        #expect(try reasons(yearly, [monthly.with("isEnabled", "false")]) == [])
        #expect(try reasons(yearly, [monthly.without("isEnabled")]) == [.leftOut])
        #expect(try reasons(yearly, [self.plan("WEEKLY")]) == [.unusableValue, .leftOut])
        #expect(try reasons(yearly, [monthly, monthly]) == [.leftOut])
        #expect(try reasons(self.s, [monthly]) == [.leftOut])
    }
}
