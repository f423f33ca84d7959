// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

import CPerchProto
import PerchBase
import PerchModel

extension AppReference {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppRef>, _ arena: Arena) {
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = .init(self.environment)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppRef>) {
        self.init(
            bundleID: String(wire: message.pointee.bundle_id),
            environment: AppEnvironment(message.pointee.environment)
        )
    }
}

extension Position {
    func write(to message: UnsafeMutablePointer<Perch__V1__Position>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.as_of_ms = self.asOf.milliseconds
        message.pointee.epoch = self.epoch == 0 ? arena.epoch : self.epoch
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Position>) {
        self.init(
            revision: message.pointee.revision,
            asOf: Instant(milliseconds: message.pointee.as_of_ms),
            epoch: message.pointee.epoch
        )
    }
}

extension Money {
    func write(to message: UnsafeMutablePointer<Perch__V1__Money>, _ arena: Arena) {
        message.pointee.milliunits = self.milliunits
        message.pointee.currency = arena.text(self.currency)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Money>) {
        self.init(milliunits: message.pointee.milliunits, currency: String(wire: message.pointee.currency))
    }
}

extension Storefront {
    func write(to message: UnsafeMutablePointer<Perch__V1__Storefront>, _ arena: Arena) {
        message.pointee.country_code = arena.text(self.countryCode)
        message.pointee.id = arena.text(self.id)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Storefront>) {
        self.init(countryCode: String(wire: message.pointee.country_code), id: String(wire: message.pointee.id))
    }
}

extension SubscriptionOffer {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionOffer>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.type = .init(self.type)
        message.pointee.payment_mode = .init(self.paymentMode)
        if !self.price.isBlank { message.pointee.price = arena.message { self.price.write(to: $0, arena) } }
        message.pointee.display_price = arena.text(self.displayPrice)
        if !self.period.isBlank { message.pointee.period = arena.message { self.period.write(to: $0, arena) } }
        message.pointee.period_count = UInt32(bitPattern: self.periodCount)
        message.pointee.billing_plan = .init(self.billingPlan)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionOffer>) {
        self.init(
            id: String(wire: message.pointee.id),
            type: OfferType(message.pointee.type),
            paymentMode: PaymentMode(message.pointee.payment_mode),
            price: read(message.pointee.price) { Money($0) } ?? .blank,
            period: read(message.pointee.period) { Period($0) } ?? .blank,
            periodCount: Int32(bitPattern: message.pointee.period_count)
        )
        self.displayPrice = String(wire: message.pointee.display_price)
        self.billingPlan = BillingPlanType(message.pointee.billing_plan)
    }
}

extension BillingPlan {
    func write(to message: UnsafeMutablePointer<Perch__V1__BillingPlan>, _ arena: Arena) {
        message.pointee.type = .init(self.type)
        if !self.price.isBlank { message.pointee.price = arena.message { self.price.write(to: $0, arena) } }
        message.pointee.display_price = arena.text(self.displayPrice)
        if !self.commitmentPrice.isBlank { message.pointee.commitment_price = arena.message { self.commitmentPrice.write(to: $0, arena) } }
        message.pointee.commitment_display_price = arena.text(self.commitmentDisplayPrice)
        message.pointee.charge_count = self.chargeCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BillingPlan>) {
        self.init(
            type: BillingPlanType(message.pointee.type),
            price: read(message.pointee.price) { Money($0) } ?? .blank,
            commitmentPrice: read(message.pointee.commitment_price) { Money($0) } ?? .blank,
            chargeCount: message.pointee.charge_count
        )
        self.displayPrice = String(wire: message.pointee.display_price)
        self.commitmentDisplayPrice = String(wire: message.pointee.commitment_display_price)
    }
}

extension SubscriptionInfo {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionInfo>, _ arena: Arena) {
        message.pointee.group_id = arena.text(self.groupID)
        message.pointee.group_display_name = arena.text(self.groupDisplayName)
        message.pointee.group_level = UInt32(bitPattern: self.groupLevel)
        if !self.period.isBlank { message.pointee.period = arena.message { self.period.write(to: $0, arena) } }
        (message.pointee.n_introductory_offers, message.pointee.introductory_offers) = arena.list(self.introductoryOffers) { $0.write(to: $1, arena) }
        (message.pointee.n_promotional_offers, message.pointee.promotional_offers) = arena.list(self.promotionalOffers) { $0.write(to: $1, arena) }
        (message.pointee.n_win_back_offers, message.pointee.win_back_offers) = arena.list(self.winBackOffers) { $0.write(to: $1, arena) }
        (message.pointee.n_billing_plans, message.pointee.billing_plans) = arena.list(self.billingPlans) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionInfo>) {
        self.init(
            groupID: String(wire: message.pointee.group_id),
            groupDisplayName: String(wire: message.pointee.group_display_name),
            groupLevel: Int32(bitPattern: message.pointee.group_level),
            period: read(message.pointee.period) { Period($0) } ?? .blank
        )
        self.introductoryOffers = readList(message.pointee.n_introductory_offers, message.pointee.introductory_offers) { SubscriptionOffer($0) }
        self.promotionalOffers = readList(message.pointee.n_promotional_offers, message.pointee.promotional_offers) { SubscriptionOffer($0) }
        self.winBackOffers = readList(message.pointee.n_win_back_offers, message.pointee.win_back_offers) { SubscriptionOffer($0) }
        self.billingPlans = readList(message.pointee.n_billing_plans, message.pointee.billing_plans) { BillingPlan($0) }
    }
}

extension Product {
    func write(to message: UnsafeMutablePointer<Perch__V1__Product>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.type = .init(self.type)
        message.pointee.display_name = arena.text(self.displayName)
        message.pointee.description = arena.text(self.description)
        if !self.price.isBlank { message.pointee.price = arena.message { self.price.write(to: $0, arena) } }
        message.pointee.display_price = arena.text(self.displayPrice)
        message.pointee.is_family_shareable = self.isFamilyShareable ? 1 : 0
        message.pointee.promotional_image_id = arena.text(self.promotionalImageID)
        if let value = self.subscription {
            message.pointee.subscription = arena.message { value.write(to: $0, arena) }
        }
        if !self.storefront.isBlank { message.pointee.storefront = arena.message { self.storefront.write(to: $0, arena) } }
        message.pointee.json_representation = arena.bytes(self.jsonRepresentation)
        message.pointee.promotional_image_hash = arena.bytes(self.promotionalImageHash)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Product>) {
        self.init(
            id: String(wire: message.pointee.id),
            type: ProductType(message.pointee.type),
            displayName: String(wire: message.pointee.display_name),
            description: String(wire: message.pointee.description),
            price: read(message.pointee.price) { Money($0) } ?? .blank,
            displayPrice: String(wire: message.pointee.display_price),
            isFamilyShareable: message.pointee.is_family_shareable != 0,
            storefront: read(message.pointee.storefront) { Storefront($0) } ?? .blank
        )
        self.promotionalImageID = String(wire: message.pointee.promotional_image_id)
        self.subscription = read(message.pointee.subscription) { SubscriptionInfo($0) }
        self.jsonRepresentation = [UInt8](message.pointee.json_representation)
        self.promotionalImageHash = [UInt8](message.pointee.promotional_image_hash)
    }
}

extension Revocation {
    func write(to message: UnsafeMutablePointer<Perch__V1__Revocation>, _ arena: Arena) {
        message.pointee.date_ms = self.date.milliseconds
        message.pointee.reason = .init(self.reason)
        message.pointee.type = .init(self.type)
        message.pointee.percentage_milli = self.percentageMilli
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Revocation>) {
        self.init(
            date: Instant(milliseconds: message.pointee.date_ms),
            reason: RevocationReason(message.pointee.reason),
            type: RevocationType(message.pointee.type),
            percentageMilli: message.pointee.percentage_milli
        )
    }
}

extension TransactionOffer {
    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionOffer>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.type = .init(self.type)
        message.pointee.payment_mode = .init(self.paymentMode)
        if let value = self.period {
            message.pointee.period = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionOffer>) {
        self.init(
            id: String(wire: message.pointee.id),
            type: OfferType(message.pointee.type),
            paymentMode: PaymentMode(message.pointee.payment_mode),
            period: read(message.pointee.period) { Period($0) }
        )
    }
}

extension Commitment {
    func write(to message: UnsafeMutablePointer<Perch__V1__CommitmentInfo>, _ arena: Arena) {
        message.pointee.billing_period_number = self.billingPeriodNumber
        message.pointee.total_billing_periods = self.totalBillingPeriods
        message.pointee.expiration_date_ms = self.expirationDate.milliseconds
        if !self.price.isBlank { message.pointee.price = arena.message { self.price.write(to: $0, arena) } }
        message.pointee.will_renew = self.willRenew ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CommitmentInfo>) {
        self.init(
            billingPeriodNumber: message.pointee.billing_period_number,
            totalBillingPeriods: message.pointee.total_billing_periods,
            expirationDate: Instant(milliseconds: message.pointee.expiration_date_ms),
            price: read(message.pointee.price) { Money($0) } ?? .blank,
            willRenew: message.pointee.will_renew != 0
        )
    }
}

