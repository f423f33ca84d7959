import CPerchProto
import PerchBase
import PerchModel

// What can be done to an account, in the contract's messages. A request that names no operation, or an operation that
// names no target, is refused by the name of the field: it must never be taken for something that was not meant.

extension OperationTarget {
    func write(to message: UnsafeMutablePointer<Perch__V1__OperationTarget>, _ arena: Arena) {
        switch self {
        case .transaction(let id):
            message.pointee.target_case = PERCH__V1__OPERATION_TARGET__TARGET_TRANSACTION_ID
            message.pointee.transaction_id = id
        case .product(let id):
            message.pointee.target_case = PERCH__V1__OPERATION_TARGET__TARGET_PRODUCT_ID
            message.pointee.product_id = arena.text(id)
        }
    }

    /// `owner`: the operation's name in the contract.
    init(_ message: UnsafeMutablePointer<Perch__V1__OperationTarget>?, of owner: String) throws(MessageError) {
        switch message?.pointee.target_case {
        case PERCH__V1__OPERATION_TARGET__TARGET_TRANSACTION_ID?:
            self = .transaction(message?.pointee.transaction_id ?? 0)
        case PERCH__V1__OPERATION_TARGET__TARGET_PRODUCT_ID?:
            let id = String(wire: message?.pointee.product_id)
            guard !id.isEmpty else {
                throw .invalid(
                    field: "perch.v1.\(owner).target.product_id", found: "empty", expected: "a product identifier")
            }
            self = .product(id)
        default:
            throw .missing(field: "perch.v1.\(owner).target")
        }
    }
}

extension OrderedOffer {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseOffer>, _ arena: Arena) {
        message.pointee.type = .init(self.type)
        message.pointee.id = arena.text(self.id)
        message.pointee.jws = arena.text(self.signature)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseOffer>) {
        self.init(
            type: OfferType(message.pointee.type), id: String(wire: message.pointee.id),
            signature: String(wire: message.pointee.jws))
    }
}

extension PurchaseOrder {
    /// Says nothing, and is left out of a message.
    static var blank: PurchaseOrder { PurchaseOrder(productID: "", quantity: 0) }

    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseOrder>, _ arena: Arena) {
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.quantity = self.quantity
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        if let offer = self.offer { message.pointee.offer = arena.message { offer.write(to: $0, arena) } }
        message.pointee.introductory_eligibility = .init(self.introductoryEligibility)
        message.pointee.introductory_eligibility_jws = arena.text(self.introductoryEligibilitySignature)
        message.pointee.billing_plan = .init(self.billingPlan)
        if let date = self.date {
            message.pointee.bought_case = PERCH__V1__PURCHASE_ORDER__BOUGHT_PURCHASE_DATE_MS
            message.pointee.purchase_date_ms = date.milliseconds
        }
        message.pointee.renewal_behaviour = .init(self.renewalBehaviour)
        message.pointee.simulates_ask_to_buy = self.simulatesAskToBuy ? 1 : 0
        message.pointee.seen_storefront = arena.text(self.seenStorefront)
        message.pointee.continues_in_new_storefront = self.continuesInNewStorefront ? 1 : 0
    }

    /// As it was sent: a quantity of 0 stays 0 here.
    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseOrder>) {
        self.init(
            productID: String(wire: message.pointee.product_id), quantity: message.pointee.quantity,
            appAccountToken: String(wire: message.pointee.app_account_token),
            offer: read(message.pointee.offer) { OrderedOffer($0) },
            introductoryEligibility: IntroductoryEligibility(message.pointee.introductory_eligibility))
        self.change {
            $0.introductoryEligibilitySignature = String(wire: message.pointee.introductory_eligibility_jws)
            $0.billingPlan = BillingPlanType(message.pointee.billing_plan)
            if message.pointee.bought_case == PERCH__V1__PURCHASE_ORDER__BOUGHT_PURCHASE_DATE_MS {
                $0.date = Instant(milliseconds: message.pointee.purchase_date_ms)
            }
            $0.renewalBehaviour = RenewalBehaviour(message.pointee.renewal_behaviour)
            $0.simulatesAskToBuy = message.pointee.simulates_ask_to_buy != 0
            $0.seenStorefront = String(wire: message.pointee.seen_storefront)
            $0.continuesInNewStorefront = message.pointee.continues_in_new_storefront != 0
        }
    }
}

extension RefundShare {
    /// 100 %, in thousandths of a per cent.
    private static let whole: UInt32 = 100_000

    fileprivate func write(to message: UnsafeMutablePointer<Perch__V1__RefundOperation>) {
        switch self {
        case .full:
            message.pointee.type = .init(RevocationType.refundFull)
        case .prorated:
            message.pointee.type = .init(RevocationType.refundProrated)
        case .part(let milliPercent):
            message.pointee.type = .init(RevocationType.refundProrated)
            message.pointee.percentage_milli = milliPercent
        }
    }

