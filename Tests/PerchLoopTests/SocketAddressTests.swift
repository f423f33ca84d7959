import PerchLoop
import Testing

@Suite struct `socket addresses` {
    @Test(arguments: [
        "127.0.0.1:7447", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:7447", "[::]:80", "[2001:db8::17:a]:1",
    ])
    func `an address's description parses to the same address`(_ text: String) throws {
        #expect(try SocketAddress(parsing: text).description == text)
    }

    @Test func `a port alone means every address`() throws {
        let address = try SocketAddress(parsing: ":7447")
        #expect(address.description == "[::]:7447")
        #expect(address.isWildcard && !address.isLoopback)
    }

    @Test(arguments: [
        ("", SocketAddressFault.noPort("")),
        ("localhost", .noPort("localhost")),
        ("[::1]", .noPort("[::1]")),
        ("localhost:7447", .badHost("localhost", in: "localhost:7447")),
        ("127.0.0.1:", .badPort("", in: "127.0.0.1:")),
        ("127.0.0.1:65536", .badPort("65536", in: "127.0.0.1:65536")),
        ("127.0.0.1:+1", .badPort("+1", in: "127.0.0.1:+1")),
        ("127.0.0.1:٣", .badPort("٣", in: "127.0.0.1:٣")),
        ("127.0.0:1", .badHost("127.0.0", in: "127.0.0:1")),
        ("256.0.0.1:1", .badHost("256.0.0.1", in: "256.0.0.1:1")),
        ("127.0.0.1\u{0}:1", .badHost("127.0.0.1\u{0}", in: "127.0.0.1\u{0}:1")),
        ("::1:7447", .bareIPv6("::1:7447")),
        ("[127.0.0.1]:1", .badHost("127.0.0.1", in: "[127.0.0.1]:1")),
        ("[]:1", .badHost("", in: "[]:1")),
        ("[:1", .noPort("[:1")),
    ])
    func `a text that is not an address is refused with a reason`(_ text: String, _ fault: SocketAddressFault) {
        #expect(throws: fault) { try SocketAddress(parsing: text) }
        #expect(!fault.description.isEmpty)
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.9:1", true), ("[::1]:1", true), ("[::ffff:127.0.0.1]:1", true),
        ("126.0.0.1:1", false), ("0.0.0.0:1", false), ("[::]:1", false), ("[::2]:1", false), ("[1::1]:1", false),
    ])
    func `loopback is recognised in both families`(_ text: String, _ isLoopback: Bool) throws {
        #expect(try SocketAddress(parsing: text).isLoopback == isLoopback)
    }

    @Test func `an IPv4 address is the same host in its IPv6 form`() throws {
        let mapped = try SocketAddress(parsing: "[::ffff:10.1.2.3]:5")
        #expect(mapped == (try SocketAddress(parsing: "10.1.2.3:5")))
        #expect(mapped.isIPv4 && mapped.description == "10.1.2.3:5")
    }
}