extension Transaction {
    func write(to message: UnsafeMutablePointer<Perch__V1__Transaction>, _ arena: Arena) {
        message.pointee.id = self.id
        message.pointee.original_id = self.originalID
        message.pointee.web_order_line_item_id = arena.text(self.webOrderLineItemID)
        message.pointee.app_bundle_id = arena.text(self.appBundleID)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.product_type = .init(self.productType)
        message.pointee.subscription_group_id = arena.text(self.subscriptionGroupID)
        message.pointee.purchase_date_ms = self.purchaseDate.milliseconds
        message.pointee.original_purchase_date_ms = self.originalPurchaseDate.milliseconds
        if let value = self.expirationDate {
            message.pointee.expiration_case = PERCH__V1__TRANSACTION__EXPIRATION_EXPIRATION_DATE_MS
            message.pointee.expiration_date_ms = value.milliseconds
        }
        message.pointee.purchased_quantity = self.quantity
        message.pointee.is_upgraded = self.isUpgraded ? 1 : 0
        message.pointee.ownership_type = .init(self.ownership)
        if let value = self.offer {
            message.pointee.offer = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.revocation {
            message.pointee.revocation = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.environment = .init(self.environment)
        if !self.storefront.isBlank { message.pointee.storefront = arena.message { self.storefront.write(to: $0, arena) } }
        message.pointee.reason = .init(self.reason)
        if let value = self.price {
            message.pointee.price = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.billing_plan = .init(self.billingPlan)
        if let value = self.commitment {
            message.pointee.commitment = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.advanced_commerce_info = arena.bytes(self.advancedCommerceInfo)
        if arena.omitsSignatures { return }
        message.pointee.signed_date_ms = self.signedDate.milliseconds
        message.pointee.device_verification = arena.bytes(self.deviceVerification)
        message.pointee.device_verification_nonce = arena.text(self.deviceVerificationNonce)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Transaction>) {
        self.init(
            id: message.pointee.id,
            originalID: message.pointee.original_id,
            appBundleID: String(wire: message.pointee.app_bundle_id),
            productID: String(wire: message.pointee.product_id),
            productType: ProductType(message.pointee.product_type),
            purchaseDate: Instant(milliseconds: message.pointee.purchase_date_ms),
            originalPurchaseDate: Instant(milliseconds: message.pointee.original_purchase_date_ms),
            environment: AppEnvironment(message.pointee.environment),
            storefront: read(message.pointee.storefront) { Storefront($0) } ?? .blank,
            reason: TransactionReason(message.pointee.reason),
            signedDate: Instant(milliseconds: message.pointee.signed_date_ms)
        )
        self.change {
            $0.webOrderLineItemID = String(wire: message.pointee.web_order_line_item_id)
            $0.appTransactionID = String(wire: message.pointee.app_transaction_id)
            $0.subscriptionGroupID = String(wire: message.pointee.subscription_group_id)
            $0.expirationDate = message.pointee.expiration_case == PERCH__V1__TRANSACTION__EXPIRATION_EXPIRATION_DATE_MS ? Instant(milliseconds: message.pointee.expiration_date_ms) : nil
            $0.quantity = message.pointee.purchased_quantity
            $0.isUpgraded = message.pointee.is_upgraded != 0
            $0.ownership = OwnershipType(message.pointee.ownership_type)
            $0.offer = read(message.pointee.offer) { TransactionOffer($0) }
            $0.revocation = read(message.pointee.revocation) { Revocation($0) }
            $0.appAccountToken = String(wire: message.pointee.app_account_token)
            $0.price = read(message.pointee.price) { Money($0) }
            $0.deviceVerification = [UInt8](message.pointee.device_verification)
            $0.deviceVerificationNonce = String(wire: message.pointee.device_verification_nonce)
            $0.billingPlan = BillingPlanType(message.pointee.billing_plan)
            $0.commitment = read(message.pointee.commitment) { Commitment($0) }
            $0.advancedCommerceInfo = [UInt8](message.pointee.advanced_commerce_info)
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
            type: OfferType(message.pointee.type),
            id: String(wire: message.pointee.id),
            signature: String(wire: message.pointee.jws)
        )
    }
}

extension PurchaseOrder {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseOrder>, _ arena: Arena) {
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.quantity = self.quantity
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        if let value = self.offer {
            message.pointee.offer = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.introductory_eligibility = .init(self.introductoryEligibility)
        message.pointee.introductory_eligibility_jws = arena.text(self.introductoryEligibilitySignature)
        message.pointee.billing_plan = .init(self.billingPlan)
        if let value = self.date {
            message.pointee.bought_case = PERCH__V1__PURCHASE_ORDER__BOUGHT_PURCHASE_DATE_MS
            message.pointee.purchase_date_ms = value.milliseconds
        }
        message.pointee.renewal_behaviour = .init(self.renewalBehaviour)
        message.pointee.simulates_ask_to_buy = self.simulatesAskToBuy ? 1 : 0
        message.pointee.seen_storefront = arena.text(self.seenStorefront)
        message.pointee.continues_in_new_storefront = self.continuesInNewStorefront ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseOrder>) {
        self.init(
            productID: String(wire: message.pointee.product_id),
            quantity: message.pointee.quantity,
            appAccountToken: String(wire: message.pointee.app_account_token),
            offer: read(message.pointee.offer) { OrderedOffer($0) },
            introductoryEligibility: IntroductoryEligibility(message.pointee.introductory_eligibility)
        )
        self.change {
            $0.introductoryEligibilitySignature = String(wire: message.pointee.introductory_eligibility_jws)
            $0.billingPlan = BillingPlanType(message.pointee.billing_plan)
            $0.date = message.pointee.bought_case == PERCH__V1__PURCHASE_ORDER__BOUGHT_PURCHASE_DATE_MS ? Instant(milliseconds: message.pointee.purchase_date_ms) : nil
            $0.renewalBehaviour = RenewalBehaviour(message.pointee.renewal_behaviour)
            $0.simulatesAskToBuy = message.pointee.simulates_ask_to_buy != 0
            $0.seenStorefront = String(wire: message.pointee.seen_storefront)
            $0.continuesInNewStorefront = message.pointee.continues_in_new_storefront != 0
        }
    }
}

extension AppTransactionTerms {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetAppTransactionOperation>, _ arena: Arena) {
        message.pointee.original_app_version = arena.text(self.originalAppVersion)
        if let value = self.originalPurchaseDate {
            message.pointee.original_purchase_case = PERCH__V1__SET_APP_TRANSACTION_OPERATION__ORIGINAL_PURCHASE_ORIGINAL_PURCHASE_DATE_MS
            message.pointee.original_purchase_date_ms = value.milliseconds
        }
        message.pointee.original_platform = .init(self.originalPlatform)
        message.pointee.environment = .init(self.environment)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetAppTransactionOperation>) {
        self.init(
            originalAppVersion: String(wire: message.pointee.original_app_version),
            originalPurchaseDate: message.pointee.original_purchase_case == PERCH__V1__SET_APP_TRANSACTION_OPERATION__ORIGINAL_PURCHASE_ORIGINAL_PURCHASE_DATE_MS ? Instant(milliseconds: message.pointee.original_purchase_date_ms) : nil,
            originalPlatform: AppPlatform(message.pointee.original_platform),
            environment: AppEnvironment(message.pointee.environment)
        )
    }
}

extension StoreOperation {
    func write(to message: UnsafeMutablePointer<Perch__V1__StoreOperation>, _ arena: Arena) {
        switch self {
            case .buy(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_BUY
                message.pointee.buy = arena.message { value0.write(to: $0, arena) }
            case .refund(let value0, let value1, let value2):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_REFUND
                message.pointee.refund = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                    $0.pointee.reason = .init(value1)
                    value2.write(to: $0, arena)
                }
            case .reverseRefund(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_REVERSE_REFUND
                message.pointee.reverse_refund = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                }
            case .declineRefund(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_DECLINE_REFUND
                message.pointee.decline_refund = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                }
            case .requestConsumption(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_REQUEST_CONSUMPTION
                message.pointee.request_consumption = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                }
            case .renew(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_RENEW
                message.pointee.renew = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                }
            case .expire(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_EXPIRE
                message.pointee.expire = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                }
            case .setAutoRenew(let value0, let value1):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_AUTO_RENEW
                message.pointee.set_auto_renew = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                    $0.pointee.enabled = value1 ? 1 : 0
                }
            case .resolveBilling(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_RESOLVE_BILLING
                message.pointee.resolve_billing = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                }
            case .setCharges(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_CHARGES
                message.pointee.set_charges = arena.message {
                    $0.pointee.outcome = ChargeFailure.write(value0)
                }
            case .raisePrice(let value0, let value1, let value2):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_RAISE_PRICE
                message.pointee.raise_price = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                    $0.pointee.price_milliunits = value1
                    $0.pointee.consent = PriceConsentNeed.write(value2)
                }
            case .answerPriceIncrease(let value0, let value1):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_ANSWER_PRICE_INCREASE
                message.pointee.answer_price_increase = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                    $0.pointee.agrees = value1 ? 1 : 0
                }
            case .extendRenewal(let value0, let value1):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_EXTEND_RENEWAL
                message.pointee.extend_renewal = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                    $0.pointee.by_ms = value1
                }
            case .share(let value0, let value1):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SHARE
                message.pointee.share = arena.message {
                    $0.pointee.target = arena.message { value0.write(to: $0, arena) }
                    $0.pointee.member = arena.text(value1)
                }
            case .stopSharing(let value0, let value1):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_STOP_SHARING
                message.pointee.stop_sharing = arena.message {
                    if let value = value0 { $0.pointee.target = arena.message { value.write(to: $0, arena) } }
                    if let value = value1 { $0.pointee.member = arena.text(value) }
                }
            case .decidePurchase(let value0, let value1):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_DECIDE_PURCHASE
                message.pointee.decide_purchase = arena.message {
                    $0.pointee.number = value0
                    $0.pointee.approves = value1 ? 1 : 0
                }
            case .deleteTransaction(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_DELETE_TRANSACTION
                message.pointee.delete_transaction = arena.message {
                    $0.pointee.transaction_id = value0
                }
            case .clearTransactions:
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_CLEAR_TRANSACTIONS
                message.pointee.clear_transactions = arena.message { _ in }
            case .createIntent(let value0, let value1):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_CREATE_INTENT
                message.pointee.create_intent = arena.message {
                    $0.pointee.product_id = arena.text(value0)
                    if let value = value1 { $0.pointee.offer = arena.message { value.write(to: $0, arena) } }
                }
            case .endIntent(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_END_INTENT
                message.pointee.end_intent = arena.message {
                    $0.pointee.number = value0
                }
            case .setStorefront(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_STOREFRONT
                message.pointee.set_storefront = arena.message {
                    $0.pointee.storefront = arena.text(value0)
                }
            case .postMessage:
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_POST_MESSAGE
                message.pointee.post_message = arena.message { _ in }
            case .setPayments(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_PAYMENTS
                message.pointee.set_payments = arena.message {
                    $0.pointee.allowed = value0 ? 1 : 0
                }
            case .setAppTransaction(let value0):
                message.pointee.operation_case = PERCH__V1__STORE_OPERATION__OPERATION_SET_APP_TRANSACTION
                message.pointee.set_app_transaction = arena.message { value0.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__StoreOperation>) throws(MessageError) {
        switch message.pointee.operation_case {
            case PERCH__V1__STORE_OPERATION__OPERATION_BUY:
                self = .buy(PurchaseOrder(message.pointee.buy))
            case PERCH__V1__STORE_OPERATION__OPERATION_REFUND:
                self = .refund(try OperationTarget(message.pointee.refund.pointee.target, of: "RefundOperation"), reason: RevocationReason(message.pointee.refund.pointee.reason), share: try RefundShare(message.pointee.refund))
            case PERCH__V1__STORE_OPERATION__OPERATION_REVERSE_REFUND:
                self = .reverseRefund(try OperationTarget(message.pointee.reverse_refund.pointee.target, of: "ReverseRefundOperation"))
            case PERCH__V1__STORE_OPERATION__OPERATION_DECLINE_REFUND:
                self = .declineRefund(try OperationTarget(message.pointee.decline_refund.pointee.target, of: "DeclineRefundOperation"))
            case PERCH__V1__STORE_OPERATION__OPERATION_REQUEST_CONSUMPTION:
                self = .requestConsumption(try OperationTarget(message.pointee.request_consumption.pointee.target, of: "RequestConsumptionOperation"))
            case PERCH__V1__STORE_OPERATION__OPERATION_RENEW:
                self = .renew(try OperationTarget(message.pointee.renew.pointee.target, of: "RenewOperation"))
            case PERCH__V1__STORE_OPERATION__OPERATION_EXPIRE:
                self = .expire(try OperationTarget(message.pointee.expire.pointee.target, of: "ExpireOperation"))
            case PERCH__V1__STORE_OPERATION__OPERATION_SET_AUTO_RENEW:
                self = .setAutoRenew(try OperationTarget(message.pointee.set_auto_renew.pointee.target, of: "SetAutoRenewOperation"), isOn: message.pointee.set_auto_renew.pointee.enabled != 0)
            case PERCH__V1__STORE_OPERATION__OPERATION_RESOLVE_BILLING:
                self = .resolveBilling(try OperationTarget(message.pointee.resolve_billing.pointee.target, of: "ResolveBillingOperation"))
            case PERCH__V1__STORE_OPERATION__OPERATION_SET_CHARGES:
                self = .setCharges(fail: try ChargeFailure.read(message.pointee.set_charges.pointee.outcome))
            case PERCH__V1__STORE_OPERATION__OPERATION_RAISE_PRICE:
                self = .raisePrice(try OperationTarget(message.pointee.raise_price.pointee.target, of: "RaisePriceOperation"), milliunits: message.pointee.raise_price.pointee.price_milliunits, needsConsent: try PriceConsentNeed.read(message.pointee.raise_price.pointee.consent))
            case PERCH__V1__STORE_OPERATION__OPERATION_ANSWER_PRICE_INCREASE:
                self = .answerPriceIncrease(try OperationTarget(message.pointee.answer_price_increase.pointee.target, of: "AnswerPriceIncreaseOperation"), agrees: message.pointee.answer_price_increase.pointee.agrees != 0)
            case PERCH__V1__STORE_OPERATION__OPERATION_EXTEND_RENEWAL:
                self = .extendRenewal(try OperationTarget(message.pointee.extend_renewal.pointee.target, of: "ExtendRenewalOperation"), milliseconds: message.pointee.extend_renewal.pointee.by_ms)
            case PERCH__V1__STORE_OPERATION__OPERATION_SHARE:
                self = .share(try OperationTarget(message.pointee.share.pointee.target, of: "ShareOperation"), member: String(wire: message.pointee.share.pointee.member))
            case PERCH__V1__STORE_OPERATION__OPERATION_STOP_SHARING:
                var target: OperationTarget?
                if let found = message.pointee.stop_sharing.pointee.target { target = try OperationTarget(found, of: "StopSharingOperation") }
                self = .stopSharing(target, member: notBlank(String(wire: message.pointee.stop_sharing.pointee.member)))
            case PERCH__V1__STORE_OPERATION__OPERATION_DECIDE_PURCHASE:
                self = .decidePurchase(id: message.pointee.decide_purchase.pointee.number, approves: message.pointee.decide_purchase.pointee.approves != 0)
            case PERCH__V1__STORE_OPERATION__OPERATION_DELETE_TRANSACTION:
                self = .deleteTransaction(message.pointee.delete_transaction.pointee.transaction_id)
            case PERCH__V1__STORE_OPERATION__OPERATION_CLEAR_TRANSACTIONS:
                self = .clearTransactions
            case PERCH__V1__STORE_OPERATION__OPERATION_CREATE_INTENT:
                self = .createIntent(productID: String(wire: message.pointee.create_intent.pointee.product_id), offer: read(message.pointee.create_intent.pointee.offer) { OrderedOffer($0) })
            case PERCH__V1__STORE_OPERATION__OPERATION_END_INTENT:
                self = .endIntent(id: message.pointee.end_intent.pointee.number)
            case PERCH__V1__STORE_OPERATION__OPERATION_SET_STOREFRONT:
                self = .setStorefront(String(wire: message.pointee.set_storefront.pointee.storefront))
            case PERCH__V1__STORE_OPERATION__OPERATION_POST_MESSAGE:
                self = .postMessage
            case PERCH__V1__STORE_OPERATION__OPERATION_SET_PAYMENTS:
                self = .setPayments(isAllowed: message.pointee.set_payments.pointee.allowed != 0)
            case PERCH__V1__STORE_OPERATION__OPERATION_SET_APP_TRANSACTION:
                self = .setAppTransaction(AppTransactionTerms(message.pointee.set_app_transaction))
            default: throw .missing(field: "perch.v1.StoreOperation.operation")
        }
    }
}

extension PendingPurchase {
    func write(to message: UnsafeMutablePointer<Perch__V1__PendingPurchase>, _ arena: Arena) {
        message.pointee.number = self.id
        message.pointee.reason = .init(self.reason)
        if !self.order.isBlank { message.pointee.order = arena.message { self.order.write(to: $0, arena) } }
        message.pointee.since_ms = self.since.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PendingPurchase>) {
        self.init(
            id: message.pointee.number,
            reason: PendingReason(message.pointee.reason),
            order: read(message.pointee.order) { PurchaseOrder($0) } ?? .blank,
            since: Instant(milliseconds: message.pointee.since_ms)
        )
    }
}

extension PurchaseIntent {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntent>, _ arena: Arena) {
        message.pointee.number = self.id
        message.pointee.product_id = arena.text(self.productID)
        if let value = self.offer {
            message.pointee.offer = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.since_ms = self.since.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntent>) {
        self.init(
            id: message.pointee.number,
            productID: String(wire: message.pointee.product_id),
            offer: read(message.pointee.offer) { OrderedOffer($0) },
            since: Instant(milliseconds: message.pointee.since_ms)
        )
    }
}

extension ProductEdit {
    func write(to message: UnsafeMutablePointer<Perch__V1__ProductEdit>, _ arena: Arena) {
        message.pointee.product_id = arena.text(self.productID)
        if let value = self.priceMilliunits {
            message.pointee.price_change_case = PERCH__V1__PRODUCT_EDIT__PRICE_CHANGE_PRICE_MILLIUNITS
            message.pointee.price_milliunits = value
        }
        if let value = self.displayName {
            message.pointee.name_change_case = PERCH__V1__PRODUCT_EDIT__NAME_CHANGE_DISPLAY_NAME
            message.pointee.display_name = arena.text(value)
        }
        if let value = self.isWithdrawn {
            message.pointee.withdrawal_case = PERCH__V1__PRODUCT_EDIT__WITHDRAWAL_WITHDRAWN
            message.pointee.withdrawn = value ? 1 : 0
        }
        if let value = self.isFamilyShareable {
            message.pointee.sharing_case = PERCH__V1__PRODUCT_EDIT__SHARING_FAMILY_SHAREABLE
            message.pointee.family_shareable = value ? 1 : 0
        }
        (message.pointee.n_offers, message.pointee.offers) = arena.list(self.offers) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ProductEdit>) {
        self.init(productID: String(wire: message.pointee.product_id))
        self.priceMilliunits = message.pointee.price_change_case == PERCH__V1__PRODUCT_EDIT__PRICE_CHANGE_PRICE_MILLIUNITS ? message.pointee.price_milliunits : nil
        self.displayName = message.pointee.name_change_case == PERCH__V1__PRODUCT_EDIT__NAME_CHANGE_DISPLAY_NAME ? String(wire: message.pointee.display_name) : nil
        self.isWithdrawn = message.pointee.withdrawal_case == PERCH__V1__PRODUCT_EDIT__WITHDRAWAL_WITHDRAWN ? message.pointee.withdrawn != 0 : nil
        self.isFamilyShareable = message.pointee.sharing_case == PERCH__V1__PRODUCT_EDIT__SHARING_FAMILY_SHAREABLE ? message.pointee.family_shareable != 0 : nil
        self.offers = readList(message.pointee.n_offers, message.pointee.offers) { OfferEdit($0) }
    }
}

extension OfferEdit {
    func write(to message: UnsafeMutablePointer<Perch__V1__OfferEdit>, _ arena: Arena) {
        message.pointee.type = .init(self.type)
        message.pointee.id = arena.text(self.id)
        message.pointee.removed = self.isRemoved ? 1 : 0
        message.pointee.payment_mode = .init(self.paymentMode)
        message.pointee.price_milliunits = self.priceMilliunits
        if !self.period.isBlank { message.pointee.period = arena.message { self.period.write(to: $0, arena) } }
        message.pointee.period_count = self.periodCount
        (message.pointee.n_eligibility, message.pointee.eligibility) = arena.texts(self.eligibility)
        message.pointee.eligible = self.isEligible ? 1 : 0
        if let value = self.winBackRule {
            message.pointee.win_back_rule = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.stackable = self.isStackable ? 1 : 0
        (message.pointee.n_codes, message.pointee.codes) = arena.list(self.codes) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OfferEdit>) {
        self.init(type: OfferType(message.pointee.type), id: String(wire: message.pointee.id))
        self.isRemoved = message.pointee.removed != 0
        self.paymentMode = PaymentMode(message.pointee.payment_mode)
        self.priceMilliunits = message.pointee.price_milliunits
        self.period = read(message.pointee.period) { Period($0) } ?? .blank
        self.periodCount = message.pointee.period_count
        self.eligibility = readTexts(message.pointee.n_eligibility, message.pointee.eligibility)
        self.isEligible = message.pointee.eligible != 0
        self.winBackRule = read(message.pointee.win_back_rule) { WinBackRuleEdit($0) }
        self.isStackable = message.pointee.stackable != 0
        self.codes = readList(message.pointee.n_codes, message.pointee.codes) { OfferCode($0) }
    }
}

extension OfferCode {
    func write(to message: UnsafeMutablePointer<Perch__V1__OfferCode>, _ arena: Arena) {
        message.pointee.code = arena.text(self.code)
        message.pointee.redemption_limit = self.redemptionLimit
        if let value = self.until {
            message.pointee.end_case = PERCH__V1__OFFER_CODE__END_UNTIL_MS
            message.pointee.until_ms = value.milliseconds
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OfferCode>) {
        self.init(
            code: String(wire: message.pointee.code),
            redemptionLimit: message.pointee.redemption_limit,
            until: message.pointee.end_case == PERCH__V1__OFFER_CODE__END_UNTIL_MS ? Instant(milliseconds: message.pointee.until_ms) : nil
        )
    }
}

extension WinBackRuleEdit {
    func write(to message: UnsafeMutablePointer<Perch__V1__WinBackRule>, _ arena: Arena) {
        message.pointee.paid_months = self.paidMonths
        message.pointee.lapsed_months_min = self.lapsedMonthsMin
        message.pointee.lapsed_months_max = self.lapsedMonthsMax
        message.pointee.wait_months = self.waitMonths
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__WinBackRule>) {
        self.init(
            paidMonths: message.pointee.paid_months,
            lapsedMonthsMin: message.pointee.lapsed_months_min,
            lapsedMonthsMax: message.pointee.lapsed_months_max,
            waitMonths: message.pointee.wait_months
        )
    }
}

extension AppSettingChange {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppSetting>, _ arena: Arena) {
        switch self {
            case .askToBuy(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_ASK_TO_BUY
                message.pointee.ask_to_buy = value0 ? 1 : 0
            case .interruptedPurchases(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_INTERRUPTED_PURCHASES
                message.pointee.interrupted_purchases = value0 ? 1 : 0
            case .billingRetryOnRenewal(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_BILLING_RETRY_ON_RENEWAL
                message.pointee.billing_retry_on_renewal = value0 ? 1 : 0
            case .gracePeriod(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD
                message.pointee.grace_period = value0 ? 1 : 0
            case .gracePeriodDays(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD_DAYS
                message.pointee.grace_period_days = value0
            case .gracePeriodForAllRenewals(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD_FOR_ALL_RENEWALS
                message.pointee.grace_period_for_all_renewals = value0 ? 1 : 0
            case .dialogs(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_DIALOGS
                message.pointee.dialogs = value0 ? 1 : 0
            case .timeRate(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_TIME_RATE
                message.pointee.time_rate = value0
            case .storefront(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_STOREFRONT
                message.pointee.storefront = arena.text(value0)
            case .locale(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_LOCALE
                message.pointee.locale = arena.text(value0)
            case .simulatedError(let value0, let value1):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_SIMULATED_ERROR
                message.pointee.simulated_error = arena.message {
                    $0.pointee.api = .init(value0)
                    if let value = value1 { $0.pointee.error = .init(value) }
                }
            case .product(let value0):
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_PRODUCT
                message.pointee.product = arena.message { value0.write(to: $0, arena) }
            case .reset:
                message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_RESET
                message.pointee.reset = 1
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppSetting>) throws(MessageError) {
        switch message.pointee.setting_case {
            case PERCH__V1__APP_SETTING__SETTING_ASK_TO_BUY:
                self = .askToBuy(message.pointee.ask_to_buy != 0)
            case PERCH__V1__APP_SETTING__SETTING_INTERRUPTED_PURCHASES:
                self = .interruptedPurchases(message.pointee.interrupted_purchases != 0)
            case PERCH__V1__APP_SETTING__SETTING_BILLING_RETRY_ON_RENEWAL:
                self = .billingRetryOnRenewal(message.pointee.billing_retry_on_renewal != 0)
            case PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD:
                self = .gracePeriod(message.pointee.grace_period != 0)
            case PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD_DAYS:
                self = .gracePeriodDays(message.pointee.grace_period_days)
            case PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD_FOR_ALL_RENEWALS:
                self = .gracePeriodForAllRenewals(message.pointee.grace_period_for_all_renewals != 0)
            case PERCH__V1__APP_SETTING__SETTING_DIALOGS:
                self = .dialogs(message.pointee.dialogs != 0)
            case PERCH__V1__APP_SETTING__SETTING_TIME_RATE:
                self = .timeRate(message.pointee.time_rate)
            case PERCH__V1__APP_SETTING__SETTING_STOREFRONT:
                self = .storefront(String(wire: message.pointee.storefront))
            case PERCH__V1__APP_SETTING__SETTING_LOCALE:
                self = .locale(String(wire: message.pointee.locale))
            case PERCH__V1__APP_SETTING__SETTING_SIMULATED_ERROR:
                self = .simulatedError(StoreKitAPI(message.pointee.simulated_error.pointee.api), notBlank(SimulatedError(message.pointee.simulated_error.pointee.error)))
            case PERCH__V1__APP_SETTING__SETTING_PRODUCT:
                self = .product(ProductEdit(message.pointee.product))
            case PERCH__V1__APP_SETTING__SETTING_RESET:
                guard message.pointee.reset != 0 else {
                    throw .invalid(field: "perch.v1.AppSetting.reset", found: "false", expected: "true, or another setting")
                }
                self = .reset
            default: throw .missing(field: "perch.v1.AppSetting.setting")
        }
    }
}

extension RenewalInfo {
    func write(to message: UnsafeMutablePointer<Perch__V1__RenewalInfo>, _ arena: Arena) {
        message.pointee.original_transaction_id = self.originalTransactionID
        message.pointee.current_product_id = arena.text(self.currentProductID)
        message.pointee.will_auto_renew = self.willAutoRenew ? 1 : 0
        if let value = self.autoRenewPreference {
            message.pointee.auto_renew_preference = arena.text(value)
        }
        if let value = self.expirationReason {
            message.pointee.expiration_reason = .init(value)
        }
        message.pointee.is_in_billing_retry = self.isInBillingRetry ? 1 : 0
        if let value = self.gracePeriodExpirationDate {
            message.pointee.grace_period_case = PERCH__V1__RENEWAL_INFO__GRACE_PERIOD_GRACE_PERIOD_EXPIRATION_DATE_MS
            message.pointee.grace_period_expiration_date_ms = value.milliseconds
        }
        message.pointee.price_increase_status = .init(self.priceIncreaseStatus)
        message.pointee.renewal_date_ms = self.renewalDate.milliseconds
        if let value = self.renewalPrice {
            message.pointee.renewal_price = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.offer {
            message.pointee.offer = arena.message { value.write(to: $0, arena) }
        }
        (message.pointee.n_eligible_win_back_offer_ids, message.pointee.eligible_win_back_offer_ids) = arena.texts(self.eligibleWinBackOfferIDs)
        message.pointee.recent_subscription_start_date_ms = self.recentSubscriptionStartDate.milliseconds
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.environment = .init(self.environment)
        message.pointee.renewal_billing_plan = .init(self.renewalBillingPlan)
        if let value = self.commitment {
            message.pointee.commitment = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.unreported = self.isUnreported ? 1 : 0
        if arena.omitsSignatures { return }
        message.pointee.signed_date_ms = self.signedDate.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RenewalInfo>) {
        self.init(
            originalTransactionID: message.pointee.original_transaction_id,
            currentProductID: String(wire: message.pointee.current_product_id),
            willAutoRenew: message.pointee.will_auto_renew != 0,
            renewalDate: Instant(milliseconds: message.pointee.renewal_date_ms),
            recentSubscriptionStartDate: Instant(milliseconds: message.pointee.recent_subscription_start_date_ms),
            environment: AppEnvironment(message.pointee.environment),
            signedDate: Instant(milliseconds: message.pointee.signed_date_ms)
        )
        self.autoRenewPreference = notBlank(String(wire: message.pointee.auto_renew_preference))
        self.expirationReason = notBlank(ExpirationReason(message.pointee.expiration_reason))
        self.isInBillingRetry = message.pointee.is_in_billing_retry != 0
        self.gracePeriodExpirationDate = message.pointee.grace_period_case == PERCH__V1__RENEWAL_INFO__GRACE_PERIOD_GRACE_PERIOD_EXPIRATION_DATE_MS ? Instant(milliseconds: message.pointee.grace_period_expiration_date_ms) : nil
        self.priceIncreaseStatus = PriceIncreaseStatus(message.pointee.price_increase_status)
        self.renewalPrice = read(message.pointee.renewal_price) { Money($0) }
        self.offer = read(message.pointee.offer) { TransactionOffer($0) }
        self.eligibleWinBackOfferIDs = readTexts(message.pointee.n_eligible_win_back_offer_ids, message.pointee.eligible_win_back_offer_ids)
        self.appAccountToken = String(wire: message.pointee.app_account_token)
        self.appTransactionID = String(wire: message.pointee.app_transaction_id)
        self.renewalBillingPlan = BillingPlanType(message.pointee.renewal_billing_plan)
        self.commitment = read(message.pointee.commitment) { Commitment($0) }
        self.isUnreported = message.pointee.unreported != 0
    }
}

extension SubscriptionStatus {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatus>, _ arena: Arena) {
        message.pointee.state = .init(self.state)
        if !self.transaction.isBlank { message.pointee.transaction = arena.message { self.transaction.write(to: $0, arena) } }
        if !self.renewalInfo.isBlank { message.pointee.renewal_info = arena.message { self.renewalInfo.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatus>) {
        self.init(
            state: RenewalState(message.pointee.state),
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) } ?? .blank,
            renewalInfo: read(message.pointee.renewal_info) { Verified<RenewalInfo>($0) } ?? .blank
        )
    }
}

extension GroupEffective {
    func write(to message: UnsafeMutablePointer<Perch__V1__GroupEffective>, _ arena: Arena) {
        message.pointee.group_id = arena.text(self.groupID)
        message.pointee.index = self.index
        message.pointee.reason = .init(self.reason)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GroupEffective>) {
        self.init(
            groupID: String(wire: message.pointee.group_id),
            index: message.pointee.index,
            reason: EffectiveReason(message.pointee.reason)
        )
    }
}

extension SubscriptionStatuses {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatuses>, _ arena: Arena) {
        (message.pointee.n_statuses, message.pointee.statuses) = arena.list(self.statuses) { $0.write(to: $1, arena) }
        if let value = self.effectiveIndex {
            message.pointee.effective_case = PERCH__V1__SUBSCRIPTION_STATUSES__EFFECTIVE_EFFECTIVE_INDEX
            message.pointee.effective_index = UInt32(value)
        }
        message.pointee.effective_reason = .init(self.effectiveReason)
        (message.pointee.n_effective_in_groups, message.pointee.effective_in_groups) = arena.list(self.effectiveInGroups) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatuses>) {
        self.init(
            statuses: readList(message.pointee.n_statuses, message.pointee.statuses) { SubscriptionStatus($0) },
            effectiveIndex: message.pointee.effective_case == PERCH__V1__SUBSCRIPTION_STATUSES__EFFECTIVE_EFFECTIVE_INDEX ? Int(message.pointee.effective_index) : nil,
            effectiveReason: EffectiveReason(message.pointee.effective_reason)
        )
        self.effectiveInGroups = readList(message.pointee.n_effective_in_groups, message.pointee.effective_in_groups) { GroupEffective($0) }
    }
}

extension GroupStatuses {
    func write(to message: UnsafeMutablePointer<Perch__V1__GroupStatuses>, _ arena: Arena) {
        message.pointee.group_id = arena.text(self.groupID)
        if !self.statuses.isBlank { message.pointee.statuses = arena.message { self.statuses.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GroupStatuses>) {
        self.init(
            groupID: String(wire: message.pointee.group_id),
            statuses: read(message.pointee.statuses) { SubscriptionStatuses($0) } ?? .blank
        )
    }
}

extension Failure {
    func write(to message: UnsafeMutablePointer<Perch__V1__Failure>, _ arena: Arena) {
        message.pointee.reason = arena.text(self.reason)
        message.pointee.message = arena.text(self.message)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Failure>) {
        self.init(reason: String(wire: message.pointee.reason), message: String(wire: message.pointee.message))
    }
}

extension Bookmark {
    func write(to message: UnsafeMutablePointer<Perch__V1__Bookmark>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.server_time_ms = self.serverTime.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Bookmark>) {
        self.init(revision: message.pointee.revision, serverTime: Instant(milliseconds: message.pointee.server_time_ms))
    }
}

extension Forecast {
    func write(to message: UnsafeMutablePointer<Perch__V1__Forecast>, _ arena: Arena) {
        message.pointee.at_ms = self.at.milliseconds
        message.pointee.kind = .init(self.kind)
        message.pointee.original_transaction_id = self.originalTransactionID
        message.pointee.state = .init(self.state)
        message.pointee.entitled = self.state.isEntitled ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Forecast>) {
        self.init(
            at: Instant(milliseconds: message.pointee.at_ms),
            kind: ForecastKind(message.pointee.kind),
            originalTransactionID: message.pointee.original_transaction_id,
            state: RenewalState(message.pointee.state)
        )
    }
}

extension ValueInfo {
    func write(to message: UnsafeMutablePointer<Perch__V1__ValueInfo>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.commit_time_ms = self.committed.milliseconds
        message.pointee.cause = .init(self.cause)
        if let value = self.forecast {
            message.pointee.next_change = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.resume_token = arena.bytes(self.token)
        message.pointee.not_in_catalog = self.isNotInCatalog ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ValueInfo>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            committed: Instant(milliseconds: message.pointee.commit_time_ms),
            cause: Cause(message.pointee.cause),
            forecast: read(message.pointee.next_change) { Forecast($0) },
            token: [UInt8](message.pointee.resume_token),
            isNotInCatalog: message.pointee.not_in_catalog != 0
        )
    }
}

extension OrderMishapRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__OrderMishapRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.kind = .init(self.kind)
        message.pointee.times = self.times
        message.pointee.delay_ms = self.delayMilliseconds
        message.pointee.path = arena.text(self.path)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OrderMishapRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            kind: MishapKind(message.pointee.kind),
            times: message.pointee.times,
            delayMilliseconds: message.pointee.delay_ms,
            path: String(wire: message.pointee.path)
        )
    }
}

extension OrderMishapResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__OrderMishapResponse>, _ arena: Arena) {
        message.pointee.waiting = self.waiting
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OrderMishapResponse>) {
        self.init(waiting: message.pointee.waiting)
    }
}

extension OperateRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__OperateRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
        if let value = self.operation {
            message.pointee.operation = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OperateRequest>) throws(MessageError) {
        guard let operation = message.pointee.operation else {
            throw .missing(field: "perch.v1.OperateRequest.operation")
        }
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            idempotencyKey: [UInt8](message.pointee.idempotency_key),
            operation: try StoreOperation(operation)
        )
    }
}

extension OperateResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__OperateResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.transaction {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.purchase_result = .init(self.purchaseResult)
        message.pointee.already_held = self.wasHeld ? 1 : 0
        message.pointee.number = self.number
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OperateResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            purchaseResult: PurchaseResult(message.pointee.purchase_result),
            wasHeld: message.pointee.already_held != 0,
            number: message.pointee.number
        )
    }
}

extension InspectAccountRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__InspectAccountRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__InspectAccountRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension FamilySharing {
    func write(to message: UnsafeMutablePointer<Perch__V1__FamilyShare>, _ arena: Arena) {
        message.pointee.original_transaction_id = self.original
        message.pointee.member_original_transaction_id = self.memberOriginal
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FamilyShare>) {
        self.init(
            original: message.pointee.original_transaction_id,
            memberOriginal: message.pointee.member_original_transaction_id
        )
    }
}

extension RedeemedOffer {
    func write(to message: UnsafeMutablePointer<Perch__V1__RedeemedOffer>, _ arena: Arena) {
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.offer_id = arena.text(self.offerID)
        message.pointee.code = arena.text(self.code)
        message.pointee.transaction_id = self.transactionID
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RedeemedOffer>) {
        self.init(
            productID: String(wire: message.pointee.product_id),
            offerID: String(wire: message.pointee.offer_id),
            code: String(wire: message.pointee.code),
            transactionID: message.pointee.transaction_id
        )
    }
}

extension AccountInspection {
    func write(to message: UnsafeMutablePointer<Perch__V1__InspectAccountResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        (message.pointee.n_groups, message.pointee.groups) = arena.list(self.groups) { $0.write(to: $1, arena) }
        (message.pointee.n_owned, message.pointee.owned) = arena.list(self.owned) { $0.write(to: $1, arena) }
        (message.pointee.n_pending_purchases, message.pointee.pending_purchases) = arena.list(self.pendingPurchases) { $0.write(to: $1, arena) }
        (message.pointee.n_purchase_intents, message.pointee.purchase_intents) = arena.list(self.intents) { $0.write(to: $1, arena) }
        (message.pointee.n_shares, message.pointee.shares) = arena.list(self.shares) { $0.write(to: $1, arena) }
        message.pointee.storefront = arena.text(self.storefront)
        message.pointee.charges = .init(self.charges)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        (message.pointee.n_awaiting_sync, message.pointee.awaiting_sync) = arena.list(self.awaitingSync) { $0.write(to: $1, arena) }
        message.pointee.payments_forbidden = self.arePaymentsForbidden ? 1 : 0
        (message.pointee.n_redeemed_offers, message.pointee.redeemed_offers) = arena.list(self.redeemedOffers) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__InspectAccountResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            groups: readList(message.pointee.n_groups, message.pointee.groups) { GroupStatuses($0) },
            owned: readList(message.pointee.n_owned, message.pointee.owned) { Verified<Transaction>($0) },
            pendingPurchases: readList(message.pointee.n_pending_purchases, message.pointee.pending_purchases) { PendingPurchase($0) },
            intents: readList(message.pointee.n_purchase_intents, message.pointee.purchase_intents) { PurchaseIntent($0) },
            shares: readList(message.pointee.n_shares, message.pointee.shares) { FamilySharing($0) },
            storefront: String(wire: message.pointee.storefront),
            charges: ChargeOutcome(message.pointee.charges),
            appTransactionID: String(wire: message.pointee.app_transaction_id),
            awaitingSync: readList(message.pointee.n_awaiting_sync, message.pointee.awaiting_sync) { Verified<Transaction>($0) },
            arePaymentsForbidden: message.pointee.payments_forbidden != 0,
            redeemedOffers: readList(message.pointee.n_redeemed_offers, message.pointee.redeemed_offers) { RedeemedOffer($0) }
        )
    }
}

extension ListAccountsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAccountsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
        message.pointee.with_summaries = self.withSummaries ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAccountsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            pageSize: message.pointee.page_size,
            pageToken: [UInt8](message.pointee.page_token),
            withSummaries: message.pointee.with_summaries != 0
        )
    }
}

extension AccountSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__AccountSummary>, _ arena: Arena) {
        message.pointee.state = .init(self.state)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.transaction_id = self.transactionID
        message.pointee.original_transaction_id = self.originalTransactionID
        if let value = self.expirationDate {
            message.pointee.expiration_case = PERCH__V1__ACCOUNT_SUMMARY__EXPIRATION_EXPIRATION_DATE_MS
            message.pointee.expiration_date_ms = value.milliseconds
        }
        message.pointee.will_auto_renew = self.willAutoRenew ? 1 : 0
        if let value = self.nextChange {
            message.pointee.next_change = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.family_shared = self.isFamilyShared ? 1 : 0
        message.pointee.refunded = self.isRefunded ? 1 : 0
        message.pointee.price_increase_pending = self.isPriceIncreasePending ? 1 : 0
        message.pointee.line_count = self.lineCount
        message.pointee.owned_count = self.ownedCount
        message.pointee.pending_count = self.pendingCount
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.revision = self.revision
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AccountSummary>) {
        self.init(
            state: RenewalState(message.pointee.state),
            productID: String(wire: message.pointee.product_id),
            transactionID: message.pointee.transaction_id,
            originalTransactionID: message.pointee.original_transaction_id,
            expirationDate: message.pointee.expiration_case == PERCH__V1__ACCOUNT_SUMMARY__EXPIRATION_EXPIRATION_DATE_MS ? Instant(milliseconds: message.pointee.expiration_date_ms) : nil,
            willAutoRenew: message.pointee.will_auto_renew != 0,
            nextChange: read(message.pointee.next_change) { Forecast($0) },
            isFamilyShared: message.pointee.family_shared != 0,
            isRefunded: message.pointee.refunded != 0,
            isPriceIncreasePending: message.pointee.price_increase_pending != 0,
            lineCount: message.pointee.line_count,
            ownedCount: message.pointee.owned_count,
            pendingCount: message.pointee.pending_count,
            appAccountToken: String(wire: message.pointee.app_account_token),
            revision: message.pointee.revision
        )
    }
}

extension AccountPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAccountsResponse>, _ arena: Arena) {
        (message.pointee.n_accounts, message.pointee.accounts) = arena.texts(self.accounts)
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
        (message.pointee.n_summaries, message.pointee.summaries) = arena.list(self.summaries) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAccountsResponse>) {
        self.init(
            accounts: readTexts(message.pointee.n_accounts, message.pointee.accounts),
            nextPageToken: [UInt8](message.pointee.next_page_token),
            summaries: readList(message.pointee.n_summaries, message.pointee.summaries) { AccountSummary($0) }
        )
    }
}

extension ConfigureRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ConfigureRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        (message.pointee.n_settings, message.pointee.settings) = arena.list(self.settings) { $0.write(to: $1, arena) }
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ConfigureRequest>) throws(MessageError) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            settings: try readEach(message.pointee.n_settings, message.pointee.settings) { message throws(MessageError) in try AppSettingChange(message) },
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__ConfigureResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ConfigureResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension SettingsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSettingsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSettingsRequest>) {
        self.init(app: read(message.pointee.app) { AppReference($0) } ?? AppReference())
    }
}

extension SettingsList {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSettingsResponse>, _ arena: Arena) {
        (message.pointee.n_settings, message.pointee.settings) = arena.list(self.settings) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSettingsResponse>) {
        self.init(
            settings: readKnown(message.pointee.n_settings, message.pointee.settings) { message throws(MessageError) in try AppSettingChange(message) }
        )
    }
}