    fileprivate init(_ message: UnsafeMutablePointer<Perch__V1__RefundOperation>) throws(MessageError) {
        let (type, percentage) = (RevocationType(message.pointee.type), message.pointee.percentage_milli)
        guard percentage <= Self.whole else {
            throw .invalid(
                field: "perch.v1.RefundOperation.percentage_milli", found: "\(percentage)",
                expected: "at most \(Self.whole), which is all")
        }
        switch type {
        case .unspecified, .refundFull:
            guard percentage == 0 else {
                throw .invalid(
                    field: "perch.v1.RefundOperation.percentage_milli", found: "\(percentage)",
                    expected: "0 in a full refund; set type to REFUND_PRORATED for a part")
            }
            self = .full
        case .refundProrated:
            self = percentage == 0 ? .prorated : .part(milliPercent: percentage)
        default:
            throw .invalid(
                field: "perch.v1.RefundOperation.type", found: "\(type)", expected: "REFUND_FULL or REFUND_PRORATED")
        }
    }
}

extension ChargeOutcome {
    /// What an operation asks for: one of the known ones, else it is refused.
    fileprivate static func fails(_ number: Perch__V1__ChargeOutcome) throws(MessageError) -> Bool? {
        switch ChargeOutcome(number) {
        case .asTheApp: return nil
        case .succeed: return false
        case .fail: return true
        default:
            throw .invalid(
                field: "perch.v1.SetChargesOperation.outcome", found: "\(number.rawValue)",
                expected: "0 (as the app), 1 (succeed) or 2 (fail)")
        }
    }
}

private func consentNumber(_ needed: Bool?) -> Perch__V1__PriceConsent {
    switch needed {
    case nil: PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_UNSPECIFIED
    case true?: PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_NEEDED
    case false?: PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_NOT_NEEDED
    }
}

private func needsConsent(_ number: Perch__V1__PriceConsent) throws(MessageError) -> Bool? {
    switch number {
    case PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_UNSPECIFIED: return nil
    case PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_NEEDED: return true
    case PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_NOT_NEEDED: return false
    default:
        throw .invalid(
            field: "perch.v1.RaisePriceOperation.consent", found: "\(number.rawValue)",
            expected: "0 (by the rule), 1 (needed), 2 (not needed)")
    }
}

