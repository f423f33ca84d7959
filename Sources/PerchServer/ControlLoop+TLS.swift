import PerchBase
import PerchLoop
import PerchMetrics
import PerchTLS

// Reloads certificates and rotates ticket keys.
extension ControlLoop {
    /// New handshakes use the new files; open connections keep their certificate.
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

    /// Logs the public fields of a certificate.
    func tellCertificate(_ keeper: TLSKeeper) {
        self.log.info(
            "the certificate is that of its file", LogField("file", keeper.settings.certificatePath ?? ""),
            LogField("ends", "\(keeper.certificateEnd)"), LogField("sha256", keeper.context.fingerprint))
    }

    /// Rotates the ticket key when due, and warns a day before a certificate ends.
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
