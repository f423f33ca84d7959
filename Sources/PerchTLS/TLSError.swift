internal import CPerchTLS

/// The reason why TLS could not be set up, or why a connection failed. Safe to log: it contains no key and no text from
/// the peer.
package struct TLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Kinds of faults, as far as operators react differently. Metrics use the raw values.
    package enum Fault: String, Sendable, CaseIterable {
        /// The input is not TLS, or its messages are out of order.
        case protocolError = "protocol"
        /// No common version or cipher.
        case noCommonGround = "no_common_ground"
        /// The peer offers protocols by ALPN without perch/1.
        case applicationProtocol = "application_protocol"
        /// The peer's certificate is invalid: of an unknown authority, or for another use.
        case certificate = "certificate"
        /// A certificate of the peer has expired, or is not valid yet.
        case expired = "expired"
        case noCertificate = "no_certificate"
        /// The peer's certificate is valid but for another name.
        case name = "name"
        /// The peer rejected this side's certificate, or required one.
        case refused = "refused"
        /// The peer sent another alert.
        case alert = "alert"
        case memory = "memory"
        /// A local file cannot be used.
        case file = "file"
    }

    /// The kind of a local file.
    package enum File: Sendable {
        case certificate
        case key
        case authorities
    }

    package let fault: Fault
    package let description: String
    /// The file at fault, if any.
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

    /// Reads why the last step on this thread failed. Call it once, directly after the failure.
    init(of connection: OpaquePointer?) {
        var fault = PERCH_TLS_FAULT_PROTOCOL
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            fault = perch_tls_error(connection, buffer.baseAddress, buffer.count)
            return buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
        self.init(Fault(fault), text)
    }

    /// Prefixes the description with the failed operation.
    func prefixed(_ text: String) -> TLSError { TLSError(self.fault, "\(text): \(self.description)") }

    /// Prefixes the description with the path of the file at fault.
    package func naming(certificate: String?, key: String?, authorities: String?) -> TLSError {
        let path =
            switch self.file {
            case .certificate: certificate
            case .key: key
            case .authorities: authorities
            case nil: String?.none
            }
        return path.map { self.prefixed($0) } ?? self
    }
}

extension TLSError.Fault {
    init(_ fault: perch_tls_fault) {
        self =
            switch fault {
            case PERCH_TLS_FAULT_NO_COMMON_GROUND: .noCommonGround
            case PERCH_TLS_FAULT_APPLICATION_PROTOCOL: .applicationProtocol
            case PERCH_TLS_FAULT_CERTIFICATE: .certificate
            case PERCH_TLS_FAULT_EXPIRED: .expired
            case PERCH_TLS_FAULT_NO_CERTIFICATE: .noCertificate
            case PERCH_TLS_FAULT_NAME: .name
            case PERCH_TLS_FAULT_REFUSED: .refused
            case PERCH_TLS_FAULT_ALERT: .alert
            case PERCH_TLS_FAULT_MEMORY: .memory
            default: .protocolError
            }
    }
}
