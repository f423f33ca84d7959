import PerchBase
import PerchTLS
import PerchTesting
import Testing

@Suite struct `a TLS connection` {
    @Test(arguments: [("localhost", false), ("127.0.0.1", true)])
    func `a TLS connection carries bytes both ways and reports the newest version`(_ name: String, _ isAddress: Bool)
        throws
    {
        let pair = try Pair(name: name, isAddress: isAddress).shakeHands()
        #expect(pair.serverStep == .done && pair.clientStep == .done)
        #expect(pair.server.version == "TLSv1.3")
        #expect(pair.server.hasApplicationProtocol && pair.client.hasApplicationProtocol)
        #expect(!pair.server.isResumed)
        #expect(pair.server.peer == nil)
        let sent = [UInt8](repeating: 7, count: Limits.tlsRecordBytes)
        let read = pair.readServer(pair.encryptAtClient(sent))
        #expect(read.plaintext == sent && read.end == .wantsInput)
        #expect(pair.readClient(pair.encryptAtServer([1, 2, 3])).plaintext == [1, 2, 3])
    }

    @Test func `a TLS connection works with input of one byte at a time`() throws {
        let pair = try Pair().shakeHands(piece: 1)
        #expect(pair.serverStep == .done && pair.clientStep == .done)
        var plaintext: [UInt8] = []
        for byte in pair.encryptAtClient([9, 8, 7]) { plaintext += pair.readServer([byte]).plaintext }
        #expect(plaintext == [9, 8, 7])
    }

    @Test func `a TLS connection adds no more than TLS's overhead to a record`() throws {
        let pair = try Pair().shakeHands()
        let record = pair.encryptAtServer([UInt8](repeating: 0, count: Limits.tlsRecordBytes))
        #expect(record.count > Limits.tlsRecordBytes)
        #expect(record.count <= Limits.tlsPendingBytesMax)
    }

    @Test(arguments: [
        [0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5], [0x16] + [UInt8](repeating: 0xFF, count: 300),
        [0x16, 0x02, 0x00, 0x00, 0x01, 1], Array("\u{16}GET / HTTP/1.1\r\n\r\n".utf8),
    ])
    func `a TLS connection refuses input that only starts like TLS, and sends an alert`(_ garbage: [UInt8]) throws {
        let pair = try Pair()
        pair.stepServer(garbage)
        let fault = try #require(pair.serverStep.fault)
        #expect(fault == .protocolError || fault == .noCommonGround)
        // An alert is a record of type 21.
        #expect(pair.toClient.isEmpty || pair.toClient[0] == 21)
    }

    @Test func `a connection with changed ciphertext ends without plaintext`() throws {
        let pair = try Pair().shakeHands()
        var record = pair.encryptAtClient([1, 2, 3])
        record[record.count - 1] ^= 1
        let read = pair.readServer(record)
        #expect(read.plaintext.isEmpty)
        guard case .failed(let error) = read.end else {
            Issue.record("changed ciphertext was decrypted")
            return
        }
        #expect(error.fault == .protocolError)
        #expect(pair.toClient.first == 23, "an alert, sealed")
    }

    @Test func `a TLS connection distinguishes an orderly end from a cut connection`() throws {
        let pair = try Pair().shakeHands()
        pair.clientWindow.close(pair.client)
        pair.collectClient()
        #expect(pair.readServer(pair.toServer).end == .closed)
        let other = try Pair().shakeHands()
        #expect(other.readServer(Array(other.encryptAtClient([1])[..<10])).end == .wantsInput, "cut off")
    }

    @Test(arguments: ["example.com", "127.0.0.1.example.com"])
    func `a connection to a server with another name's certificate fails`(_ name: String) throws {
        let pair = try Pair(name: name).shakeHands()
        #expect(pair.clientStep.fault == .name)
        #expect(pair.serverStep.fault == .refused || pair.serverStep == .wantsInput)
    }

    @Test func `a connection to an address that the certificate lacks fails`() throws {
        #expect(try Pair(name: "127.0.0.2", isAddress: true).shakeHands().clientStep.fault == .name)
    }

