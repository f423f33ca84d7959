import PerchBase
import PerchModel

// MARK: product.proto

extension ContractWriter {
    mutating func products(_ value: Products) {
        self.messages("products", value.products) { $0.product($1) }
        self.texts("unavailable_ids", value.unavailableIDs)
    }

    mutating func product(_ value: Product) {
        self.text("id", value.id)
        self.choice("type", value.type, "PRODUCT_TYPE")
        self.text("display_name", value.displayName)
        self.text("description", value.description)
        self.money("price", value.price)
        self.text("display_price", value.displayPrice)
        self.flag("is_family_shareable", value.isFamilyShareable)
        self.text("promotional_image_id", value.promotionalImageID)
        self.message("subscription", value.subscription) { $0.subscriptionInfo($1) }
        self.storefront("storefront", value.storefront)
        self.bytes("json_representation", value.jsonRepresentation)
        self.bytes("promotional_image_hash", value.promotionalImageHash)
    }

    private mutating func subscriptionInfo(_ value: SubscriptionInfo) {
        self.text("group_id", value.groupID)
        self.text("group_display_name", value.groupDisplayName)
        self.number("group_level", UInt32(bitPattern: value.groupLevel))
        self.period("period", value.period)
        self.messages("introductory_offers", value.introductoryOffers) { $0.offer($1) }
        self.messages("promotional_offers", value.promotionalOffers) { $0.offer($1) }
        self.messages("win_back_offers", value.winBackOffers) { $0.offer($1) }
        self.messages("billing_plans", value.billingPlans) { json, value in
            json.billingPlan("type", value.type)
            json.money("price", value.price)
            json.text("display_price", value.displayPrice)
            json.money("commitment_price", value.commitmentPrice)
            json.text("commitment_display_price", value.commitmentDisplayPrice)
            json.number("charge_count", value.chargeCount)
        }
    }

    private mutating func offer(_ value: SubscriptionOffer) {
        self.text("id", value.id)
        self.choice("type", value.type, "OFFER_TYPE")
        self.choice("payment_mode", value.paymentMode, "OFFER_PAYMENT_MODE")
        self.money("price", value.price)
        self.text("display_price", value.displayPrice)
        self.period("period", value.period)
        self.number("period_count", UInt32(bitPattern: value.periodCount))
        self.billingPlan("billing_plan", value.billingPlan)
    }
}

// MARK: transaction.proto

extension ContractWriter {
    mutating func transactionResult(_ value: Verified<Transaction>) {
        self.verified(value, "transaction") { $0.transaction($1) }
    }

    mutating func transaction(_ value: Transaction) {
        self.long("id", value.id)
        self.long("original_id", value.originalID)
        self.text("web_order_line_item_id", value.webOrderLineItemID)
        self.text("app_bundle_id", value.appBundleID)
        self.text("app_transaction_id", value.appTransactionID)
        self.text("product_id", value.productID)
        self.choice("product_type", value.productType, "PRODUCT_TYPE")
        self.text("subscription_group_id", value.subscriptionGroupID)
        self.instant("purchase_date_ms", value.purchaseDate)
        self.instant("original_purchase_date_ms", value.originalPurchaseDate)
        self.instant("expiration_date_ms", ifAny: value.expirationDate)
        self.number("purchased_quantity", value.quantity)
        self.flag("is_upgraded", value.isUpgraded)
        self.choice("ownership_type", value.ownership, "OWNERSHIP_TYPE")
        self.transactionOffer("offer", value.offer)
        self.message("revocation", value.revocation) { json, value in
            json.instant("date_ms", value.date)
            json.choice("reason", value.reason, "REVOCATION_REASON")
            json.choice("type", value.type, "REVOCATION_TYPE")
            json.number("percentage_milli", value.percentageMilli)
        }
        self.text("app_account_token", value.appAccountToken)
        self.environment(value.environment)
        self.storefront("storefront", value.storefront)
        self.choice("reason", value.reason, "TRANSACTION_REASON")
        self.money("price", value.price)
        self.instant("signed_date_ms", value.signedDate)
        self.bytes("device_verification", value.deviceVerification)
        self.text("device_verification_nonce", value.deviceVerificationNonce)
        self.billingPlan("billing_plan", value.billingPlan)
        self.commitment(value.commitment)
        self.bytes("advanced_commerce_info", value.advancedCommerceInfo)
    }

    mutating func transactionOffer(_ name: String, _ value: TransactionOffer?) {
        self.message(name, value) { json, value in
            json.text("id", value.id)
            json.choice("type", value.type, "OFFER_TYPE")
            json.choice("payment_mode", value.paymentMode, "OFFER_PAYMENT_MODE")
            json.period("period", value.period)
        }
    }

    private mutating func commitment(_ value: Commitment?) {
        self.message("commitment", value) { json, value in
            json.number("billing_period_number", value.billingPeriodNumber)
            json.number("total_billing_periods", value.totalBillingPeriods)
            json.instant("expiration_date_ms", value.expirationDate)
            json.money("price", value.price)
            json.flag("will_renew", value.willRenew)
        }
    }
}

// MARK: subscription.proto

extension ContractWriter {
    mutating func statuses(_ value: SubscriptionStatuses) {
        self.messages("statuses", value.statuses) { json, value in
            json.choice("state", value.state, "RENEWAL_STATE")
            json.message("transaction") { $0.transactionResult(value.transaction) }
            json.message("renewal_info") { $0.verified(value.renewalInfo, "renewal_info") { $0.renewalInfo($1) } }
        }
        self.number("effective_index", ifAny: value.effectiveIndex)
        self.choice("effective_reason", value.effectiveReason, "EFFECTIVE_REASON")
    }

    private mutating func renewalInfo(_ value: RenewalInfo) {
        self.long("original_transaction_id", value.originalTransactionID)
        self.text("current_product_id", value.currentProductID)
        self.flag("will_auto_renew", value.willAutoRenew)
        self.text("auto_renew_preference", value.autoRenewPreference ?? "")
        self.choice("expiration_reason", value.expirationReason ?? .unspecified, "EXPIRATION_REASON")
        self.flag("is_in_billing_retry", value.isInBillingRetry)
        self.instant("grace_period_expiration_date_ms", ifAny: value.gracePeriodExpirationDate)
        self.choice("price_increase_status", value.priceIncreaseStatus, "PRICE_INCREASE_STATUS")
        self.instant("renewal_date_ms", value.renewalDate)
        self.money("renewal_price", value.renewalPrice)
        self.transactionOffer("offer", value.offer)
        self.texts("eligible_win_back_offer_ids", value.eligibleWinBackOfferIDs)
        self.instant("recent_subscription_start_date_ms", value.recentSubscriptionStartDate)
        self.text("app_account_token", value.appAccountToken)
        self.text("app_transaction_id", value.appTransactionID)
        self.environment(value.environment)
        self.instant("signed_date_ms", value.signedDate)
        self.billingPlan("renewal_billing_plan", value.renewalBillingPlan)
        self.commitment(value.commitment)
    }
}
