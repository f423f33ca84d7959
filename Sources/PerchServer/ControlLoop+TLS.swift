import PerchBase
import PerchLoop
import PerchMetrics
import PerchTLS

// Certificates and keys of tickets, as time goes and files change.
extension ControlLoop {
    /// New handshakes use the new files; connections go on with what they began with.
    func reloadCertificates() {
        guard self.keeper != nil else { return }
        if let fault = self.keeper?.reload(wall: Clocks.wall()) {
            self.log.error("the certificate stays as it was: \(fault)")
        } else if let keeper = self.keeper {
            for loop in self.parts.loops { loop.post(.secure(keeper.context)) }
            self.tellCertificate(keeper)
        }
        self.nextCertificateWarning = .zero
    }

    /// For the log: what is public of a certificate.
    func tellCertificate(_ keeper: TLSKeeper) {
        self.log.info(
            "the certificate is that of its file", LogField("file", keeper.settings.certificatePath ?? ""),
            LogField("ends", "\(keeper.certificateEnd)"), LogField("sha256", keeper.context.fingerprint))
    }

    /// New keys for tickets when it is time, and a warning a day before a certificate ends.
    func keepSecure(_ now: MonotonicTime) {
        guard let keeper = self.keeper else { return }
        let wall = Clocks.wall()
        if keeper.tickets.rotate(wall: wall) { self.log.debug("session tickets have a new key") }
        let left = keeper.certificateEnd.milliseconds(since: wall)
        guard left < Limits.tlsCertificateWarningMilliseconds, now >= self.nextCertificateWarning else { return }
        self.nextCertificateWarning = now.advanced(byMilliseconds: 86_400_000)
        self.log.warning(
            left > 0
                ? "the certificate ends soon: put a new one in its place, and send SIGHUP"
                : "the certificate has ended, and clients refuse it: put a new one in its place, and send SIGHUP",
            LogField("file", keeper.settings.certificatePath ?? ""), LogField("ends", "\(keeper.certificateEnd)"))
    }
}
