import PerchLoop
import PerchTLS

/// TLS of a generator's connections: between their sockets, and frames as they are in plaintext.
struct SecureConnections {
    private let context: TLSContext
    private let name: TLSServerName
    private let window = TLSWindow()
    /// Of each connection that is there.
    private var sides: [Int32: TLSClientSide] = [:]
    /// What a connection that was lost can come back with.
    private var sessions: [Int32: TLSSession] = [:]
    private var plaintext: [UInt8] = []
    private(set) var handshakes = 0
    /// Handshakes that went on from a session before, which cost either side a fraction of a whole one.
    private(set) var resumed = 0

    /// What came of ciphertext.
    struct Received {
        var plaintext: [UInt8]
        /// The handshake ended with it: now the connection may say something.
        var isNew: Bool
        /// Ciphertext to be sent before anything else.
        var output: [UInt8]
        /// Why the connection is over; nil where it goes on.
        var end: String?
    }

    init(_ tls: (context: TLSContext, name: TLSServerName)) {
        (self.context, self.name) = tls
    }

    /// Begins a handshake, and says what is sent first.
    mutating func begin(_ key: Int32) throws(TLSError) -> [UInt8] {
        // A ticket is for one use; the server gives another.
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
        case .goesOn: break
        case .closed: received.end = "END_WITHOUT_DRAIN"
        case .failed(let error): received.end = Self.reason(error)
        }
        return received
    }

    private static func reason(_ error: TLSError) -> String {
        switch error.fault {
        case .certificate: "TLS: \(error); is the server's authority among those of --tls-ca?"
        case .name: "TLS: \(error); give --tls-server-name the name that its certificate has"
        case .refused: "TLS: \(error); does it want a certificate, --tls-certificate and --tls-key, or another one?"
        case .alert: "TLS: \(error); does it have TLS?"
        default: "TLS: \(error)"
        }
    }

    /// Takes the room of a plaintext back, for the next.
    mutating func takeRoom(of plaintext: inout [UInt8]) {
        plaintext.removeAll(keepingCapacity: true)
        swap(&plaintext, &self.plaintext)
    }

    /// Out of the table while it works, so that nothing of it is copied.
    private mutating func takeSide(_ key: Int32) -> TLSClientSide {
        guard let side = self.sides.removeValue(forKey: key) else {
            preconditionFailure("connection \(key) has no TLS")
        }
        return side
    }

    /// What plaintext is sealed to.
    mutating func seal(_ key: Int32, _ bytes: UnsafeRawBufferPointer) throws(TLSError) -> [UInt8] {
        var side = self.takeSide(key)
        defer { self.sides[key] = side }
        if let error = side.seal(bytes) { throw error }
        return Self.taken(&side)
    }

    /// The connection is gone, without a farewell.
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
    /// The first bytes of a connection over TLS; nil where the round ends for want of them.
    func securedOpening(_ index: Int) -> [UInt8]? {
        do throws(TLSError) {
            return try self.secure?.begin(Int32(index))
        } catch {
            self.giveUp("TLS: \(error)")
            return nil
        }
    }

    /// Takes ciphertext.
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
