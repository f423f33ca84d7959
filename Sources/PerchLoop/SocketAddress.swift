internal import CPerchLinux
internal import Glibc

/// An IPv4 or IPv6 address with a port. Host names belong to `Destination`, because nothing here waits for DNS.
///
/// IPv4 is stored as `::ffff:a.b.c.d`. A peer therefore counts as the same host through an IPv4 listener and through a
/// dual-stack one.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The 128 bits of the host address, by which connections are counted.
    package struct Host: Hashable, Sendable {
        package var high: UInt64
        package var low: UInt64

        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        package init(ipv4 address: UInt32) {
            self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address))
        }
    }

    package var host: Host
    /// The interface of a link-local IPv6 address; otherwise 0.
    package var scope: UInt32
    package var port: UInt16

    package init(host: Host, scope: UInt32 = 0, port: UInt16) {
        self.host = host
        self.scope = scope
        self.port = port
    }

    /// 127.0.0.1, or another loopback address for clients that need more than its 28,000 ports.
    package static func loopback(port: UInt16, lastByte: UInt8 = 1) -> SocketAddress {
        SocketAddress(host: Host(ipv4: 0x7F00_0000 | UInt32(lastByte)), port: port)
    }

    package var isIPv4: Bool { perch_address_is_v4(self.host.high, self.host.low) }

    package var isLoopback: Bool {
        self.isIPv4
            ? UInt32(truncatingIfNeeded: self.host.low) >> 24 == 127
            : self.host == Host(high: 0, low: 1)
    }

    /// Whether it is `0.0.0.0` or `[::]`: every address of this machine.
    package var isWildcard: Bool {
        self.host == Host(high: 0, low: 0) || self.host == Host(ipv4: 0)
    }

    /// `127.0.0.1:7447` or `[::1]:7447`, the format of `init(parsing:)`.
    package var description: String {
        self.isIPv4 ? "\(self.hostDescription):\(self.port)" : "[\(self.hostDescription)]:\(self.port)"
    }

    /// `127.0.0.1` or `::1`.
    package var hostDescription: String {
        var low = self.host.low.bigEndian
        var high = self.host.high.bigEndian
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if self.isIPv4 {
            var address = UInt32(truncatingIfNeeded: self.host.low).bigEndian
            _ = inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        } else {
            var bytes = [UInt8]()
            withUnsafeBytes(of: &high) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: &low) { bytes.append(contentsOf: $0) }
            _ = inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
        }
        let host = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return self.scope == 0 ? host : "\(host)%\(self.scope)"
    }
}

extension SocketAddress {
    /// Parses `127.0.0.1:7447`, `[::1]:7447`, and `:7447`, which means every address of the machine in both families.
    package init(parsing text: some StringProtocol) throws(SocketAddressFault) {
        let text = String(text)
        let (host, port) = try Self.parts(of: text)
        if host.isEmpty {
            self.init(host: Host(high: 0, low: 0), port: port)
        } else if host.first == "[" {
            let inner = String(host.dropFirst().dropLast())
            guard let host = Self.parseIPv6(inner) else { throw .badHost(inner, in: text) }
            self.init(host: host, port: port)
        } else {
            guard let host = Self.parseIPv4(String(host)) else { throw .badHost(String(host), in: text) }
            self.init(host: host, port: port)
        }
    }

    /// Splits a text at its last colon into host and port. An IPv6 host keeps its brackets.
    static func parts(of text: String) throws(SocketAddressFault) -> (host: Substring, port: UInt16) {
        guard let colon = text.lastIndex(of: ":") else { throw .noPort(text) }
        let host = text[..<colon]
        let digits = text[text.index(after: colon)...]
        if host.first == "[", host.last != "]" { throw .noPort(text) }
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits) else {
            throw .badPort(String(digits), in: text)
        }
        if host.first != "[", host.contains(":") { throw .bareIPv6(text) }
        return (host, port)
    }

    private static func parseIPv4(_ text: String) -> Host? {
        var address: UInt32 = 0
        guard !text.utf8.contains(0), inet_pton(AF_INET, text, &address) == 1 else { return nil }
        return Host(ipv4: UInt32(bigEndian: address))
    }

    private static func parseIPv6(_ text: String) -> Host? {
        var halves: (UInt64, UInt64) = (0, 0)
        guard !text.utf8.contains(0), inet_pton(AF_INET6, text, &halves) == 1 else { return nil }
        return Host(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
    }
}

extension SocketAddress {
    init(_ address: perch_address) {
        self.init(host: Host(high: address.high, low: address.low), scope: address.scope, port: address.port)
    }

    var inC: perch_address {
        perch_address(high: self.host.high, low: self.host.low, scope: self.scope, port: self.port)
    }
}

/// The reason why a text is not an address.
package enum SocketAddressFault: Error, Equatable, CustomStringConvertible {
    case noPort(String)
    case badPort(String, in: String)
    case badHost(String, in: String)
    /// Where a host name is also allowed.
    case badName(String, in: String)
    case bareIPv6(String)

    package var description: String {
        switch self {
        case .noPort(let text):
            "\"\(text)\" has no port; write it as 127.0.0.1:7447, [::1]:7447 or :7447"
        case .badPort(let port, let text):
            "\"\(port)\" in \"\(text)\" is not a port; a port is a number from 0 to 65535"
        case .badHost(let host, let text):
            "\"\(host)\" in \"\(text)\" is not an IPv4 or IPv6 address; host names are not accepted here"
        case .badName(let host, let text):
            "\"\(host)\" in \"\(text)\" is neither a host name nor an IPv4 or IPv6 address"
        case .bareIPv6(let text):
            "\"\(text)\" is an IPv6 address without brackets; write it as [::1]:7447"
        }
    }
}
