/// A text for people, of which each language has one form. Places such as `{product}` are filled in.
///
/// `{who}` is the customer as the one who has something, `{whom}` as the one to whom something is given or done. No form knows
/// whether the customer is a man or a woman.
enum TextKey: String, CaseIterable, Sendable {
    // How the customer is called where the key is too long to be read out.
    case customer, toCustomer

    // A subscription in force. The last part follows the first.
    case has, hasTrial, hasShared
    case renews, renewsFor, becomes, becomesFor, renewalFails
    case renewsNot, renewsNotUnsold, renewsIfAgreed, renewsIfAgreedTo, renewalUnreported, chargedForEach
    case renewalAwaited, renewalAwaitedUntil, renewalDue

    // A subscription whose charge failed.
    case declined, declinedShared, declinedWithoutAccess, declinedSharedWithoutAccess, declinedBeside,
        declinedSharedBeside
    case keepsUntil, goesOnTrying

    // What is over.
    case unshared, refunded, refundedWithoutAccess, unverified
    case had, hadBecause, hadUnreported
    case becauseSwitchedOff, becauseDeclined, becauseNotAgreed, becauseUnsold

    // What lasts, what was granted, what waits, and nothing.
    case owns, ownsShared, given, givenForever, waits, waitsOtherwise
    case boughtOnce, boughtAndRefunded, boughtOften, boughtOftenSomeRefunded
    case hasNothing, hasNot, boughtNothing, boughtNot, wasMovedTo, unknown, unknownYet, clockStopped

    // What joins the last two of a list.
    case and

    // Changes that time brings, without a full stop.
    case willRenew, willRenewFor, willFailWithAccess, willFailWithoutAccess, willEnd, willEndUnlessAgreed,
        willEndUnlessAgreedTo, willLoseAccess, willStopTrying, willEndUnreported, grantWillEnd

    // Where a grant comes from. The last parts follow the first.
    case grantedOn, grantedBy, grantUntil, grantForever, grantBecause

    // What has not happened. Each form stands for the one of what has.
    case supposedSame, supposedPrice, wouldHave, wouldHaveTrial, wouldRenew, wouldRenewFor, wouldBecome,
        wouldBecomeFor, wouldRenewNot, wouldBeDeclined, wouldBeDeclinedWithoutAccess, wouldBeDeclinedBeside,
        wouldKeepUntil, wouldGoOnTrying, wouldBeRefunded, wouldBeRefundedWithoutAccess

    // What happened. A purchase and a renewal are followed by their parts.
    case wasBought, wasBoughtBy, wasShared, wasRenewed, chargeSucceeded, partPrice, partTrial, partOffer,
        partUntil, doneBy, anotherAccount, aPurchase

    // What became of a subscription.
    case failedWithAccess, failedWithoutAccess, accessEnded, stoppedTrying, hasEnded, hasEndedBecause,
        hasEndedUnreported, wasCutShort, switchedOff, switchedOn, planWasChosen, wasExtended,
        wasExtendedByDay, wasExtendedByDays, priceWasAsked, priceWasAskedTo, priceWasRaised, priceWasRaisedSomehow,
        priceWasAgreed,
        priceWasAgreedTo, priceWasRefused, priceWasRefusedTo

    // Refunds, sharing, moves, grants, and settings of the account.
    case wasRefunded, wasRefundedOf, wasRefundedInPart, refundWasReversed, refundWasRequested,
        refundWasDeclined, wasUnshared, sharedWith, unsharedWith, cameFrom, wentTo, wasMerged, wasGranted,
        grantWasEnded, grantIsOver, beganToWait, wasApproved, wasNotApproved, chargesWillFail,
        chargesWillSucceed, chargesAsSet, paymentsForbidden, paymentsAllowed, wasDeleted, wasCleared
}

/// The texts of one language, and how it writes days.
struct TextTable: Sendable {
    /// Of the language, such as `de`.
    let language: String
    let months: [String]
    /// `{day}`, `{month}`; with `{year}`; and a day with `{time}`.
    let day: String
    let dayOfYear: String
    let dayWithTime: String
    let texts: [TextKey: String]

    subscript(key: TextKey) -> String {
        guard let text = self.texts[key] else { preconditionFailure("\(self.language) has no text \(key)") }
        return text
    }

    /// English is first: it is what other languages get.
    static let all = [Self.english, Self.german]