extension ClockRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetClockRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetClockRequest>) {
        self.init(app: read(message.pointee.app) { AppReference($0) } ?? AppReference())
    }
}

extension ClockState {
    func write(to message: UnsafeMutablePointer<Perch__V1__Clock>, _ arena: Arena) {
        message.pointee.now_ms = self.now.milliseconds
        message.pointee.frozen = self.isFrozen ? 1 : 0
        message.pointee.offset_ms = self.offsetMilliseconds
        message.pointee.time_rate = self.timeRate
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Clock>) {
        self.init(
            now: Instant(milliseconds: message.pointee.now_ms),
            isFrozen: message.pointee.frozen != 0,
            offsetMilliseconds: message.pointee.offset_ms,
            timeRate: message.pointee.time_rate
        )
    }
}

extension ClockResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetClockResponse>, _ arena: Arena) {
        if !self.clock.isBlank { message.pointee.clock = arena.message { self.clock.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetClockResponse>) {
        self.init(clock: read(message.pointee.clock) { ClockState($0) } ?? ClockState())
    }
}

extension SetClockRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetClockRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        switch self.change {
            case .freeze?:
                message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_FREEZE
                message.pointee.freeze = arena.message { _ in }
            case .resume?:
                message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_RESUME
                message.pointee.resume = arena.message { _ in }
            case .advanceBy(let value0)?:
                message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_BY_MS
                message.pointee.advance_by_ms = value0
            case .advanceTo(let value0)?:
                message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_MS
                message.pointee.advance_to_ms = value0.milliseconds
            case .advanceToBoundary(let value0)?:
                message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_BOUNDARY
                message.pointee.advance_to_boundary = arena.message {
                    $0.pointee.account = arena.text(value0)
                }
            case nil: break
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetClockRequest>) {
        let change: ClockChange?
        switch message.pointee.change_case {
            case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_FREEZE:
                change = .freeze
            case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_RESUME:
                change = .resume
            case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_BY_MS:
                change = .advanceBy(milliseconds: message.pointee.advance_by_ms)
            case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_MS:
                change = .advanceTo(Instant(milliseconds: message.pointee.advance_to_ms))
            case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_BOUNDARY:
                change = .advanceToBoundary(account: String(wire: message.pointee.advance_to_boundary.pointee.account))
            default: change = nil
        }
        self.init(app: read(message.pointee.app) { AppReference($0) } ?? AppReference(), change: change)
    }
}

