package import PerchBase
package import PerchModel

/// A parsed scenario. Names that only a server knows are unresolved.
package struct Scenario: Sendable {
    /// The time of the clock at the beginning.
    package var start = Scenario.defaultStart
    /// The catalogue at the beginning.
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

    /// The start of files without a `start` line: a day that every month has.
    package static let defaultStart = CivilTime(year: 2026, month: 1, day: 1).instant
    /// The account of files without accounts.
    package static let defaultAccount = "customer"

    package var stepCount: Int {
        self.lines.count { if case .step = $0.content { true } else { false } }
    }

    package var expectationCount: Int { self.lines.count - self.stepCount }
}

/// The origin of a catalogue.
package enum CatalogueSource: Hashable, Sendable {
    /// Spelt out in the file.
    case inline(ScenarioCatalogue)
    case named(String)
    /// A `.storekit` file, relative to the scenario.
    case file(path: String)
    /// The text of a `.storekit` file, which stands within the scenario.
    case text(String)
}

package struct ScenarioLine: Sendable {
    package enum Content: Sendable {
        case step(Step)
        case expectation(Expectation)
    }

    package var place: SourcePlace
    /// The source text.
    package var text: String
    package var content: Content
}

/// An instant that may depend on earlier steps.
package struct InstantExpression: Hashable, Sendable {
    package enum Base: Hashable, Sendable {
        case absolute(Instant)
        case start
        /// The time of the clock.
        case now
        case transaction(Reference, Field)
    }

    package var base: Base
    package var offset = ScenarioDuration()
}

/// A reference to a transaction.
package enum Reference: Hashable, Sendable, CustomStringConvertible {
    /// As `as NAME` called it.
    case named(String)
    case number(TransactionID)
    /// The account's transaction of a product, which the server finds.
    case product(String)
    /// The newest of a product, also if it was refunded; nil for any product.
    case latest(product: String?)
    case first(product: String?)
    /// The renewal of a product with this number, counted from the account's first.
    case renewal(Int, product: String)

    package var description: String {
        switch self {
        case .named(let name): name
        case .number(let number): "transaction \(number)"
        case .product(let product): product
        case .latest(let product): "latest" + (product.map { " \($0)" } ?? "")
        case .first(let product): "first" + (product.map { " \($0)" } ?? "")
        case .renewal(let number, let product): "renewal \(number) of \(product)"
        }
    }
}

/// A step.
package enum Step: Sendable {
    case buy(account: String, ScenarioOrder, isOutside: Bool)
    case operate(account: String, AccountOperation)
    case finish(account: String, FinishTarget)
    case sync(account: String)
    case requestRefund(account: String, Reference, reason: RevocationReason, text: String)
    case redeem(account: String, code: String, product: String)
    case manage(account: String, product: String, autoRenew: Bool)
    case configure([AppSettingChange])
    /// Repeats the last purchase, operation or setting under its idempotency key, as a client does without an answer.
    case again
    case load(CatalogueSource)
    /// Something goes wrong with notifications to a backend, or with its requests.
    case mishap(ScenarioMishap)
    case clock(ClockStep)
    case watch(WatchKey)
    case unwatch(WatchKey)
    /// Calls a transaction by a name.
    case name(account: String, Reference)
}

/// The transactions that `finish` marks as delivered.
package enum FinishTarget: Hashable, Sendable {
    case all
    case one(Reference)
}

/// A mishap with a number of notifications or requests.
package struct ScenarioMishap: Hashable, Sendable {
    package var kind: MishapKind
    package var times: UInt32 = 1
    /// Of a delay.
    package var milliseconds: Int64 = 0
    /// How the path of a request begins.
    package var path = ""
}

package enum ClockStep: Hashable, Sendable {
    case freeze
    case resume
    /// To an instant, or by a duration from the current time.
    case to(InstantExpression)
    case toNextBoundary(account: String)
}

/// A purchase, with a date that may depend on earlier steps.
package struct ScenarioOrder: Hashable, Sendable {
    package var order: PurchaseOrder
    package var date: InstantExpression?
}

/// An operation on an account, with unresolved references.
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
    case setPayments(isAllowed: Bool)
    case setAppTransaction(AppTransactionTerms)
}

/// A reference to a pending purchase or intent.
package enum Waiting: Hashable, Sendable {
    /// The only one, or the oldest.
    case oldest
    /// The oldest of a product.
    case product(String)
    /// Of those of a product the one with this place, the oldest being 1.
    case place(Int, product: String)
    case number(UInt64)
}

/// A stream of a scenario.
package enum WatchKey: Hashable, Sendable, CustomStringConvertible {
    case products([String], locale: String, storefront: String)
    /// Without a group, the only one of the catalogue; with an empty one, all groups in one stream.
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
        case .status(let account, ""): "status of all groups of \(account)"
        case .status(let account, let group): "status\(group.map { " \($0)" } ?? "") of \(account)"
        case .entitlement(let account, let product): "entitlement \(product) of \(account)"
        case .updates(let account): "updates of \(account)"
        case .intents(let account): "intents of \(account)"
        case .messages(let account): "messages of \(account)"
        }
    }
}
