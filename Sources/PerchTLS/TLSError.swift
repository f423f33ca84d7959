internal import CPerchTLS

/// Why TLS could not be set up, or a connection failed. Safe to log: no key, and nothing that the peer has written.
package struct TLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// As far as somebody would act differently. The words are those of metrics.
    package enum Fault: String, Sendable, CaseIterable {
        /// What came is no TLS, or is out of order.
        case protocolError = "protocol"
        /// No version or cipher that both speak.
        case noCommonGround = "no_common_ground"
        /// The peer offers protocols by ALPN, and perch/1 is none of them.
        case applicationProtocol = "application_protocol"
        /// The peer's certificate does not hold: another authority, too old, not for this use.
        case certificate = "certificate"
        case noCertificate = "no_certificate"
        /// The peer's certificate holds, and is another's.
        case name = "name"
        /// The peer does not take our certificate, or wants one that it was not shown.
        case refused = "refused"
        /// The peer has said why it goes, and it is something else.
        case alert = "alert"
        case memory = "memory"
        /// Of a file that this side was given.
        case file = "file"
    }

    /// Which of the files that this side was given.
    package enum File: Sendable {
        case certificate
        case key
        case authorities
    }

    package let fault: Fault
    package let description: String
    /// Whose bytes cannot be used, where the fault is one of theirs.
    package let file: File?

    package init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
        self.file = nil
    }

    init(in file: File, _ description: String) {
        self.fault = .file
        self.description = description
        self.file = file
    }

    /// Why the last step on this thread failed. Ask once, at once.
    init(of connection: OpaquePointer?) {
        var fault = PERCH_TLS_FAULT_PROTOCOL
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            fault = perch_tls_error(connection, buffer.baseAddress, buffer.count)
            return buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
        self.init(Fault(fault), text)
    }

    /// The same error, said with what was being done.
    func said(_ text: String) -> TLSError { TLSError(self.fault, "\(text): \(self.description)") }

    /// The same error, with the path of the file that it is about.
    package func naming(certificate: String?, key: String?, authorities: String?) -> TLSError {
        let path =
            switch self.file {
            case .certificate: certificate
            case .key: key
            case .authorities: authorities
            case nil: String?.none
            }
        return path.map { self.said($0) } ?? self
    }
}

extension TLSError.Fault {
    init(_ fault: perch_tls_fault) {
        self =
            switch fault {
            case PERCH_TLS_FAULT_NO_COMMON_GROUND: .noCommonGround
            case PERCH_TLS_FAULT_APPLICATION_PROTOCOL: .applicationProtocol
            case PERCH_TLS_FAULT_CERTIFICATE: .certificate
            case PERCH_TLS_FAULT_NO_CERTIFICATE: .noCertificate
            case PERCH_TLS_FAULT_NAME: .name
            case PERCH_TLS_FAULT_REFUSED: .refused
            case PERCH_TLS_FAULT_ALERT: .alert
            case PERCH_TLS_FAULT_MEMORY: .memory
            default: .protocolError
            }
    }
}
