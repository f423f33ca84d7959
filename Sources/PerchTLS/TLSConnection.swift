internal import CPerchTLS
package import PerchBase

/// One connection's TLS: a handle, so that it fits into a slab of plain structs.
///
/// Whoever made it frees it, exactly once. It belongs to the window that it was made with, and so to one thread.
package struct TLSConnection {
    let handle: OpaquePointer

    package func free() { perch_tls_free(self.handle) }

    /// Whether the handshake went on from an earlier session.
    package var isResumed: Bool { perch_tls_is_resumed(self.handle) == 1 }

    /// Such as `TLSv1.3`.
    package var version: String { String(cString: perch_tls_protocol(self.handle)) }

    /// Whether both have named perch/1 by ALPN.
    package var hasApplicationProtocol: Bool { perch_tls_has_application_protocol(self.handle) == 1 }

    /// What the peer's certificate says; nil where it has shown none. It was verified.
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

    /// What a client can come back with; nil where the server has given nothing yet.
    package func takeSession() -> TLSSession? {
        perch_tls_take_session(self.handle).map { TLSSession(handle: $0) }
    }
}

/// A function at file scope, because C calls it.
///
/// The names of a peer stand side by side as plain text, so each kind is held to its own letters: a host name has no
/// colon and no at sign, a mail address no colon, and a URI begins with a scheme. What pretends to be of another kind is
/// left out.
private func takeName(_ text: String, _ kind: perch_tls_name_kind, _ peer: inout PeerCertificate) {
    let hasColon = text.utf8.contains(UInt8(ascii: ":"))
    let hasAtSign = text.utf8.contains(UInt8(ascii: "@"))
    switch kind {
    // The most specific one comes last.
    case PERCH_TLS_NAME_COMMON: peer.commonName = text
    case PERCH_TLS_NAME_DNS where !hasColon && !hasAtSign: peer.names.append(text)
    case PERCH_TLS_NAME_EMAIL where !hasColon && hasAtSign: peer.names.append(text)
    case PERCH_TLS_NAME_URI where hasColon: peer.names.append(text)
    default: break
    }
}

/// What a client keeps of a connection to come back faster: without certificates and their signatures. One thread's.
package final class TLSSession {
    let handle: OpaquePointer

    init(handle: OpaquePointer) { self.handle = handle }

    deinit { perch_tls_session_free(self.handle) }
}

/// What became of a step.
package enum TLSStep: Equatable, Sendable {
    case done
    /// All that came was taken, and more is wanted.
    case wantsInput
    /// The connection is over. What is in the window's output tells the peer why.
    case failed(TLSError)
}

/// What a read came to.
package enum TLSRead: Equatable, Sendable {
    case bytes(Int)
    case wantsInput
    case closed
    case failed(TLSError)
}

/// Where the TLS connections of one thread read ciphertext from and write it to.
///
/// Ciphertext that came is given with `take`, then plaintext is read until more is wanted; what is to be sent stands in
/// `output` after each step. An idle connection has no buffer of its own here, and none in OpenSSL.
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

    /// Room for the plaintext of a record, for those who have none of their own.
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

    /// The server must have a certificate for `name`: a host's, or an address where `isAddress`.
    package func connect(
        _ context: TLSContext, name: String, isAddress: Bool, session: TLSSession? = nil
    ) throws(TLSError) -> TLSConnection {
        guard let handle = perch_tls_connect(context.handle, self.window, name, isAddress ? 1 : 0, session?.handle)
        else { throw TLSError(of: nil) }
        return TLSConnection(handle: handle)
    }

    /// Ciphertext that came. It is read by the steps that follow, and must stay until they want more.
    package func take(_ bytes: UnsafeRawBufferPointer) {
        self.window.pointee.input = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        self.window.pointee.input_count = bytes.count
    }

    /// Ciphertext that is to be sent. Valid until the next step.
    package var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: self.window.pointee.output, count: self.window.pointee.output_count)
    }

    /// It was sent, or put elsewhere.
    package func clearOutput() { self.window.pointee.output_count = 0 }

    package func handshake(_ connection: TLSConnection) -> TLSStep {
        switch perch_tls_handshake(connection.handle) {
        case PERCH_TLS_DONE: .done
        case PERCH_TLS_WANTS_INPUT: .wantsInput
        // OpenSSL does not tell a peer that closes in the middle of a handshake from one that breaks off.
        case PERCH_TLS_CLOSED: .failed(TLSError(.protocolError, "the peer has closed before the end of the handshake"))
        default: .failed(TLSError(of: connection.handle))
        }
    }

    /// Plaintext into `buffer`, at most one record. Call again until it wants input.
    package func read(_ connection: TLSConnection, into buffer: UnsafeMutableRawBufferPointer) -> TLSRead {
        var count = 0
        return switch perch_tls_read(connection.handle, buffer.baseAddress, buffer.count, &count) {
        case PERCH_TLS_DONE: .bytes(count)
        case PERCH_TLS_WANTS_INPUT: .wantsInput
        case PERCH_TLS_CLOSED: .closed
        default: .failed(TLSError(of: connection.handle))
        }
    }

    /// Encrypts at most `Limits.tlsRecordBytes`, all of them.
    package func write(_ connection: TLSConnection, _ bytes: UnsafeRawBufferPointer) -> TLSStep {
        precondition(!bytes.isEmpty && bytes.count <= Limits.tlsRecordBytes, "\(bytes.count) bytes are no record")
        return perch_tls_write(connection.handle, bytes.baseAddress, bytes.count) == PERCH_TLS_DONE
            ? .done : .failed(TLSError(of: connection.handle))
    }

    /// Says that nothing more will be sent; nothing may be written afterwards.
    package func close(_ connection: TLSConnection) { perch_tls_close(connection.handle) }

    /// Of a server: puts a new ticket before the next write. Not for TLS 1.2, which gives them in handshakes only.
    package func renewTicket(_ connection: TLSConnection) { _ = perch_tls_renew_ticket(connection.handle) }
}
