package import PerchBase
package import PerchModel

/// A scenario as its text says it: nothing is resolved that only a server knows.
package struct Scenario: Sendable {
    /// Where the clock stands when it begins.
    package var start = Scenario.defaultStart
    /// What is sold at the beginning.
    package var catalogue: CatalogueSource?
    /// Catalogues that the file spells out, by name.
    package var namedCatalogues: [String: ScenarioCatalogue] = [:]
    /// In force before the first step.
    package var settings: [AppSettingChange] = []
    /// Every push on a stream must be expected.
    package var isStrict = false
    package var accounts: [String] = []
    /// Steps and expectations, in order.
    package var lines: [ScenarioLine] = []

    /// Of files that do not say: a day that every month has.
    package static let defaultStart = CivilTime(year: 2026, month: 1, day: 1).instant
    /// The account of files that name none.
    package static let defaultAccount = "customer"

    package var stepCount: Int {
        self.lines.count { if case .step = $0.content { true } else { false } }
    }

    package var expectationCount: Int { self.lines.count - self.stepCount }
}

/// Where a catalogue comes from.
package enum CatalogueSource: Hashable, Sendable {
    /// Spelt out in the file.
    case inline(ScenarioCatalogue)
    case named(String)
    /// A `.storekit` file, relative to the scenario.
    case file(path: String)
}

package struct ScenarioLine: Sendable {
    package enum Content: Sendable {
        case step(Step)
        case expectation(Expectation)
    }

    package var place: SourcePlace
    /// As it stands in the file.
    package var text: String
    package var content: Content
}

/// An instant that may depend on what happened.
package struct InstantExpression: Hashable, Sendable {
    package enum Base: Hashable, Sendable {
        case absolute(Instant)
        case start
        /// Where the clock stands.
        case now
        case transaction(Reference, Field)
    }

    package var base: Base
    package var offset = ScenarioDuration()
}

/// A transaction as people point at it.
package enum Reference: Hashable, Sendable, CustomStringConvertible {
    /// As `as NAME` called it.
    case named(String)
    case number(TransactionID)
    /// What the account holds of a product; the server finds it.
    case product(String)
    /// The newest of a product, whatever became of it; nil: of any.
    case latest(product: String?)
    case first(product: String?)

    package var description: String {
        switch self {
        case .named(let name): name
        case .number(let number): "transaction \(number)"
        case .product(let product): product
        case .latest(let product): "latest" + (product.map { " \($0)" } ?? "")
        case .first(let product): "first" + (product.map { " \($0)" } ?? "")
        }
    }
}

/// Something that is done.
package enum Step: Sendable {
    case buy(account: String, ScenarioOrder, isOutside: Bool)
    case operate(account: String, AccountOperation)
    case finish(account: String, FinishTarget)
    case sync(account: String)
    case requestRefund(account: String, Reference, reason: RevocationReason, text: String)
    case redeem(account: String, code: String, product: String)
    case manage(account: String, product: String, autoRenew: Bool)
    case configure([AppSettingChange])
    /// The last purchase, operation or setting once more, as a client asks that got no answer.
    case again
    case load(CatalogueSource)
    case clock(ClockStep)
    case watch(WatchKey)
    case unwatch(WatchKey)
    /// Calls a transaction by a name.
    case name(account: String, Reference)
}

/// A step with what it is called afterwards.
package enum FinishTarget: Hashable, Sendable {
    case all
    case one(Reference)
}

package enum ClockStep: Hashable, Sendable {
    case freeze
    case resume
    /// By a duration, which is added to where the clock stands, or to an instant.
    case to(InstantExpression)
    case toNextBoundary(account: String)
}

/// A purchase, with a date that may depend on what happened.
package struct ScenarioOrder: Hashable, Sendable {
    package var order: PurchaseOrder
    package var date: InstantExpression?
}

/// An operation on an account, with its targets as people point at them.
package enum AccountOperation: Hashable, Sendable {
    case refund(Reference, reason: RevocationReason, share: RefundShare)
    case reverseRefund(Reference)
    case declineRefund(Reference)
    case requestConsumption(Reference)
    case renew(Reference)
    case expire(Reference)
    case setAutoRenew(Reference?, isOn: Bool)
    case resolveBilling(Reference?)
    case setCharges(fail: Bool?)
    case raisePrice(Reference?, milliunits: Int64, needsConsent: Bool?)
    case answerPriceIncrease(Reference?, agrees: Bool)
    case extendRenewal(Reference?, by: ScenarioDuration)
    case share(Reference, member: String)
    case stopSharing(Reference?, member: String?)
    case decidePurchase(Waiting, approves: Bool)
    case deleteTransaction(Reference)
    case clearTransactions
    case createIntent(product: String, offer: OrderedOffer?)
    case endIntent(Waiting)
    case setStorefront(String)
    case postMessage
}

/// A purchase or an intent that waits, as people point at it.
package enum Waiting: Hashable, Sendable {
    /// The only one, or the oldest.
    case oldest
    /// The oldest of a product.
    case product(String)
    case number(UInt64)
}

/// A stream that a scenario looks at.
package enum WatchKey: Hashable, Sendable, CustomStringConvertible {
    case products([String], locale: String, storefront: String)
    /// Nil group: the only one that there is.
    case status(account: String, group: String?)
    case entitlement(account: String, product: String)
    case updates(account: String)
    case intents(account: String)
    case messages(account: String)

    package var account: String? {
        switch self {
        case .products: nil
        case .status(let account, _), .entitlement(let account, _), .updates(let account), .intents(let account),
            .messages(let account):
            account
        }
    }

    package var description: String {
        switch self {
        case .products(let ids, let locale, let storefront):
            "products \(ids.joined(separator: ", "))" + (storefront.isEmpty ? "" : " in \(storefront)")
                + (locale.isEmpty ? "" : " with locale \(locale)")
        case .status(let account, let group): "status\(group.map { " \($0)" } ?? "") of \(account)"
        case .entitlement(let account, let product): "entitlement \(product) of \(account)"
        case .updates(let account): "updates of \(account)"
        case .intents(let account): "intents of \(account)"
        case .messages(let account): "messages of \(account)"
        }
    }
}
