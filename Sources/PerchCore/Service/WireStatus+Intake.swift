import PerchBase
package import PerchWire

// How the App Store learns whether it is to send a notification again.
extension StatusDetail {
    /// The value is kept as a dead letter: it is taken later, by a retry, another setting or a newer version.
    package static let kept = StatusDetail(key: "kept", value: "dead_letter")
}

extension WireStatus {
    /// The status of `POST /apple/notifications`. The App Store sends a notification again after 503, and perhaps never after a 4xx.
    /// So 4xx is for bytes that can never become right.
    var intakeHTTPStatus: Int {
        if self.details.contains(.kept) { return 503 }
        switch self.reason {
        case .appleTooLong, .requestTooLong, .frameTooLong: return 413
        case .appleNoChain, .appleChainLength, .appleCertificate, .appleCertificateTime, .appleNoMarker,
            .appleSignature:
            return 403
        default: return self.code == .invalidArgument ? 400 : 503
        }
    }
}
