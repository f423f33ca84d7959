import PerchBase
import PerchTLS
import PerchTesting

/// One authority and its certificates, created once for all tests, because generating keys is slow.
enum Made {
    static let authority = MadeCertificate.authority()
    static let otherAuthority = MadeCertificate.authority("Another Authority")
    static let server = MadeCertificate.server(of: authority)
    static let client = MadeCertificate(
        "alice", names: "DNS:alice.example.com,URI:spiffe://example.com/alice,email:alice@example.com",
        issuer: authority)

    static func serverFiles(_ made: MadeCertificate = server) -> TLSContext.ServerFiles {
        TLSContext.ServerFiles(certificates: made.certificate, key: made.key)
    }

    static func clientContext(
        trusting authority: MadeCertificate = authority, showing made: MadeCertificate? = nil
    ) throws -> TLSContext {
        var files = TLSContext.ClientFiles()
        files.authorities = authority.certificate
        if let made {
            files.certificates = made.certificate
            files.key = made.key
        }
        return try TLSContext(client: files)
    }
}

/// A client and a server that exchange ciphertext under a test's control.
final class Pair {
    let clientWindow = TLSWindow()
    let serverWindow = TLSWindow()
    let client: TLSConnection
    let server: TLSConnection
    var toServer: [UInt8] = []
    var toClient: [UInt8] = []
    private(set) var serverStep = TLSStep.wantsInput
    private(set) var clientStep = TLSStep.wantsInput

    static let tickets = TicketKeys(wall: Instant(milliseconds: 0))

    init(
        _ server: TLSContext, _ client: TLSContext, name: String = "localhost", isAddress: Bool = false,
        session: TLSSession? = nil
    ) throws {
        self.server = try self.serverWindow.accept(server)
        self.client = try self.clientWindow.connect(client, name: name, isAddress: isAddress, session: session)
    }

    convenience init(name: String = "localhost", isAddress: Bool = false) throws {
        try self.init(
            TLSContext(server: Made.serverFiles(), tickets: Self.tickets), Made.clientContext(), name: name,
            isAddress: isAddress)
    }

    deinit {
        self.client.free()
        self.server.free()
    }

    func stepClient(_ bytes: [UInt8] = []) {
        bytes.withUnsafeBytes { buffer in
            self.clientWindow.take(buffer)
            if self.clientStep == .wantsInput { self.clientStep = self.clientWindow.handshake(self.client) }
        }
        self.collectClient()
    }

    func stepServer(_ bytes: [UInt8] = []) {
        bytes.withUnsafeBytes { buffer in
            self.serverWindow.take(buffer)
            if self.serverStep == .wantsInput { self.serverStep = self.serverWindow.handshake(self.server) }
        }
        self.collectServer()
    }

    func collectClient() {
        self.toServer += self.clientWindow.output
        self.clientWindow.clearOutput()
    }

    func collectServer() {
        self.toClient += self.serverWindow.output
        self.serverWindow.clearOutput()
    }

    /// Exchanges ciphertext in pieces of `piece` bytes until both sides are quiet.
    @discardableResult
    func shakeHands(piece: Int = .max) -> Pair {
        self.stepClient()
        while !self.toServer.isEmpty || !self.toClient.isEmpty {
            let forServer = self.take(&self.toServer, piece)
            if !forServer.isEmpty, self.serverStep == .wantsInput { self.stepServer(forServer) }
            let forClient = self.take(&self.toClient, piece)
            if !forClient.isEmpty {
                if self.clientStep == .wantsInput {
                    self.stepClient(forClient)
                } else {
                    _ = self.readClient(forClient)
                }
            }
        }
        return self
    }

    private func take(_ bytes: inout [UInt8], _ piece: Int) -> [UInt8] {
        let count = min(piece, bytes.count)
        defer { bytes.removeFirst(count) }
        return Array(bytes[..<count])
    }

    /// All plaintext that the server reads from `bytes`, and the final result.
    func readServer(_ bytes: [UInt8]) -> (plaintext: [UInt8], end: TLSRead) {
        defer { self.collectServer() }
        return Self.read(self.serverWindow, self.server, bytes)
    }

    func readClient(_ bytes: [UInt8]) -> (plaintext: [UInt8], end: TLSRead) {
        defer { self.collectClient() }
        return Self.read(self.clientWindow, self.client, bytes)
    }

    private static func read(
        _ window: TLSWindow, _ connection: TLSConnection, _ bytes: [UInt8]
    ) -> (plaintext: [UInt8], end: TLSRead) {
        var plaintext: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8_000)
        let end = bytes.withUnsafeBytes { input in
            window.take(input)
            while true {
                let step = buffer.withUnsafeMutableBytes { window.read(connection, into: $0) }
                guard case .bytes(let count) = step else { return step }
                plaintext += buffer[..<count]
            }
        }
        return (plaintext, end)
    }

    /// The client's ciphertext for `plaintext`.
    func encryptAtClient(_ plaintext: [UInt8]) -> [UInt8] {
        _ = plaintext.withUnsafeBytes { self.clientWindow.write(self.client, $0) }
        self.collectClient()
        defer { self.toServer = [] }
        return self.toServer
    }

    func encryptAtServer(_ plaintext: [UInt8]) -> [UInt8] {
        _ = plaintext.withUnsafeBytes { self.serverWindow.write(self.server, $0) }
        self.collectServer()
        defer { self.toClient = [] }
        return self.toClient
    }
}

extension TLSStep {
    var fault: TLSError.Fault? {
        guard case .failed(let error) = self else { return nil }
        return error.fault
    }
}