    /// The texts of a locale such as `de_AT`.
    static func table(of locale: String) -> TextTable {
        let language = locale.prefix { $0 != "_" && $0 != "-" }
        return Self.all.first { $0.language == language.lowercased() } ?? Self.english
    }

    static let english = TextTable(
        language: "en",
        months: [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ],
        day: "{day} {month}", dayOfYear: "{day} {month} {year}", dayWithTime: "{date}, {time}",
        texts: [
            .customer: "the customer",
            .toCustomer: "the customer",
            .has: "{who} has {product} until {end}",
            .hasTrial: "{who} has a free trial of {product} until {end}",
            .hasShared: "{who} has {product}, shared by a family member, until {end}",
            .renews: ", then it renews.",
            .renewsFor: ", then it renews for {price}.",
            .becomes: ", then it becomes {next}.",
            .becomesFor: ", then it becomes {next} for {price}.",
            .renewalFails: ". The next charge is set to fail.",
            .renewsNot: ". It does not renew.",
            .renewsNotUnsold: ". It does not renew, because the product is no longer sold.",
            .renewsIfAgreed: ". It renews only if {who} agrees to the higher price.",
            .renewsIfAgreedTo: ". It renews only if {who} agrees to the higher price of {price}.",
            .chargedForEach: "There are {count} such purchases, and each is charged.",
            .renewalUnreported: ". Whether it renews was not reported.",
            .renewalAwaited:
                "The period of {product} ended on {end}, and its renewal has not been reported. Until it is, {who} keeps {product}.",
            .renewalAwaitedUntil:
                "The period of {product} ended on {end}, and its renewal has not been reported. {who} keeps {product} until {until} while the report is awaited.",
            .renewalDue: "{who} has {product}. A renewal is expected on {end}.",
            .declined: "The card was declined on {end}.",
            .declinedShared: "The card of the family member who shares {product} was declined on {end}.",
            .declinedWithoutAccess:
                "The card was declined on {end}, and {who} has no access to {product} until a charge succeeds.",
            .declinedSharedWithoutAccess:
                "The card of the family member who shares {product} was declined on {end}, and {who} has no access to {product} until a charge succeeds.",
            .declinedBeside: "The card was declined on {end}, and no charge for {product} has succeeded since.",
            .declinedSharedBeside:
                "The card of the family member who shares {product} was declined on {end}, and no charge for {product} has succeeded since.",
            .keepsUntil: "{who} keeps {product} until {until}, and then loses it unless a charge succeeds.",
            .goesOnTrying: "The store goes on trying.",
            .unshared: "{product} is no longer shared with {whom}.",
            .refunded: "{product} was refunded on {end}.",
            .refundedWithoutAccess: "{product} was refunded on {end}, and {who} has no access to it.",
            .unverified: "The purchase of {product} could not be verified, so it gives {whom} no access.",
            .had: "{who} had {product} until {end}.",
            .hadBecause: "{who} had {product} until {end}: {reason}.",
            .hadUnreported: "{who} had {product} until {end}. Whether it renewed was not reported.",
            .becauseSwitchedOff: "renewal was switched off",
            .becauseDeclined: "the card was declined and no later charge succeeded",
            .becauseNotAgreed: "the higher price was not agreed to",
            .becauseUnsold: "the product is no longer sold",
            .owns: "{who} owns {products}.",
            .ownsShared: "{who} has {products}, shared by a family member.",
            .given: "{who} was given {product} on {start}, until {end}.",
            .givenForever: "{who} was given {product} on {start}, without an end.",
            .boughtOnce: "{who} bought {product} on {end}.",
            .boughtAndRefunded: "{who} bought {product} on {end}, and it was refunded.",
            .boughtOften: "{who} bought {product} {count} times, most recently on {end}.",
            .boughtOftenSomeRefunded:
                "{who} bought {product} {count} times, most recently on {end}. Refunded: {refunded} of {count}.",
            .waits: "A purchase of {product} has been waiting for approval since {end}.",
            .waitsOtherwise: "A purchase of {product} has been waiting since {end}.",
            .hasNothing: "{who} has nothing at the moment.",
            .hasNot: "{who} does not have {product} at the moment.",
            .boughtNothing: "{who} has bought nothing yet.",
            .boughtNot: "{who} has not bought {product}.",
            .wasMovedTo: "{product} was moved to {account} on {end}.",
            .unknown:
                "No account has this name: {account}. Search for another name of the customer, such as an order or an e-mail address.",
            .unknownYet: "No account has this name yet: {account}. Its first purchase creates it.",
            .and: " and ",
            .clockStopped: "The clock of this test app is stopped, so nothing changes until it runs again.",
            .willRenew: "{product} renews",
            .willRenewFor: "{product} renews for {price}",
            .willFailWithAccess: "The charge for {product} will fail, and access goes on for a while",
            .willFailWithoutAccess: "The charge for {product} will fail, and access ends",
            .willEnd: "{product} ends",
            .willEndUnlessAgreed: "{product} ends, unless the higher price is agreed to",
            .willEndUnlessAgreedTo: "{product} ends, unless the higher price of {price} is agreed to",
            .willLoseAccess: "Access to {product} ends, unless a charge succeeds",
            .willStopTrying: "The store stops trying to charge for {product}",
            .willEndUnreported: "The period of {product} ends, and whether it renews was not reported",
            .grantWillEnd: "The grant of {product} ends",
            .grantedOn: "given on {start}",
            .grantedBy: "{by} gave it on {start}",
            .grantUntil: ", until {end}",
            .grantForever: ", without an end",
            .grantBecause: ", because: “{reason}”",
        ].merging(Self.englishHistory) { $1 }.merging(Self.englishSupposed) { $1 })

