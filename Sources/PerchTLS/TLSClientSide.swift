internal import PerchBase

/// The server identity that a client requires: the name in the server's certificate.
package struct TLSServerName: Hashable, Sendable {
    package let text: String
    /// A numeric address. Certificates list addresses separately from host names.
    package let isAddress: Bool

    package init(_ text: String) {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        self.text = bare
        self.isAddress =
            bare.utf8.contains(UInt8(ascii: ":"))
            || bare.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Takes the host of `HOST:PORT`, without the trailing dot of an absolute name: certificate names have none.
    package init(ofAddress address: String) {
        let host = address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
        self.init(String(host.hasSuffix(".") ? host.dropLast() : host))
    }
}

/// A client's TLS for one connection, between its socket and the plaintext protocol. It moves bytes and makes no
/// decisions.
///
/// Its creator must free it exactly once.
package struct TLSClientSide {
    /// The state of a connection after ciphertext arrived.
    package enum Event: Equatable, Sendable {
        case continues
        /// The server will send no more.
        case closed
        case failed(TLSError)
    }

    private let window: TLSWindow
    private let connection: TLSConnection
    /// Whether the handshake is finished, so that plaintext can be sealed.
    package private(set) var isEstablished = false
    /// Ciphertext to send. The sender removes it.
    package var output: [UInt8] = []
    private var hasHeard = false

    /// Starts a handshake; its first bytes are in `output`.
    package init(
        _ window: TLSWindow, _ context: TLSContext, to name: TLSServerName, session: TLSSession? = nil,
        speaksHTTP: Bool = false
    ) throws(TLSError) {
        self.window = window
        self.connection = try window.connect(
            context, name: name.text, isAddress: name.isAddress, session: session, speaksHTTP: speaksHTTP)
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

    /// The session that the next connection can resume; nil if the server has sent none yet.
    package func takeSession() -> TLSSession? { self.isEstablished ? self.connection.takeSession() : nil }

    private mutating func collect() {
        self.output.append(contentsOf: self.window.output)
        self.window.clearOutput()
    }

    /// Processes received ciphertext. Calls `taken` with each piece of plaintext, and `established` before the first
    /// one.
    package mutating func received(
        _ bytes: UnsafeRawBufferPointer, established: () -> Void, taken: (UnsafeRawBufferPointer) -> Void
    ) -> Event {
        defer { self.collect() }
        if !self.hasHeard, let first = bytes.first {
            self.hasHeard = true
            // Expects a handshake record or an alert. A perch/1 frame in plaintext starts with its kind instead.
            guard first == 0x16 || first == 0x15 else {
                return .failed(TLSError(.protocolError, "the server at this address does not speak TLS"))
            }
        }
        self.window.take(bytes)
        if !self.isEstablished {
            switch self.window.handshake(self.connection) {
            case .wantsInput: return .continues
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
            case .wantsInput: return .continues
            case .closed: return .closed
            case .failed(let error): return .failed(error)
            }
        }
    }

    /// Seals plaintext in records and appends them to `output`. Returns an error if the connection has ended.
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

    /// Appends to `output` the announcement that nothing more will be sent.
    package mutating func close() {
        self.window.close(self.connection)
        self.collect()
    }
}
