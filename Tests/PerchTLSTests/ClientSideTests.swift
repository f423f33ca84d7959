import Glibc
import PerchBase
import PerchTLS
import PerchTesting
import Testing

@Suite struct `a client's side of TLS` {
    private let window = TLSWindow()

    private func take(_ bytes: [UInt8], _ client: inout TLSClientSide) -> (
        TLSClientSide.Event, [UInt8], established: Int
    ) {
        var plaintext: [UInt8] = []
        var established = 0
        let event = bytes.withUnsafeBytes { buffer in
            client.received(buffer, established: { established += 1 }, taken: { plaintext += $0 })
        }
        return (event, plaintext, established)
    }

    /// A client and a server after their handshake.
    private func established() throws -> (TLSClientSide, TLSConnection, TLSWindow) {
        let serverWindow = TLSWindow()
        let server = try serverWindow.accept(TLSContext(server: Made.serverFiles(), tickets: Pair.tickets))
        var client = try TLSClientSide(self.window, Made.clientContext(), to: TLSServerName("localhost"))
        var step = TLSStep.wantsInput
        while step == .wantsInput || !client.isEstablished {
            let forServer = client.output
            client.output = []
            step = forServer.withUnsafeBytes { bytes in
                serverWindow.take(bytes)
                return serverWindow.handshake(server)
            }
            let forClient = Array(serverWindow.output)
            serverWindow.clearOutput()
            guard !forClient.isEmpty else { break }
            #expect(self.take(forClient, &client).0 == .continues)
        }
        #expect(step == .done && client.isEstablished)
        return (client, server, serverWindow)
    }

    @Test func `a client's side of TLS starts with a ClientHello, and reports once that it is established`() throws {
        var client = try TLSClientSide(self.window, Made.clientContext(), to: TLSServerName("localhost"))
        #expect(client.output.first == 0x16)
        #expect(!client.isEstablished)
        #expect(client.takeSession() == nil)
        client.free()
        client = try self.established().0
        #expect(client.version == "TLSv1.3" && !client.isResumed)
    }

    @Test func `a client's side of TLS splits long plaintext into records, and all of it arrives`() throws {
        var (client, server, serverWindow) = try self.established()
        let sent = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(sent.withUnsafeBytes { client.seal($0) } == nil)
        client.close()
        var buffer = [UInt8](repeating: 0, count: Limits.tlsRecordBytes)
        var found: [UInt8] = []
        let end = client.output.withUnsafeBytes { bytes in
            serverWindow.take(bytes)
            while true {
                let step = buffer.withUnsafeMutableBytes { serverWindow.read(server, into: $0) }
                guard case .bytes(let count) = step else { return step }
                found += buffer[..<count]
            }
        }
        #expect(found == sent && end == .closed)
        client.free()
        server.free()
    }

    @Test(arguments: [[10, 0, 0, 0], Array("HTTP/1.1 400 Bad Request\r\n".utf8), [0]] as [[UInt8]])
    func `a client's side of TLS recognises an answer that is not TLS`(_ answer: [UInt8]) throws {
        var client = try TLSClientSide(self.window, Made.clientContext(), to: TLSServerName("localhost"))
        let (event, plaintext, _) = self.take(answer, &client)
        guard case .failed(let error) = event else {
            Issue.record("it went on")
            return
        }
        #expect(error.description.contains("does not speak TLS") && plaintext.isEmpty)
        client.free()
    }

    struct Alert: CustomTestStringConvertible {
        let number: UInt8
        let fault: TLSError.Fault

        init(_ number: UInt8, _ fault: TLSError.Fault) {
            self.number = number
            self.fault = fault
        }

        var testDescription: String { "\(self.number)" }
    }

    @Test(arguments: [
        // handshake_failure, internal_error; protocol_version, insufficient_security; bad_certificate, unsupported, revoked, expired,
        // unknown, unknown_ca, access_denied, certificate_required: RFC 8446, 6.2.
        Alert(40, .alert), Alert(80, .alert), Alert(70, .noCommonGround), Alert(71, .noCommonGround),
        Alert(42, .refused), Alert(43, .refused), Alert(44, .refused),
        Alert(45, .refused), Alert(46, .refused), Alert(48, .refused), Alert(49, .refused), Alert(116, .refused),
    ])
    func `reports an alert that replaces a handshake`(_ alert: Alert) throws {
        var client = try TLSClientSide(self.window, Made.clientContext(), to: TLSServerName("localhost"))
        guard case .failed(let error) = self.take([0x15, 3, 3, 0, 2, 2, alert.number], &client).0 else {
            Issue.record("it went on")
            return
        }
        #expect(error.fault == alert.fault)
        client.free()
    }

    @Test(arguments: [
        ("127.0.0.1:7447", "127.0.0.1", true), ("[::1]:7447", "::1", true), ("localhost:7447", "localhost", false),
        ("perch.example.com.:7447", "perch.example.com", false), ("perch", "perch", false),
    ])
    func `a client's side of TLS derives the server's name from its address`(
        _ address: String, _ name: String, _ isAddress: Bool
    ) {
        let found = TLSServerName(ofAddress: address)
        #expect(found.text == name && found.isAddress == isAddress)
    }

    @Test func `a client's side of TLS distinguishes a name from an address`() {
        #expect(!TLSServerName("shop.example.com").isAddress)
        #expect(!TLSServerName("10.example.com").isAddress)
        #expect(TLSServerName("10.0.0.1").isAddress)
        #expect(TLSServerName("2001:db8::1").isAddress)
    }

    @Test func `names the file that cannot be used`() throws {
        let directory = TemporaryDirectory()
        let authority = directory.file("ca.pem")
        TemporaryDirectory.write(Made.authority.certificate, to: authority)
        _ = try TLSContext(authorityPath: authority, certificatePath: nil, keyPath: nil)
        #expect(throws: TLSError.self) {
            try TLSContext(authorityPath: authority, certificatePath: authority, keyPath: nil)
        }
        #expect {
            try TLSContext(authorityPath: directory.file("none.pem"), certificatePath: nil, keyPath: nil)
        } throws: {
            "\($0)".contains("none.pem")
        }
        let (own, key, odd) = (directory.file("own.pem"), directory.file("key.pem"), directory.file("odd.pem"))
        TemporaryDirectory.write(Made.client.certificate, to: own)
        TemporaryDirectory.write(Made.client.key, to: key)
        TemporaryDirectory.write(Array("hello".utf8), to: odd)
        chmod(key, 0o600)
        chmod(odd, 0o600)
        _ = try TLSContext(authorityPath: authority, certificatePath: own, keyPath: key)
        for paths in [(odd, own, key), (authority, odd, key), (authority, own, odd)] {
            #expect {
                try TLSContext(authorityPath: paths.0, certificatePath: paths.1, keyPath: paths.2)
            } throws: {
                "\($0)".hasPrefix("\(odd): ")
            }
        }
    }
}
