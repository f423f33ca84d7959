import CPerchProto
import PerchBase
import PerchModel

// Conversions that proto/generator cannot derive: values without labels, generic values, and fields that refuse some numbers.

extension Period {
    func write(to message: UnsafeMutablePointer<Perch__V1__Period>, _ arena: Arena) {
        message.pointee.unit = .init(self.unit)
        message.pointee.value = UInt32(bitPattern: self.value)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Period>) {
        self.init(Int32(bitPattern: message.pointee.value), Period.Unit(message.pointee.unit))
    }
}

extension Verified<Transaction> {
    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionResult>, _ arena: Arena) {
        if !self.value.isBlank { message.pointee.transaction = arena.message { self.value.write(to: $0, arena) } }
        message.pointee.verification_error = .init(self.failure)
        if !arena.omitsSignatures { message.pointee.jws = arena.text(self.jws) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionResult>) {
        self.init(
            read(message.pointee.transaction) { Transaction($0) } ?? .blank,
            failure: VerificationFailure(message.pointee.verification_error), jws: String(wire: message.pointee.jws))
    }
}

extension Verified<RenewalInfo> {
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

extension RefundShare {
    /// 100 %, in thousandths of a per cent.
    private static let whole: UInt32 = 100_000

    func write(to message: UnsafeMutablePointer<Perch__V1__RefundOperation>, _ arena: Arena) {
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

    init(_ message: UnsafeMutablePointer<Perch__V1__RefundOperation>) throws(MessageError) {
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

/// The outcome that an operation sets for charges: nil leaves it to the app.
enum ChargeFailure {
    static func write(_ fails: Bool?) -> Perch__V1__ChargeOutcome { .init(ChargeOutcome(fails: fails)) }

    static func read(_ number: Perch__V1__ChargeOutcome) throws(MessageError) -> Bool? {
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

/// Whether a price increase needs consent: nil leaves it to the rule.
enum PriceConsentNeed {
    static func write(_ needed: Bool?) -> Perch__V1__PriceConsent {
        switch needed {
        case nil: PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_UNSPECIFIED
        case true?: PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_NEEDED
        case false?: PERCH__V1__PRICE_CONSENT__PRICE_CONSENT_NOT_NEEDED
        }
    }

    static func read(_ number: Perch__V1__PriceConsent) throws(MessageError) -> Bool? {
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
}

// MARK: The push path

extension Period {
    func write(to writer: inout PushWriter) {
        writer.number(2, UInt32(bitPattern: self.value))
        writer.value(1, self.unit)
    }
}

extension Verified<Transaction> {
    func write(to writer: inout PushWriter) {
        if !writer.omitsSignatures { writer.text(3, self.jws) }
        writer.value(2, self.failure)
        if !self.value.isBlank { writer.message(1) { self.value.write(to: &$0) } }
    }
}

extension Verified<RenewalInfo> {
    func write(to writer: inout PushWriter) {
        if !writer.omitsSignatures { writer.text(3, self.jws) }
        writer.value(2, self.failure)
        if !self.value.isBlank { writer.message(1) { self.value.write(to: &$0) } }
    }
}

extension ValueInfo {
    /// Writes `token` where there is one, and the bytes of `self.token` otherwise.
    func write(to writer: inout PushWriter, token: ResumeToken? = nil) {
        if self.isNotInCatalog { writer.flag(6, true) }
        if let token { writer.token(5, token) } else { writer.bytes(5, self.token) }
        if let forecast = self.forecast { writer.message(4) { forecast.write(to: &$0) } }
        writer.value(3, self.cause)
        writer.instant(2, self.committed)
        if !self.position.isBlank { writer.message(1) { self.position.write(to: &$0) } }
    }
}