extension SetClockResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetClockResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        if !self.clock.isBlank { message.pointee.clock = arena.message { self.clock.write(to: $0, arena) } }
        message.pointee.settled_count = self.settledCount
        message.pointee.renewed_count = self.renewedCount
        message.pointee.failed_count = self.failedCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetClockResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            clock: read(message.pointee.clock) { ClockState($0) } ?? ClockState(),
            settledCount: message.pointee.settled_count,
            renewedCount: message.pointee.renewed_count,
            failedCount: message.pointee.failed_count
        )
    }
}

extension AppSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__App>, _ arena: Arena) {
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = .init(self.environment)
        message.pointee.product_count = self.productCount
        message.pointee.catalog_source = arena.text(self.catalogSource)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__App>) {
        self.init(
            bundleID: String(wire: message.pointee.bundle_id),
            environment: AppEnvironment(message.pointee.environment),
            productCount: message.pointee.product_count,
            catalogSource: String(wire: message.pointee.catalog_source)
        )
    }
}

extension AppList {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAppsResponse>, _ arena: Arena) {
        (message.pointee.n_apps, message.pointee.apps) = arena.list(self.apps) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAppsResponse>) {
        self.init(apps: readList(message.pointee.n_apps, message.pointee.apps) { AppSummary($0) })
    }
}

extension CatalogWarning {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogWarning>, _ arena: Arena) {
        message.pointee.line = self.line
        message.pointee.column = self.column
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.message = arena.text(self.message)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogWarning>) {
        self.init(
            line: message.pointee.line,
            column: message.pointee.column,
            productID: String(wire: message.pointee.product_id),
            message: String(wire: message.pointee.message)
        )
    }
}

extension CatalogSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogSummary>, _ arena: Arena) {
        message.pointee.schema_version = arena.text(self.schemaVersion)
        message.pointee.consumable_count = self.consumableCount
        message.pointee.non_consumable_count = self.nonConsumableCount
        message.pointee.non_renewing_count = self.nonRenewingCount
        message.pointee.subscription_count = self.subscriptionCount
        message.pointee.group_count = self.groupCount
        message.pointee.introductory_offer_count = self.introductoryOfferCount
        message.pointee.promotional_offer_count = self.promotionalOfferCount
        message.pointee.code_offer_count = self.codeOfferCount
        message.pointee.win_back_offer_count = self.winBackOfferCount
        (message.pointee.n_warnings, message.pointee.warnings) = arena.list(self.warnings) { $0.write(to: $1, arena) }
        message.pointee.image_count = self.imageCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogSummary>) {
        self.init(
            schemaVersion: String(wire: message.pointee.schema_version),
            consumableCount: message.pointee.consumable_count,
            nonConsumableCount: message.pointee.non_consumable_count,
            nonRenewingCount: message.pointee.non_renewing_count,
            subscriptionCount: message.pointee.subscription_count,
            groupCount: message.pointee.group_count,
            introductoryOfferCount: message.pointee.introductory_offer_count,
            promotionalOfferCount: message.pointee.promotional_offer_count,
            codeOfferCount: message.pointee.code_offer_count,
            winBackOfferCount: message.pointee.win_back_offer_count,
            warnings: readList(message.pointee.n_warnings, message.pointee.warnings) { CatalogWarning($0) },
            imageCount: message.pointee.image_count
        )
    }
}

extension CatalogImage {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogImage>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.content = arena.bytes(self.content)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogImage>) {
        self.init(id: String(wire: message.pointee.id), content: [UInt8](message.pointee.content))
    }
}

extension CheckCatalogRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__CheckCatalogRequest>, _ arena: Arena) {
        message.pointee.file = arena.bytes(self.file)
        (message.pointee.n_images, message.pointee.images) = arena.list(self.images) { $0.write(to: $1, arena) }
        message.pointee.entitlements = arena.bytes(self.entitlements)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CheckCatalogRequest>) {
        self.init(
            file: [UInt8](message.pointee.file),
            images: readList(message.pointee.n_images, message.pointee.images) { CatalogImage($0) },
            entitlements: [UInt8](message.pointee.entitlements)
        )
    }
}

extension CheckCatalogResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__CheckCatalogResponse>, _ arena: Arena) {
        if !self.summary.isBlank { message.pointee.summary = arena.message { self.summary.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CheckCatalogResponse>) {
        self.init(summary: read(message.pointee.summary) { CatalogSummary($0) } ?? CatalogSummary())
    }
}

extension LoadCatalogRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__LoadCatalogRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.file = arena.bytes(self.file)
        message.pointee.source = arena.text(self.source)
        (message.pointee.n_images, message.pointee.images) = arena.list(self.images) { $0.write(to: $1, arena) }
        message.pointee.entitlements = arena.bytes(self.entitlements)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__LoadCatalogRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            file: [UInt8](message.pointee.file),
            source: String(wire: message.pointee.source),
            images: readList(message.pointee.n_images, message.pointee.images) { CatalogImage($0) },
            entitlements: [UInt8](message.pointee.entitlements)
        )
    }
}

extension LoadCatalogResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__LoadCatalogResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        if !self.summary.isBlank { message.pointee.summary = arena.message { self.summary.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__LoadCatalogResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            summary: read(message.pointee.summary) { CatalogSummary($0) } ?? CatalogSummary()
        )
    }
}

extension GetCatalogRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetCatalogRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetCatalogRequest>) {
        self.init(app: read(message.pointee.app) { AppReference($0) } ?? AppReference())
    }
}

extension CatalogImageInfo {
    func write(to message: UnsafeMutablePointer<Perch__V1__CatalogImageInfo>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.content_hash = arena.bytes(self.contentHash)
        message.pointee.byte_count = self.byteCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CatalogImageInfo>) {
        self.init(
            id: String(wire: message.pointee.id),
            contentHash: [UInt8](message.pointee.content_hash),
            byteCount: message.pointee.byte_count
        )
    }
}

extension CatalogContents {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetCatalogResponse>, _ arena: Arena) {
        (message.pointee.n_product_ids, message.pointee.product_ids) = arena.texts(self.productIDs)
        (message.pointee.n_group_ids, message.pointee.group_ids) = arena.texts(self.groupIDs)
        message.pointee.source = arena.text(self.source)
        message.pointee.revision = self.revision
        if !self.summary.isBlank { message.pointee.summary = arena.message { self.summary.write(to: $0, arena) } }
        (message.pointee.n_images, message.pointee.images) = arena.list(self.images) { $0.write(to: $1, arena) }
        (message.pointee.n_code_offers, message.pointee.code_offers) = arena.list(self.codeOffers) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetCatalogResponse>) {
        self.init(
            productIDs: readTexts(message.pointee.n_product_ids, message.pointee.product_ids),
            groupIDs: readTexts(message.pointee.n_group_ids, message.pointee.group_ids),
            source: String(wire: message.pointee.source),
            revision: message.pointee.revision,
            summary: read(message.pointee.summary) { CatalogSummary($0) } ?? CatalogSummary(),
            images: readList(message.pointee.n_images, message.pointee.images) { CatalogImageInfo($0) },
            codeOffers: readList(message.pointee.n_code_offers, message.pointee.code_offers) { ProductEdit($0) }
        )
    }
}

extension Metric {
    func write(to message: UnsafeMutablePointer<Perch__V1__Metric>, _ arena: Arena) {
        message.pointee.name = arena.text(self.name)
        message.pointee.labels = arena.text(self.labels)
        message.pointee.value = self.value
        message.pointee.help = arena.text(self.help)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Metric>) {
        self.init(
            name: String(wire: message.pointee.name),
            labels: String(wire: message.pointee.labels),
            value: message.pointee.value,
            help: String(wire: message.pointee.help)
        )
    }
}

extension Finding {
    func write(to message: UnsafeMutablePointer<Perch__V1__Finding>, _ arena: Arena) {
        message.pointee.level = arena.text(self.level)
        message.pointee.subject = arena.text(self.subject)
        message.pointee.message = arena.text(self.message)
        message.pointee.remedy = arena.text(self.remedy)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Finding>) {
        self.init(
            level: String(wire: message.pointee.level),
            subject: String(wire: message.pointee.subject),
            message: String(wire: message.pointee.message),
            remedy: String(wire: message.pointee.remedy)
        )
    }
}

extension ServerStatus {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetServerStatusResponse>, _ arena: Arena) {
        message.pointee.version = arena.text(self.version)
        message.pointee.store_id = arena.bytes(self.storeID)
        message.pointee.epoch = self.epoch
        message.pointee.revision = self.revision
        (message.pointee.n_metrics, message.pointee.metrics) = arena.list(self.metrics) { $0.write(to: $1, arena) }
        (message.pointee.n_findings, message.pointee.findings) = arena.list(self.findings) { $0.write(to: $1, arena) }
        message.pointee.apple_root_pem = arena.text(self.appleRootPEM)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetServerStatusResponse>) {
        self.init(
            version: String(wire: message.pointee.version),
            storeID: [UInt8](message.pointee.store_id),
            epoch: message.pointee.epoch,
            revision: message.pointee.revision,
            metrics: readList(message.pointee.n_metrics, message.pointee.metrics) { Metric($0) },
            findings: readList(message.pointee.n_findings, message.pointee.findings) { Finding($0) },
            appleRootPEM: String(wire: message.pointee.apple_root_pem)
        )
    }
}

extension BackupRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__BackupRequest>, _ arena: Arena) {
        message.pointee.path = arena.text(self.path)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BackupRequest>) {
        self.init(path: String(wire: message.pointee.path))
    }
}

extension BackupSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__BackupResponse>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.byte_count = self.byteCount
        message.pointee.duration_ms = self.durationMilliseconds
        message.pointee.longest_stall_us = self.longestStallMicroseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BackupResponse>) {
        self.init(
            revision: message.pointee.revision,
            byteCount: message.pointee.byte_count,
            durationMilliseconds: message.pointee.duration_ms,
            longestStallMicroseconds: message.pointee.longest_stall_us
        )
    }
}

extension RevokeTokenRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RevokeTokenRequest>, _ arena: Arena) {
        message.pointee.token_id = arena.text(self.tokenID)
        if let value = self.expires {
            message.pointee.expires_at_ms = value.milliseconds
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RevokeTokenRequest>) {
        self.init(
            tokenID: String(wire: message.pointee.token_id),
            expires: notBlank(Instant(milliseconds: message.pointee.expires_at_ms))
        )
    }
}

extension RevokeTokenResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__RevokeTokenResponse>, _ arena: Arena) {
        message.pointee.already_revoked = self.wasRevoked ? 1 : 0
        message.pointee.was_seen = self.wasSeen ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RevokeTokenResponse>) {
        self.init(wasRevoked: message.pointee.already_revoked != 0, wasSeen: message.pointee.was_seen != 0)
    }
}

extension OfferConsoleCodeRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__OfferConsoleCodeRequest>, _ arena: Arena) {
        message.pointee.token = arena.text(self.token)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OfferConsoleCodeRequest>) {
        self.init(token: String(wire: message.pointee.token))
    }
}

extension ConsoleCode {
    func write(to message: UnsafeMutablePointer<Perch__V1__OfferConsoleCodeResponse>, _ arena: Arena) {
        message.pointee.code = arena.text(self.code)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OfferConsoleCodeResponse>) {
        self.init(code: String(wire: message.pointee.code))
    }
}

extension RedeemConsoleCodeRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RedeemConsoleCodeRequest>, _ arena: Arena) {
        message.pointee.code = arena.text(self.code)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RedeemConsoleCodeRequest>) {
        self.init(code: String(wire: message.pointee.code))
    }
}

extension ConsoleToken {
    func write(to message: UnsafeMutablePointer<Perch__V1__RedeemConsoleCodeResponse>, _ arena: Arena) {
        message.pointee.token = arena.text(self.token)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RedeemConsoleCodeResponse>) {
        self.init(token: String(wire: message.pointee.token))
    }
}

extension DeadLetterSummary {
    func write(to message: UnsafeMutablePointer<Perch__V1__DeadLetter>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.received_at_ms = self.received.milliseconds
        message.pointee.reason = arena.text(self.reason)
        message.pointee.message = arena.text(self.message)
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = arena.text(self.environment)
        message.pointee.notification_type = arena.text(self.notificationType)
        message.pointee.byte_count = self.byteCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__DeadLetter>) {
        self.init(
            id: String(wire: message.pointee.id),
            received: Instant(milliseconds: message.pointee.received_at_ms),
            reason: String(wire: message.pointee.reason),
            message: String(wire: message.pointee.message),
            bundleID: String(wire: message.pointee.bundle_id),
            environment: String(wire: message.pointee.environment),
            notificationType: String(wire: message.pointee.notification_type),
            byteCount: message.pointee.byte_count
        )
    }
}

extension ListDeadLettersRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListDeadLettersRequest>, _ arena: Arena) {
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListDeadLettersRequest>) {
        self.init(pageSize: message.pointee.page_size, pageToken: [UInt8](message.pointee.page_token))
    }
}

extension DeadLetterPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListDeadLettersResponse>, _ arena: Arena) {
        (message.pointee.n_dead_letters, message.pointee.dead_letters) = arena.list(self.deadLetters) { $0.write(to: $1, arena) }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListDeadLettersResponse>) {
        self.init(
            deadLetters: readList(message.pointee.n_dead_letters, message.pointee.dead_letters) { DeadLetterSummary($0) },
            nextPageToken: [UInt8](message.pointee.next_page_token)
        )
    }
}

extension RetryDeadLetterRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RetryDeadLetterRequest>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RetryDeadLetterRequest>) {
        self.init(id: String(wire: message.pointee.id))
    }
}

extension RetryAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__RetryDeadLetterResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.news_count = self.newsCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RetryDeadLetterResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            newsCount: message.pointee.news_count
        )
    }
}

extension DropDeadLetterRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__DropDeadLetterRequest>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__DropDeadLetterRequest>) {
        self.init(id: String(wire: message.pointee.id))
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__DropDeadLetterResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__DropDeadLetterResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension ConsumptionAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__ConsumptionAnswer>, _ arena: Arena) {
        message.pointee.customer_consented = self.hasConsent ? 1 : 0
        message.pointee.sample_content_provided = self.hasSample ? 1 : 0
        message.pointee.delivery = .init(self.delivery)
        message.pointee.consumed_milli = self.consumedMilli
        message.pointee.preference = .init(self.preference)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ConsumptionAnswer>) {
        self.init(
            hasConsent: message.pointee.customer_consented != 0,
            hasSample: message.pointee.sample_content_provided != 0,
            delivery: ConsumptionDelivery(message.pointee.delivery),
            consumedMilli: message.pointee.consumed_milli,
            preference: RefundPreference(message.pointee.preference)
        )
    }
}

extension ConsumptionItem {
    func write(to message: UnsafeMutablePointer<Perch__V1__ConsumptionCase>, _ arena: Arena) {
        message.pointee.transaction_id = self.transactionID
        message.pointee.reason = arena.text(self.reason)
        message.pointee.asked_at_ms = self.asked.milliseconds
        message.pointee.deadline_ms = self.deadline.milliseconds
        message.pointee.state = .init(self.state)
        message.pointee.message = arena.text(self.message)
        if let value = self.answer {
            message.pointee.answer = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ConsumptionCase>) {
        self.init(
            transactionID: message.pointee.transaction_id,
            reason: String(wire: message.pointee.reason),
            asked: Instant(milliseconds: message.pointee.asked_at_ms),
            deadline: Instant(milliseconds: message.pointee.deadline_ms),
            state: ConsumptionState(message.pointee.state),
            message: String(wire: message.pointee.message),
            answer: read(message.pointee.answer) { ConsumptionAnswer($0) }
        )
    }
}

extension ListConsumptionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListConsumptionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListConsumptionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            pageSize: message.pointee.page_size,
            pageToken: [UInt8](message.pointee.page_token)
        )
    }
}

extension ConsumptionPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListConsumptionResponse>, _ arena: Arena) {
        (message.pointee.n_cases, message.pointee.cases) = arena.list(self.cases) { $0.write(to: $1, arena) }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListConsumptionResponse>) {
        self.init(
            cases: readList(message.pointee.n_cases, message.pointee.cases) { ConsumptionItem($0) },
            nextPageToken: [UInt8](message.pointee.next_page_token)
        )
    }
}

