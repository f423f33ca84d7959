import CPerchProto
import PerchBase
import PerchModel

// How the model's values stand in the contract's messages.
//
// A nested message that the model always has is left out where it says nothing, as proto3 leaves out a number that is
// 0: reading gives the same value.

extension Position {
    var isBlank: Bool { self.revision == 0 && self.asOf.milliseconds == 0 }

    func write(to message: UnsafeMutablePointer<Perch__V1__Position>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.as_of_ms = self.asOf.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Position>) {
        self.init(revision: message.pointee.revision, asOf: Instant(milliseconds: message.pointee.as_of_ms))
    }
}

extension AppReference {
    func write(to message: UnsafeMutablePointer<Perch__V1__AppRef>, _ arena: Arena) {
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = .init(self.environment)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__AppRef>) {
        self.init(
            bundleID: String(wire: message.pointee.bundle_id), environment: AppEnvironment(message.pointee.environment))
    }
}

extension Money {
    static var blank: Money { Money(milliunits: 0, currency: "") }
    var isBlank: Bool { self.milliunits == 0 && self.currency.isEmpty }

    func write(to message: UnsafeMutablePointer<Perch__V1__Money>, _ arena: Arena) {
        message.pointee.milliunits = self.milliunits
        message.pointee.currency = arena.text(self.currency)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Money>) {
        self.init(milliunits: message.pointee.milliunits, currency: String(wire: message.pointee.currency))
    }
}

extension Storefront {
    static var blank: Storefront { Storefront(countryCode: "") }
    var isBlank: Bool { self.countryCode.isEmpty && self.id.isEmpty }

    func write(to message: UnsafeMutablePointer<Perch__V1__Storefront>, _ arena: Arena) {
        message.pointee.country_code = arena.text(self.countryCode)
        message.pointee.id = arena.text(self.id)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Storefront>) {
        self.init(countryCode: String(wire: message.pointee.country_code), id: String(wire: message.pointee.id))
    }
}

extension Period {
    static var blank: Period { Period(0, .unspecified) }
    var isBlank: Bool { self.value == 0 && self.unit == .unspecified }

    func write(to message: UnsafeMutablePointer<Perch__V1__Period>, _ arena: Arena) {
        message.pointee.unit = .init(self.unit)
        message.pointee.value = UInt32(bitPattern: self.value)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Period>) {
        self.init(Int32(bitPattern: message.pointee.value), Period.Unit(message.pointee.unit))
    }
}

extension TransactionOffer {
    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionOffer>, _ arena: Arena) {
        message.pointee.id = arena.text(self.id)
        message.pointee.type = .init(self.type)
        message.pointee.payment_mode = .init(self.paymentMode)
        if let period = self.period { message.pointee.period = arena.message { period.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionOffer>) {
        self.init(
            id: String(wire: message.pointee.id), type: OfferType(message.pointee.type),
            paymentMode: PaymentMode(message.pointee.payment_mode), period: read(message.pointee.period) { Period($0) })
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
            date: Instant(milliseconds: message.pointee.date_ms), reason: RevocationReason(message.pointee.reason),
            type: RevocationType(message.pointee.type), percentageMilli: message.pointee.percentage_milli)
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
            price: read(message.pointee.price) { Money($0) } ?? .blank, willRenew: message.pointee.will_renew != 0)
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

    /// Whether the line entitles is what its state says; `entitled` is for clients that do not know all states.
    init(_ message: UnsafeMutablePointer<Perch__V1__Forecast>) {
        self.init(
            at: Instant(milliseconds: message.pointee.at_ms), kind: ForecastKind(message.pointee.kind),
            originalTransactionID: message.pointee.original_transaction_id, state: RenewalState(message.pointee.state))
    }
}

extension ValueInfo {
    func write(to message: UnsafeMutablePointer<Perch__V1__ValueInfo>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        message.pointee.commit_time_ms = self.committed.milliseconds
        message.pointee.cause = .init(self.cause)
        if let forecast = self.forecast {
            message.pointee.next_change = arena.message { forecast.write(to: $0, arena) }
        }
        message.pointee.resume_token = arena.bytes(self.token)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ValueInfo>) {
        self.init(
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0)),
            committed: Instant(milliseconds: message.pointee.commit_time_ms), cause: Cause(message.pointee.cause),
            forecast: read(message.pointee.next_change) { Forecast($0) }, token: [UInt8](message.pointee.resume_token))
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

extension ClockChange {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetClockRequest>, _ arena: Arena) {
        switch self {
        case .freeze:
            message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_FREEZE
            message.pointee.freeze = arena.message { _ in }
        case .resume:
            message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_RESUME
            message.pointee.resume = arena.message { _ in }
        case .advanceBy(let milliseconds):
            message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_BY_MS
            message.pointee.advance_by_ms = milliseconds
        case .advanceTo(let instant):
            message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_MS
            message.pointee.advance_to_ms = instant.milliseconds
        case .advanceToBoundary(let account):
            message.pointee.change_case = PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_BOUNDARY
            message.pointee.advance_to_boundary = arena.message { $0.pointee.account = arena.text(account) }
        }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__SetClockRequest>) {
        switch message.pointee.change_case {
        case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_FREEZE: self = .freeze
        case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_RESUME: self = .resume
        case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_BY_MS:
            self = .advanceBy(milliseconds: message.pointee.advance_by_ms)
        case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_MS:
            self = .advanceTo(Instant(milliseconds: message.pointee.advance_to_ms))
        case PERCH__V1__SET_CLOCK_REQUEST__CHANGE_ADVANCE_TO_BOUNDARY:
            self = .advanceToBoundary(account: String(wire: message.pointee.advance_to_boundary?.pointee.account))
        default: return nil
        }
    }
}

extension ClockState {
    var isBlank: Bool { self == ClockState() }
}

extension CatalogSummary {
    var isBlank: Bool { self == CatalogSummary() }
}
