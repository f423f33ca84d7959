package import PerchBase
import PerchJSON

/// The map from client certificates to identities: a JSON file of the operator.
///
///     {"identities": [
///         {"name": "backend.example.com", "app": "com.example.app", "environment": "production", "scope": "read"},
///         {"fingerprint": "9f86d0…", "app": "*", "scope": "admin", "subject": "operations"}]}
///
/// A `fingerprint` is the SHA-256 of one certificate. A `name` is an alternative name of a certificate that the authority
/// has signed, or its common name if it has no alternative names. A matching fingerprint wins over a matching name.
package struct CertificateIdentities: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        var subject: String
        var apps: AppReach
        var scope: Scope
        var ingests: Bool
        var account: String?
    }

    private var byFingerprint: [[UInt8]: Entry] = [:]
    private var byName: [String: Entry] = [:]

    package init() {}

    package var count: Int { self.byFingerprint.count + self.byName.count }

    package init(reading bytes: [UInt8]) throws(KeyFault) {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONReader.read(bytes)
        } catch {
            throw KeyFault("\(error)")
        }
        guard let list = document["identities"]?.array else {
            throw KeyFault("it has no list identities; see deploy/README.md for its form")
        }
        guard list.count <= Limits.certificateIdentitiesMax else {
            throw KeyFault("it has \(list.count) identities, the limit is \(Limits.certificateIdentitiesMax)")
        }
        for entry in list {
            do throws(KeyFault) {
                try self.add(entry)
            } catch {
                throw KeyFault("\(entry.place): \(error)")
            }
        }
    }

    private mutating func add(_ value: JSONValue) throws(KeyFault) {
        let known = ["fingerprint", "name", "app", "environment", "scope", "account", "subject"]
        for member in value.members ?? [] where !known.contains(member.key) {
            throw KeyFault("\(quoted(member.key)) is none of \(known.joined(separator: ", "))")
        }
        func text(_ member: String) throws(KeyFault) -> String? {
            guard let value = value[member] else { return nil }
            guard let text = value.string, !text.isEmpty, text.utf8.count <= Limits.tokenClaimBytesMax else {
                throw KeyFault("\(member) is no text of 1 to \(Limits.tokenClaimBytesMax) bytes")
            }
            return text
        }
        let (fingerprint, name) = (try text("fingerprint"), try text("name"))
        guard (fingerprint == nil) != (name == nil) else {
            throw KeyFault("name the certificate by exactly one of fingerprint and name")
        }
        var names: [String] = []
        if let list = value["app"]?.array {
            for entry in list {
                guard let text = entry.string, !text.isEmpty else { throw KeyFault("app holds what is no text") }
                names.append(text)
            }
        } else if let app = try text("app") {
            names = [app]
        }
        guard let (scope, ingests) = try text("scope").flatMap({ Scope.several(named: $0, allowsOthers: false) }) else {
            throw KeyFault("scope is missing, or none of \(Scope.names)")
        }
        let apps: AppReach
        do throws(CredentialFault) {
            apps = try AppReach(names, environment: try? text("environment"))
        } catch {
            throw KeyFault("app or environment: \(error)")
        }
        let entry = Entry(
            subject: try text("subject") ?? name ?? fingerprint ?? "", apps: apps, scope: scope,
            ingests: ingests, account: try text("account"))
        if let fingerprint {
            guard let bytes = Self.bytes(ofHexadecimal: fingerprint), bytes.count == 32 else {
                throw KeyFault("fingerprint is no SHA-256: 64 hexadecimal digits, with or without colons")
            }
            guard self.byFingerprint.updateValue(entry, forKey: bytes) == nil else {
                throw KeyFault("that fingerprint stands there twice")
            }
        } else if let name {
            guard self.byName.updateValue(entry, forKey: name) == nil else {
                throw KeyFault("the name \(quoted(name)) stands there twice")
            }
        }
    }

    /// The identity of a certificate; nil for none.
    package func identity(of certificate: PeerCertificate) -> Identity? {
        if let entry = self.byFingerprint[certificate.fingerprint] { return Identity(certificate, entry) }
        let names = certificate.names.isEmpty ? [certificate.commonName] : certificate.names
        for name in names {
            if let entry = self.byName[name] { return Identity(certificate, entry) }
        }
        return nil
    }

    private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var index = digits.startIndex
        while index < digits.endIndex {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard pair.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }), let byte = UInt8(pair, radix: 16) else {
                return nil
            }
            bytes.append(byte)
            index += 2
        }
        return bytes
    }
}
