import PerchBase
import PerchJSON

/// A few fields of messages that are not of our contract: those of gRPC itself.
package struct ProtobufText {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(rest))
    }

    package mutating func number(_ field: Int, _ value: UInt64) {
        guard value != 0 else { return }
        self.varint(UInt64(field) << 3)
        self.varint(value)
    }

    /// A number, written even where it is 0.
    package mutating func present(_ field: Int, _ value: UInt64) {
        self.varint(UInt64(field) << 3)
        self.varint(value)
    }

    /// A message, text or bytes; written even where it is empty.
    package mutating func piece(_ field: Int, _ value: some Collection<UInt8>) {
        self.varint(UInt64(field) << 3 | 2)
        self.varint(UInt64(value.count))
        self.bytes.append(contentsOf: value)
    }

    package mutating func text(_ field: Int, _ value: some StringProtocol) {
        if !value.isEmpty { self.piece(field, value.utf8) }
    }

    package mutating func message(_ field: Int, _ fill: (inout ProtobufText) -> Void) {
        var inner = ProtobufText()
        fill(&inner)
        self.piece(field, inner.bytes)
    }
}

/// Reads the same: numbers and pieces, in order. Nil at the end and after a fault.
package struct ProtobufFields {
    package enum Value {
        case number(UInt64)
        case piece(ArraySlice<UInt8>)
    }

    private var rest: ArraySlice<UInt8>
    package private(set) var isBroken = false

    package init(_ bytes: ArraySlice<UInt8>) { self.rest = bytes }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = self.rest.popFirst() {
            guard shift < 64 else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    private mutating func fail() -> (field: Int, value: Value)? {
        self.isBroken = true
        self.rest = []
        return nil
    }

    package mutating func next() -> (field: Int, value: Value)? {
        guard !self.rest.isEmpty else { return nil }
        guard let tag = self.varint(), tag >> 3 > 0, tag >> 3 < 1 << 29 else { return self.fail() }
        let field = Int(tag >> 3)
        switch tag & 7 {
        case 0:
            guard let value = self.varint() else { return self.fail() }
            return (field, .number(value))
        case 1, 5:
            let count = tag & 7 == 1 ? 8 : 4
            guard self.rest.count >= count else { return self.fail() }
            var value: UInt64 = 0
            for byte in self.rest.prefix(count).reversed() { value = value << 8 | UInt64(byte) }
            self.rest = self.rest.dropFirst(count)
            return (field, .number(value))
        case 2:
            guard let count = self.varint(), count <= UInt64(self.rest.count) else { return self.fail() }
            let piece = self.rest.prefix(Int(count))
            self.rest = self.rest.dropFirst(Int(count))
            return (field, .piece(piece))
        default:
            return self.fail()
        }
    }
}

extension WireStatus {
    /// When to try again, where the reason says that it may help: what `RetryInfo` tells.
    package var retryAfterMilliseconds: UInt64? {
        guard let reason = self.reason else { return nil }
        if let told = self.details.first(where: { $0.key == "retry_after_ms" }) { return UInt64(told.value) }
        switch reason.retry {
        case .yes, .whenTold: return UInt64(Limits.drainShortJitterMilliseconds)
        case .whenDrainSays:
            let pause = reason.drainPause()
            return UInt64(pause.after) + UInt64(pause.jitter) / 2
        case .no, .newCredentials, .withoutToken: return nil
        }
    }

    /// One of gRPC's `google.rpc` messages.
    package struct RichDetail {
        package var type: String
        package var bytes: [UInt8]
        /// The same as JSON, for people; empty where it was not asked for.
        package var json: String
    }

    /// The details of this status as gRPC's `google.rpc` messages.
    ///
    /// `ErrorInfo` has our reason, and our details as metadata. `BadRequest` names the field, `RetryInfo` the time.
    /// `readable`: with the JSON of each.
    package func richDetails(readable: Bool = false) -> [RichDetail] {
        guard let reason = self.reason else { return [] }
        var details: [RichDetail] = []
        var info = ProtobufText()
        info.text(1, reason.rawValue)
        info.text(2, "perch")
        for detail in self.details {
            info.message(3) { entry in
                entry.text(1, detail.key)
                entry.text(2, detail.value)
            }
        }
        details.append(
            RichDetail(
                type: "google.rpc.ErrorInfo", bytes: info.bytes,
                json: Self.json(readable) { json in
                    json.member("reason", reason.rawValue)
                    json.member("domain", "perch")
                    guard !self.details.isEmpty else { return }
                    json.key("metadata")
                    json.beginObject()
                    var keys: Set<String> = []
                    for detail in self.details.reversed() where keys.insert(detail.key).inserted {
                        json.member(detail.key, detail.value)
                    }
                    json.endObject()
                }))
        if let wait = self.retryAfterMilliseconds {
            var retry = ProtobufText()
            retry.message(1) { duration in
                duration.number(1, wait / 1_000)
                duration.number(2, wait % 1_000 * 1_000_000)
            }
            let fraction = String(1_000 + wait % 1_000).dropFirst()
            details.append(
                RichDetail(
                    type: "google.rpc.RetryInfo", bytes: retry.bytes,
                    json: Self.json(readable) { json in
                        json.member(
                            "retryDelay", wait % 1_000 == 0 ? "\(wait / 1_000)s" : "\(wait / 1_000).\(fraction)s")
                    }))
        }
        if self.code == .invalidArgument, let field = self.details.first(where: { $0.key == "field" }) {
            var request = ProtobufText()
            request.message(1) { violation in
                violation.text(1, field.value)
                violation.text(2, self.message)
            }
            details.append(
                RichDetail(
                    type: "google.rpc.BadRequest", bytes: request.bytes,
                    json: Self.json(readable) { json in
                        json.key("fieldViolations")
                        json.beginArray()
                        json.beginObject()
                        json.member("field", field.value)
                        json.member("description", self.message)
                        json.endObject()
                        json.endArray()
                    }))
        }
        return details
    }

    private static func json(_ isWanted: Bool, _ members: (inout JSONWriter) -> Void) -> String {
        guard isWanted else { return "" }
        var json = JSONWriter(limitBytes: .max)
        json.beginObject()
        members(&json)
        json.endObject()
        do {
            return String(decoding: try json.finish(), as: UTF8.self)
        } catch {
            preconditionFailure("a document without limit overflowed: \(error)")
        }
    }

    /// `google.rpc.Status`: what `grpc-status-details-bin` carries.
    package func richStatus(textBytesMax: Int) -> [UInt8] {
        var status = ProtobufText()
        status.number(1, UInt64(UInt32(bitPattern: self.code.rawValue)))
        status.text(2, String(decoding: self.message.utf8.prefix(textBytesMax), as: UTF8.self))
        for detail in self.richDetails() {
            status.message(3) { any in
                any.text(1, "type.googleapis.com/\(detail.type)")
                any.piece(2, detail.bytes)
            }
        }
        return status.bytes
    }
}

extension StatusCode {
    /// Connect's name of a code.
    package var connectName: String {
        switch self {
        case .ok: "ok"
        case .cancelled: "canceled"
        case .unknown: "unknown"
        case .invalidArgument: "invalid_argument"
        case .deadlineExceeded: "deadline_exceeded"
        case .notFound: "not_found"
        case .alreadyExists: "already_exists"
        case .permissionDenied: "permission_denied"
        case .resourceExhausted: "resource_exhausted"
        case .failedPrecondition: "failed_precondition"
        case .aborted: "aborted"
        case .outOfRange: "out_of_range"
        case .unimplemented: "unimplemented"
        case .internal: "internal"
        case .unavailable: "unavailable"
        case .dataLoss: "data_loss"
        case .unauthenticated: "unauthenticated"
        }
    }
}
