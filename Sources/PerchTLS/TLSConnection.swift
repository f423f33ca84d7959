internal import CPerchTLS
package import PerchBase

/// One connection's TLS: a handle, so that it fits into a slab of plain structs.
///
/// Its creator must free it exactly once. It belongs to its window, and so to one thread.
package struct TLSConnection {
    let handle: OpaquePointer

    package func free() { perch_tls_free(self.handle) }

    /// Whether the handshake resumed an earlier session.
    package var isResumed: Bool { perch_tls_is_resumed(self.handle) == 1 }

    /// The protocol version, such as `TLSv1.3`.
    package var version: String { String(cString: perch_tls_protocol(self.handle)) }

    /// Whether both sides selected a protocol by ALPN.
    package var hasApplicationProtocol: Bool { perch_tls_has_application_protocol(self.handle) == 1 }

    /// The protocol that both sides selected by ALPN, such as `h2`; empty for none.
    package var applicationProtocol: String {
        var count: UInt32 = 0
        let name = perch_tls_application_protocol(self.handle, &count)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// The verified certificate of the peer; nil if it presented none.
    package var peer: PeerCertificate? {
        var taker = PeerCertificate(commonName: "", names: [], fingerprint: [], notAfter: .distantPast)
        var fingerprint = [UInt8](repeating: 0, count: 32)
        var end: Int64 = 0
        let isThere = withUnsafeMutablePointer(to: &taker) { pointer in
            perch_tls_peer(self.handle, &fingerprint, &end, pointer) { taker, kind, bytes, count in
                guard let taker, let bytes else { return }
                let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
                takeName(text, kind, &taker.assumingMemoryBound(to: PeerCertificate.self).pointee)
            }
        }
        guard isThere == 1 else { return nil }
        taker.fingerprint = fingerprint
        taker.notAfter = Instant(milliseconds: end * 1_000)
        return taker
    }

    /// The session that a client can resume; nil if the server has sent none yet.
    package func takeSession() -> TLSSession? {
        perch_tls_take_session(self.handle).map { TLSSession(handle: $0) }
    }
}

/// Adds one name of a certificate. At file scope, because C calls it.
///
/// All names of a peer are stored as plain text in one list, so each kind must keep its format. A host name has no
/// colon and no at sign, a mail address has no colon, and a URI starts with a scheme. A name that imitates another kind
/// is left out.
private func takeName(_ text: String, _ kind: perch_tls_name_kind, _ peer: inout PeerCertificate) {
    let hasColon = text.utf8.contains(UInt8(ascii: ":"))
    let hasAtSign = text.utf8.contains(UInt8(ascii: "@"))
    switch kind {
    // OpenSSL reports the most specific common name last.
    case PERCH_TLS_NAME_COMMON: peer.commonName = text
    case PERCH_TLS_NAME_DNS where !hasColon && !hasAtSign: peer.names.append(text)
    case PERCH_TLS_NAME_EMAIL where !hasColon && hasAtSign: peer.names.append(text)
    case PERCH_TLS_NAME_URI where hasColon: peer.names.append(text)
    default: break
    }
}

/// A session that a client keeps to reconnect faster, without certificates and signatures. Belongs to one thread.
package final class TLSSession {
    let handle: OpaquePointer

    init(handle: OpaquePointer) { self.handle = handle }

    deinit { perch_tls_session_free(self.handle) }
}

/// The result of a step.
package enum TLSStep: Equatable, Sendable {
    case done
    /// All input was read, and more is needed.
    case wantsInput
    /// The connection has ended. The window's output contains an alert for the peer.
    case failed(TLSError)
}

/// The result of a read.
package enum TLSRead: Equatable, Sendable {
    case bytes(Int)
    case wantsInput
    case closed
    case failed(TLSError)
}

/// The ciphertext buffers shared by all TLS connections of one thread.
///
/// `take` sets the received ciphertext; then plaintext is read until more input is needed. `output` holds the
/// ciphertext to send after each step. An idle connection has no buffer here and none in OpenSSL.
package final class TLSWindow {
    private let window: UnsafeMutablePointer<perch_tls_window>
    private var room: UnsafeMutableRawBufferPointer?

    package init() {
        self.window = .allocate(capacity: 1)
        self.window.initialize(to: perch_tls_window())
    }

    deinit {
        // Allocated and grown by realloc.
        self.window.pointee.output?.deallocate()
        self.room?.deallocate()
        self.window.deallocate()
    }

    /// A buffer for the plaintext of one record, for callers without one.
    var record: UnsafeMutableRawBufferPointer {
        if let room = self.room { return room }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.tlsRecordBytes, alignment: 16)
        self.room = room
        return room
    }

    package func accept(_ context: TLSContext) throws(TLSError) -> TLSConnection {
        guard let handle = perch_tls_accept(context.handle, self.window) else { throw TLSError(of: nil) }
        return TLSConnection(handle: handle)
    }

    /// Starts a client connection. The server must have a certificate for `name`: a host name, or an address if
    /// `isAddress`. By ALPN it offers perch/1, or HTTP/1.1 if `speaksHTTP`.
    package func connect(
        _ context: TLSContext, name: String, isAddress: Bool, session: TLSSession? = nil, speaksHTTP: Bool = false
    ) throws(TLSError) -> TLSConnection {
        guard let handle = perch_tls_connect(context.handle, self.window, name, isAddress ? 1 : 0, session?.handle)
        else { throw TLSError(of: nil) }
        let connection = TLSConnection(handle: handle)
        guard !speaksHTTP || perch_tls_offer_http1(handle) != 0 else {
            connection.free()
            throw TLSError(of: nil)
        }
        return connection
    }

    /// Sets the received ciphertext. The following steps read it, so it must stay valid until they need more.
    package func take(_ bytes: UnsafeRawBufferPointer) {
        self.window.pointee.input = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        self.window.pointee.input_count = bytes.count
    }

    /// Ciphertext to send. Valid until the next step.
    package var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: self.window.pointee.output, count: self.window.pointee.output_count)
    }

    /// Empties the output after it was sent or copied.
    package func clearOutput() { self.window.pointee.output_count = 0 }

    package func handshake(_ connection: TLSConnection) -> TLSStep {
        switch perch_tls_handshake(connection.handle) {
        case PERCH_TLS_DONE: .done
        case PERCH_TLS_WANTS_INPUT: .wantsInput
        // OpenSSL does not distinguish an orderly close during a handshake from a broken connection.
        case PERCH_TLS_CLOSED: .failed(TLSError(.protocolError, "the peer closed the connection during the handshake"))
        default: .failed(TLSError(of: connection.handle))
        }
    }

    /// Decrypts at most one record into `buffer`. Call again until it needs input.
    package func read(_ connection: TLSConnection, into buffer: UnsafeMutableRawBufferPointer) -> TLSRead {
        var count = 0
        return switch perch_tls_read(connection.handle, buffer.baseAddress, buffer.count, &count) {
        case PERCH_TLS_DONE: .bytes(count)
        case PERCH_TLS_WANTS_INPUT: .wantsInput
        case PERCH_TLS_CLOSED: .closed
        default: .failed(TLSError(of: connection.handle))
        }
    }

    /// Encrypts all bytes, at most `Limits.tlsRecordBytes`.
    package func write(_ connection: TLSConnection, _ bytes: UnsafeRawBufferPointer) -> TLSStep {
        precondition(!bytes.isEmpty && bytes.count <= Limits.tlsRecordBytes, "\(bytes.count) bytes in one record")
        return perch_tls_write(connection.handle, bytes.baseAddress, bytes.count) == PERCH_TLS_DONE
            ? .done : .failed(TLSError(of: connection.handle))
    }

    /// Announces the end of the stream; nothing may be written afterwards.
    package func close(_ connection: TLSConnection) { perch_tls_close(connection.handle) }

    /// Sends a new ticket before the next write of a server. TLS 1.2 sends tickets only in handshakes.
    package func renewTicket(_ connection: TLSConnection) { _ = perch_tls_renew_ticket(connection.handle) }
}