extension AnswerConsumptionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__AnswerConsumptionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.transaction_id = self.transactionID
        if let value = self.answer {
            message.pointee.answer = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AnswerConsumptionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            transactionID: message.pointee.transaction_id,
            answer: read(message.pointee.answer) { ConsumptionAnswer($0) }
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__AnswerConsumptionResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AnswerConsumptionResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension ReconcileRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ReconcileRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.dry_run = self.isRehearsal ? 1 : 0
        message.pointee.everything = self.isWhole ? 1 : 0
        message.pointee.run = self.run
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ReconcileRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            isRehearsal: message.pointee.dry_run != 0,
            isWhole: message.pointee.everything != 0,
            run: message.pointee.run
        )
    }
}

extension ReconcileProgress {
    func write(to message: UnsafeMutablePointer<Perch__V1__ReconcileResponse>, _ arena: Arena) {
        message.pointee.run = self.run
        message.pointee.done = self.isDone ? 1 : 0
        (message.pointee.n_differences, message.pointee.differences) = arena.list(self.differences) { $0.write(to: $1, arena) }
        message.pointee.more_count = self.moreCount
        message.pointee.notification_count = self.notificationCount
        message.pointee.subscription_count = self.subscriptionCount
        message.pointee.history_count = self.historyCount
        message.pointee.problem = arena.text(self.problem)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ReconcileResponse>) {
        self.init(
            run: message.pointee.run,
            isDone: message.pointee.done != 0,
            differences: readList(message.pointee.n_differences, message.pointee.differences) { ReconcileDifference($0) },
            moreCount: message.pointee.more_count,
            notificationCount: message.pointee.notification_count,
            subscriptionCount: message.pointee.subscription_count,
            historyCount: message.pointee.history_count,
            problem: String(wire: message.pointee.problem)
        )
    }
}

extension ReconcileDifference {
    func write(to message: UnsafeMutablePointer<Perch__V1__ReconcileDifference>, _ arena: Arena) {
        message.pointee.source = arena.text(self.source)
        message.pointee.original_transaction_id = self.originalTransactionID
        message.pointee.message = arena.text(self.message)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ReconcileDifference>) {
        self.init(
            source: String(wire: message.pointee.source),
            originalTransactionID: message.pointee.original_transaction_id,
            message: String(wire: message.pointee.message)
        )
    }
}

extension ListNotificationsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListNotificationsRequest>, _ arena: Arena) {
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListNotificationsRequest>) {
        self.init(pageSize: message.pointee.page_size, pageToken: [UInt8](message.pointee.page_token))
    }
}

extension ReceivedNotification {
    func write(to message: UnsafeMutablePointer<Perch__V1__ReceivedNotification>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.received_at_ms = self.received.milliseconds
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.notification_type = arena.text(self.notificationType)
        message.pointee.subtype = arena.text(self.subtype)
        message.pointee.news_count = self.newsCount
        message.pointee.stale_count = self.staleCount
        message.pointee.duplicate_count = self.duplicateCount
        message.pointee.revision = self.revision
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ReceivedNotification>) {
        self.init(
            id: String(wire: message.pointee.id),
            received: Instant(milliseconds: message.pointee.received_at_ms),
            bundleID: String(wire: message.pointee.bundle_id),
            notificationType: String(wire: message.pointee.notification_type),
            subtype: String(wire: message.pointee.subtype),
            newsCount: message.pointee.news_count,
            staleCount: message.pointee.stale_count,
            duplicateCount: message.pointee.duplicate_count,
            revision: message.pointee.revision
        )
    }
}

extension NotificationPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListNotificationsResponse>, _ arena: Arena) {
        (message.pointee.n_notifications, message.pointee.notifications) = arena.list(self.notifications) { $0.write(to: $1, arena) }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListNotificationsResponse>) {
        self.init(
            notifications: readList(message.pointee.n_notifications, message.pointee.notifications) { ReceivedNotification($0) },
            nextPageToken: [UInt8](message.pointee.next_page_token)
        )
    }
}

extension GetSignedPayloadRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSignedPayloadRequest>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSignedPayloadRequest>) {
        self.init(id: String(wire: message.pointee.id))
    }
}

extension SignedPayload {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSignedPayloadResponse>, _ arena: Arena) {
        message.pointee.signed_payload = arena.text(self.signedPayload)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSignedPayloadResponse>) {
        self.init(signedPayload: String(wire: message.pointee.signed_payload))
    }
}

extension FindCustomersRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__FindCustomersRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.text = arena.text(self.text)
        (message.pointee.n_kinds, message.pointee.kinds) = arena.values(self.kinds)
        message.pointee.page_size = self.pageSize
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FindCustomersRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            text: String(wire: message.pointee.text),
            kinds: readValues(message.pointee.n_kinds, message.pointee.kinds),
            pageSize: message.pointee.page_size
        )
    }
}

extension FoundCustomer {
    func write(to message: UnsafeMutablePointer<Perch__V1__FoundCustomer>, _ arena: Arena) {
        message.pointee.account = arena.text(self.account)
        message.pointee.unclaimed = self.isUnclaimed ? 1 : 0
        message.pointee.kind = .init(self.kind)
        message.pointee.name = arena.text(self.name)
        message.pointee.original_transaction_id = self.originalTransactionID
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FoundCustomer>) {
        self.init(
            account: String(wire: message.pointee.account),
            isUnclaimed: message.pointee.unclaimed != 0,
            kind: CustomerNameKind(message.pointee.kind),
            name: String(wire: message.pointee.name),
            originalTransactionID: message.pointee.original_transaction_id
        )
    }
}

extension CustomersFound {
    func write(to message: UnsafeMutablePointer<Perch__V1__FindCustomersResponse>, _ arena: Arena) {
        (message.pointee.n_customers, message.pointee.customers) = arena.list(self.customers) { $0.write(to: $1, arena) }
        message.pointee.has_more = self.hasMore ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FindCustomersResponse>) {
        self.init(
            customers: readList(message.pointee.n_customers, message.pointee.customers) { FoundCustomer($0) },
            hasMore: message.pointee.has_more != 0
        )
    }
}

extension CustomerNote {
    func write(to message: UnsafeMutablePointer<Perch__V1__CustomerNote>, _ arena: Arena) {
        message.pointee.id = self.id
        message.pointee.at_ms = self.at.milliseconds
        message.pointee.author = arena.text(self.author)
        message.pointee.text = arena.text(self.text)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CustomerNote>) {
        self.init(
            id: message.pointee.id,
            at: Instant(milliseconds: message.pointee.at_ms),
            author: String(wire: message.pointee.author),
            text: String(wire: message.pointee.text)
        )
    }
}

extension AddNoteRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__AddNoteRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.text = arena.text(self.text)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AddNoteRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            text: String(wire: message.pointee.text),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension NoteAdded {
    func write(to message: UnsafeMutablePointer<Perch__V1__AddNoteResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.note_id = self.noteID
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AddNoteResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) } ?? .blank, noteID: message.pointee.note_id)
    }
}

extension ListNotesRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListNotesRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListNotesRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account)
        )
    }
}

extension NoteList {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListNotesResponse>, _ arena: Arena) {
        (message.pointee.n_notes, message.pointee.notes) = arena.list(self.notes) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListNotesResponse>) {
        self.init(notes: readList(message.pointee.n_notes, message.pointee.notes) { CustomerNote($0) })
    }
}

extension DeleteNoteRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__DeleteNoteRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.note_id = self.noteID
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__DeleteNoteRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            noteID: message.pointee.note_id
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__DeleteNoteResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__DeleteNoteResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension FindAccountRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__FindAccountRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.transaction_id = self.transactionID
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FindAccountRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            transactionID: message.pointee.transaction_id,
            appAccountToken: String(wire: message.pointee.app_account_token),
            appTransactionID: String(wire: message.pointee.app_transaction_id)
        )
    }
}

extension AccountFound {
    func write(to message: UnsafeMutablePointer<Perch__V1__FindAccountResponse>, _ arena: Arena) {
        message.pointee.account = arena.text(self.account)
        message.pointee.unclaimed = self.isUnclaimed ? 1 : 0
        (message.pointee.n_original_transaction_ids, message.pointee.original_transaction_ids) = arena.texts(self.originalTransactionIDs)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FindAccountResponse>) {
        self.init(
            account: String(wire: message.pointee.account),
            isUnclaimed: message.pointee.unclaimed != 0,
            originalTransactionIDs: readTexts(message.pointee.n_original_transaction_ids, message.pointee.original_transaction_ids)
        )
    }
}

extension ListUnclaimedRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListUnclaimedRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListUnclaimedRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            pageSize: message.pointee.page_size,
            pageToken: [UInt8](message.pointee.page_token)
        )
    }
}

extension UnclaimedPurchase {
    func write(to message: UnsafeMutablePointer<Perch__V1__UnclaimedPurchase>, _ arena: Arena) {
        message.pointee.original_transaction_id = arena.text(self.originalTransactionID)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.account = arena.text(self.account)
        message.pointee.unclaimed = self.isUnclaimed ? 1 : 0
        message.pointee.overdue = self.isOverdue ? 1 : 0
        (message.pointee.n_app_account_tokens, message.pointee.app_account_tokens) = arena.texts(self.appAccountTokens)
        (message.pointee.n_app_transaction_ids, message.pointee.app_transaction_ids) = arena.texts(self.appTransactionIDs)
        message.pointee.original_purchase_date_ms = self.originalPurchaseDate.milliseconds
        if let value = self.end {
            message.pointee.end_case = PERCH__V1__UNCLAIMED_PURCHASE__END_EXPIRATION_DATE_MS
            message.pointee.expiration_date_ms = value.milliseconds
        }
        message.pointee.state = .init(self.state)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__UnclaimedPurchase>) {
        self.init(
            originalTransactionID: String(wire: message.pointee.original_transaction_id),
            productID: String(wire: message.pointee.product_id),
            account: String(wire: message.pointee.account),
            isUnclaimed: message.pointee.unclaimed != 0,
            isOverdue: message.pointee.overdue != 0,
            appAccountTokens: readTexts(message.pointee.n_app_account_tokens, message.pointee.app_account_tokens),
            appTransactionIDs: readTexts(message.pointee.n_app_transaction_ids, message.pointee.app_transaction_ids),
            originalPurchaseDate: Instant(milliseconds: message.pointee.original_purchase_date_ms),
            end: message.pointee.end_case == PERCH__V1__UNCLAIMED_PURCHASE__END_EXPIRATION_DATE_MS ? Instant(milliseconds: message.pointee.expiration_date_ms) : nil,
            state: RenewalState(message.pointee.state)
        )
    }
}

extension UnclaimedPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListUnclaimedResponse>, _ arena: Arena) {
        (message.pointee.n_purchases, message.pointee.purchases) = arena.list(self.purchases) { $0.write(to: $1, arena) }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListUnclaimedResponse>) {
        self.init(
            purchases: readList(message.pointee.n_purchases, message.pointee.purchases) { UnclaimedPurchase($0) },
            nextPageToken: [UInt8](message.pointee.next_page_token)
        )
    }
}

extension AttachAliasRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__AttachAliasRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.email_sha256 = arena.text(self.emailSha256)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AttachAliasRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            appAccountToken: String(wire: message.pointee.app_account_token),
            appTransactionID: String(wire: message.pointee.app_transaction_id),
            emailSha256: String(wire: message.pointee.email_sha256)
        )
    }
}

extension MoveAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__AttachAliasResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.moved_count = self.movedCount
        message.pointee.previous_account = arena.text(self.previousAccount)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AttachAliasResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            movedCount: message.pointee.moved_count,
            previousAccount: String(wire: message.pointee.previous_account)
        )
    }
}

extension DetachAliasRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__DetachAliasRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.email_sha256 = arena.text(self.emailSha256)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__DetachAliasRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            appAccountToken: String(wire: message.pointee.app_account_token),
            appTransactionID: String(wire: message.pointee.app_transaction_id),
            emailSha256: String(wire: message.pointee.email_sha256)
        )
    }
}

extension MoveAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__DetachAliasResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.moved_count = self.movedCount
        message.pointee.previous_account = arena.text(self.previousAccount)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__DetachAliasResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            movedCount: message.pointee.moved_count,
            previousAccount: String(wire: message.pointee.previous_account)
        )
    }
}

extension MoveTransactionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__MoveTransactionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.original_transaction_id = self.originalTransactionID
        message.pointee.account = arena.text(self.account)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__MoveTransactionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            originalTransactionID: message.pointee.original_transaction_id,
            account: String(wire: message.pointee.account)
        )
    }
}

extension MoveAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__MoveTransactionResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.moved_count = self.movedCount
        message.pointee.previous_account = arena.text(self.previousAccount)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__MoveTransactionResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            movedCount: message.pointee.moved_count,
            previousAccount: String(wire: message.pointee.previous_account)
        )
    }
}

extension MergeAccountsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__MergeAccountsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.into_account = arena.text(self.intoAccount)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__MergeAccountsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            intoAccount: String(wire: message.pointee.into_account)
        )
    }
}

extension MergeAccountsResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__MergeAccountsResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.moved_count = self.movedCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__MergeAccountsResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            movedCount: message.pointee.moved_count
        )
    }
}

extension EraseAccountRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__EraseAccountRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EraseAccountRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account)
        )
    }
}

extension EraseAccountResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__EraseAccountResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.fact_count = self.factCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EraseAccountResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            factCount: message.pointee.fact_count
        )
    }
}

extension ExportAccountRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExportAccountRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExportAccountRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account)
        )
    }
}

extension AccountExport {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExportAccountResponse>, _ arena: Arena) {
        (message.pointee.n_keys, message.pointee.keys) = arena.texts(self.keys)
        (message.pointee.n_app_account_tokens, message.pointee.app_account_tokens) = arena.texts(self.appAccountTokens)
        (message.pointee.n_app_transaction_ids, message.pointee.app_transaction_ids) = arena.texts(self.appTransactionIDs)
        if !self.inspection.isBlank { message.pointee.account = arena.message { self.inspection.write(to: $0, arena) } }
        (message.pointee.n_transactions, message.pointee.transactions) = arena.list(self.transactions) { $0.write(to: $1, arena) }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
        (message.pointee.n_grants, message.pointee.grants) = arena.list(self.grants) { $0.write(to: $1, arena) }
        (message.pointee.n_notes, message.pointee.notes) = arena.list(self.notes) { $0.write(to: $1, arena) }
        (message.pointee.n_email_sha256s, message.pointee.email_sha256s) = arena.texts(self.emailSha256s)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExportAccountResponse>) {
        self.init(
            keys: readTexts(message.pointee.n_keys, message.pointee.keys),
            appAccountTokens: readTexts(message.pointee.n_app_account_tokens, message.pointee.app_account_tokens),
            appTransactionIDs: readTexts(message.pointee.n_app_transaction_ids, message.pointee.app_transaction_ids),
            inspection: read(message.pointee.account) { AccountInspection($0) } ?? AccountInspection(),
            transactions: readList(message.pointee.n_transactions, message.pointee.transactions) { Verified<Transaction>($0) },
            nextPageToken: [UInt8](message.pointee.next_page_token),
            grants: readList(message.pointee.n_grants, message.pointee.grants) { EntitlementGrant($0) },
            notes: readList(message.pointee.n_notes, message.pointee.notes) { CustomerNote($0) },
            emailSha256s: readTexts(message.pointee.n_email_sha256s, message.pointee.email_sha256s)
        )
    }
}

extension EntitlementGrant {
    func write(to message: UnsafeMutablePointer<Perch__V1__GrantSummary>, _ arena: Arena) {
        message.pointee.name = arena.text(self.name)
        if let value = self.until {
            message.pointee.end_case = PERCH__V1__GRANT_SUMMARY__END_UNTIL_MS
            message.pointee.until_ms = value.milliseconds
        }
        message.pointee.reason = arena.text(self.reason)
        message.pointee.since_ms = self.since.milliseconds
        message.pointee.tier = arena.text(self.tier)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GrantSummary>) {
        self.init(
            name: String(wire: message.pointee.name),
            until: message.pointee.end_case == PERCH__V1__GRANT_SUMMARY__END_UNTIL_MS ? Instant(milliseconds: message.pointee.until_ms) : nil,
            reason: String(wire: message.pointee.reason),
            since: Instant(milliseconds: message.pointee.since_ms),
            tier: String(wire: message.pointee.tier)
        )
    }
}

extension GrantEntitlementRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GrantEntitlementRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.name = arena.text(self.name)
        if let value = self.until {
            message.pointee.end_case = PERCH__V1__GRANT_ENTITLEMENT_REQUEST__END_UNTIL_MS
            message.pointee.until_ms = value.milliseconds
        }
        message.pointee.reason = arena.text(self.reason)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
        message.pointee.tier = arena.text(self.tier)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GrantEntitlementRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            name: String(wire: message.pointee.name),
            until: message.pointee.end_case == PERCH__V1__GRANT_ENTITLEMENT_REQUEST__END_UNTIL_MS ? Instant(milliseconds: message.pointee.until_ms) : nil,
            reason: String(wire: message.pointee.reason),
            idempotencyKey: [UInt8](message.pointee.idempotency_key),
            tier: String(wire: message.pointee.tier)
        )
    }
}

extension GrantEntitlementResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__GrantEntitlementResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        (message.pointee.n_known_names, message.pointee.known_names) = arena.texts(self.knownNames)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GrantEntitlementResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            knownNames: readTexts(message.pointee.n_known_names, message.pointee.known_names)
        )
    }
}

