import CPerchProto
import PerchBase
import PerchModel

extension PlanOptionsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.group_id = arena.text(self.groupID)
        message.pointee.locale = arena.text(self.locale)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), groupID: String(wire: message.pointee.group_id),
            locale: String(wire: message.pointee.locale), atLeast: read(message.pointee.at_least) { Position($0) })
    }
}

extension PlanOptionList {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsResponse>, _ arena: Arena) {
        (message.pointee.n_options, message.pointee.options) = arena.list(self.options) { $0.write(to: $1, arena) }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsResponse>) {
        self.init(
            options: readList(message.pointee.n_options, message.pointee.options) { PlanOption($0) },
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0)))
    }
}

extension OfferEligibilityRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.group_id = arena.text(self.groupID)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            groupID: String(wire: message.pointee.group_id), atLeast: read(message.pointee.at_least) { Position($0) })
    }
}

extension AppPoliciesRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetAppPoliciesRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.locale = arena.text(self.locale)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetAppPoliciesRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            locale: String(wire: message.pointee.locale))
    }
}

extension AppPoliciesAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetAppPoliciesResponse>, _ arena: Arena) {
        message.pointee.licence_agreement = arena.text(self.licenceAgreement)
        message.pointee.privacy_policy_text = arena.text(self.privacyPolicyText)
        message.pointee.privacy_policy_url = arena.text(self.privacyPolicyURL)
        message.pointee.privacy_policy_locale = arena.text(self.privacyPolicyLocale)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetAppPoliciesResponse>) {
        self.init(
            licenceAgreement: String(wire: message.pointee.licence_agreement),
            privacyPolicyText: String(wire: message.pointee.privacy_policy_text),
            privacyPolicyURL: String(wire: message.pointee.privacy_policy_url),
            privacyPolicyLocale: String(wire: message.pointee.privacy_policy_locale))
    }
}

extension AsOf {
    func write(to message: UnsafeMutablePointer<Perch__V1__AsOf>, _ arena: Arena) {
        if let instant = self.instant {
            message.pointee.instant_case = PERCH__V1__AS_OF__INSTANT_AT_MS
            message.pointee.at_ms = instant.milliseconds
        }
        message.pointee.known_at_revision = self.revision
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AsOf>) {
        self.init(
            instant: message.pointee.instant_case == PERCH__V1__AS_OF__INSTANT_AT_MS
                ? Instant(milliseconds: message.pointee.at_ms) : nil,
            revision: message.pointee.known_at_revision)
    }
}

extension PlanOption {
    func write(to message: UnsafeMutablePointer<Perch__V1__PlanOption>, _ arena: Arena) {
        if self.product != .blank { message.pointee.product = arena.message { self.product.write(to: $0, arena) } }
        message.pointee.relation = .init(self.relation)
        message.pointee.takes_effect_at_renewal = self.takesEffectAtRenewal ? 1 : 0
        message.pointee.preferred = self.isPreferred ? 1 : 0
        if let offer = self.offer { message.pointee.offer = arena.message { offer.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PlanOption>) {
        self.init(
            product: read(message.pointee.product) { Product($0) } ?? .blank,
            relation: PlanRelation(message.pointee.relation),
            takesEffectAtRenewal: message.pointee.takes_effect_at_renewal != 0,
            isPreferred: message.pointee.preferred != 0, offer: read(message.pointee.offer) { TransactionOffer($0) })
    }
}

extension OfferEligibility {
    func write(to message: UnsafeMutablePointer<Perch__V1__OfferEligibility>, _ arena: Arena) {
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.type = .init(self.type)
        message.pointee.offer_id = arena.text(self.offerID)
        message.pointee.eligible = self.isEligible ? 1 : 0
        message.pointee.reason = arena.text(self.reason)
        message.pointee.message = arena.text(self.message)
        message.pointee.billing_plan = .init(self.billingPlan)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OfferEligibility>) {
        self.init(
            productID: String(wire: message.pointee.product_id), type: OfferType(message.pointee.type),
            offerID: String(wire: message.pointee.offer_id), isEligible: message.pointee.eligible != 0,
            reason: String(wire: message.pointee.reason), message: String(wire: message.pointee.message),
            billingPlan: BillingPlanType(message.pointee.billing_plan))
    }
}

extension OfferEligibilityAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityResponse>, _ arena: Arena) {
        message.pointee.introductory_eligible = self.value.isEligibleForIntroductory ? 1 : 0
        (message.pointee.n_offers, message.pointee.offers) = arena.list(self.value.offers) { $0.write(to: $1, arena) }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityResponse>) {
        self.init(
            value: OfferEligibilities(
                isEligibleForIntroductory: message.pointee.introductory_eligible != 0,
                offers: readList(message.pointee.n_offers, message.pointee.offers) { OfferEligibility($0) }),
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0)))
    }
}

