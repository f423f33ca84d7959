import PerchBase
import PerchLoop
import Testing

@Suite struct `destinations` {
    @Test(arguments: [
        "perch:7447", "perch.internal:7447", "Perch-1.eu_west.example.com:443", "perch.example.com.:1", "7.example:1",
        "a:0",
        "xn--mnchen-3ya.example:65535",
    ])
    func `a name's description parses to the same name`(_ text: String) throws {
        let destination = try Destination(parsing: text)
        #expect(destination.description == text && destination.port == UInt16(text.split(separator: ":")[1]))
        guard case .name = destination else {
            Issue.record("\(destination) is not a name")
            return
        }
    }

    @Test(arguments: ["127.0.0.1:7447", "[::1]:7447", "[2001:db8::17:a]:1"])
    func `an address parses to an address`(_ text: String) throws {
        #expect(try Destination(parsing: text) == .address(SocketAddress(parsing: text)))
    }

    @Test func `localhost is the loopback address without a lookup`() throws {
        #expect(try Destination(parsing: "localhost:5") == .address(.loopback(port: 5)))
    }

    @Test(arguments: [
        ("", SocketAddressFault.noPort("")),
        ("perch", .noPort("perch")),
        ("perch:", .badPort("", in: "perch:")),
        ("perch:65536", .badPort("65536", in: "perch:65536")),
        ("::1:7447", .bareIPv6("::1:7447")),
        ("256.0.0.1:1", .badName("256.0.0.1", in: "256.0.0.1:1")),
        ("127.1:1", .badName("127.1", in: "127.1:1")),
        ("2130706433:1", .badName("2130706433", in: "2130706433:1")),
        ("[perch]:1", .badName("perch", in: "[perch]:1")),
        ("per ch:1", .badName("per ch", in: "per ch:1")),
        ("a..b:1", .badName("a..b", in: "a..b:1")),
        (".:1", .badName(".", in: ".:1")),
        (".a:1", .badName(".a", in: ".a:1")),
        ("perch\u{0}:1", .badName("perch\u{0}", in: "perch\u{0}:1")),
        ("münchen.example:1", .badName("münchen.example", in: "münchen.example:1")),
    ])
    func `a text that is neither is refused with a reason`(_ text: String, _ fault: SocketAddressFault) {
        #expect(throws: fault) { try Destination(parsing: text) }
        #expect(!fault.description.isEmpty)
    }

    @Test func `several servers stand between commas, and those whose names lead nowhere are left out`() throws {
        let several = try Destination(parsing: "10.0.0.1:1,perch.test:2,gone.test:3")
        #expect("\(several)" == "10.0.0.1:1,perch.test:2,gone.test:3")
        #expect(several.port == 1)
        let second = try SocketAddress(parsing: "10.0.0.2:2")
        func lookUp(_ name: String, _ port: UInt16) throws(NameFault) -> [SocketAddress] {
            guard name == "perch.test" else { throw NameFault(name, "gone") }
            return [second]
        }
        #expect(try several.addresses(by: lookUp) == [try SocketAddress(parsing: "10.0.0.1:1"), second])
        let nowhere = try Destination(parsing: "gone.test:1,lost.test:2")
        #expect(throws: NameFault("lost.test", "gone")) { try nowhere.addresses(by: lookUp) }
        #expect(throws: SocketAddressFault.self) { try Destination(parsing: "10.0.0.1:1,") }
        #expect(several.host == nil, "a certificate names one host")
        #expect(try Destination(parsing: "10.0.0.1:1,10.0.0.1:2").host == "10.0.0.1")
    }

    @Test func `a name may be as long as DNS allows, and no longer`() throws {
        let label = String(repeating: "a", count: Limits.hostNameLabelBytesMax)
        _ = try Destination(parsing: label + ":1")
        #expect(throws: SocketAddressFault.badName(label + "a", in: label + "a:1")) {
            try Destination(parsing: label + "a:1")
        }
        let long = String(repeating: "a.", count: Limits.hostNameBytesMax / 2)
        _ = try Destination(parsing: long + ":1")
        #expect(throws: SocketAddressFault.self) { try Destination(parsing: "b" + long + ":1") }
    }
}

@Suite struct `names` {
    /// Resolved by the hosts file, so without a name server.
    @Test func `names are resolved by the system`() throws {
        let found = try NameLookup.addresses(of: "localhost", port: 7447)
        #expect(!found.isEmpty && found.count <= Limits.addressesPerNameMax)
        #expect(found.allSatisfy { $0.isLoopback && $0.port == 7447 })
        #expect(Set(found).count == found.count)
    }

    @Test func `that cannot be resolved are reported with a reason`() {
        let fault = #expect(throws: NameFault.self) { try NameLookup.addresses(of: "", port: 1) }
        #expect(fault?.description.contains("cannot resolve \"\": ") == true)
    }
}