extension RevokeGrantRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RevokeGrantRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.name = arena.text(self.name)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RevokeGrantRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            name: String(wire: message.pointee.name)
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__RevokeGrantResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RevokeGrantResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension ListAuditRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAuditRequest>, _ arena: Arena) {
        message.pointee.after_revision = self.afterRevision
        message.pointee.page_size = self.pageSize
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAuditRequest>) {
        self.init(afterRevision: message.pointee.after_revision, pageSize: message.pointee.page_size)
    }
}

extension AuditLine {
    func write(to message: UnsafeMutablePointer<Perch__V1__AuditLine>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.at_ms = self.at.milliseconds
        message.pointee.subject = arena.text(self.subject)
        message.pointee.address = arena.text(self.address)
        message.pointee.method = arena.text(self.method)
        message.pointee.what = arena.text(self.what)
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = arena.text(self.environment)
        message.pointee.account = arena.text(self.account)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AuditLine>) {
        self.init(
            revision: message.pointee.revision,
            at: Instant(milliseconds: message.pointee.at_ms),
            subject: String(wire: message.pointee.subject),
            address: String(wire: message.pointee.address),
            method: String(wire: message.pointee.method),
            what: String(wire: message.pointee.what),
            bundleID: String(wire: message.pointee.bundle_id),
            environment: String(wire: message.pointee.environment),
            account: String(wire: message.pointee.account)
        )
    }
}

extension AuditPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAuditResponse>, _ arena: Arena) {
        (message.pointee.n_entries, message.pointee.entries) = arena.list(self.entries) { $0.write(to: $1, arena) }
        message.pointee.has_more = self.hasMore ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAuditResponse>) {
        self.init(
            entries: readList(message.pointee.n_entries, message.pointee.entries) { AuditLine($0) },
            hasMore: message.pointee.has_more != 0
        )
    }
}

extension AsOf {
    func write(to message: UnsafeMutablePointer<Perch__V1__AsOf>, _ arena: Arena) {
        if let value = self.instant {
            message.pointee.instant_case = PERCH__V1__AS_OF__INSTANT_AT_MS
            message.pointee.at_ms = value.milliseconds
        }
        message.pointee.known_at_revision = self.revision
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AsOf>) {
        self.init(
            instant: message.pointee.instant_case == PERCH__V1__AS_OF__INSTANT_AT_MS ? Instant(milliseconds: message.pointee.at_ms) : nil,
            revision: message.pointee.known_at_revision
        )
    }
}

extension Products {
    func write(to message: UnsafeMutablePointer<Perch__V1__Products>, _ arena: Arena) {
        (message.pointee.n_products, message.pointee.products) = arena.list(self.products) { $0.write(to: $1, arena) }
        (message.pointee.n_unavailable_ids, message.pointee.unavailable_ids) = arena.texts(self.unavailableIDs)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Products>) {
        self.init(
            products: readList(message.pointee.n_products, message.pointee.products) { Product($0) },
            unavailableIDs: readTexts(message.pointee.n_unavailable_ids, message.pointee.unavailable_ids)
        )
    }
}

extension Perch__V1__CurrentEntitlement {
    static func write(_ value: Verified<Transaction>?, to message: UnsafeMutablePointer<Self>, _ arena: Arena) {
        if let value = value {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
    }

    static func value(_ message: UnsafeMutablePointer<Self>) -> Verified<Transaction>? {
        read(message.pointee.transaction) { Verified<Transaction>($0) }
    }
}

extension ProductsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ProductsTaskRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        (message.pointee.n_product_ids, message.pointee.product_ids) = arena.texts(self.productIDs)
        message.pointee.locale = arena.text(self.locale)
        message.pointee.storefront = arena.text(self.storefront)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ProductsTaskRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            productIDs: readTexts(message.pointee.n_product_ids, message.pointee.product_ids),
            locale: String(wire: message.pointee.locale),
            storefront: String(wire: message.pointee.storefront),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension Perch__V1__ProductsTaskResponse: StreamMessage {}
extension Perch__V1__ProductsTaskResponse__StateCase: CEnumeration {}
extension TaskState<Products> {
    func write(to message: UnsafeMutablePointer<Perch__V1__ProductsTaskResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ProductsTaskResponse>) throws(MessageError) {
        try self.init(of: message) { Products($0) }
    }
}

extension SubscriptionStatusRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.group_id = arena.text(self.groupID)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
        message.pointee.all_groups = self.allGroups ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            groupID: String(wire: message.pointee.group_id),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0,
            allGroups: message.pointee.all_groups != 0
        )
    }
}

extension Perch__V1__SubscriptionStatusTaskResponse: StreamMessage {}
extension Perch__V1__SubscriptionStatusTaskResponse__StateCase: CEnumeration {}
extension TaskState<SubscriptionStatuses> {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskResponse>) throws(MessageError) {
        try self.init(of: message) { SubscriptionStatuses($0) }
    }
}

extension NamedEntitlement {
    func write(to message: UnsafeMutablePointer<Perch__V1__NamedEntitlement>, _ arena: Arena) {
        message.pointee.name = arena.text(self.name)
        message.pointee.active = self.isActive ? 1 : 0
        if let value = self.until {
            message.pointee.end_case = PERCH__V1__NAMED_ENTITLEMENT__END_UNTIL_MS
            message.pointee.until_ms = value.milliseconds
        }
        message.pointee.lifetime = self.isLifetime ? 1 : 0
        message.pointee.will_renew = self.willRenew ? 1 : 0
        message.pointee.state = .init(self.state)
        if let value = self.since {
            message.pointee.begin_case = PERCH__V1__NAMED_ENTITLEMENT__BEGIN_SINCE_MS
            message.pointee.since_ms = value.milliseconds
        }
        message.pointee.origin = .init(self.origin)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.tier = arena.text(self.tier)
        message.pointee.ownership_type = .init(self.ownership)
        message.pointee.sandbox = self.isSandbox ? 1 : 0
        message.pointee.reason = arena.text(self.reason)
        message.pointee.renewal_unknown = self.isRenewalUnknown ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__NamedEntitlement>) {
        self.init(name: String(wire: message.pointee.name))
        self.isActive = message.pointee.active != 0
        self.until = message.pointee.end_case == PERCH__V1__NAMED_ENTITLEMENT__END_UNTIL_MS ? Instant(milliseconds: message.pointee.until_ms) : nil
        self.isLifetime = message.pointee.lifetime != 0
        self.willRenew = message.pointee.will_renew != 0
        self.state = RenewalState(message.pointee.state)
        self.since = message.pointee.begin_case == PERCH__V1__NAMED_ENTITLEMENT__BEGIN_SINCE_MS ? Instant(milliseconds: message.pointee.since_ms) : nil
        self.origin = EntitlementOrigin(message.pointee.origin)
        self.productID = String(wire: message.pointee.product_id)
        self.tier = String(wire: message.pointee.tier)
        self.ownership = OwnershipType(message.pointee.ownership_type)
        self.isSandbox = message.pointee.sandbox != 0
        self.reason = String(wire: message.pointee.reason)
        self.isRenewalUnknown = message.pointee.renewal_unknown != 0
    }
}

extension Perch__V1__NamedEntitlements {
    static func write(_ value: [NamedEntitlement], to message: UnsafeMutablePointer<Self>, _ arena: Arena) {
        (message.pointee.n_entitlements, message.pointee.entitlements) = arena.list(value) { $0.write(to: $1, arena) }
    }

    static func value(_ message: UnsafeMutablePointer<Self>) -> [NamedEntitlement] {
        readList(message.pointee.n_entitlements, message.pointee.entitlements) { NamedEntitlement($0) }
    }
}

extension AccountWatchRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementsTaskRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementsTaskRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension Perch__V1__EntitlementsTaskResponse: StreamMessage {}
extension Perch__V1__EntitlementsTaskResponse__StateCase: CEnumeration {}
extension TaskState<[NamedEntitlement]> {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementsTaskResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { Perch__V1__NamedEntitlements.write($0, to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementsTaskResponse>) throws(MessageError) {
        try self.init(of: message) { Perch__V1__NamedEntitlements.value($0) }
    }
}

extension GetEntitlementsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetEntitlementsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetEntitlementsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf(),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension GetPassRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetPassRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetPassRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension EntitlementPass {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetPassResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.pass = arena.text(self.pass)
        message.pointee.expires_at_ms = self.expiresAt.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetPassResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            pass: String(wire: message.pointee.pass),
            expiresAt: Instant(milliseconds: message.pointee.expires_at_ms)
        )
    }
}

extension Perch__V1__GetEntitlementsResponse: ReadMessage {}
extension Perch__V1__GetEntitlementsResponse__StateCase: CEnumeration {}
extension TaskState<[NamedEntitlement]> {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetEntitlementsResponse>, _ arena: Arena) {
        self.write(read: message, arena) { Perch__V1__NamedEntitlements.write($0, to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetEntitlementsResponse>) throws(MessageError) {
        try self.init(of: message) { Perch__V1__NamedEntitlements.value($0) }
    }
}

extension CurrentEntitlementRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0
        )
    }
}

extension Perch__V1__CurrentEntitlementTaskResponse: StreamMessage {}
extension Perch__V1__CurrentEntitlementTaskResponse__StateCase: CEnumeration {}
extension TaskState<Verified<Transaction>?> {
    func write(to message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { Perch__V1__CurrentEntitlement.write($0, to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskResponse>) throws(MessageError) {
        try self.init(of: message) { Perch__V1__CurrentEntitlement.value($0) }
    }
}

extension ProductsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetProductsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        (message.pointee.n_product_ids, message.pointee.product_ids) = arena.texts(self.productIDs)
        message.pointee.locale = arena.text(self.locale)
        message.pointee.storefront = arena.text(self.storefront)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetProductsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            productIDs: readTexts(message.pointee.n_product_ids, message.pointee.product_ids),
            locale: String(wire: message.pointee.locale),
            storefront: String(wire: message.pointee.storefront),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension Perch__V1__GetProductsResponse: ReadMessage {}
extension Perch__V1__GetProductsResponse__StateCase: CEnumeration {}
extension TaskState<Products> {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetProductsResponse>, _ arena: Arena) {
        self.write(read: message, arena) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetProductsResponse>) throws(MessageError) {
        try self.init(of: message) { Products($0) }
    }
}

extension GetImageRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetImageRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.image_id = arena.text(self.imageID)
        message.pointee.known_hash = arena.bytes(self.knownHash)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetImageRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            imageID: String(wire: message.pointee.image_id),
            knownHash: [UInt8](message.pointee.known_hash),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension ImageAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetImageResponse>, _ arena: Arena) {
        message.pointee.content_hash = arena.bytes(self.contentHash)
        message.pointee.content_type = arena.text(self.contentType)
        message.pointee.unchanged = self.isUnchanged ? 1 : 0
        message.pointee.content = arena.bytes(self.content)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetImageResponse>) {
        self.init(
            contentHash: [UInt8](message.pointee.content_hash),
            contentType: String(wire: message.pointee.content_type),
            isUnchanged: message.pointee.unchanged != 0,
            content: [UInt8](message.pointee.content)
        )
    }
}

extension SubscriptionStatusRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.group_id = arena.text(self.groupID)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
        message.pointee.all_groups = self.allGroups ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            groupID: String(wire: message.pointee.group_id),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0,
            allGroups: message.pointee.all_groups != 0,
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf()
        )
    }
}

extension Perch__V1__GetSubscriptionStatusResponse: ReadMessage {}
extension Perch__V1__GetSubscriptionStatusResponse__StateCase: CEnumeration {}
extension TaskState<SubscriptionStatuses> {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusResponse>, _ arena: Arena) {
        self.write(read: message, arena) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusResponse>) throws(MessageError) {
        try self.init(of: message) { SubscriptionStatuses($0) }
    }
}

extension CurrentEntitlementRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0,
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf()
        )
    }
}

extension Perch__V1__GetCurrentEntitlementResponse: ReadMessage {}
extension Perch__V1__GetCurrentEntitlementResponse__StateCase: CEnumeration {}
extension TaskState<Verified<Transaction>?> {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementResponse>, _ arena: Arena) {
        self.write(read: message, arena) { Perch__V1__CurrentEntitlement.write($0, to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementResponse>) throws(MessageError) {
        try self.init(of: message) { Perch__V1__CurrentEntitlement.value($0) }
    }
}

extension ListCurrentEntitlementsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            atLeast: read(message.pointee.at_least) { Position($0) },
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf(),
            includesJWS: message.pointee.include_jws != 0
        )
    }
}

extension EntitlementList {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsResponse>, _ arena: Arena) {
        (message.pointee.n_transactions, message.pointee.transactions) = arena.list(self.transactions) { $0.write(to: $1, arena) }
        if !self.info.isBlank { message.pointee.info = arena.message { self.info.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsResponse>) {
        self.init(
            transactions: readList(message.pointee.n_transactions, message.pointee.transactions) { Verified<Transaction>($0) },
            info: read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        )
    }
}

extension PlanOptionsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.group_id = arena.text(self.groupID)
        message.pointee.locale = arena.text(self.locale)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            groupID: String(wire: message.pointee.group_id),
            locale: String(wire: message.pointee.locale),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension PlanOption {
    func write(to message: UnsafeMutablePointer<Perch__V1__PlanOption>, _ arena: Arena) {
        if !self.product.isBlank { message.pointee.product = arena.message { self.product.write(to: $0, arena) } }
        message.pointee.relation = .init(self.relation)
        message.pointee.takes_effect_at_renewal = self.takesEffectAtRenewal ? 1 : 0
        message.pointee.preferred = self.isPreferred ? 1 : 0
        if let value = self.offer {
            message.pointee.offer = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PlanOption>) {
        self.init(
            product: read(message.pointee.product) { Product($0) } ?? .blank,
            relation: PlanRelation(message.pointee.relation),
            takesEffectAtRenewal: message.pointee.takes_effect_at_renewal != 0,
            isPreferred: message.pointee.preferred != 0,
            offer: read(message.pointee.offer) { TransactionOffer($0) }
        )
    }
}

extension PlanOptionList {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsResponse>, _ arena: Arena) {
        (message.pointee.n_options, message.pointee.options) = arena.list(self.options) { $0.write(to: $1, arena) }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.not_in_catalog = self.isNotInCatalog ? 1 : 0
        message.pointee.introductory_eligibility = .init(self.introductoryEligibility)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListPlanOptionsResponse>) {
        self.init(
            options: readList(message.pointee.n_options, message.pointee.options) { PlanOption($0) },
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            isNotInCatalog: message.pointee.not_in_catalog != 0,
            introductoryEligibility: Eligibility(message.pointee.introductory_eligibility)
        )
    }
}

extension OfferEligibilityRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.group_id = arena.text(self.groupID)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            groupID: String(wire: message.pointee.group_id),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
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
        message.pointee.eligibility = .init(self.eligibility)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OfferEligibility>) {
        self.init(
            productID: String(wire: message.pointee.product_id),
            type: OfferType(message.pointee.type),
            offerID: String(wire: message.pointee.offer_id),
            isEligible: message.pointee.eligible != 0,
            reason: String(wire: message.pointee.reason),
            message: String(wire: message.pointee.message),
            billingPlan: BillingPlanType(message.pointee.billing_plan),
            eligibility: Eligibility(message.pointee.eligibility)
        )
    }
}

extension OfferEligibilityAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityResponse>, _ arena: Arena) {
        message.pointee.introductory_eligible = self.value.isEligibleForIntroductory ? 1 : 0
        (message.pointee.n_offers, message.pointee.offers) = arena.list(self.value.offers) { $0.write(to: $1, arena) }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.not_in_catalog = self.isNotInCatalog ? 1 : 0
        message.pointee.introductory_eligibility = .init(self.value.introductory)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetOfferEligibilityResponse>) {
        self.init(
            value: OfferEligibilities(isEligibleForIntroductory: message.pointee.introductory_eligible != 0, offers: readList(message.pointee.n_offers, message.pointee.offers) { OfferEligibility($0) }, introductory: Eligibility(message.pointee.introductory_eligibility)),
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            isNotInCatalog: message.pointee.not_in_catalog != 0
        )
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
            locale: String(wire: message.pointee.locale)
        )
    }
}

extension AppPoliciesAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetAppPoliciesResponse>, _ arena: Arena) {
        message.pointee.licence_agreement = arena.text(self.licenceAgreement)
        message.pointee.privacy_policy_text = arena.text(self.privacyPolicyText)
        message.pointee.privacy_policy_url = arena.text(self.privacyPolicyURL)
        message.pointee.privacy_policy_locale = arena.text(self.privacyPolicyLocale)
        message.pointee.shows_dialogs = self.showsDialogs ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetAppPoliciesResponse>) {
        self.init(
            licenceAgreement: String(wire: message.pointee.licence_agreement),
            privacyPolicyText: String(wire: message.pointee.privacy_policy_text),
            privacyPolicyURL: String(wire: message.pointee.privacy_policy_url),
            privacyPolicyLocale: String(wire: message.pointee.privacy_policy_locale),
            showsDialogs: message.pointee.shows_dialogs != 0
        )
    }
}

extension ExplainRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExplainRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        switch self.about {
            case .group(let value0)?:
                message.pointee.about_case = PERCH__V1__EXPLAIN_REQUEST__ABOUT_GROUP_ID
                message.pointee.group_id = arena.text(value0)
            case .product(let value0)?:
                message.pointee.about_case = PERCH__V1__EXPLAIN_REQUEST__ABOUT_PRODUCT_ID
                message.pointee.product_id = arena.text(value0)
            case nil: break
        }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.locale = arena.text(self.locale)
        message.pointee.utc_offset_minutes = self.utcOffsetMinutes
        if let value = self.suppose {
            message.pointee.suppose = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.with_history = self.withHistory ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExplainRequest>) {
        let about: About?
        switch message.pointee.about_case {
            case PERCH__V1__EXPLAIN_REQUEST__ABOUT_GROUP_ID:
                about = .group(String(wire: message.pointee.group_id))
            case PERCH__V1__EXPLAIN_REQUEST__ABOUT_PRODUCT_ID:
                about = .product(String(wire: message.pointee.product_id))
            default: about = nil
        }
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            about: about,
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf(),
            atLeast: read(message.pointee.at_least) { Position($0) },
            locale: String(wire: message.pointee.locale),
            utcOffsetMinutes: message.pointee.utc_offset_minutes,
            suppose: read(message.pointee.suppose) { Supposition($0) },
            withHistory: message.pointee.with_history != 0
        )
    }
}

