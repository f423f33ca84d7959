import CPerchTLS
import Glibc
import PerchBase
import PerchTLS
import PerchTesting
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `a TLS context` {
    private func message(_ certificates: [UInt8], _ key: [UInt8], clients: [UInt8] = []) -> String {
        var files = TLSContext.ServerFiles(certificates: certificates, key: key)
        files.clientAuthorities = clients
        do throws(TLSError) {
            _ = try TLSContext(server: files, tickets: Pair.tickets)
            return ""
        } catch {
            return error.description
        }
    }

    private static func expect(_ result: ExitTest.Result?, says rule: String) {
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("perch: fatal: \(rule)\n"))
    }

    @Test func `a TLS context cannot be changed once threads may share it`() async {
        await #expect(processExitsWith: .success) {
            let context = perch_tls_context_new(0)
            perch_tls_set_session_lifetime(context, 60)
            perch_tls_context_seal(context)
            perch_tls_require_sealed(context, 1)
        }
        let result = await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            let context = perch_tls_context_new(0)
            perch_tls_context_seal(context)
            perch_tls_set_session_lifetime(context, 60)
        }
        Self.expect(result, says: "a TLS context is changed after it was sealed")
    }

    @Test func `a TLS context cannot be used for connections before it is sealed`() async {
        let result = await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
            var window = perch_tls_window()
            _ = perch_tls_accept(perch_tls_context_new(1), &window)
        }
        Self.expect(result, says: "a TLS context is shared before it is sealed")
    }

    @Test func `reports faults of its files without their contents`() {
        let (server, client) = (Made.server, Made.client)
        // A discarded key: the test needs only that no password is requested.
        let encrypted = Array(
            """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhOKkC3oyWYzwICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEEHohAK+vXftSTOfWgR/AbgEgZBP
            r8fKvSOvj2LKnMvVmU/pqPI2YgN1iHcoXcbucanHN259S5yRYFOS51/PlkInUWn8
            XMTYzQ8aJoVCUGPNMBV7lma0VsXYJ1YbjJo+zVogKt9tX60zaPJvsbK4VNLFpnq3
            DpY1XUDyDjQvfcBQgyXruUTCUkiSZv32X2H5ZcUvhhRx6QFqGUSVwjAFQ5AzpCQ=
            -----END ENCRYPTED PRIVATE KEY-----

            """.utf8)
        #expect(self.message(server.certificate, server.key) == "")
        #expect(self.message(server.certificate, client.key) == "the key does not belong to the certificate")
        #expect(self.message([], server.key).hasPrefix("the certificate cannot be read"))
        #expect(
            self.message(Array("hello".utf8), server.key)
                == "the certificate cannot be read: none was found; expected PEM")
        #expect(
            self.message(server.key, server.key) == "the certificate cannot be read: none was found; expected PEM")
        #expect(self.message(server.certificate, Array("hello".utf8)).hasPrefix("the key cannot be read"))
        #expect(self.message(server.certificate, encrypted).hasPrefix("the key is encrypted"))
        #expect(self.message(server.certificate, server.key, clients: [1]).hasPrefix("no authority can be read"))
        let half = Array(server.certificate[..<(server.certificate.count / 2)])
        #expect(self.message(half, server.key).hasPrefix("the certificate cannot be read"))
    }

    @Test func `a TLS context takes a chain, and refuses one that is damaged`() {
        let chain = Made.server.certificate + Made.authority.certificate
        #expect(self.message(chain, Made.server.key) == "")
        #expect(self.message(Made.server.certificate + half(Made.authority.certificate), Made.server.key) != "")
    }

    private func half(_ bytes: [UInt8]) -> [UInt8] { Array(bytes[..<(bytes.count / 2)]) }

    @Test func `a TLS context knows its certificate's expiry and fingerprint`() throws {
        let made = MadeCertificate.server(of: Made.authority, endsInSeconds: 7_200)
        let context = try TLSContext(server: Made.serverFiles(made), tickets: Pair.tickets)
        let validity = try #require(context.validity)
        #expect(validity.notAfter.milliseconds(since: validity.notBefore) == 3 * 3_600_000)
        #expect(context.fingerprint.utf8.count == 64)
        #expect(try Made.clientContext().validity == nil)
    }
}

@Suite(.onOwnThreads) struct `a file with a secret` {
    @Test(arguments: [
        (mode_t(0o600), true), (0o400, true), (0o640, false), (0o604, false), (0o660, false), (0o620, false),
    ])
    func `a file with a secret is read only if no other user can access it`(_ mode: mode_t, _ isRead: Bool) {
        let directory = TemporaryDirectory()
        let path = directory.file("key.pem")
        TemporaryDirectory.write([1, 2, 3], to: path)
        chmod(path, mode)
        do throws(TLSError) {
            #expect(try TLSFile.readSecret(path) == [1, 2, 3])
            #expect(isRead)
        } catch {
            #expect(!isRead)
            #expect(error.description.contains("chmod 600"))
        }
        #expect((try? TLSFile.read(path)) == [1, 2, 3])
    }

    @Test func `a file with a secret starts after a byte order mark`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("key.pem")
        TemporaryDirectory.write([0xEF, 0xBB, 0xBF] + Array("-----BEGIN".utf8), to: path)
        chmod(path, 0o600)
        #expect(try TLSFile.readSecret(path) == Array("-----BEGIN".utf8))
    }

    @Test func `that is no file, too long or missing is refused by name`() {
        let directory = TemporaryDirectory()
        #expect(throws: TLSError.self) { try TLSFile.read(directory.path) }
        #expect(throws: TLSError.self) { try TLSFile.read(directory.file("none")) }
        let long = directory.file("long")
        TemporaryDirectory.write([UInt8](repeating: 1, count: Limits.tlsFileBytesMax + 1), to: long)
        #expect {
            try TLSFile.read(long)
        } throws: {
            "\($0)" == "\(long) has 1048577 bytes, the limit is 1048576"
        }
    }
}
