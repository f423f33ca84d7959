internal import CPerchLinux
internal import Glibc
internal import PerchBase

/// The target of a client: an address, or a host name that is resolved for each connection.
///
/// `localhost` counts as the loopback address and needs no lookup.
package enum Destination: Hashable, Sendable, CustomStringConvertible {
    case address(SocketAddress)
    case name(String, port: UInt16)
    /// Several servers of one store, such as the nodes on one database, in the order to try.
    indirect case several([Destination])

    /// Parses `perch.internal:7447`, every form of an address, and several of them between commas.
    package init(parsing text: some StringProtocol) throws(SocketAddressFault) {
        let text = String(text)
        if text.utf8.contains(UInt8(ascii: ",")) {
            self = .several(
                try text.split(separator: ",", omittingEmptySubsequences: false).map {
                    (part) throws(SocketAddressFault) in try Destination(parsing: part)
                })
            return
        }
        let (host, port) = try SocketAddress.parts(of: text)
        if host == "localhost" {
            self = .address(.loopback(port: port))
        } else if Self.isName(host) {
            self = .name(String(host), port: port)
        } else {
            do throws(SocketAddressFault) {
                self = .address(try SocketAddress(parsing: text))
            } catch .badHost(let host, let text) {
                throw .badName(host, in: text)
            }
        }
    }

    package var port: UInt16 {
        switch self {
        case .address(let address): address.port
        case .name(_, let port): port
        // 0 if one of them is.
        case .several(let all): all.map(\.port).min() ?? 0
        }
    }

    /// The host that a certificate has to name; nil for several servers with different names.
    package var host: String? {
        switch self {
        case .address(let address): address.hostDescription
        case .name(let name, _): name
        case .several(let all):
            Set(all.map(\.host)).count == 1 ? all[0].host : nil
        }
    }

    /// The format of `init(parsing:)`.
    package var description: String {
        switch self {
        case .address(let address): address.description
        case .name(let name, let port): "\(name):\(port)"
        case .several(let all): all.map(\.description).joined(separator: ",")
        }
    }

    /// Resolves the current addresses, in the order to try. A host name waits for name servers, so never call this on a
    /// loop.
    package func addresses() throws(NameFault) -> [SocketAddress] {
        switch self {
        case .address(let address): [address]
        case .name(let name, let port): try NameLookup.addresses(of: name, port: port)
        case .several:
            try self.addresses(by: { (name, port) throws(NameFault) in try NameLookup.addresses(of: name, port: port) })
        }
    }

    /// The same by another source of names. Of several servers, those whose names lead nowhere are left out.
    package func addresses(
        by lookUp: (String, UInt16) throws(NameFault) -> [SocketAddress]
    ) throws(NameFault) -> [SocketAddress] {
        switch self {
        case .address(let address): return [address]
        case .name(let name, let port): return try lookUp(name, port)
        case .several(let all):
            var found: [SocketAddress] = []
            var fault: NameFault?
            for each in all {
                do throws(NameFault) {
                    found += try each.addresses(by: lookUp)
                } catch {
                    fault = error
                }
            }
            if found.isEmpty, let fault { throw fault }
            return found
        }
    }

    /// Accepts labels of letters, digits, hyphens and underscores. A text that ends in a number is a mistyped address:
    /// the system would read `127.1` as one.
    private static func isName(_ text: Substring) -> Bool {
        guard text.utf8.count <= Limits.hostNameBytesMax else { return false }
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // A trailing dot marks an absolute name.
        if labels.count > 1, labels.last == "" { labels.removeLast() }
        let isOfLabels = labels.allSatisfy { label in
            !label.isEmpty && label.utf8.count <= Limits.hostNameLabelBytesMax
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
        return isOfLabels && labels.last?.allSatisfy(\.isNumber) == false
    }
}

/// Resolves host names as the machine is configured: from its hosts file, then from name servers.
package enum NameLookup {
    /// Returns at least one address, in the order to try.
    ///
    /// Waits for name servers up to the system's timeout (`resolv.conf`: often ten seconds), so never call this on a
    /// loop.
    package static func addresses(of name: String, port: UInt16) throws(NameFault) -> [SocketAddress] {
        var found = [perch_address](repeating: perch_address(), count: Limits.addressesPerNameMax)
        let count = name.withCString { perch_look_up($0, port, &found, Int32(found.count)) }
        guard count >= 0 else {
            throw NameFault(name, count == EAI_SYSTEM ? "\(Errno(Glibc.errno))" : String(cString: gai_strerror(count)))
        }
        guard count > 0 else { throw NameFault(name, "the name exists without an address") }
        return found.prefix(Int(count)).map { SocketAddress($0) }
    }
}

/// A host name without addresses, or a failed lookup.
package struct NameFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let name: String
    package let why: String

    package init(_ name: String, _ why: String) {
        self.name = name
        self.why = why
    }

    package var description: String { "cannot resolve \"\(self.name)\": \(self.why)" }
}