extension StoreOperation {
    func write(to message: UnsafeMutablePointer<Perch__V1__StoreOperation>, _ arena: Arena) {
        func about(_ target: OperationTarget) -> UnsafeMutablePointer<Perch__V1__OperationTarget> {
            arena.message { target.write(to: $0, arena) }
        }
        switch self {
        case .buy(let order):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_BUY
            message.pointee.buy = arena.message { order.write(to: $0, arena) }
        case .refund(let target, let reason, let share):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_REFUND
            message.pointee.refund = arena.message {
                $0.pointee.target = about(target)
                $0.pointee.reason = .init(reason)
                share.write(to: $0)
            }
        case .reverseRefund(let target):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_REVERSE_REFUND
            message.pointee.reverse_refund = arena.message { $0.pointee.target = about(target) }
        case .declineRefund(let target):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_DECLINE_REFUND
            message.pointee.decline_refund = arena.message { $0.pointee.target = about(target) }
        case .requestConsumption(let target):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_REQUEST_CONSUMPTION
            message.pointee.request_consumption = arena.message { $0.pointee.target = about(target) }
        case .renew(let target):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_RENEW
            message.pointee.renew = arena.message { $0.pointee.target = about(target) }
        case .expire(let target):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_EXPIRE
            message.pointee.expire = arena.message { $0.pointee.target = about(target) }
        case .setAutoRenew(let target, let isOn):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_AUTO_RENEW
            message.pointee.set_auto_renew = arena.message {
                $0.pointee.target = about(target)
                $0.pointee.enabled = isOn ? 1 : 0
            }
        case .resolveBilling(let target):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_RESOLVE_BILLING
            message.pointee.resolve_billing = arena.message { $0.pointee.target = about(target) }
        case .setCharges(let fail):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_CHARGES
            message.pointee.set_charges = arena.message { $0.pointee.outcome = .init(ChargeOutcome(fails: fail)) }
        case .raisePrice(let target, let milliunits, let needsConsent):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_RAISE_PRICE
            message.pointee.raise_price = arena.message {
                $0.pointee.target = about(target)
                $0.pointee.price_milliunits = milliunits
                $0.pointee.consent = consentNumber(needsConsent)
            }
        case .answerPriceIncrease(let target, let agrees):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_ANSWER_PRICE_INCREASE
            message.pointee.answer_price_increase = arena.message {
                $0.pointee.target = about(target)
                $0.pointee.agrees = agrees ? 1 : 0
            }
        case .extendRenewal(let target, let milliseconds):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_EXTEND_RENEWAL
            message.pointee.extend_renewal = arena.message {
                $0.pointee.target = about(target)
                $0.pointee.by_ms = milliseconds
            }
        case .share(let target, let member):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SHARE
            message.pointee.share = arena.message {
                $0.pointee.target = about(target)
                $0.pointee.member = arena.text(member)
            }
        case .stopSharing(let target, let member):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_STOP_SHARING
            message.pointee.stop_sharing = arena.message {
                if let target { $0.pointee.target = about(target) }
                $0.pointee.member = arena.text(member ?? "")
            }
        case .decidePurchase(let id, let approves):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_DECIDE_PURCHASE
            message.pointee.decide_purchase = arena.message {
                $0.pointee.number = id
                $0.pointee.approves = approves ? 1 : 0
            }
        case .deleteTransaction(let id):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_DELETE_TRANSACTION
            message.pointee.delete_transaction = arena.message { $0.pointee.transaction_id = id }
        case .clearTransactions:
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_CLEAR_TRANSACTIONS
            message.pointee.clear_transactions = arena.message { _ in }
        case .createIntent(let product, let offer):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_CREATE_INTENT
            message.pointee.create_intent = arena.message {
                $0.pointee.product_id = arena.text(product)
                if let offer { $0.pointee.offer = arena.message { offer.write(to: $0, arena) } }
            }
        case .endIntent(let id):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_END_INTENT
            message.pointee.end_intent = arena.message { $0.pointee.number = id }
        case .setStorefront(let storefront):
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_STOREFRONT
            message.pointee.set_storefront = arena.message { $0.pointee.storefront = arena.text(storefront) }
        case .postMessage:
            message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_POST_MESSAGE
            message.pointee.post_message = arena.message { _ in }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__StoreOperation>) throws(MessageError) {
        switch message.pointee.operation_case {
        case PERCH__V1__STORE_OPERATION__OPERATION_BUY:
            self = .buy(read(message.pointee.buy) { PurchaseOrder($0) } ?? .blank)
        case PERCH__V1__STORE_OPERATION__OPERATION_REFUND:
            let refund = message.pointee.refund!
            self = .refund(
                try OperationTarget(refund.pointee.target, of: "RefundOperation"),
                reason: RevocationReason(refund.pointee.reason), share: try RefundShare(refund))
        case PERCH__V1__STORE_OPERATION__OPERATION_REVERSE_REFUND:
            self = .reverseRefund(
                try OperationTarget(message.pointee.reverse_refund.pointee.target, of: "ReverseRefundOperation"))
        case PERCH__V1__STORE_OPERATION__OPERATION_DECLINE_REFUND:
            self = .declineRefund(
                try OperationTarget(message.pointee.decline_refund.pointee.target, of: "DeclineRefundOperation"))
        case PERCH__V1__STORE_OPERATION__OPERATION_REQUEST_CONSUMPTION:
            self = .requestConsumption(
                try OperationTarget(
                    message.pointee.request_consumption.pointee.target, of: "RequestConsumptionOperation"))
        case PERCH__V1__STORE_OPERATION__OPERATION_RENEW:
            self = .renew(try OperationTarget(message.pointee.renew.pointee.target, of: "RenewOperation"))
        case PERCH__V1__STORE_OPERATION__OPERATION_EXPIRE:
            self = .expire(try OperationTarget(message.pointee.expire.pointee.target, of: "ExpireOperation"))
        case PERCH__V1__STORE_OPERATION__OPERATION_SET_AUTO_RENEW:
            let set = message.pointee.set_auto_renew!
            self = .setAutoRenew(
                try OperationTarget(set.pointee.target, of: "SetAutoRenewOperation"), isOn: set.pointee.enabled != 0)
        case PERCH__V1__STORE_OPERATION__OPERATION_RESOLVE_BILLING:
            self = .resolveBilling(
                try OperationTarget(message.pointee.resolve_billing.pointee.target, of: "ResolveBillingOperation"))
        case PERCH__V1__STORE_OPERATION__OPERATION_SET_CHARGES:
            self = .setCharges(
                fail: try ChargeOutcome.fails(message.pointee.set_charges.pointee.outcome))
        case PERCH__V1__STORE_OPERATION__OPERATION_RAISE_PRICE:
            let raise = message.pointee.raise_price!
            self = .raisePrice(
                try OperationTarget(raise.pointee.target, of: "RaisePriceOperation"),
                milliunits: raise.pointee.price_milliunits,
                needsConsent: try PerchWire.needsConsent(raise.pointee.consent))
        case PERCH__V1__STORE_OPERATION__OPERATION_ANSWER_PRICE_INCREASE:
            let answer = message.pointee.answer_price_increase!
            self = .answerPriceIncrease(
                try OperationTarget(answer.pointee.target, of: "AnswerPriceIncreaseOperation"),
                agrees: answer.pointee.agrees != 0)
        case PERCH__V1__STORE_OPERATION__OPERATION_EXTEND_RENEWAL:
            let extend = message.pointee.extend_renewal!
            self = .extendRenewal(
                try OperationTarget(extend.pointee.target, of: "ExtendRenewalOperation"),
                milliseconds: extend.pointee.by_ms)
        case PERCH__V1__STORE_OPERATION__OPERATION_SHARE:
            let share = message.pointee.share!
            self = .share(
                try OperationTarget(share.pointee.target, of: "ShareOperation"),
                member: String(wire: share.pointee.member))
        case PERCH__V1__STORE_OPERATION__OPERATION_STOP_SHARING:
            let stop = message.pointee.stop_sharing!
            let member = String(wire: stop.pointee.member)
            var target: OperationTarget?
            if let named = stop.pointee.target { target = try OperationTarget(named, of: "StopSharingOperation") }
            self = .stopSharing(target, member: member.isEmpty ? nil : member)
        case PERCH__V1__STORE_OPERATION__OPERATION_DECIDE_PURCHASE:
            let decide = message.pointee.decide_purchase!
            self = .decidePurchase(id: decide.pointee.number, approves: decide.pointee.approves != 0)
        case PERCH__V1__STORE_OPERATION__OPERATION_DELETE_TRANSACTION:
            self = .deleteTransaction(message.pointee.delete_transaction.pointee.transaction_id)
        case PERCH__V1__STORE_OPERATION__OPERATION_CLEAR_TRANSACTIONS:
            self = .clearTransactions
        case PERCH__V1__STORE_OPERATION__OPERATION_CREATE_INTENT:
            let create = message.pointee.create_intent!
            self = .createIntent(
                productID: String(wire: create.pointee.product_id),
                offer: read(create.pointee.offer) { OrderedOffer($0) }
            )
        case PERCH__V1__STORE_OPERATION__OPERATION_END_INTENT:
            self = .endIntent(id: message.pointee.end_intent.pointee.number)
        case PERCH__V1__STORE_OPERATION__OPERATION_SET_STOREFRONT:
            self = .setStorefront(String(wire: message.pointee.set_storefront.pointee.storefront))
        case PERCH__V1__STORE_OPERATION__OPERATION_POST_MESSAGE:
            self = .postMessage
        default:
            throw .missing(field: "perch.v1.StoreOperation.operation")
        }
    }
}

// MARK: What waits

extension PendingPurchase {
    func write(to message: UnsafeMutablePointer<Perch__V1__PendingPurchase>, _ arena: Arena) {
        message.pointee.number = self.id
        message.pointee.reason = .init(self.reason)
        if self.order != .blank { message.pointee.order = arena.message { self.order.write(to: $0, arena) } }
        message.pointee.since_ms = self.since.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PendingPurchase>) {
        self.init(
            id: message.pointee.number, reason: PendingReason(message.pointee.reason),
            order: read(message.pointee.order) { PurchaseOrder($0) } ?? .blank,
            since: Instant(milliseconds: message.pointee.since_ms))
    }
}

extension PurchaseIntent {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntent>, _ arena: Arena) {
        message.pointee.number = self.id
        message.pointee.product_id = arena.text(self.productID)
        if let offer = self.offer { message.pointee.offer = arena.message { offer.write(to: $0, arena) } }
        message.pointee.since_ms = self.since.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntent>) {
        self.init(
            id: message.pointee.number, productID: String(wire: message.pointee.product_id),
            offer: read(message.pointee.offer) { OrderedOffer($0) },
            since: Instant(milliseconds: message.pointee.since_ms))
    }
}

extension StoreMessage {
    func write(to message: UnsafeMutablePointer<Perch__V1__StoreMessage>, _ arena: Arena) {
        message.pointee.reason = .init(self.reason)
        message.pointee.since_ms = self.since.milliseconds
        if let original = self.originalTransactionID {
            message.pointee.line_case = PERCH__V1__STORE_MESSAGE__LINE_ORIGINAL_TRANSACTION_ID
            message.pointee.original_transaction_id = original
        }
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.offer_id = arena.text(self.offerID)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__StoreMessage>) {
        self.init(
            reason: MessageReason(message.pointee.reason), since: Instant(milliseconds: message.pointee.since_ms),
            originalTransactionID: message.pointee.line_case == PERCH__V1__STORE_MESSAGE__LINE_ORIGINAL_TRANSACTION_ID
                ? message.pointee.original_transaction_id : nil,
            productID: String(wire: message.pointee.product_id), offerID: String(wire: message.pointee.offer_id))
    }
}