    @Test func `a TLS connection fails for an unknown authority, and the server learns the reason`() throws {
        let pair = try Pair(
            TLSContext(server: Made.serverFiles(), tickets: Pair.tickets),
            Made.clientContext(trusting: Made.otherAuthority)
        ).shakeHands()
        #expect(pair.clientStep.fault == .certificate)
        #expect(pair.serverStep.fault == .refused)
    }

    @Test func `a TLS connection fails before and after the certificate's validity`() throws {
        for made in [
            MadeCertificate.server(of: Made.authority, endsInSeconds: -60),
            MadeCertificate("perch", names: "DNS:localhost", issuer: Made.authority, beginsInSeconds: 3_600),
        ] {
            let pair = try Pair(
                TLSContext(server: Made.serverFiles(made), tickets: Pair.tickets), Made.clientContext()
            ).shakeHands()
            #expect(pair.clientStep.fault == .expired)
        }
    }
}

@Suite struct `a client's certificate` {
    private func server(requires: Bool) throws -> TLSContext {
        var files = Made.serverFiles()
        files.clientAuthorities = Made.authority.certificate
        files.requiresCertificates = requires
        return try TLSContext(server: files, tickets: Pair.tickets)
    }

    @Test(arguments: [false, true])
    func `a client's certificate is reported with its names`(_ requires: Bool) throws {
        let pair = try Pair(self.server(requires: requires), Made.clientContext(showing: Made.client)).shakeHands()
        #expect(pair.serverStep == .done)
        let peer = try #require(pair.server.peer)
        #expect(peer.commonName == "alice")
        #expect(peer.names == ["alice.example.com", "spiffe://example.com/alice", "alice@example.com"])
        #expect(peer.fingerprint.count == 32)
        #expect(peer.notAfter.milliseconds % 1_000 == 0 && peer.notAfter.milliseconds > 0)
    }

    @Test func `a client's certificate may be missing if it is optional`() throws {
        let pair = try Pair(self.server(requires: false), Made.clientContext()).shakeHands()
        #expect(pair.serverStep == .done)
        #expect(pair.server.peer == nil)
    }

    @Test func `that is required and missing refuses the client with an alert`() throws {
        let pair = try Pair(self.server(requires: true), Made.clientContext()).shakeHands()
        #expect(pair.serverStep.fault == .noCertificate)
    }

    @Test(arguments: [false, true])
    func `a certificate of an unknown authority is refused, even if certificates are optional`(_ requires: Bool) throws
    {
        let stranger = MadeCertificate("alice", issuer: Made.otherAuthority)
        let pair = try Pair(self.server(requires: requires), Made.clientContext(showing: stranger)).shakeHands()
        #expect(pair.serverStep.fault == .certificate)
    }

    @Test func `that has expired is refused`() throws {
        let old = MadeCertificate("alice", issuer: Made.authority, endsInSeconds: -1)
        let pair = try Pair(self.server(requires: true), Made.clientContext(showing: old)).shakeHands()
        #expect(pair.serverStep.fault == .expired)
    }

    @Test func `a client's certificate cannot imitate a name of another kind`() throws {
        let sly = MadeCertificate(
            "mallory", names: "DNS:spiffe://example.com/alice,DNS:alice@example.com,URI:alice,email:alice.example.com",
            issuer: Made.authority)
        let pair = try Pair(self.server(requires: true), Made.clientContext(showing: sly)).shakeHands()
        #expect(pair.server.peer?.names == [])
    }
}

@Suite struct `a session` {
    private func context(_ keys: TicketKeys, authorities: [UInt8] = []) throws -> TLSContext {
        var files = Made.serverFiles()
        files.clientAuthorities = authorities
        return try TLSContext(server: files, tickets: keys)
    }

    /// The session that a client keeps after one connection.
    private func session(_ server: TLSContext, _ client: TLSContext) throws -> TLSSession {
        let pair = try Pair(server, client).shakeHands()
        return try #require(pair.client.takeSession())
    }