extension Supposition {
    func write(to message: UnsafeMutablePointer<Perch__V1__Supposition>, _ arena: Arena) {
        message.pointee.event = .init(self.event)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.original_transaction_id = self.originalTransactionID
        message.pointee.price_milliunits = self.priceMilliunits
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Supposition>) {
        self.init(
            event: SupposedEvent(message.pointee.event),
            productID: String(wire: message.pointee.product_id),
            originalTransactionID: message.pointee.original_transaction_id,
            priceMilliunits: message.pointee.price_milliunits
        )
    }
}

extension ExpectedChange {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExpectedChange>, _ arena: Arena) {
        message.pointee.at_ms = self.at.milliseconds
        message.pointee.message = arena.text(self.message)
        message.pointee.kind = .init(self.kind)
        message.pointee.original_transaction_id = self.originalTransactionID
        message.pointee.grant = arena.text(self.grant)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExpectedChange>) {
        self.init(
            at: Instant(milliseconds: message.pointee.at_ms),
            message: String(wire: message.pointee.message),
            kind: ForecastKind(message.pointee.kind),
            originalTransactionID: message.pointee.original_transaction_id,
            grant: String(wire: message.pointee.grant)
        )
    }
}

extension ExplainedGrant {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExplainedGrant>, _ arena: Arena) {
        message.pointee.name = arena.text(self.name)
        message.pointee.granted_by = arena.text(self.grantedBy)
        message.pointee.reason = arena.text(self.reason)
        message.pointee.since_ms = self.since.milliseconds
        if let value = self.until {
            message.pointee.end_case = PERCH__V1__EXPLAINED_GRANT__END_UNTIL_MS
            message.pointee.until_ms = value.milliseconds
        }
        message.pointee.tier = arena.text(self.tier)
        message.pointee.message = arena.text(self.message)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExplainedGrant>) {
        self.init(
            name: String(wire: message.pointee.name),
            grantedBy: String(wire: message.pointee.granted_by),
            reason: String(wire: message.pointee.reason),
            since: Instant(milliseconds: message.pointee.since_ms),
            until: message.pointee.end_case == PERCH__V1__EXPLAINED_GRANT__END_UNTIL_MS ? Instant(milliseconds: message.pointee.until_ms) : nil,
            tier: String(wire: message.pointee.tier),
            message: String(wire: message.pointee.message)
        )
    }
}

extension HistoryEntry {
    func write(to message: UnsafeMutablePointer<Perch__V1__HistoryEntry>, _ arena: Arena) {
        message.pointee.at_ms = self.at.milliseconds
        message.pointee.message = arena.text(self.message)
        message.pointee.kind = .init(self.kind)
        message.pointee.transaction_id = self.transactionID
        message.pointee.by = arena.text(self.by)
        message.pointee.account = arena.text(self.account)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__HistoryEntry>) {
        self.init(
            at: Instant(milliseconds: message.pointee.at_ms),
            message: String(wire: message.pointee.message),
            kind: HistoryKind(message.pointee.kind),
            transactionID: message.pointee.transaction_id,
            by: String(wire: message.pointee.by),
            account: String(wire: message.pointee.account)
        )
    }
}

extension SupposedOutcome {
    func write(to message: UnsafeMutablePointer<Perch__V1__SupposedOutcome>, _ arena: Arena) {
        message.pointee.summary = arena.text(self.summary)
        message.pointee.entitled = self.isEntitled ? 1 : 0
        (message.pointee.n_changes, message.pointee.changes) = arena.list(self.changes) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SupposedOutcome>) {
        self.init(
            summary: String(wire: message.pointee.summary),
            isEntitled: message.pointee.entitled != 0,
            changes: readList(message.pointee.n_changes, message.pointee.changes) { ExpectedChange($0) }
        )
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
            transactionID: message.pointee.transaction_id,
            field: String(wire: message.pointee.field),
            value: String(wire: message.pointee.value)
        )
    }
}

extension Explanation {
    func write(to message: UnsafeMutablePointer<Perch__V1__Explanation>, _ arena: Arena) {
        message.pointee.rule = arena.text(self.rule)
        message.pointee.message = arena.text(self.message)
        if let value = self.originalTransactionID {
            message.pointee.line_case = PERCH__V1__EXPLANATION__LINE_ORIGINAL_TRANSACTION_ID
            message.pointee.original_transaction_id = value
        }
        message.pointee.state = .init(self.state)
        message.pointee.entitled = self.isEntitled ? 1 : 0
        (message.pointee.n_facts, message.pointee.facts) = arena.list(self.facts) { $0.write(to: $1, arena) }
        if let value = self.nextChange {
            message.pointee.next_change = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.next_message = arena.text(self.nextMessage)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Explanation>) {
        self.init(
            rule: String(wire: message.pointee.rule),
            message: String(wire: message.pointee.message),
            originalTransactionID: message.pointee.line_case == PERCH__V1__EXPLANATION__LINE_ORIGINAL_TRANSACTION_ID ? message.pointee.original_transaction_id : nil,
            state: RenewalState(message.pointee.state),
            isEntitled: message.pointee.entitled != 0,
            facts: readList(message.pointee.n_facts, message.pointee.facts) { ExplainedFact($0) },
            nextChange: read(message.pointee.next_change) { Forecast($0) },
            nextMessage: String(wire: message.pointee.next_message)
        )
    }
}

extension ExplainAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExplainResponse>, _ arena: Arena) {
        message.pointee.message = arena.text(self.value.message)
        message.pointee.entitled = self.value.isEntitled ? 1 : 0
        (message.pointee.n_explanations, message.pointee.explanations) = arena.list(self.value.explanations) { $0.write(to: $1, arena) }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.not_in_catalog = self.isNotInCatalog ? 1 : 0
        message.pointee.summary = arena.text(self.value.summary)
        (message.pointee.n_changes, message.pointee.changes) = arena.list(self.value.changes) { $0.write(to: $1, arena) }
        (message.pointee.n_grants, message.pointee.grants) = arena.list(self.value.grants) { $0.write(to: $1, arena) }
        if let value = self.value.supposed {
            message.pointee.supposed = arena.message { value.write(to: $0, arena) }
        }
        (message.pointee.n_history, message.pointee.history) = arena.list(self.value.history) { $0.write(to: $1, arena) }
        message.pointee.history_is_cut = self.value.historyIsCut ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExplainResponse>) {
        self.init(
            value: Explanations(message: String(wire: message.pointee.message), isEntitled: message.pointee.entitled != 0, explanations: readList(message.pointee.n_explanations, message.pointee.explanations) { Explanation($0) }, summary: String(wire: message.pointee.summary), changes: readList(message.pointee.n_changes, message.pointee.changes) { ExpectedChange($0) }, grants: readList(message.pointee.n_grants, message.pointee.grants) { ExplainedGrant($0) }, supposed: read(message.pointee.supposed) { SupposedOutcome($0) }, history: readList(message.pointee.n_history, message.pointee.history) { HistoryEntry($0) }, historyIsCut: message.pointee.history_is_cut != 0),
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            isNotInCatalog: message.pointee.not_in_catalog != 0
        )
    }
}

extension AppChangesRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppChangesRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.cursor = arena.bytes(self.cursor)
        message.pointee.from_oldest = self.fromOldest ? 1 : 0
        (message.pointee.n_causes, message.pointee.causes) = arena.values(self.causes)
        (message.pointee.n_group_ids, message.pointee.group_ids) = arena.texts(self.groupIDs)
        (message.pointee.n_product_ids, message.pointee.product_ids) = arena.texts(self.productIDs)
        message.pointee.entitlements_only = self.entitlementsOnly ? 1 : 0
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppChangesRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            cursor: [UInt8](message.pointee.cursor),
            fromOldest: message.pointee.from_oldest != 0,
            causes: readValues(message.pointee.n_causes, message.pointee.causes),
            groupIDs: readTexts(message.pointee.n_group_ids, message.pointee.group_ids),
            productIDs: readTexts(message.pointee.n_product_ids, message.pointee.product_ids),
            entitlementsOnly: message.pointee.entitlements_only != 0,
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension EntitlementChange {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementChange>, _ arena: Arena) {
        message.pointee.product_id = arena.text(self.productID)
        if let value = self.transaction {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementChange>) {
        self.init(
            productID: String(wire: message.pointee.product_id),
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) }
        )
    }
}

extension NotificationNotice {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppStoreNotification>, _ arena: Arena) {
        message.pointee.type = arena.text(self.type)
        message.pointee.subtype = arena.text(self.subtype)
        message.pointee.uuid = arena.text(self.uuid)
        message.pointee.signed_at_ms = self.signed.milliseconds
        message.pointee.transaction_id = self.transactionID
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppStoreNotification>) {
        self.init(
            type: String(wire: message.pointee.type),
            subtype: String(wire: message.pointee.subtype),
            uuid: String(wire: message.pointee.uuid),
            signed: Instant(milliseconds: message.pointee.signed_at_ms),
            transactionID: message.pointee.transaction_id
        )
    }
}

extension ConsumptionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ConsumptionRequest>, _ arena: Arena) {
        message.pointee.transaction_id = self.transactionID
        message.pointee.reason = arena.text(self.reason)
        message.pointee.deadline_ms = self.deadline.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ConsumptionRequest>) {
        self.init(
            transactionID: message.pointee.transaction_id,
            reason: String(wire: message.pointee.reason),
            deadline: Instant(milliseconds: message.pointee.deadline_ms)
        )
    }
}

extension FeedEvent {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppChangesResponse>, _ arena: Arena) {
        message.pointee.account = arena.text(self.account)
        message.pointee.cause = .init(self.cause)
        (message.pointee.n_groups, message.pointee.groups) = arena.list(self.groups) { $0.write(to: $1, arena) }
        (message.pointee.n_entitlements, message.pointee.entitlements) = arena.list(self.entitlements) { $0.write(to: $1, arena) }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.commit_time_ms = self.committed.milliseconds
        message.pointee.origin_client_id = arena.bytes(self.originClientID)
        message.pointee.cursor = arena.bytes(self.cursor)
        if let value = self.notification {
            message.pointee.notification = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.consumptionRequest {
            message.pointee.consumption_request = arena.message { value.write(to: $0, arena) }
        }
        (message.pointee.n_consumables, message.pointee.consumables) = arena.list(self.consumables) { $0.write(to: $1, arena) }
        if let value = self.bookmark {
            message.pointee.bookmark = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppChangesResponse>) {
        self.init(
            account: String(wire: message.pointee.account),
            cause: Cause(message.pointee.cause),
            groups: readList(message.pointee.n_groups, message.pointee.groups) { GroupStatuses($0) },
            entitlements: readList(message.pointee.n_entitlements, message.pointee.entitlements) { EntitlementChange($0) },
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            committed: Instant(milliseconds: message.pointee.commit_time_ms),
            originClientID: [UInt8](message.pointee.origin_client_id),
            cursor: [UInt8](message.pointee.cursor),
            notification: read(message.pointee.notification) { NotificationNotice($0) },
            consumptionRequest: read(message.pointee.consumption_request) { ConsumptionRequest($0) },
            consumables: readList(message.pointee.n_consumables, message.pointee.consumables) { Verified<Transaction>($0) },
            bookmark: read(message.pointee.bookmark) { Bookmark($0) }
        )
    }
}

extension AppEntitlementsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppEntitlementsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        (message.pointee.n_names, message.pointee.names) = arena.texts(self.names)
        message.pointee.shard = self.shard
        message.pointee.shard_count = self.shardCount
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppEntitlementsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            resumeToken: [UInt8](message.pointee.resume_token),
            names: readTexts(message.pointee.n_names, message.pointee.names),
            shard: message.pointee.shard,
            shardCount: message.pointee.shard_count,
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension EntitlementGrade {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementGrade>, _ arena: Arena) {
        message.pointee.name = arena.text(self.name)
        message.pointee.tier = arena.text(self.tier)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementGrade>) {
        self.init(name: String(wire: message.pointee.name), tier: String(wire: message.pointee.tier))
    }
}

extension CopyClock {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementsClock>, _ arena: Arena) {
        message.pointee.app_time_ms = self.appTime.milliseconds
        message.pointee.server_time_ms = self.serverTime.milliseconds
        message.pointee.frozen = self.isFrozen ? 1 : 0
        message.pointee.test_app = self.isTestApp ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementsClock>) {
        self.init(
            appTime: Instant(milliseconds: message.pointee.app_time_ms),
            serverTime: Instant(milliseconds: message.pointee.server_time_ms),
            isFrozen: message.pointee.frozen != 0,
            isTestApp: message.pointee.test_app != 0
        )
    }
}

extension CopyBegin {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementsBegin>, _ arena: Arena) {
        message.pointee.resumed = self.isResumed ? 1 : 0
        (message.pointee.n_grades, message.pointee.grades) = arena.list(self.grades) { $0.write(to: $1, arena) }
        (message.pointee.n_names, message.pointee.names) = arena.texts(self.names)
        if !self.clock.isBlank { message.pointee.clock = arena.message { self.clock.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementsBegin>) {
        self.init(
            isResumed: message.pointee.resumed != 0,
            grades: readList(message.pointee.n_grades, message.pointee.grades) { EntitlementGrade($0) },
            names: readTexts(message.pointee.n_names, message.pointee.names),
            clock: read(message.pointee.clock) { CopyClock($0) } ?? CopyClock()
        )
    }
}

extension CopyBatch {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementsBatch>, _ arena: Arena) {
        message.pointee.keys = arena.bytes(self.keys)
        (message.pointee.n_key_ends, message.pointee.key_ends) = arena.column(self.keyEnds)
        (message.pointee.n_segment_ends, message.pointee.segment_ends) = arena.column(self.segmentEnds)
        (message.pointee.n_grades, message.pointee.grades) = arena.column(self.grades)
        (message.pointee.n_untils, message.pointee.untils) = arena.column(self.untils)
        message.pointee.reasons = arena.bytes(self.reasons)
        message.pointee.aliases = arena.bytes(self.aliases)
        (message.pointee.n_alias_ends, message.pointee.alias_ends) = arena.column(self.aliasEnds)
        (message.pointee.n_alias_accounts, message.pointee.alias_accounts) = arena.column(self.aliasAccounts)
        (message.pointee.n_more_grades, message.pointee.more_grades) = arena.list(self.moreGrades) { $0.write(to: $1, arena) }
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.commit_time_ms = self.committed.milliseconds
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let value = self.clock {
            message.pointee.clock = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementsBatch>) {
        self.init(
            keys: [UInt8](message.pointee.keys),
            keyEnds: readColumn(message.pointee.n_key_ends, message.pointee.key_ends),
            segmentEnds: readColumn(message.pointee.n_segment_ends, message.pointee.segment_ends),
            grades: readColumn(message.pointee.n_grades, message.pointee.grades),
            untils: readColumn(message.pointee.n_untils, message.pointee.untils),
            reasons: [UInt8](message.pointee.reasons),
            aliases: [UInt8](message.pointee.aliases),
            aliasEnds: readColumn(message.pointee.n_alias_ends, message.pointee.alias_ends),
            aliasAccounts: readColumn(message.pointee.n_alias_accounts, message.pointee.alias_accounts),
            moreGrades: readList(message.pointee.n_more_grades, message.pointee.more_grades) { EntitlementGrade($0) },
            position: read(message.pointee.position) { Position($0) },
            committed: Instant(milliseconds: message.pointee.commit_time_ms),
            resumeToken: [UInt8](message.pointee.resume_token),
            clock: read(message.pointee.clock) { CopyClock($0) }
        )
    }
}

extension CopyEnd {
    func write(to message: UnsafeMutablePointer<Perch__V1__EntitlementsEnd>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.resume_token = arena.bytes(self.resumeToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__EntitlementsEnd>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            resumeToken: [UInt8](message.pointee.resume_token)
        )
    }
}

extension CopyPart {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppEntitlementsResponse>, _ arena: Arena) {
        if let value = self.begin {
            message.pointee.part_case = PERCH__V1__APP_ENTITLEMENTS_RESPONSE__PART_BEGIN
            message.pointee.begin = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.accounts {
            message.pointee.part_case = PERCH__V1__APP_ENTITLEMENTS_RESPONSE__PART_ACCOUNTS
            message.pointee.accounts = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.end {
            message.pointee.part_case = PERCH__V1__APP_ENTITLEMENTS_RESPONSE__PART_END
            message.pointee.end = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.bookmark {
            message.pointee.bookmark = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppEntitlementsResponse>) {
        self.init(
            begin: message.pointee.part_case == PERCH__V1__APP_ENTITLEMENTS_RESPONSE__PART_BEGIN ? read(message.pointee.begin) { CopyBegin($0) } : nil,
            accounts: message.pointee.part_case == PERCH__V1__APP_ENTITLEMENTS_RESPONSE__PART_ACCOUNTS ? read(message.pointee.accounts) { CopyBatch($0) } : nil,
            end: message.pointee.part_case == PERCH__V1__APP_ENTITLEMENTS_RESPONSE__PART_END ? read(message.pointee.end) { CopyEnd($0) } : nil,
            bookmark: read(message.pointee.bookmark) { Bookmark($0) }
        )
    }
}

extension SubmitTransactionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubmitTransactionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        (message.pointee.n_signed_values, message.pointee.signed_values) = arena.texts(self.signedValues)
        message.pointee.account = arena.text(self.account)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubmitTransactionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            signedValues: readTexts(message.pointee.n_signed_values, message.pointee.signed_values),
            account: String(wire: message.pointee.account),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension SubmissionAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubmitTransactionResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.news_count = self.newsCount
        message.pointee.stale_count = self.staleCount
        message.pointee.duplicate_count = self.duplicateCount
        (message.pointee.n_refused, message.pointee.refused) = arena.list(self.refused) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubmitTransactionResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            newsCount: message.pointee.news_count,
            staleCount: message.pointee.stale_count,
            duplicateCount: message.pointee.duplicate_count,
            refused: readList(message.pointee.n_refused, message.pointee.refused) { RefusedValue($0) }
        )
    }
}

extension RefusedValue {
    func write(to message: UnsafeMutablePointer<Perch__V1__RefusedValue>, _ arena: Arena) {
        message.pointee.index = self.index
        message.pointee.reason = arena.text(self.reason)
        message.pointee.message = arena.text(self.message)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RefusedValue>) {
        self.init(
            index: message.pointee.index,
            reason: String(wire: message.pointee.reason),
            message: String(wire: message.pointee.message)
        )
    }
}

extension SubmitNotificationRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubmitNotificationRequest>, _ arena: Arena) {
        message.pointee.signed_payload = arena.text(self.signedPayload)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubmitNotificationRequest>) {
        self.init(signedPayload: String(wire: message.pointee.signed_payload))
    }
}

