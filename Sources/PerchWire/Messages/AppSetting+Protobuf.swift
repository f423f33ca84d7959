import CPerchProto
import PerchBase
import PerchModel

// What can be set in an app, in the contract's messages.

extension AppSettingChange {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppSetting>, _ arena: Arena) {
        switch self {
        case .askToBuy(let isOn):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_ASK_TO_BUY
            message.pointee.ask_to_buy = isOn ? 1 : 0
        case .interruptedPurchases(let isOn):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_INTERRUPTED_PURCHASES
            message.pointee.interrupted_purchases = isOn ? 1 : 0
        case .billingRetryOnRenewal(let isOn):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_BILLING_RETRY_ON_RENEWAL
            message.pointee.billing_retry_on_renewal = isOn ? 1 : 0
        case .gracePeriod(let isOn):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD
            message.pointee.grace_period = isOn ? 1 : 0
        case .gracePeriodDays(let days):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD_DAYS
            message.pointee.grace_period_days = days
        case .gracePeriodForAllRenewals(let isOn):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_GRACE_PERIOD_FOR_ALL_RENEWALS
            message.pointee.grace_period_for_all_renewals = isOn ? 1 : 0
        case .dialogs(let isOn):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_DIALOGS
            message.pointee.dialogs = isOn ? 1 : 0
        case .timeRate(let rate):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_TIME_RATE
            message.pointee.time_rate = rate
        case .storefront(let storefront):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_STOREFRONT
            message.pointee.storefront = arena.text(storefront)
        case .locale(let locale):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_LOCALE
            message.pointee.locale = arena.text(locale)
        case .simulatedError(let api, let error):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_SIMULATED_ERROR
            message.pointee.simulated_error = arena.message {
                $0.pointee.api = .init(api)
                $0.pointee.error = .init(error ?? .unspecified)
            }
        case .product(let edit):
            message.pointee.setting_case = PERCH__V1__APP_SETTING__SETTING_PRODUCT
            message.pointee.product = arena.message { edit.write(to: $0, arena) }
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
            let error = SimulatedError(message.pointee.simulated_error.pointee.error)
            self = .simulatedError(
                StoreKitAPI(message.pointee.simulated_error.pointee.api), error == .unspecified ? nil : error)
        case PERCH__V1__APP_SETTING__SETTING_PRODUCT:
            self = .product(ProductEdit(message.pointee.product))
        case PERCH__V1__APP_SETTING__SETTING_RESET:
            guard message.pointee.reset != 0 else {
                throw .invalid(field: "perch.v1.AppSetting.reset", found: "false", expected: "true, or another setting")
            }
            self = .reset
        default:
            throw .missing(field: "perch.v1.AppSetting.setting")
        }
    }
}

extension ProductEdit {
    func write(to message: UnsafeMutablePointer<Perch__V1__ProductEdit>, _ arena: Arena) {
        message.pointee.product_id = arena.text(self.productID)
        if let price = self.priceMilliunits {
            message.pointee.price_change_case = PERCH__V1__PRODUCT_EDIT__PRICE_CHANGE_PRICE_MILLIUNITS
            message.pointee.price_milliunits = price
        }
        if let name = self.displayName {
            message.pointee.name_change_case = PERCH__V1__PRODUCT_EDIT__NAME_CHANGE_DISPLAY_NAME
            message.pointee.display_name = arena.text(name)
        }
        if let isWithdrawn = self.isWithdrawn {
            message.pointee.withdrawal_case = PERCH__V1__PRODUCT_EDIT__WITHDRAWAL_WITHDRAWN
            message.pointee.withdrawn = isWithdrawn ? 1 : 0
        }
        if let isShareable = self.isFamilyShareable {
            message.pointee.sharing_case = PERCH__V1__PRODUCT_EDIT__SHARING_FAMILY_SHAREABLE
            message.pointee.family_shareable = isShareable ? 1 : 0
        }
        (message.pointee.n_offers, message.pointee.offers) = arena.list(self.offers) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ProductEdit>) {
        self.init(productID: String(wire: message.pointee.product_id))
        self.offers = readList(message.pointee.n_offers, message.pointee.offers) { OfferEdit($0) }
        if message.pointee.price_change_case == PERCH__V1__PRODUCT_EDIT__PRICE_CHANGE_PRICE_MILLIUNITS {
            self.priceMilliunits = message.pointee.price_milliunits
        }
        if message.pointee.name_change_case == PERCH__V1__PRODUCT_EDIT__NAME_CHANGE_DISPLAY_NAME {
            self.displayName = String(wire: message.pointee.display_name)
        }
        if message.pointee.withdrawal_case == PERCH__V1__PRODUCT_EDIT__WITHDRAWAL_WITHDRAWN {
            self.isWithdrawn = message.pointee.withdrawn != 0
        }
        if message.pointee.sharing_case == PERCH__V1__PRODUCT_EDIT__SHARING_FAMILY_SHAREABLE {
            self.isFamilyShareable = message.pointee.family_shareable != 0
        }
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
        message.pointee.stackable = self.isStackable ? 1 : 0
        if let rule = self.winBackRule {
            message.pointee.win_back_rule = arena.message { rule.write(to: $0) }
        }
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
        self.isStackable = message.pointee.stackable != 0
        self.winBackRule = read(message.pointee.win_back_rule) { WinBackRuleEdit($0) }
    }
}

extension WinBackRuleEdit {
    func write(to message: UnsafeMutablePointer<Perch__V1__WinBackRule>) {
        message.pointee.paid_months = self.paidMonths
        message.pointee.lapsed_months_min = self.lapsedMonthsMin
        message.pointee.lapsed_months_max = self.lapsedMonthsMax
        message.pointee.wait_months = self.waitMonths
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__WinBackRule>) {
        self.init(
            paidMonths: message.pointee.paid_months, lapsedMonthsMin: message.pointee.lapsed_months_min,
            lapsedMonthsMax: message.pointee.lapsed_months_max, waitMonths: message.pointee.wait_months)
    }
}
