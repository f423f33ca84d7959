import Glibc
import PerchApple
import PerchBase
import PerchJSON
import PerchModel

/// Verifies and signs Apple's values for a program that compares them with Apple's own library.
///
/// It reads one JSON object a line and answers each with one line. The member `do` says what:
///
///     open        verifies `jws` of `kind` for `bundleId`, `environment` and `appAppleId`, with the further `roots`
///     chain       checks the certificates `x5c` at `seconds`, with the further `roots` or, if `only`, without Apple's
///     authority   makes an authority, which signs from then on, and answers with its root
///     sign        signs `payload`, a text
///     samples     signs one value of every shape
///
/// Ends with 2 where a line was not understood.
@main
enum Main {
    static func main() {
        var session = Session()
        while let line = readLine() {
            guard let request = try? JSONReader.read(Array(line.utf8)), let answer = session.answer(request) else {
                self.write("applecheck: not understood: \(line.prefix(200))\n", to: 2)
                exit(2)
            }
            self.write(answer + "\n", to: 1)
        }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { exit(1) }
            rest = rest.dropFirst(count)
        }
    }
}

struct Session {
    private var authority: AppleAuthority?

    mutating func answer(_ request: JSONValue) -> String? {
        let fields = PayloadFields(request)
        switch fields.text("do") {
        case "open": return self.open(fields)
        case "chain": return self.chain(fields)
        case "authority":
            guard let made = try? AppleAuthority.make() else { return nil }
            self.authority = made
            return Self.object {
                $0.member("root", Base64.encode(made.root))
                $0.member("pem", made.rootPEM)
                $0.member("fingerprint", made.rootFingerprint)
            }
        case "sign":
            guard let authority = self.authority, let payload = fields.text("payload") else { return nil }
            var signer = AppleSigner(authority)
            return Self.object { $0.member("jws", signer.sign(Array(payload.utf8))) }
        case "samples":
            guard let authority = self.authority else { return nil }
            var signer = AppleSigner(authority)
            return Self.object { writer in
                writer.key("samples")
                writer.beginArray()
                for sample in Samples.all(&signer) {
                    writer.beginObject()
                    writer.member("kind", sample.kind)
                    writer.member("jws", sample.jws)
                    writer.endObject()
                }
                writer.endArray()
            }
        default: return nil
        }
    }

    private func roots(_ fields: PayloadFields) throws -> TrustedRoots {
        let further = (fields.texts("roots") ?? []).map { Base64.decode($0) ?? [] }
        return further.isEmpty ? .apple : try .sandbox(further: further)
    }

    private func open(_ fields: PayloadFields) -> String? {
        guard let text = fields.text("jws"), let bundleID = fields.text("bundleId"),
            let roots = try? self.roots(fields), let app = Self.app(fields, bundleID)
        else { return nil }
        var verifier = AppleVerifier(roots: roots)
        let now = fields.instant("now") ?? Instant(milliseconds: 0)
        do throws(VerificationFault) {
            let limit =
                fields.text("kind") == "notification" ? Limits.appleNotificationBytesMax : Limits.appleSignedBytesMax
            let payload = try verifier.open(Array(text.utf8), limit: limit, now: now)
            let value: any ApplePayload
            switch fields.text("kind") {
            case "transaction": value = try app.transaction(payload)
            case "renewalInfo": value = try app.renewalInfo(payload)
            case "appTransaction": value = try app.appTransaction(payload)
            case "notification": value = try app.notification(payload)
            case "realtimeRequest": value = try app.realtimeRequest(payload)
            default: return nil
            }
            return Self.good(value)
        } catch {
            return Self.bad(error)
        }
    }

    private static func app(_ fields: PayloadFields, _ bundleID: String) -> AppleApp? {
        switch fields.text("environment") {
        case "Production":
            guard let id = fields.integer("appAppleId") else { return nil }
            return .production(bundleID: bundleID, appAppleID: id)
        case "Sandbox": return .sandbox(bundleID: bundleID)
        default: return nil
        }
    }

    private func chain(_ fields: PayloadFields) -> String? {
        guard let chain = fields.texts("x5c"), let seconds = fields.integer("seconds"),
            let roots = try? self.roots(fields)
        else { return nil }
        var verifier = AppleVerifier(roots: roots)
        do throws(VerificationFault) {
            try verifier.check(chain: chain, seconds: seconds)
            return Self.object { $0.member("status", "OK") }
        } catch {
            return Self.bad(error)
        }
    }

    private static func good(_ value: any ApplePayload) -> String {
        self.object { writer in
            writer.member("status", "OK")
            for (key, names) in [("unknown", value.unknownFields), ("mistyped", value.mistypedFields)] {
                writer.key(key)
                writer.beginArray()
                for name in names { writer.string(name) }
                writer.endArray()
            }
            writer.key("payload")
            writer.value(value.fields.value)
            if let transaction = value as? TransactionPayload, let model = try? transaction.transaction() {
                writer.member("model", "\(model.id) \(model.originalID) \(model.productID)")
            }
        }
    }

    private static func bad(_ fault: VerificationFault) -> String {
        self.object { writer in
            writer.member("status", fault.libraryStatus.rawValue)
            writer.member("code", fault.code)
            writer.member("message", fault.description)
        }
    }

    private static func object(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        guard let bytes = try? writer.finish() else { return "{}" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
