internal import PerchBase

/// Whom a client takes for its server: the name that the certificate must have.
package struct TLSServerName: Hashable, Sendable {
    package let text: String
    /// A numeric address, which certificates hold apart from host names.
    package let isAddress: Bool

    package init(_ text: String) {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        self.text = bare
        self.isAddress =
            bare.utf8.contains(UInt8(ascii: ":"))
            || bare.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The host of `HOST:PORT`, without the dot at the end by which a name says that it is whole: certificates have none.
    package init(ofAddress address: String) {
        let host = address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
        self.init(String(host.hasSuffix(".") ? host.dropLast() : host))
    }
}

/// A client's TLS of one connection, between a socket and whoever speaks plaintext. It moves bytes and decides nothing.
///
/// Whoever made it frees it, exactly once.
package struct TLSClientSide {
    /// What becomes of a connection when ciphertext came.
    package enum Event: Equatable, Sendable {
        case goesOn
        /// The server has said that it sends nothing more.
        case closed
        case failed(TLSError)
    }

    private let window: TLSWindow
    private let connection: TLSConnection
    /// The handshake is finished: plaintext can be sealed.
    package private(set) var isEstablished = false
    /// Ciphertext that is to be sent; whoever sends it takes it away.
    package var output: [UInt8] = []
    private var hasHeard = false

    /// Begins a handshake: the first of `output` is there.
    package init(
        _ window: TLSWindow, _ context: TLSContext, to name: TLSServerName, session: TLSSession? = nil
    ) throws(TLSError) {
        self.window = window
        self.connection = try window.connect(context, name: name.text, isAddress: name.isAddress, session: session)
        window.take(UnsafeRawBufferPointer(start: nil, count: 0))
        if case .failed(let error) = window.handshake(self.connection) {
            self.connection.free()
            throw error
        }
        self.collect()
    }

    package func free() { self.connection.free() }

    package var isResumed: Bool { self.connection.isResumed }
    package var version: String { self.connection.version }

    /// What the next connection can go on from; nil where the server has given nothing yet.
    package func takeSession() -> TLSSession? { self.isEstablished ? self.connection.takeSession() : nil }

    private mutating func collect() {
        self.output.append(contentsOf: self.window.output)
        self.window.clearOutput()
    }

    /// Ciphertext came: `taken` is called with each piece of plaintext in it, and told before the first that the
    /// connection is established.
    package mutating func received(
        _ bytes: UnsafeRawBufferPointer, established: () -> Void, taken: (UnsafeRawBufferPointer) -> Void
    ) -> Event {
        defer { self.collect() }
        if !self.hasHeard, let first = bytes.first {
            self.hasHeard = true
            // A record of a handshake, or an alert. perch/1 in plaintext begins with the kind of a frame.
            guard first == 0x16 || first == 0x15 else {
                return .failed(TLSError(.protocolError, "what answers there does not speak TLS"))
            }
        }
        self.window.take(bytes)
        if !self.isEstablished {
            switch self.window.handshake(self.connection) {
            case .wantsInput: return .goesOn
            case .failed(let error): return .failed(error)
            case .done:
                self.isEstablished = true
                established()
            }
        }
        let buffer = self.window.record
        while true {
            switch self.window.read(self.connection, into: buffer) {
            case .bytes(let count): taken(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            case .wantsInput: return .goesOn
            case .closed: return .closed
            case .failed(let error): return .failed(error)
            }
        }
    }

    /// Seals plaintext, a record at a time, behind what `output` has; an error where the connection is over.
    package mutating func seal(_ bytes: UnsafeRawBufferPointer) -> TLSError? {
        var place = 0
        while place < bytes.count {
            let end = min(place + Limits.tlsRecordBytes, bytes.count)
            let record = UnsafeRawBufferPointer(rebasing: bytes[place..<end])
            if case .failed(let error) = self.window.write(self.connection, record) { return error }
            place = end
        }
        self.collect()
        return nil
    }

    /// Says that nothing more will be sent, behind what `output` has.
    package mutating func close() {
        self.window.close(self.connection)
        self.collect()
    }
}