    private func isResumed(_ server: TLSContext, _ client: TLSContext, _ session: TLSSession) throws -> Bool {
        let pair = try Pair(server, client, session: session).shakeHands()
        #expect(pair.serverStep == .done && pair.clientStep == .done)
        #expect(pair.client.isResumed == pair.server.isResumed)
        return pair.server.isResumed
    }

    @Test func `a session is resumed, also by a new context with the same keys`() throws {
        let keys = TicketKeys(wall: Instant(milliseconds: 0))
        let client = try Made.clientContext()
        let session = try self.session(self.context(keys), client)
        #expect(try self.isResumed(self.context(keys), client, session))
    }

    @Test func `a session is not resumed by another server, which makes a full handshake`() throws {
        let client = try Made.clientContext()
        let session = try self.session(self.context(TicketKeys(wall: Instant(milliseconds: 0))), client)
        #expect(try !self.isResumed(self.context(TicketKeys(wall: Instant(milliseconds: 0))), client, session))
    }

    @Test(arguments: [(0, true), (1, true), (2, false), (9, false)])
    func `a session survives one change of keys, but not two`(_ periods: Int64, _ isResumed: Bool) throws {
        let keys = TicketKeys(wall: Instant(milliseconds: 0))
        let server = try self.context(keys)
        let client = try Made.clientContext()
        let session = try self.session(server, client)
        for period in 0..<periods {
            let changes = keys.rotate(wall: Instant(milliseconds: (period + 1) * Limits.tlsTicketKeyMilliseconds))
            #expect(changes)
        }
        #expect(keys.changes == UInt32(periods))
        #expect(try self.isResumed(server, client, session) == isResumed)
    }

    @Test func `a session of a server with a secret is resumed after a restart, and one period later`() throws {
        let secret = [UInt8](repeating: 5, count: 32)
        let client = try Made.clientContext()
        let server = try self.context(TicketKeys(secret: secret, wall: Instant(milliseconds: 0)))
        let period = Limits.tlsTicketKeyMilliseconds
        for (wall, isResumed) in [(0, true), (period, true), (2 * period, false)] {
            // One session for each connection: a ticket is for one use.
            let session = try self.session(server, client)
            let restarted = try self.context(TicketKeys(secret: secret, wall: Instant(milliseconds: wall)))
            #expect(try self.isResumed(restarted, client, session) == isResumed)
        }
        let other = TicketKeys(secret: [UInt8](repeating: 6, count: 32), wall: Instant(milliseconds: 0))
        #expect(try !self.isResumed(self.context(other), client, self.session(server, client)))
    }

    @Test func `a session is not resumed under other client authorities`() throws {
        let keys = TicketKeys(wall: Instant(milliseconds: 0))
        let client = try Made.clientContext(showing: Made.client)
        let session = try self.session(self.context(keys, authorities: Made.authority.certificate), client)
        let both = Made.authority.certificate + Made.otherAuthority.certificate
        #expect(try !self.isResumed(self.context(keys, authorities: both), client, session))
        let same = try Pair(
            self.context(keys, authorities: Made.authority.certificate), client, session: session
        ).shakeHands()
        #expect(same.server.isResumed)
        #expect(same.server.peer?.commonName == "alice", "the ticket carries the client's identity")
    }

    @Test func `a long connection's session is renewed when the keys change`() throws {
        let keys = TicketKeys(wall: Instant(milliseconds: 0))
        let server = try self.context(keys)
        let client = try Made.clientContext()
        let pair = try Pair(server, client).shakeHands()
        for period in 1...5 {
            keys.rotate(wall: Instant(milliseconds: Int64(period) * Limits.tlsTicketKeyMilliseconds))
            pair.serverWindow.renewTicket(pair.server)
            #expect(pair.readClient(pair.encryptAtServer([1])).plaintext == [1])
        }
        let session = try #require(pair.client.takeSession())
        #expect(try self.isResumed(server, client, session))
    }
}