    static let german = TextTable(
        language: "de",
        months: [
            "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
            "November", "Dezember",
        ],
        day: "{day}. {month}", dayOfYear: "{day}. {month} {year}", dayWithTime: "{date}, {time} Uhr",
        texts: [
            .customer: "dieses Konto",
            .toCustomer: "diesem Konto",
            .has: "{who} hat {product} bis {end}",
            .hasTrial: "{who} hat {product} kostenlos zur Probe bis {end}",
            .hasShared: "{who} hat {product} über die Familienfreigabe bis {end}",
            .renews: ", danach verlängert es sich.",
            .renewsFor: ", danach verlängert es sich für {price}.",
            .becomes: ", danach wird es {next}.",
            .becomesFor: ", danach wird es {next} für {price}.",
            .renewalFails: ". Die nächste Abbuchung wird fehlschlagen.",
            .renewsNot: ". Es verlängert sich nicht.",
            .renewsNotUnsold: ". Es verlängert sich nicht, weil das Produkt nicht mehr verkauft wird.",
            .renewsIfAgreed: ". Es verlängert sich nur, wenn {who} dem höheren Preis zustimmt.",
            .renewsIfAgreedTo: ". Es verlängert sich nur, wenn {who} dem höheren Preis von {price} zustimmt.",
            .chargedForEach: "Es gibt {count} solche Käufe, und jeder wird abgebucht.",
            .renewalUnreported: ". Ob es sich verlängert, wurde nicht gemeldet.",
            .renewalAwaited:
                "Der Zeitraum von {product} endete am {end}, und die Verlängerung wurde noch nicht gemeldet. Bis dahin behält {who} {product}.",
            .renewalAwaitedUntil:
                "Der Zeitraum von {product} endete am {end}, und die Verlängerung wurde noch nicht gemeldet. {who} behält {product} bis {until}, solange die Meldung aussteht.",
            .renewalDue: "{who} hat {product}. Am {end} steht eine Verlängerung an.",
            .declined: "Die Zahlung wurde am {end} abgelehnt.",
            .declinedShared: "Die Zahlung des Familienmitglieds, das {product} freigibt, wurde am {end} abgelehnt.",
            .declinedWithoutAccess:
                "Die Zahlung wurde am {end} abgelehnt, und {who} hat keinen Zugang zu {product}, bis eine Abbuchung gelingt.",
            .declinedSharedWithoutAccess:
                "Die Zahlung des Familienmitglieds, das {product} freigibt, wurde am {end} abgelehnt, und {who} hat keinen Zugang zu {product}, bis eine Abbuchung gelingt.",
            .declinedBeside:
                "Die Zahlung wurde am {end} abgelehnt, und seither ist keine Abbuchung für {product} gelungen.",
            .declinedSharedBeside:
                "Die Zahlung des Familienmitglieds, das {product} freigibt, wurde am {end} abgelehnt, und seither ist keine Abbuchung für {product} gelungen.",
            .keepsUntil: "{who} behält {product} bis {until} und verliert es dann, wenn keine Abbuchung gelingt.",
            .goesOnTrying: "Der Store versucht es weiter.",
            .unshared: "{product} wird nicht mehr mit {whom} geteilt.",
            .refunded: "{product} wurde am {end} erstattet.",
            .refundedWithoutAccess: "{product} wurde am {end} erstattet, und {who} hat keinen Zugang mehr dazu.",
            .unverified:
                "Der Kauf von {product} konnte nicht überprüft werden und gibt {whom} daher keinen Zugang.",
            .had: "{who} hatte {product} bis {end}.",
            .hadBecause: "{who} hatte {product} bis {end}: {reason}.",
            .hadUnreported: "{who} hatte {product} bis {end}. Ob es sich verlängert hat, wurde nicht gemeldet.",
            .becauseSwitchedOff: "die Verlängerung war ausgeschaltet",
            .becauseDeclined: "die Zahlung wurde abgelehnt, und keine spätere Abbuchung gelang",
            .becauseNotAgreed: "dem höheren Preis wurde nicht zugestimmt",
            .becauseUnsold: "das Produkt wird nicht mehr verkauft",
            .owns: "{who} besitzt {products}.",
            .ownsShared: "{who} hat {products} über die Familienfreigabe.",
            .given: "{who} hat {product} am {start} geschenkt bekommen, bis {end}.",
            .givenForever: "{who} hat {product} am {start} geschenkt bekommen, ohne Ende.",
            .boughtOnce: "{who} hat {product} am {end} gekauft.",
            .boughtAndRefunded: "{who} hat {product} am {end} gekauft, und es wurde erstattet.",
            .boughtOften: "{who} hat {product} {count}-mal gekauft, zuletzt am {end}.",
            .boughtOftenSomeRefunded:
                "{who} hat {product} {count}-mal gekauft, zuletzt am {end}. Erstattet: {refunded} von {count}.",
            .waits: "Ein Kauf von {product} wartet seit {end} auf Genehmigung.",
            .waitsOtherwise: "Ein Kauf von {product} wartet seit {end}.",
            .hasNothing: "{who} hat zurzeit nichts.",
            .hasNot: "{who} hat {product} zurzeit nicht.",
            .boughtNothing: "{who} hat noch nichts gekauft.",
            .boughtNot: "{who} hat {product} nicht gekauft.",
            .wasMovedTo: "{product} wurde am {end} zu {account} übertragen.",
            .unknown:
                "Kein Konto hat diesen Namen: {account}. Suchen Sie nach einem anderen Namen, etwa einer Bestellnummer oder einer E-Mail-Adresse.",
            .unknownYet: "Noch hat kein Konto diesen Namen: {account}. Der erste Kauf legt es an.",
            .and: " und ",
            .clockStopped: "Die Uhr dieser Test-App steht; bis sie weiterläuft, ändert sich nichts.",
            .willRenew: "{product} verlängert sich",
            .willRenewFor: "{product} verlängert sich für {price}",
            .willFailWithAccess: "Die Abbuchung für {product} wird fehlschlagen, der Zugang bleibt noch eine Weile",
            .willFailWithoutAccess: "Die Abbuchung für {product} wird fehlschlagen, der Zugang endet",
            .willEnd: "{product} endet",
            .willEndUnlessAgreed: "{product} endet, wenn dem höheren Preis nicht zugestimmt wird",
            .willEndUnlessAgreedTo: "{product} endet, wenn dem höheren Preis von {price} nicht zugestimmt wird",
            .willLoseAccess: "Der Zugang zu {product} endet, wenn keine Abbuchung gelingt",
            .willStopTrying: "Der Store versucht nicht länger, für {product} abzubuchen",
            .willEndUnreported: "Der Zeitraum von {product} endet; ob er sich verlängert, wurde nicht gemeldet",
            .grantWillEnd: "Die Gewährung von {product} endet",
            .grantedOn: "gegeben am {start}",
            .grantedBy: "von {by} am {start} gegeben",
            .grantUntil: ", bis {end}",
            .grantForever: ", ohne Ende",
            .grantBecause: ", weil: „{reason}“",
        ].merging(Self.germanHistory) { $1 }.merging(Self.germanSupposed) { $1 })
}
