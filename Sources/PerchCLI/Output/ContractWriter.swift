import PerchBase
import PerchJSON
import PerchModel

/// Writes values in protobuf's JSON mapping with the names of `proto/perch/v1`, so that what a program reads here is what
/// it would read from the wire: fields at their default are left out, 64-bit numbers are strings, enumerations their
/// names (or numbers, where newer than this program), bytes Base64.
///
/// One method for each message of the contract, fields in the order of their numbers.
struct ContractWriter {
    private var json: JSONWriter

    private init(_ layout: JSONWriter.Layout) {
        self.json = JSONWriter(limitBytes: .max, layout: layout)
    }

    /// One document with a line break behind it.
    static func document(_ layout: JSONWriter.Layout, _ write: (inout ContractWriter) -> Void) -> String {
        var writer = ContractWriter(layout)
        writer.object(write)
        do {
            return String(decoding: try writer.json.finish(), as: UTF8.self) + "\n"
        } catch {
            preconditionFailure("a document without limit overflowed: \(error)")
        }
    }

    // MARK: Fields

    mutating func object(_ write: (inout ContractWriter) -> Void) {
        self.json.beginObject()
        write(&self)
        self.json.endObject()
    }

    mutating func message(_ name: String, _ write: (inout ContractWriter) -> Void) {
        self.json.key(name)
        self.object(write)
    }

    mutating func message<Value>(
        _ name: String, _ value: Value?, _ write: (inout ContractWriter, Value) -> Void
    ) {
        guard let value else { return }
        self.message(name) { write(&$0, value) }
    }

    mutating func messages<Value>(
        _ name: String, _ values: [Value], _ write: (inout ContractWriter, Value) -> Void
    ) {
        guard !values.isEmpty else { return }
        self.json.key(name)
        self.json.beginArray()
        for value in values { self.object { write(&$0, value) } }
        self.json.endArray()
    }

    mutating func text(_ name: String, _ value: String) {
        if !value.isEmpty { self.json.member(name, value) }
    }

    mutating func texts(_ name: String, _ values: [String]) {
        guard !values.isEmpty else { return }
        self.json.key(name)
        self.json.beginArray()
        for value in values { self.json.string(value) }
        self.json.endArray()
    }

    mutating func bytes(_ name: String, _ value: [UInt8]) {
        if !value.isEmpty { self.json.member(name, Base64.encode(value)) }
    }

    mutating func flag(_ name: String, _ value: Bool) {
        if value { self.json.member(name, true) }
    }

    /// A member of a `oneof`.
    mutating func flag(_ name: String, ifAny value: Bool?) {
        if let value { self.json.member(name, value) }
    }

    /// A member of a `oneof`.
    mutating func text(_ name: String, ifAny value: String?) {
        if let value { self.json.member(name, value) }
    }

    /// int32 and uint32.
    mutating func number(_ name: String, _ value: some FixedWidthInteger) {
        if value != 0 { self.json.member(name, value) }
    }

    /// int64 and uint64.
    mutating func long(_ name: String, _ value: some FixedWidthInteger) {
        if value != 0 { self.json.member(name, String(value)) }
    }

    mutating func double(_ name: String, _ value: Double) {
        guard value != 0 else { return }
        self.json.key(name)
        self.json.double(value)
    }

    /// An instant, absent at the epoch like every default.
    mutating func instant(_ name: String, _ value: Instant) {
        self.long(name, value.milliseconds)
    }

    /// A member of a `oneof`: there or not, whatever its value.
    mutating func instant(_ name: String, ifAny value: Instant?) {
        if let value { self.json.member(name, String(value.milliseconds)) }
    }

    /// A member of a `oneof`.
    mutating func long(_ name: String, ifAny value: UInt64?) {
        if let value { self.json.member(name, String(value)) }
    }

    /// A member of a `oneof`.
    mutating func number(_ name: String, ifAny value: Int?) {
        if let value { self.json.member(name, value) }
    }

    mutating func choice(_ name: String, _ value: some OpenEnumeration, _ prefix: String) {
        guard value.rawValue != 0 else { return }
        if value.isKnown {
            self.json.member(name, prefix + "_" + Self.screaming(value.description))
        } else {
            self.json.member(name, value.rawValue)
        }
    }

    /// `inGracePeriod` as `IN_GRACE_PERIOD`.
    private static func screaming(_ name: String) -> String {
        var result = ""
        for letter in name {
            if letter.isUppercase { result += "_" }
            result += letter.uppercased()
        }
        return result
    }
}

// MARK: common.proto

extension ContractWriter {
    mutating func position(_ name: String, _ value: Position?) {
        self.message(name, value) { json, value in
            json.long("revision", value.revision)
            json.instant("as_of_ms", value.asOf)
        }
    }

    mutating func money(_ name: String, _ value: Money?) {
        guard value != Money(milliunits: 0, currency: "") else { return }
        self.message(name, value) { json, value in
            json.long("milliunits", value.milliunits)
            json.text("currency", value.currency)
        }
    }

    mutating func period(_ name: String, _ value: Period?) {
        guard value != Period(0, .unspecified) else { return }
        self.message(name, value) { json, value in
            json.choice("unit", value.unit, "PERIOD_UNIT")
            json.number("value", UInt32(bitPattern: value.value))
        }
    }

    mutating func storefront(_ name: String, _ value: Storefront) {
        guard value != Storefront(countryCode: "") else { return }
        self.message(name) { json in
            json.text("country_code", value.countryCode)
            json.text("id", value.id)
        }
    }

    mutating func environment(_ value: AppEnvironment, _ name: String = "environment") {
        self.choice(name, value, "ENVIRONMENT")
    }

    mutating func billingPlan(_ name: String, _ value: BillingPlanType) {
        self.choice(name, value, "BILLING_PLAN_TYPE")
    }

    mutating func verified<Value>(
        _ value: Verified<Value>, _ name: String, _ write: (inout ContractWriter, Value) -> Void
    ) {
        self.message(name) { write(&$0, value.value) }
        self.choice("verification_error", value.failure, "VERIFICATION_ERROR")
        self.text("jws", value.jws)
    }
}
