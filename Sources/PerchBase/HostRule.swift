/// The names by which clients of HTTP may call a listener that asks for no credentials.
///
/// A page of a foreign site can let its own name resolve to this machine (DNS rebinding). Its browser then sends its requests
/// here, names its own host in each, and gives the page the answers. No other field of a request changes the rule.
package struct HostRule: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Callers have credentials, which no page of a foreign site has.
        case any
        /// A listener on loopback: localhost and the addresses of loopback.
        case loopback
        /// A listener off loopback: those, and addresses. A page that was loaded by an address came from there.
        case addresses
    }

    package var kind: Kind
    /// Further names, in lower case and without a port; `*` for all.
    package private(set) var names: Set<String> = []

    package init(_ kind: Kind, names: [String] = []) {
        self.kind = kind
        for name in names {
            if let host = name == "*" ? name : Self.host(of: Array(name.utf8)) { self.names.insert(host) }
        }
    }

    /// Why a request with this authority is refused; nil where it is not. Without an authority no name was used: no browser
    /// leaves it out.
    package func refusal(of authority: [UInt8]) -> String? {
        guard self.kind != .any, !authority.isEmpty else { return nil }
        let shown = String(decoding: authority.prefix(255).filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
        guard let host = Self.host(of: authority) else { return "the Host \(shown) is no name and port" }
        if Self.isLoopback(host) || self.names.contains(host) || self.names.contains("*") { return nil }
        if self.kind == .addresses, Self.isAddress(host) { return nil }
        let known = self.kind == .loopback ? "127.0.0.1 or localhost" : "an address"
        return
            "this server is not \(host), and it asks for no credentials; call it by \(known), or start it with --allow-host \(host)"
    }

    /// An authority without its port and the dot at its end, in lower case; nil where it is malformed.
    package static func host(of authority: [UInt8]) -> String? {
        let end: Int
        if authority.first == UInt8(ascii: "[") {
            guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = close + 1
        } else {
            end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.count
        }
        let port = authority[end...]
        guard end > 0, port.isEmpty || port.first == UInt8(ascii: ":"),
            port.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            authority[..<end].allSatisfy({
                (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: "/")
            })
        else { return nil }
        let host = String(decoding: authority[..<end], as: UTF8.self).lowercased()
        return host.hasSuffix(".") && host.utf8.count > 1 ? String(host.dropLast()) : host
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || self.isIPv4(host) && host.hasPrefix("127.")
    }

    private static func isAddress(_ host: String) -> Bool {
        guard host.hasPrefix("[") else { return self.isIPv4(host) }
        return host.utf8.dropFirst().dropLast().allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
                || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
        }
    }

    private static func isIPv4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && UInt8(part) != nil
            }
    }
}
