import PerchApple
import PerchBase
import PerchModel
import PerchReconciler
import PerchWire
import Testing

@testable import PerchServer

/// What `perch doctor` says about asking the App Store, each sentence from what is known of one app.
@Suite struct `what doctor says of asking the App Store` {
    private static let at = Instant(milliseconds: 1_764_374_400_000)

    private func said(
        _ environment: AppleApp.Environment = .production, _ change: (inout AppWork.Report) -> Void = { _ in }
    ) -> [String] {
        var report = AppWork.Report(bundleID: "com.example.app", environment: environment)
        change(&report)
        var counts = ReconcileFigures.Counts()
        counts.reports = [report]
        return Self.lines(ReconcileFinding(counts: counts))
    }

    private static func lines(_ finding: ReconcileFinding) -> [String] {
        finding.all.map { "\($0.level): \($0.message)" + ($0.remedy.isEmpty ? "" : " > \($0.remedy)") }
    }

    @Test func `without a key it warns of an app that is sold, and of a sandbox it only says so`() {
        let app = AppleApp.production(bundleID: "com.example.app", appAppleID: 1)
        let sold = Self.lines(ReconcileFinding(appsWithoutKey: [app]))
        #expect(sold.count == 1 && sold[0].hasPrefix("warning: nothing asks the App Store"), "\(sold)")
        #expect(sold[0].contains("make an In-App Purchase key in App Store Connect"), "\(sold)")
        let tried = Self.lines(ReconcileFinding(appsWithoutKey: [.sandbox(bundleID: "com.example.app")]))
        #expect(tried.count == 1 && tried[0].hasPrefix("ok: nothing asks the App Store"), "\(tried)")
    }

    @Test func `a node without the right to ask says that another one does`() {
        var counts = ReconcileFigures.Counts()
        counts.isIdle = true
        #expect(
            Self.lines(ReconcileFinding(counts: counts))
                == ["ok: another node of this store asks it for what it did not deliver"])
    }

    @Test func `an App Store that is silent is named with its reason and the time, and not called "not asked yet"`() {
        #expect(self.said() == ["ok: com.example.app, Production: it was not asked yet"])
        let silent = self.said {
            $0.silence = AppWork.Report.Silence(message: "the App Store did not answer", at: Self.at)
        }
        #expect(
            silent == [
                "warning: com.example.app, Production: the App Store did not answer (\(Self.at)) > see that this machine reaches it; base_url and allow_private_addresses stand in the file of --apple-apps"
            ])
    }

    @Test func `a key that is refused is named with what reads it again`() {
        let refused = self.said { $0.key = .refused("the App Store refuses the key ABC", at: Self.at) }
        #expect(refused.count == 1 && refused[0].hasPrefix("warning: the App Store refuses the key ABC"), "\(refused)")
        #expect(refused[0].contains("then send SIGHUP"), "\(refused)")
        #expect(self.said { $0.key = .accepted(at: Self.at) }.isEmpty)
    }

    @Test(arguments: [
        (AppWork.Report.Test.asked(at: Self.at), "ok: ", "ask again in a minute"),
        (.arrived(at: Self.at), "ok: ", "its test notification arrived"),
        (.failed("no test notification came", at: Self.at), "warning: ", "/apple/notifications as the URL"),
    ]) func `a test notification`(test: AppWork.Report.Test, level: String, words: String) {
        let lines = self.said {
            $0.key = .accepted(at: Self.at)
            $0.test = test
        }
        #expect(lines.count == 1 && lines[0].hasPrefix(level) && lines[0].contains(words), "\(lines)")
    }

    @Test func `updates are told apart: held, waiting, and refused with a remedy each`() {
        let lines = self.said {
            $0.key = .accepted(at: Self.at)
            $0.updatesWaiting = 5
            $0.updatesHeld = 1
            $0.updatesRefused = 2
            $0.oldestUpdate = Self.at
            $0.refusedUpdates = [RefusedUpdate(what: "finish of 7", reason: "4000185: of a family member")]
        }
        #expect(lines.count == 4, "\(lines)")
        #expect(lines[0].contains("> nothing: the App Store keeps no token for a family member"), "\(lines)")
        #expect(lines[1].contains("refuses 2 updates of purchases, 1 of them named above"), "\(lines)")
        #expect(lines[2].hasPrefix("ok: com.example.app, Production: held back"), "\(lines)")
        #expect(lines[2].hasSuffix("told once it is on again: 1 update of purchases"), "\(lines)")
        #expect(lines[3].contains("to be told: 4 updates of purchases, the oldest since \(Self.at)"), "\(lines)")
    }

    @Test func `questions without an answer have their deadline`() {
        for (count, words) in [(1, "1 question about refunds"), (3, "3 questions about refunds")] {
            let lines = self.said {
                $0.key = .accepted(at: Self.at)
                $0.questions = [.open: 1, .refused: count - 1, .sent: 9]
                $0.nextDeadline = Self.at
            }
            #expect(lines.count == 1 && lines[0].contains("\(words), the first until \(Self.at)"), "\(lines)")
        }
    }

    @Test func `what was found that nobody had told is counted with one word or several`() {
        for (count, words) in [(UInt64(1), "1 thing found"), (2, "2 things found")] {
            let lines = self.said {
                $0.key = .accepted(at: Self.at)
                $0.lastWalk = Self.at
                $0.found["history"] = count
            }
            #expect(lines.count == 1 && lines[0].contains(words), "\(lines)")
        }
    }
}
