import PerchModel

/// Apple's names for the values of the model's enumerations. A name of a newer version reads as unspecified; the payload
/// keeps it.
enum AppleNames {
    struct Table<Value: OpenEnumeration>: Sendable {
        private let pairs: [(value: Value, name: String)]

        init(_ pairs: [(Value, String)]) { self.pairs = pairs }

        /// Nil for a value without a name.
        func name(of value: Value) -> String? { self.pairs.first { $0.value == value }?.name }

        func value(of name: String?) -> Value {
            self.pairs.first { $0.name == name }?.value ?? Value(rawValue: 0)
        }

        var values: [Value] { self.pairs.map(\.value) }
    }

    static let productType = Table<ProductType>([
        (.autoRenewable, "Auto-Renewable Subscription"), (.nonConsumable, "Non-Consumable"),
        (.consumable, "Consumable"), (.nonRenewable, "Non-Renewing Subscription"),
    ])
    static let ownership = Table<OwnershipType>([
        (.purchased, "PURCHASED"), (.familyShared, "FAMILY_SHARED"), (.assigned, "ASSIGNED"),
    ])
    static let reason = Table<TransactionReason>([(.purchase, "PURCHASE"), (.renewal, "RENEWAL")])
    static let revocation = Table<RevocationType>([
        (.refundFull, "REFUND_FULL"), (.refundProrated, "REFUND_PRORATED"), (.familyRevoke, "FAMILY_REVOKE"),
    ])
    static let payment = Table<PaymentMode>([
        (.freeTrial, "FREE_TRIAL"), (.payAsYouGo, "PAY_AS_YOU_GO"), (.payUpFront, "PAY_UP_FRONT"),
        (.oneTime, "ONE_TIME"),
    ])
    static let billingPlan = Table<BillingPlanType>([(.upFront, "BILLED_UPFRONT"), (.monthly, "MONTHLY")])
    static let environment = Table<AppEnvironment>([
        (.production, "Production"), (.sandbox, "Sandbox"), (.xcode, "Xcode"),
    ])
}