extension SubmissionAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubmitNotificationResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.news_count = self.newsCount
        message.pointee.stale_count = self.staleCount
        message.pointee.duplicate_count = self.duplicateCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubmitNotificationResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            newsCount: message.pointee.news_count,
            staleCount: message.pointee.stale_count,
            duplicateCount: message.pointee.duplicate_count
        )
    }
}

extension PurchaseRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if !self.order.isBlank { message.pointee.order = arena.message { self.order.write(to: $0, arena) } }
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
        message.pointee.include_jws = self.includesJWS ? 1 : 0
        message.pointee.confirmed = self.isConfirmed ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            order: read(message.pointee.order) { PurchaseOrder($0) } ?? .blank,
            idempotencyKey: [UInt8](message.pointee.idempotency_key),
            includesJWS: message.pointee.include_jws != 0,
            isConfirmed: message.pointee.confirmed != 0
        )
    }
}

extension PurchaseResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.result = .init(self.result)
        if let value = self.transaction {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.already_held = self.wasHeld ? 1 : 0
        message.pointee.pending_number = self.pendingNumber
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            result: PurchaseResult(message.pointee.result),
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            wasHeld: message.pointee.already_held != 0,
            pendingNumber: message.pointee.pending_number
        )
    }
}

extension FinishRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__FinishRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.transaction_id = self.transactionID
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FinishRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            transactionID: message.pointee.transaction_id,
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__FinishResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FinishResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension ListTransactionsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListTransactionsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.include_finished_consumables = self.includesFinishedConsumables ? 1 : 0
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListTransactionsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            includesFinishedConsumables: message.pointee.include_finished_consumables != 0,
            pageSize: message.pointee.page_size,
            pageToken: [UInt8](message.pointee.page_token),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0
        )
    }
}

extension TransactionPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListTransactionsResponse>, _ arena: Arena) {
        (message.pointee.n_transactions, message.pointee.transactions) = arena.list(self.transactions) { $0.write(to: $1, arena) }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.not_in_catalog = self.isNotInCatalog ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListTransactionsResponse>) {
        self.init(
            transactions: readList(message.pointee.n_transactions, message.pointee.transactions) { Verified<Transaction>($0) },
            nextPageToken: [UInt8](message.pointee.next_page_token),
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            isNotInCatalog: message.pointee.not_in_catalog != 0
        )
    }
}

extension ListUnfinishedRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListUnfinishedRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListUnfinishedRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            pageSize: message.pointee.page_size,
            pageToken: [UInt8](message.pointee.page_token),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0
        )
    }
}

extension TransactionPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListUnfinishedResponse>, _ arena: Arena) {
        (message.pointee.n_transactions, message.pointee.transactions) = arena.list(self.transactions) { $0.write(to: $1, arena) }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListUnfinishedResponse>) {
        self.init(
            transactions: readList(message.pointee.n_transactions, message.pointee.transactions) { Verified<Transaction>($0) },
            nextPageToken: [UInt8](message.pointee.next_page_token),
            position: read(message.pointee.position) { Position($0) } ?? .blank
        )
    }
}

extension LatestTransactionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0
        )
    }
}

extension LatestTransaction {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionResponse>, _ arena: Arena) {
        if let value = self.transaction {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.not_in_catalog = self.isNotInCatalog ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionResponse>) {
        self.init(
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            isNotInCatalog: message.pointee.not_in_catalog != 0
        )
    }
}

extension TransactionUpdatesRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.cursor = arena.bytes(self.cursor)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            cursor: [UInt8](message.pointee.cursor),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0
        )
    }
}

extension TransactionEvent {
    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesResponse>, _ arena: Arena) {
        if let value = self.transaction {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.kind = .init(self.kind)
        message.pointee.cursor = arena.bytes(self.cursor)
        message.pointee.revision = self.revision
        message.pointee.commit_time_ms = self.committed.milliseconds
        message.pointee.origin_client_id = arena.bytes(self.originClientID)
        if let value = self.bookmark {
            message.pointee.bookmark = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesResponse>) {
        self.init(
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            kind: TransactionEventKind(message.pointee.kind),
            cursor: [UInt8](message.pointee.cursor),
            revision: message.pointee.revision,
            committed: Instant(milliseconds: message.pointee.commit_time_ms),
            originClientID: [UInt8](message.pointee.origin_client_id),
            bookmark: read(message.pointee.bookmark) { Bookmark($0) }
        )
    }
}

extension SyncRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SyncRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SyncRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__SyncResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SyncResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension RefundRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RequestRefundRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.transaction_id = self.transactionID
        message.pointee.reason = .init(self.reason)
        message.pointee.text = arena.text(self.text)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RequestRefundRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            transactionID: message.pointee.transaction_id,
            reason: RevocationReason(message.pointee.reason),
            text: String(wire: message.pointee.text),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension RefundAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__RequestRefundResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.approved = self.isApproved ? 1 : 0
        if let value = self.transaction {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RequestRefundResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            isApproved: message.pointee.approved != 0,
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) }
        )
    }
}

extension RedeemOfferCodeRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.code = arena.text(self.code)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            code: String(wire: message.pointee.code),
            productID: String(wire: message.pointee.product_id),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension RedeemedCode {
    func write(to message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
        if let value = self.transaction {
            message.pointee.transaction = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.applies_at_renewal = self.appliesAtRenewal ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            appliesAtRenewal: message.pointee.applies_at_renewal != 0
        )
    }
}

extension ManageSubscriptionsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.auto_renew = self.isAutoRenewOn ? 1 : 0
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            isAutoRenewOn: message.pointee.auto_renew != 0,
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension ResolveBillingIssueRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ResolveBillingIssueRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ResolveBillingIssueRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__ResolveBillingIssueResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ResolveBillingIssueResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension AnswerPriceIncreaseRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__AnswerPriceIncreaseRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.agrees = self.agrees ? 1 : 0
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AnswerPriceIncreaseRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            productID: String(wire: message.pointee.product_id),
            agrees: message.pointee.agrees != 0,
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__AnswerPriceIncreaseResponse>, _ arena: Arena) {
        if let value = self.position {
            message.pointee.position = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AnswerPriceIncreaseResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension AppTransactionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetAppTransactionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.include_jws = self.includesJWS ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetAppTransactionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            atLeast: read(message.pointee.at_least) { Position($0) },
            includesJWS: message.pointee.include_jws != 0
        )
    }
}

extension AppTransactionAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetAppTransactionResponse>, _ arena: Arena) {
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = .init(self.environment)
        message.pointee.verification_error = .init(self.failure)
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.can_make_payments = self.canMakePayments ? 1 : 0
        message.pointee.jws = arena.text(self.jws)
        message.pointee.original_app_version = arena.text(self.originalAppVersion)
        if let value = self.originalPurchaseDate {
            message.pointee.original_purchase_case = PERCH__V1__GET_APP_TRANSACTION_RESPONSE__ORIGINAL_PURCHASE_ORIGINAL_PURCHASE_DATE_MS
            message.pointee.original_purchase_date_ms = value.milliseconds
        }
        message.pointee.original_platform = .init(self.originalPlatform)
        message.pointee.payments_forbidden = self.arePaymentsForbidden ? 1 : 0
        message.pointee.payments_eligibility = .init(self.paymentsEligibility)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetAppTransactionResponse>) {
        self.init(
            appTransactionID: String(wire: message.pointee.app_transaction_id),
            bundleID: String(wire: message.pointee.bundle_id),
            environment: AppEnvironment(message.pointee.environment),
            failure: VerificationFailure(message.pointee.verification_error),
            position: read(message.pointee.position) { Position($0) } ?? .blank,
            canMakePayments: message.pointee.can_make_payments != 0,
            jws: String(wire: message.pointee.jws),
            originalAppVersion: String(wire: message.pointee.original_app_version),
            originalPurchaseDate: message.pointee.original_purchase_case == PERCH__V1__GET_APP_TRANSACTION_RESPONSE__ORIGINAL_PURCHASE_ORIGINAL_PURCHASE_DATE_MS ? Instant(milliseconds: message.pointee.original_purchase_date_ms) : nil,
            originalPlatform: AppPlatform(message.pointee.original_platform),
            arePaymentsForbidden: message.pointee.payments_forbidden != 0,
            paymentsEligibility: Eligibility(message.pointee.payments_eligibility)
        )
    }
}

extension AccountWatchRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension Perch__V1__PurchaseIntentList {
    static func write(_ value: [PurchaseIntent], to message: UnsafeMutablePointer<Self>, _ arena: Arena) {
        (message.pointee.n_intents, message.pointee.intents) = arena.list(value) { $0.write(to: $1, arena) }
    }

    static func value(_ message: UnsafeMutablePointer<Self>) -> [PurchaseIntent] {
        readList(message.pointee.n_intents, message.pointee.intents) { PurchaseIntent($0) }
    }
}

extension Perch__V1__PurchaseIntentsResponse: StreamMessage {}
extension Perch__V1__PurchaseIntentsResponse__StateCase: CEnumeration {}
extension TaskState<[PurchaseIntent]> {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { Perch__V1__PurchaseIntentList.write($0, to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsResponse>) throws(MessageError) {
        try self.init(of: message) { Perch__V1__PurchaseIntentList.value($0) }
    }
}

extension AccountWatchRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__MessagesRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let value = self.atLeast {
            message.pointee.at_least = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__MessagesRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension StoreMessage {
    func write(to message: UnsafeMutablePointer<Perch__V1__StoreMessage>, _ arena: Arena) {
        message.pointee.reason = .init(self.reason)
        message.pointee.since_ms = self.since.milliseconds
        if let value = self.originalTransactionID {
            message.pointee.line_case = PERCH__V1__STORE_MESSAGE__LINE_ORIGINAL_TRANSACTION_ID
            message.pointee.original_transaction_id = value
        }
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.offer_id = arena.text(self.offerID)
        if let value = self.price {
            message.pointee.price = arena.message { value.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__StoreMessage>) {
        self.init(
            reason: MessageReason(message.pointee.reason),
            since: Instant(milliseconds: message.pointee.since_ms),
            originalTransactionID: message.pointee.line_case == PERCH__V1__STORE_MESSAGE__LINE_ORIGINAL_TRANSACTION_ID ? message.pointee.original_transaction_id : nil,
            productID: String(wire: message.pointee.product_id),
            offerID: String(wire: message.pointee.offer_id),
            price: read(message.pointee.price) { Money($0) }
        )
    }
}

extension Perch__V1__StoreMessages {
    static func write(_ value: [StoreMessage], to message: UnsafeMutablePointer<Self>, _ arena: Arena) {
        (message.pointee.n_messages, message.pointee.messages) = arena.list(value) { $0.write(to: $1, arena) }
    }

    static func value(_ message: UnsafeMutablePointer<Self>) -> [StoreMessage] {
        readList(message.pointee.n_messages, message.pointee.messages) { StoreMessage($0) }
    }
}

extension Perch__V1__MessagesResponse: StreamMessage {}
extension Perch__V1__MessagesResponse__StateCase: CEnumeration {}
extension TaskState<[StoreMessage]> {
    func write(to message: UnsafeMutablePointer<Perch__V1__MessagesResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { Perch__V1__StoreMessages.write($0, to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__MessagesResponse>) throws(MessageError) {
        try self.init(of: message) { Perch__V1__StoreMessages.value($0) }
    }
}

extension WatchRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__WatchRequest>, _ arena: Arena) {
        (message.pointee.n_watches, message.pointee.watches) = arena.list(self.watches) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__WatchRequest>) throws(MessageError) {
        self.init(
            watches: try readEach(message.pointee.n_watches, message.pointee.watches) { message throws(MessageError) in try Request(message) }
        )
    }
}

extension Hello {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Hello>, _ arena: Arena) {
        message.pointee.protocol_version = self.protocolVersion
        message.pointee.authorization = arena.text(self.authorization)
        message.pointee.client_name = arena.text(self.clientName)
        (message.pointee.n_accepts, message.pointee.accepts) = arena.values(self.accepts)
        message.pointee.heartbeat_seconds = self.heartbeatSeconds
        message.pointee.client_id = arena.bytes(self.clientID)
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Hello>) {
        self.init(
            protocolVersion: message.pointee.protocol_version,
            authorization: String(wire: message.pointee.authorization),
            clientName: String(wire: message.pointee.client_name),
            accepts: readValues(message.pointee.n_accepts, message.pointee.accepts),
            heartbeatSeconds: message.pointee.heartbeat_seconds,
            clientID: [UInt8](message.pointee.client_id)
        )
    }
}

extension PeerLimits {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Limits>, _ arena: Arena) {
        message.pointee.frame_bytes = self.frameBytes
        message.pointee.request_bytes = self.requestBytes
        message.pointee.catalog_request_bytes = self.catalogRequestBytes
        message.pointee.calls_per_connection = self.callsPerConnection
        message.pointee.write_stall_ms = self.writeStallMilliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Limits>) {
        self.init(
            frameBytes: message.pointee.frame_bytes,
            requestBytes: message.pointee.request_bytes,
            catalogRequestBytes: message.pointee.catalog_request_bytes,
            callsPerConnection: message.pointee.calls_per_connection,
            writeStallMilliseconds: message.pointee.write_stall_ms
        )
    }
}

extension Welcome {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Welcome>, _ arena: Arena) {
        message.pointee.server_version = arena.text(self.serverVersion)
        message.pointee.store_id = arena.bytes(self.storeID)
        message.pointee.epoch = self.epoch
        message.pointee.revision = self.revision
        if let value = self.limits {
            message.pointee.limits = arena.message { value.write(to: $0, arena) }
        }
        message.pointee.heartbeat_seconds = self.heartbeatSeconds
        (message.pointee.n_accepts, message.pointee.accepts) = arena.values(self.accepts)
        message.pointee.server_time_ms = self.serverTime.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Welcome>) {
        self.init(
            serverVersion: String(wire: message.pointee.server_version),
            storeID: [UInt8](message.pointee.store_id),
            epoch: message.pointee.epoch,
            revision: message.pointee.revision,
            limits: read(message.pointee.limits) { PeerLimits($0) },
            heartbeatSeconds: message.pointee.heartbeat_seconds,
            accepts: readValues(message.pointee.n_accepts, message.pointee.accepts),
            serverTime: Instant(milliseconds: message.pointee.server_time_ms)
        )
    }
}

extension Metadata {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Metadata>, _ arena: Arena) {
        message.pointee.key = arena.text(self.key)
        message.pointee.value = arena.bytes(self.value)
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Metadata>) {
        self.init(key: String(wire: message.pointee.key), value: [UInt8](message.pointee.value))
    }
}

extension StatusDetail {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__StatusDetail>, _ arena: Arena) {
        message.pointee.key = arena.text(self.key)
        message.pointee.value = arena.text(self.value)
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__StatusDetail>) {
        self.init(key: String(wire: message.pointee.key), value: String(wire: message.pointee.value))
    }
}

extension Status {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Status>, _ arena: Arena) {
        message.pointee.code = self.code
        message.pointee.message = arena.text(self.message)
        message.pointee.reason = arena.text(self.reason)
        (message.pointee.n_details, message.pointee.details) = arena.list(self.details) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Status>) {
        self.init(
            code: message.pointee.code,
            message: String(wire: message.pointee.message),
            reason: String(wire: message.pointee.reason),
            details: readList(message.pointee.n_details, message.pointee.details) { StatusDetail($0) }
        )
    }
}

extension Beat {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Beat>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.server_time_ms = self.serverTime.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Beat>) {
        self.init(revision: message.pointee.revision, serverTime: Instant(milliseconds: message.pointee.server_time_ms))
    }
}

extension Drain {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Drain>, _ arena: Arena) {
        message.pointee.reason = arena.text(self.reason)
        message.pointee.message = arena.text(self.message)
        message.pointee.reconnect_after_ms = self.reconnectAfterMilliseconds
        message.pointee.jitter_ms = self.jitterMilliseconds
        message.pointee.final = self.isFinal ? 1 : 0
        (message.pointee.n_details, message.pointee.details) = arena.list(self.details) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Drain>) {
        self.init(
            reason: String(wire: message.pointee.reason),
            message: String(wire: message.pointee.message),
            reconnectAfterMilliseconds: message.pointee.reconnect_after_ms,
            jitterMilliseconds: message.pointee.jitter_ms,
            isFinal: message.pointee.final != 0,
            details: readList(message.pointee.n_details, message.pointee.details) { StatusDetail($0) }
        )
    }
}
