import PerchLoop
import PerchTLS

/// The TLS of a generator's connections, between their sockets and plaintext frames.
struct SecureConnections {
    private let context: TLSContext
    private let name: TLSServerName
    private let window = TLSWindow()
    /// TLS state of each open connection.
    private var sides: [Int32: TLSClientSide] = [:]
    /// Sessions that lost connections can resume.
    private var sessions: [Int32: TLSSession] = [:]
    private var plaintext: [UInt8] = []
    private(set) var handshakes = 0
    /// Handshakes that resumed a session, at a fraction of the cost.
    private(set) var resumed = 0

    /// The result of received ciphertext.
    struct Received {
        var plaintext: [UInt8]
        /// Whether the handshake has just finished, so that the connection may send.
        var isNew: Bool
        /// Ciphertext to send before anything else.
        var output: [UInt8]
        /// The reason why the connection has ended; nil while it is open.
        var end: String?
    }

    init(_ tls: (context: TLSContext, name: TLSServerName)) {
        (self.context, self.name) = tls
    }

    /// Starts a handshake and returns its first bytes.
    mutating func begin(_ key: Int32) throws(TLSError) -> [UInt8] {
        // A ticket is for one use; the server sends a new one.
        var side = try TLSClientSide(
            self.window, self.context, to: self.name, session: self.sessions.removeValue(forKey: key))
        defer { self.sides[key] = side }
        return Self.taken(&side)
    }

    mutating func received(_ key: Int32, _ bytes: UnsafeRawBufferPointer) -> Received {
        var side = self.takeSide(key)
        var received = Received(plaintext: [], isNew: false, output: [], end: nil)
        swap(&received.plaintext, &self.plaintext)
        let event = side.received(bytes) {
            received.isNew = true
        } taken: {
            received.plaintext.append(contentsOf: $0)
        }
        received.output = Self.taken(&side)
        if received.isNew {
            self.handshakes += 1
            if side.isResumed { self.resumed += 1 }
        }
        self.sides[key] = side
        switch event {
        case .continues: break
        case .closed: received.end = "END_WITHOUT_DRAIN"
        case .failed(let error): received.end = Self.reason(error)
        }
        return received
    }

    private static func reason(_ error: TLSError) -> String {
        switch error.fault {
        case .certificate: "TLS: \(error); check that --tls-ca contains the server's authority"
        case .name: "TLS: \(error); set --tls-server-name to a name in its certificate"
        case .refused: "TLS: \(error); the server may require another client certificate (--tls-certificate, --tls-key)"
        case .alert: "TLS: \(error); check that the server has TLS"
        default: "TLS: \(error)"
        }
    }

    /// Takes back a plaintext buffer for reuse.
    mutating func takeRoom(of plaintext: inout [UInt8]) {
        plaintext.removeAll(keepingCapacity: true)
        swap(&plaintext, &self.plaintext)
    }

    /// Removes the entry during its use, so that it is not copied.
    private mutating func takeSide(_ key: Int32) -> TLSClientSide {
        guard let side = self.sides.removeValue(forKey: key) else {
            preconditionFailure("connection \(key) has no TLS")
        }
        return side
    }

    /// Seals plaintext.
    mutating func seal(_ key: Int32, _ bytes: UnsafeRawBufferPointer) throws(TLSError) -> [UInt8] {
        var side = self.takeSide(key)
        defer { self.sides[key] = side }
        if let error = side.seal(bytes) { throw error }
        return Self.taken(&side)
    }

    /// Ends a connection without a close alert.
    mutating func end(_ key: Int32) {
        guard let side = self.sides.removeValue(forKey: key) else { return }
        if let session = side.takeSession() { self.sessions[key] = session }
        side.free()
    }

    mutating func endAll() {
        for key in Array(self.sides.keys) { self.end(key) }
    }

    private static func taken(_ side: inout TLSClientSide) -> [UInt8] {
        var output: [UInt8] = []
        swap(&output, &side.output)
        return output
    }
}

extension Generator {
    /// The first bytes of a connection over TLS; nil if they cannot be made, which ends the round.
    func securedOpening(_ index: Int) -> [UInt8]? {
        do throws(TLSError) {
            return try self.secure?.begin(Int32(index))
        } catch {
            self.giveUp("TLS: \(error)")
            return nil
        }
    }

    /// Handles received ciphertext.
    func unseal(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) {
        guard var received = self.secure?.received(Int32(index), bytes) else { return }
        if !received.output.isEmpty { received.output.withUnsafeBytes { self.transmit(index, $0) } }
        if received.isNew, self.connections[index].phase != .closed {
            self.greeting(index).withUnsafeBytes { self.send(index, $0) }
        }
        if !received.plaintext.isEmpty, self.connections[index].phase != .closed {
            received.plaintext.withUnsafeBytes { self.take(index, $0, at: now) }
        }
        self.secure?.takeRoom(of: &received.plaintext)
        if let end = received.end, self.connections[index].phase != .closed { self.lost(index, end) }
    }

    func sendSealed(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        do throws(TLSError) {
            guard !bytes.isEmpty, let sealed = try self.secure?.seal(Int32(index), bytes) else { return }
            sealed.withUnsafeBytes { self.transmit(index, $0) }
        } catch {
            self.lost(index, "TLS: \(error)")
        }
    }
}
