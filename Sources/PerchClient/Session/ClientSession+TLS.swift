import PerchBase
import PerchLoop
import PerchTLS

// TLS of a client's connection, between its socket and its core. The core waits for the connection until TLS is
// established, and sees plaintext.
extension ClientSession {
    /// The TLS context of the next connection; nil for plaintext. Files are read each time, so that certificates can be
    /// replaced while a client runs.
    func context() throws(PerchError) -> TLSContext? {
        guard let tls = self.configuration.tls else { return nil }
        if let context = self.systemContext { return context }
        do throws(TLSError) {
            let context = try TLSContext(
                authorityPath: tls.trust.path, certificatePath: tls.certificatePath, keyPath: tls.keyPath)
            if tls.trust.path == nil, tls.certificatePath == nil { self.systemContext = context }
            return context
        } catch {
            throw PerchError(code: .invalidArgument, reason: .tlsFiles, message: "TLS: \(error)")
        }
    }

    /// The socket is connected: starts the handshake.
    func beginSecure(_ context: TLSContext) {
        do throws(TLSError) {
            self.secure = try TLSClientSide(
                self.window, context, to: self.configuration.serverName, session: self.session)
            // A ticket is for one use; the server gives another.
            self.session = nil
        } catch {
            self.core.connectFailed(self.failure(error))
        }
    }

    /// Takes ciphertext.
    func open(_ bytes: UnsafeRawBufferPointer) {
        let authorization = self.socket?.authorization ?? ""
        let event = self.secure?.received(bytes) {
            self.core.connected(authorization: authorization)
        } taken: { plaintext in
            self.core.received(plaintext.bytes)
        }
        switch event {
        case .continues, nil: break
        case .closed: self.core.ended("the server closed the connection without a reason")
        case .failed(let error): self.core.ended(self.failure(error))
        }
    }

    /// Sends sealed bytes, then seals and sends the core's output. At most one record is sealed beyond what the kernel
    /// accepts.
    func sendSecure(_ descriptor: Int32) -> Errno? {
        guard var secure = self.secure else { return nil }
        defer { self.secure = secure }
        while true {
            if let fault = Self.send(&secure.output, to: descriptor) { return fault }
            guard secure.isEstablished, secure.output.isEmpty, !self.core.output.isEmpty else { return nil }
            let count = min(self.core.output.count, Limits.tlsRecordBytes)
            let fault = self.core.output.withUnsafeBytes { secure.seal(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            if let fault {
                self.core.ended(self.failure(fault))
                return nil
            }
            self.core.output.removeSubrange(..<count)
        }
    }

    /// Before the socket closes: sends close_notify or an alert if the socket accepts it, and keeps the session.
    func endSecure(_ descriptor: Int32) {
        guard var secure = self.secure else { return }
        self.session = secure.takeSession() ?? self.session
        if secure.isEstablished, secure.output.isEmpty { secure.close() }
        // The alert reports an invalid certificate. Without it the server sees only a closed connection.
        _ = Self.send(&secure.output, to: descriptor)
        secure.free()
        self.secure = nil
    }

    func failure(_ error: TLSError) -> PerchError {
        let server = self.server
        switch error.fault {
        case .name:
            return PerchError(
                code: .unauthenticated, reason: .tlsWrongName,
                message:
                    "the certificate of the server at \(server) is not one for \(self.configuration.serverName.text): \(error); is this the right server?"
            )
        case .expired:
            return PerchError(
                code: .unauthenticated, reason: .tlsExpired,
                message:
                    "the certificate of the server at \(server) is not valid at this time: \(error); is this machine's clock right?"
            )
        case .certificate:
            return PerchError(
                code: .unauthenticated, reason: .tlsUntrusted,
                message:
                    "the certificate of the server at \(server) is of no authority that this client trusts: \(error)"
            )
        case .refused:
            let what =
                self.configuration.tls?.certificatePath == nil
                ? "wants a certificate of this client, which has none" : "refuses this client's certificate"
            return PerchError(
                code: .unauthenticated, reason: .tlsRefused, message: "the server at \(server) \(what): \(error)")
        case .noCommonGround:
            return PerchError(
                code: .unavailable, reason: .tlsIncompatible,
                message:
                    "the server at \(server) has no version or cipher of TLS that this client has: \(error); this client speaks TLS 1.2 and 1.3"
            )
        case .alert:
            return PerchError(
                code: .unavailable, reason: .tlsFailed,
                message: "the server at \(server) has refused TLS: \(error); does it have TLS?")
        default:
            return PerchError(
                code: .unavailable, reason: .tlsFailed,
                message: "no TLS with the server at \(server): \(error)")
        }
    }
}
