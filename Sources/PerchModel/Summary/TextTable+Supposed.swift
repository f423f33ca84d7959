// The texts of what would be after an event that has not happened.
extension TextKey {
    /// The form of something that has not happened; the same where there is none.
    var supposed: TextKey {
        switch self {
        case .has: .wouldHave
        case .hasTrial: .wouldHaveTrial
        case .renews: .wouldRenew
        case .renewsFor: .wouldRenewFor
        case .becomes: .wouldBecome
        case .becomesFor: .wouldBecomeFor
        case .renewsNot: .wouldRenewNot
        case .declined: .wouldBeDeclined
        case .declinedWithoutAccess: .wouldBeDeclinedWithoutAccess
        case .declinedBeside: .wouldBeDeclinedBeside
        case .keepsUntil: .wouldKeepUntil
        case .goesOnTrying: .wouldGoOnTrying
        case .refunded: .wouldBeRefunded
        case .refundedWithoutAccess: .wouldBeRefundedWithoutAccess
        default: self
        }
    }
}

extension TextTable {
    static let englishSupposed: [TextKey: String] = [
        .supposedSame: "Nothing would change.",
        .supposedPrice: "The price would be {price}.",
        .wouldHave: "{who} would have {product} until {end}",
        .wouldHaveTrial: "{who} would have a free trial of {product} until {end}",
        .wouldRenew: ", then it would renew.",
        .wouldRenewFor: ", then it would renew for {price}.",
        .wouldBecome: ", then it would become {next}.",
        .wouldBecomeFor: ", then it would become {next} for {price}.",
        .wouldRenewNot: ". It would not renew.",
        .wouldBeDeclined: "The card would be declined.",
        .wouldBeDeclinedWithoutAccess:
            "The card would be declined, and {who} would have no access to {product} until a charge succeeded.",
        .wouldBeDeclinedBeside: "The card would be declined for {product}.",
        .wouldKeepUntil: "{who} would keep {product} until {until}, and then lose it unless a charge succeeded.",
        .wouldGoOnTrying: "The store would go on trying.",
        .wouldBeRefunded: "{product} would be refunded.",
        .wouldBeRefundedWithoutAccess: "{product} would be refunded, and {who} would have no access to it.",
    ]

    static let germanSupposed: [TextKey: String] = [
        .supposedSame: "Nichts würde sich ändern.",
        .supposedPrice: "Der Preis wäre {price}.",
        .wouldHave: "{who} hätte {product} bis {end}",
        .wouldHaveTrial: "{who} hätte {product} kostenlos zur Probe bis {end}",
        .wouldRenew: ", danach würde es sich verlängern.",
        .wouldRenewFor: ", danach würde es sich für {price} verlängern.",
        .wouldBecome: ", danach würde es {next}.",
        .wouldBecomeFor: ", danach würde es {next} für {price}.",
        .wouldRenewNot: ". Es würde sich nicht verlängern.",
        .wouldBeDeclined: "Die Zahlung würde abgelehnt.",
        .wouldBeDeclinedWithoutAccess:
            "Die Zahlung würde abgelehnt, und {who} hätte keinen Zugang zu {product}, bis eine Abbuchung gelänge.",
        .wouldBeDeclinedBeside: "Die Zahlung für {product} würde abgelehnt.",
        .wouldKeepUntil: "{who} würde {product} bis {until} behalten und dann verlieren, wenn keine Abbuchung gelänge.",
        .wouldGoOnTrying: "Der Store würde es weiter versuchen.",
        .wouldBeRefunded: "{product} würde erstattet.",
        .wouldBeRefundedWithoutAccess: "{product} würde erstattet, und {who} hätte keinen Zugang mehr dazu.",
    ]
}
