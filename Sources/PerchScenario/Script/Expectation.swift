package import PerchModel

/// An expectation after the steps above it.
package struct Expectation: Sendable {
    package var subject: Subject
    package var items: [Item]

    /// The subject of an expectation.
    package enum Subject: Hashable, Sendable {
        /// The outcome of the last step.
        case outcome
        case watch(WatchKey)
        /// A read of a status or an entitlement at another moment.
        case asOf(WatchKey, InstantExpression)
        case history(account: String, product: String?, includesFinishedConsumables: Bool)
        case unfinished(account: String)
        case transaction(account: String, Reference)
        case entitlements(account: String)
        case eligibility(account: String, product: String?, group: String?)
        case plans(account: String, group: String?)
        case pending(account: String)
        case appTransaction(account: String)
        case explanation(WatchKey, InstantExpression?)
        case clock
        case settings
        case policies(locale: String)
    }

    /// The text between two commas.
    package struct Item: Sendable {
        package var place: SourcePlace
        package var text: String
        package var checks: [Check]
    }

    /// One check of an item.
    package struct Check: Sendable {
        package var place: SourcePlace
        package var text: String
        package var kind: Kind
    }

    package enum Kind: Hashable, Sendable {
        case pushes(PushRule)
        case loading
        /// With a reason, or with any.
        case failure(String?)
        /// There is nothing: an empty list, no entitlement, no transaction.
        case none
        /// There is something.
        case some
        case count(Int)
        /// The following checks are about this entry.
        case select(Selection)
        case field(Field, Expected, isNegated: Bool)
        /// Names the transaction of the subject.
        case capture(String)
        case result(ResultRule)
        /// Of a list: it need not be complete.
        case including
        /// A setting that is in force.
        case setting(AppSettingChange)
    }

    package enum PushRule: Hashable, Sendable {
        case never
        case atLeast(Int)
        case exactly(Int)
    }

    package enum Selection: Hashable, Sendable {
        case own
        case shared
        case effective
        case first
        case last
        /// Counted from 1.
        case number(Int)
        /// Of several products, or of lines.
        case product(String)
    }

    /// The expected outcome of a step.
    package enum ResultRule: Hashable, Sendable {
        case success
        /// A transaction that was not there before.
        case new
        /// The transaction that was held before.
        case held
        case pending
        case cancelled
        case refused(String?)
        case approved
        case declined
        case appliesAtRenewal
        case settled(Int)
    }
}

/// The expected value of a field.
package indirect enum Expected: Hashable, Sendable {
    case text(String)
    case instant(InstantExpression)
    case flag(Bool)
    /// Without a currency, any.
    case money(Int64, currency: String?)
    case number(Int64)
    case offer(type: OfferType?, mode: PaymentMode?, id: String?)
    case reference(Reference)
    case list([String])
    case period(Period)
    case none
    case some
}

/// A field that an expectation can name: of a transaction, a status, a product, an event and so on.
package enum Field: String, Hashable, Sendable, CaseIterable {
    // Transactions
    case transaction, original, product, type, group, purchased, originallyPurchased, expires, quantity, upgraded
    case ownership, offer, revokedAt, revocationReason, revocationType, percentage, token, storefront, environment
    case transactionReason, price, billingPlan, verification, webOrderLineItem, appTransaction
    case billingPeriodNumber, totalBillingPeriods, commitmentUntil, commitmentPrice, commitmentRenews
    // Statuses
    case state, autoRenew, preference, expirationReason, retrying, graceUntil, retryUntil, priceIncrease, renewalDate
    case renewalPrice, renewalOffer, winBacks, runStart, renewalBillingPlan, effectiveReason
    // Values
    case cause, nextChange, nextChangeAt
    // Products
    case available, name, details, displayPrice, currency, shareable, level, period, groupName, introductoryOffer
    case introductoryOffers, promotionalOffers, winBackOffers, image, billingPlans
    // Events, messages, intents, plans, eligibility, explanations, the clock
    case event, message, since, offerID, pendingReason, relation, atRenewal, preferred, eligible, reason, offerType
    case rule, entitled, sentence, now, frozen, timeRate
    case licence, privacyText, privacyURL, bundleID, originalVersion, platform, mayPay
}
