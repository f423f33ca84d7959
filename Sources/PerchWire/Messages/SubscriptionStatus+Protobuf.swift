import CPerchProto
import PerchBase
import PerchModel

extension RenewalInfo {
    /// What an absent message reads as.
    static var blank: RenewalInfo {
        let zero = Instant(milliseconds: 0)
        return RenewalInfo(
            originalTransactionID: 0, currentProductID: "", willAutoRenew: false, renewalDate: zero,
            recentSubscriptionStartDate: zero, environment: .unspecified, signedDate: zero)
    }

    var isBlank: Bool {
        self.originalTransactionID == 0 && self.currentProductID.isEmpty && self == .blank
            && self.signedDate.milliseconds == 0
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__RenewalInfo>, _ arena: Arena) {
        message.pointee.original_transaction_id = self.originalTransactionID
        message.pointee.current_product_id = arena.text(self.currentProductID)
        message.pointee.will_auto_renew = self.willAutoRenew ? 1 : 0
        if let preference = self.autoRenewPreference { message.pointee.auto_renew_preference = arena.text(preference) }
        if let reason = self.expirationReason { message.pointee.expiration_reason = .init(reason) }
        message.pointee.is_in_billing_retry = self.isInBillingRetry ? 1 : 0
        if let end = self.gracePeriodExpirationDate {
            message.pointee.grace_period_case = PERCH__V1__RENEWAL_INFO__GRACE_PERIOD_GRACE_PERIOD_EXPIRATION_DATE_MS
            message.pointee.grace_period_expiration_date_ms = end.milliseconds
        }
        message.pointee.price_increase_status = .init(self.priceIncreaseStatus)
        message.pointee.renewal_date_ms = self.renewalDate.milliseconds
        if let price = self.renewalPrice {
            message.pointee.renewal_price = arena.message { price.write(to: $0, arena) }
        }
        if let offer = self.offer { message.pointee.offer = arena.message { offer.write(to: $0, arena) } }
        (message.pointee.n_eligible_win_back_offer_ids, message.pointee.eligible_win_back_offer_ids) = arena.texts(
            self.eligibleWinBackOfferIDs)
        message.pointee.recent_subscription_start_date_ms = self.recentSubscriptionStartDate.milliseconds
        message.pointee.app_account_token = arena.text(self.appAccountToken)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.environment = .init(self.environment)
        if !arena.omitsSignatures { message.pointee.signed_date_ms = self.signedDate.milliseconds }
        message.pointee.renewal_billing_plan = .init(self.renewalBillingPlan)
        if let commitment = self.commitment {
            message.pointee.commitment = arena.message { commitment.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RenewalInfo>) {
        self.init(
            originalTransactionID: message.pointee.original_transaction_id,
            currentProductID: String(wire: message.pointee.current_product_id),
            willAutoRenew: message.pointee.will_auto_renew != 0,
            renewalDate: Instant(milliseconds: message.pointee.renewal_date_ms),
            recentSubscriptionStartDate: Instant(milliseconds: message.pointee.recent_subscription_start_date_ms),
            environment: AppEnvironment(message.pointee.environment),
            signedDate: Instant(milliseconds: message.pointee.signed_date_ms))
        let preference = String(wire: message.pointee.auto_renew_preference)
        self.autoRenewPreference = preference.isEmpty ? nil : preference
        let reason = ExpirationReason(message.pointee.expiration_reason)
        self.expirationReason = reason == .unspecified ? nil : reason
        self.isInBillingRetry = message.pointee.is_in_billing_retry != 0
        if message.pointee.grace_period_case
            == PERCH__V1__RENEWAL_INFO__GRACE_PERIOD_GRACE_PERIOD_EXPIRATION_DATE_MS
        {
            self.gracePeriodExpirationDate = Instant(
                milliseconds: message.pointee.grace_period_expiration_date_ms)
        }
        self.priceIncreaseStatus = PriceIncreaseStatus(message.pointee.price_increase_status)
        self.renewalPrice = read(message.pointee.renewal_price) { Money($0) }
        self.offer = read(message.pointee.offer) { TransactionOffer($0) }
        self.eligibleWinBackOfferIDs = readTexts(
            message.pointee.n_eligible_win_back_offer_ids, message.pointee.eligible_win_back_offer_ids)
        self.appAccountToken = String(wire: message.pointee.app_account_token)
        self.appTransactionID = String(wire: message.pointee.app_transaction_id)
        self.renewalBillingPlan = BillingPlanType(message.pointee.renewal_billing_plan)
        self.commitment = read(message.pointee.commitment) { Commitment($0) }
    }
}

extension Verified<RenewalInfo> {
    var isBlank: Bool { self.value.isBlank && self.failure.rawValue == 0 && self.jws.isEmpty }

    func write(to message: UnsafeMutablePointer<Perch__V1__RenewalInfoResult>, _ arena: Arena) {
        if !self.value.isBlank { message.pointee.renewal_info = arena.message { self.value.write(to: $0, arena) } }
        message.pointee.verification_error = .init(self.failure)
        if !arena.omitsSignatures { message.pointee.jws = arena.text(self.jws) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RenewalInfoResult>) {
        self.init(
            read(message.pointee.renewal_info) { RenewalInfo($0) } ?? .blank,
            failure: VerificationFailure(message.pointee.verification_error), jws: String(wire: message.pointee.jws))
    }
}

extension SubscriptionStatus {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatus>, _ arena: Arena) {
        message.pointee.state = .init(self.state)
        if !self.transaction.isBlank {
            message.pointee.transaction = arena.message { self.transaction.write(to: $0, arena) }
        }
        if !self.renewalInfo.isBlank {
            message.pointee.renewal_info = arena.message { self.renewalInfo.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatus>) {
        self.init(
            state: RenewalState(message.pointee.state),
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) } ?? .blank,
            renewalInfo: read(message.pointee.renewal_info) { Verified<RenewalInfo>($0) } ?? Verified(.blank))
    }
}

extension SubscriptionStatuses {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatuses>, _ arena: Arena) {
        (message.pointee.n_statuses, message.pointee.statuses) = arena.list(self.statuses) { $0.write(to: $1, arena) }
        if let index = self.effectiveIndex {
            message.pointee.effective_case = PERCH__V1__SUBSCRIPTION_STATUSES__EFFECTIVE_EFFECTIVE_INDEX
            message.pointee.effective_index = UInt32(index)
        }
        message.pointee.effective_reason = .init(self.effectiveReason)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatuses>) {
        let hasIndex = message.pointee.effective_case == PERCH__V1__SUBSCRIPTION_STATUSES__EFFECTIVE_EFFECTIVE_INDEX
        self.init(
            statuses: readList(message.pointee.n_statuses, message.pointee.statuses) { SubscriptionStatus($0) },
            effectiveIndex: hasIndex ? Int(message.pointee.effective_index) : nil,
            effectiveReason: EffectiveReason(message.pointee.effective_reason))
    }
}
