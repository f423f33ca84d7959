internal import CPerchLinux
internal import Glibc
internal import PerchBase

/// Where a client goes: an address, or a name whose addresses are looked up for each connection.
///
/// `localhost` is an address here, that of the loopback, and asks nobody.
package enum Destination: Hashable, Sendable, CustomStringConvertible {
    case address(SocketAddress)
    case name(String, port: UInt16)

    /// Parses `perch.internal:7447`, and what an address can be written as.
    package init(parsing text: some StringProtocol) throws(SocketAddressFault) {
        let text = String(text)
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
        }
    }

    /// What `init(parsing:)` takes.
    package var description: String {
        switch self {
        case .address(let address): address.description
        case .name(let name, let port): "\(name):\(port)"
        }
    }

    /// Where it is now, in the order in which to try it. Of a name this waits for name servers: never on a loop.
    package func addresses() throws(NameFault) -> [SocketAddress] {
        switch self {
        case .address(let address): [address]
        case .name(let name, let port): try NameLookup.addresses(of: name, port: port)
        }
    }

    /// Labels of letters, digits, hyphens and underscores. What ends in a number is an address written wrong, never a name:
    /// the system would read `127.1` as one of its own.
    private static func isName(_ text: Substring) -> Bool {
        guard text.utf8.count <= Limits.hostNameBytesMax else { return false }
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // A dot at the end says that nothing is to be appended.
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

/// Asks the system for the addresses of a name: of its hosts file, then of name servers, as the machine is set up.
package enum NameLookup {
    /// At least one address, in the order in which to try them.
    ///
    /// Waits for name servers, for as long as the system is set up to (`resolv.conf`: often ten seconds): never on a loop.
    package static func addresses(of name: String, port: UInt16) throws(NameFault) -> [SocketAddress] {
        var found = [perch_address](repeating: perch_address(), count: Limits.addressesPerNameMax)
        let count = name.withCString { perch_look_up($0, port, &found, Int32(found.count)) }
        guard count >= 0 else {
            throw NameFault(name, count == EAI_SYSTEM ? "\(Errno(Glibc.errno))" : String(cString: gai_strerror(count)))
        }
        guard count > 0 else { throw NameFault(name, "it has none") }
        return found.prefix(Int(count)).map { SocketAddress($0) }
    }
}

/// A name has no address, or nobody could be asked for it.
package struct NameFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let name: String
    package let why: String

    package init(_ name: String, _ why: String) {
        self.name = name
        self.why = why
    }

    /// `no address of "perch.internal" was found: Name or service not known`.
    package var description: String { "no address of \"\(self.name)\" was found: \(self.why)" }
}
