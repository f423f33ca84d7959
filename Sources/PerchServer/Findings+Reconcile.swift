import PerchApple
import PerchBase
import PerchModel
import PerchReconciler
import PerchWire

/// What is known of asking the App Store back.
struct ReconcileFinding {
    /// Nil: no app has a key.
    var counts: ReconcileFigures.Counts?
    /// Apps without a key.
    var appsWithoutKey: [AppleApp] = []

    var all: [Finding] {
        var findings = self.appsWithoutKey.map { app in
            let message =
                "nothing asks the App Store for what it did not deliver to \(printable(app.bundleID)), \(app.environment.rawValue): server_api is missing"
            guard app.environment == .production else { return Self.ok(message) }
            return Self.warning(
                message, "make an In-App Purchase key in App Store Connect, and name it in the file of --apple-apps")
        }
        guard let counts = self.counts else { return findings }
        if counts.isIdle {
            findings.append(Self.ok("another node of this store asks it for what it did not deliver"))
        }
        for report in counts.reports { findings += Self.findings(report) }
        return findings
    }

    private static func findings(_ report: AppWork.Report) -> [Finding] {
        let name = "\(printable(report.bundleID)), \(report.environment.rawValue)"
        var findings: [Finding] = []
        if let silence = report.silence {
            findings.append(
                Self.warning(
                    "\(name): \(silence.message) (\(silence.at))",
                    "see that this machine reaches it; base_url and allow_private_addresses stand in the file of --apple-apps"
                ))
        }
        switch report.key {
        case .unused where report.silence != nil: break
        case .unused: findings.append(Self.ok("\(name): it was not asked yet"))
        case .accepted: break
        case .refused(let message, let at):
            findings.append(
                Self.warning(
                    "\(message) (\(at))",
                    "then send SIGHUP, which reads the key again; the same one is tried every ten minutes"))
        }
        switch report.test {
        case .none: break
        case .asked(let at):
            findings.append(Self.ok("\(name): a test notification was asked for at \(at); ask again in a minute"))
        case .arrived(let at): findings.append(Self.ok("\(name): its test notification arrived, told at \(at)"))
        case .failed(let message, let at):
            findings.append(
                Self.warning(
                    "\(name): \(message) (\(at)); another one is asked for an hour later",
                    "set https://HOST/apple/notifications as the URL in App Store Connect, and see that it reaches --apple-listen"
                ))
        }
        let waiting = (report.questions[.open] ?? 0) + (report.questions[.refused] ?? 0)
        if waiting > 0, let deadline = report.nextDeadline {
            findings.append(
                Self.warning(
                    "\(name): without an answer that the App Store takes: \(counted(waiting, "question")) about refunds, the first until \(deadline)",
                    "perch apple consumption list, then perch apple consumption answer"))
        }
        for refused in report.refusedUpdates {
            findings.append(
                Self.warning("\(name): \(refused)", refused.remedy))
        }
        if report.updatesRefused > report.refusedUpdates.count {
            findings.append(
                Self.warning(
                    "\(name): the App Store refuses \(report.updatesRefused) updates of purchases, \(report.refusedUpdates.count) of them named above",
                    "`perch apple reconcile --dry-run` lists all; each is forgotten 30 days after it was asked for"))
        }
        if report.updatesHeld > 0 {
            findings.append(
                Self.ok(
                    "\(name): held back, since finish_transactions or set_account_tokens is off, and told once it is on again: \(counted(report.updatesHeld, "update")) of purchases"
                ))
        }
        if let oldest = report.oldestUpdate {
            findings.append(
                Self.ok(
                    "\(name): to be told: \(counted(report.updatesWaiting - report.updatesHeld, "update")) of purchases, the oldest since \(oldest)"
                ))
        }
        if let walk = report.lastWalk {
            let found = report.found.values.reduce(0, +)
            findings.append(
                Self.ok(
                    "\(name): notifications that failed were fetched at \(walk); \(counted(found, "thing")) found since it began to ask that none had told"
                ))
        }
        return findings
    }

    private static func ok(_ message: String) -> Finding {
        Finding(level: "ok", subject: "App Store API", message: message, remedy: "")
    }

    private static func warning(_ message: String, _ remedy: String) -> Finding {
        Finding(level: "warning", subject: "App Store API", message: message, remedy: remedy)
    }
}