extension ExplainRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExplainRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        switch self.about {
        case .group(let id)?:
            message.pointee.about_case = PERCH__V1__EXPLAIN_REQUEST__ABOUT_GROUP_ID
            message.pointee.group_id = arena.text(id)
        case .product(let id)?:
            message.pointee.about_case = PERCH__V1__EXPLAIN_REQUEST__ABOUT_PRODUCT_ID
            message.pointee.product_id = arena.text(id)
        case nil:
            break
        }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExplainRequest>) {
        let about: About?
        switch message.pointee.about_case {
        case PERCH__V1__EXPLAIN_REQUEST__ABOUT_GROUP_ID: about = .group(String(wire: message.pointee.group_id))
        case PERCH__V1__EXPLAIN_REQUEST__ABOUT_PRODUCT_ID: about = .product(String(wire: message.pointee.product_id))
        default: about = nil
        }
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), about: about,
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf(),
            atLeast: read(message.pointee.at_least) { Position($0) })
    }
}

extension ExplainedFact {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExplainedFact>, _ arena: Arena) {
        message.pointee.transaction_id = self.transactionID
        message.pointee.field = arena.text(self.field)
        message.pointee.value = arena.text(self.value)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExplainedFact>) {
        self.init(
            transactionID: message.pointee.transaction_id, field: String(wire: message.pointee.field),
            value: String(wire: message.pointee.value))
    }
}

extension Explanation {
    func write(to message: UnsafeMutablePointer<Perch__V1__Explanation>, _ arena: Arena) {
        message.pointee.rule = arena.text(self.rule)
        message.pointee.message = arena.text(self.message)
        if let original = self.originalTransactionID {
            message.pointee.line_case = PERCH__V1__EXPLANATION__LINE_ORIGINAL_TRANSACTION_ID
            message.pointee.original_transaction_id = original
        }
        message.pointee.state = .init(self.state)
        message.pointee.entitled = self.isEntitled ? 1 : 0
        (message.pointee.n_facts, message.pointee.facts) = arena.list(self.facts) { $0.write(to: $1, arena) }
        if let next = self.nextChange { message.pointee.next_change = arena.message { next.write(to: $0, arena) } }
        message.pointee.next_message = arena.text(self.nextMessage)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Explanation>) {
        self.init(
            rule: String(wire: message.pointee.rule), message: String(wire: message.pointee.message),
            originalTransactionID: message.pointee.line_case == PERCH__V1__EXPLANATION__LINE_ORIGINAL_TRANSACTION_ID
                ? message.pointee.original_transaction_id : nil,
            state: RenewalState(message.pointee.state), isEntitled: message.pointee.entitled != 0,
            facts: readList(message.pointee.n_facts, message.pointee.facts) { ExplainedFact($0) },
            nextChange: read(message.pointee.next_change) { Forecast($0) },
            nextMessage: String(wire: message.pointee.next_message))
    }
}

extension ExplainAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExplainResponse>, _ arena: Arena) {
        message.pointee.message = arena.text(self.value.message)
        message.pointee.entitled = self.value.isEntitled ? 1 : 0
        (message.pointee.n_explanations, message.pointee.explanations) = arena.list(self.value.explanations) {
            $0.write(to: $1, arena)
        }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExplainResponse>) {
        self.init(
            value: Explanations(
                message: String(wire: message.pointee.message), isEntitled: message.pointee.entitled != 0,
                explanations: readList(message.pointee.n_explanations, message.pointee.explanations) {
                    Explanation($0)
                }),
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0)))
    }
}
