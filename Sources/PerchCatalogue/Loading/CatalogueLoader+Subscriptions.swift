import PerchBase
import PerchJSON
import PerchModel

extension CatalogueLoader {
    mutating func subscription(_ fields: inout Fields, groupID: String, price: Money) throws(CatalogueError)
        -> CatalogueSubscription
    {
        let level = self.level(&fields)
        let periodPlace = fields.take("recurringSubscriptionPeriod")?.place ?? fields.place
        let period = try self.period(&fields, "recurringSubscriptionPeriod")
        if !Self.billingPeriods.contains(period) {
            self.findings.warn(
                .unusableValue, at: periodPlace, "\(period) is no billing period of the App Store; taken as it is")
        }
        var subscription = CatalogueSubscription(groupID: groupID, level: level, period: period)
        subscription.introductoryOffers = try self.introductoryOffers(&fields)
        subscription.promotionalOffers = try self.promotionalOffers(&fields)
        subscription.codeOffers = try self.codeOffers(&fields)
        subscription.winBackOffers = try self.winBackOffers(&fields)
        subscription.billingPlans = try self.billingPlans(&fields, period: period, price: price)
        return subscription
    }

    private static let billingPeriods: Set<Period> = [
        Period(1, .week), Period(1, .month), Period(2, .month), Period(3, .month), Period(6, .month), Period(1, .year),
    ]

    private mutating func level(_ fields: inout Fields) -> Int32 {
        let value = fields.take("groupNumber")
        if let value, let number = self.integer(value, "groupNumber"), let level = Int32(exactly: number), level >= 1 {
            return level
        }
        let found = value.map { "is \(Self.found($0))" } ?? "is missing"
        self.findings.warn(
            .level, at: value?.place ?? fields.place,
            "\"groupNumber\", the level of service, \(found), expected 1 to \(Int32.max); used as 1, the highest")
        return 1
    }

    /// Ways to pay, where there is more than the plain one. A plan that is switched off does not exist.
    private mutating func billingPlans(_ fields: inout Fields, period: Period, price: Money) throws(CatalogueError)
        -> [BillingPlan]
    {
        var plans: [BillingPlan] = []
        for entry in fields.softList("billingPlans", &self.findings) {
            var entry = entry
            let typePlace = entry.take("billingPlanType")?.place ?? entry.place
            let type = self.billingPlan(&entry)
            let each = try self.price(&entry, "displayPrice", otherwise: price)
            let chargeCount: UInt32 = type == .monthly ? 12 : 1
            let whole = try self.price(
                &entry, "commitmentDisplayPrice", otherwise: each.multiplied(by: Int64(chargeCount)))
            let switchPlace = entry.take("isEnabled")?.place
            let isEnabled = entry.flag("isEnabled", &self.findings)
            entry.ignore("internalID")
            entry.reportUnknown(in: "a billing plan", to: &self.findings)
            if !isEnabled {
                if switchPlace == nil {
                    self.findings.warn(
                        .leftOut, at: entry.place, "a billing plan without \"isEnabled\" is off; left out")
                }
            } else if type == .unspecified {
                self.findings.warn(.leftOut, at: typePlace, "a billing plan of unknown type; left out")
            } else if type == .monthly, period != Period(1, .year) {
                self.findings.warn(
                    .leftOut, at: typePlace,
                    "a plan of twelve monthly charges needs a subscription of P1Y, this one is \(period); left out")
            } else if plans.contains(where: { $0.type == type }) {
                self.findings.warn(.leftOut, at: typePlace, "a second billing plan of type \(type); left out")
            } else {
                plans.append(BillingPlan(type: type, price: each, commitmentPrice: whole, chargeCount: chargeCount))
            }
        }
        // Every subscription has an up-front plan, so that alone is no choice.
        return plans.contains { $0.type != .upFront } ? plans : []
    }

    /// The plan that an offer or a plan says it is; unspecified where it says nothing or something unknown.
    mutating func billingPlan(_ fields: inout Fields) -> BillingPlanType {
        guard let value = fields.take("billingPlanType") else { return .unspecified }
        switch value.string {
        case "BILLED_UPFRONT": return .upFront
        case "MONTHLY": return .monthly
        default:
            let found = value.string.map(quoted) ?? value.kind
            self.findings.warn(
                .unusableValue, at: value.place, "the billing plan type \(found) is unknown; taken as not stated")
            return .unspecified
        }
    }
}
