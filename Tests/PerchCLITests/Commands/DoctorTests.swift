import Glibc
import PerchBase
import PerchClient
import PerchTesting
import Testing

@testable import PerchCLI

@Suite struct `the doctor` {
    @Test(arguments: [(100, .problem), (1_024, .warning), (20_000, .ok)] as [(Int, DoctorFinding.Level)])
    func `the doctor judges descriptors by the connections that they leave`(_ limit: Int, _ level: DoctorFinding.Level)
    {
        let finding = Judgement.descriptors(limit)
        #expect(finding.level == level)
        #expect(finding.message.contains("at most \(limit - Limits.descriptorsReserved) connections"))
        #expect(finding.remedy.isEmpty == (level == .ok))
    }

    @Test func `the doctor judges a disk by its median sync, and reports the longest`() {
        let fast = Judgement.syncs([900, 80_000, 1_100], in: "/srv")
        #expect(fast.level == .ok)
        #expect(fast.message == "3 times fdatasync in /srv: median 1.1 ms, longest 80.0 ms")
        let slow = Judgement.syncs([20_000, 20_000, 1], in: "/srv")
        #expect(slow.level == .warning)
        #expect(!slow.remedy.isEmpty)
    }

    @Test func `the doctor judges room by what the log needs`() {
        let enough = Int64(Limits.storeRoomWantedBytes)
        #expect(Judgement.room(bytes: enough, in: "/srv").level == .ok)
        #expect(Judgement.room(bytes: enough - 1, in: "/srv").level == .problem)
    }

    @Test func `a clock whose battery is empty is a problem`() {
        #expect(Judgement.clock(CivilTime(year: 1970, month: 1, day: 1).instant).level == .problem)
        #expect(Judgement.clock(CivilTime(year: 2024, month: 12, day: 31).instant).level == .problem)
        #expect(Judgement.clock(CivilTime(year: 2026, month: 11, day: 21).instant).level == .ok)
        #expect(Judgement.clock(CivilTime(year: 2125, month: 1, day: 1).instant).level == .problem)
    }

    @Test func `the doctor says by which rule any SQLite will do`() {
        let finding = Judgement.sqlite(version: "3.40.1")
        #expect(finding.level == .ok)
        #expect(finding.message.contains("3.40.1"))
        #expect(finding.message.contains("one connection"))
    }

    @Test func `the doctor measures a directory and leaves nothing behind`() {
        let folder = TemporaryDirectory()
        let findings = Examination.disk(folder.path)
        #expect(findings.map(\.subject) == ["fsync", "disk"])
        #expect(TemporaryDirectory.names(in: folder.path).isEmpty)
    }

    @Test func `a directory that is not there is a problem with a remedy`() {
        let findings = Examination.disk("/nowhere")
        #expect(findings.map(\.level) == [.problem])
        #expect(findings.first?.remedy.hasPrefix("make the directory") == true)
    }

    /// /proc is there, and the kernel says ENOENT to a file that is to be made in it.
    @Test func `a directory that takes no files is not said to be missing`() {
        let findings = Examination.store("/proc")
        #expect(findings.map(\.subject) == ["store", "disk"])
        #expect(findings.first?.remedy.contains("cannot make one there") == true)
        #expect(findings.last?.level == .problem)
        #expect(findings.last?.remedy.contains("takes no new files") == true)
    }

    @Test func `a missing server is a warning, with the command that starts one`() {
        let finding = Examination.port("127.0.0.1:1", "no connection")
        #expect(finding.level != .ok)
        #expect(finding.remedy.contains("perch serve") || finding.remedy.contains("--listen"))
    }

    @Test func `the gravest finding stands last, above a line that counts`() {
        let writer = TextWriter(isColoured: false)
        let lines = writer.findings([
            DoctorFinding(.problem, "disk", "full", remedy: "free some"), DoctorFinding(.ok, "clock", "fine"),
            DoctorFinding(.warning, "store", "gone", remedy: "look"),
        ])
        #expect(lines.map { $0.prefix(7) } == ["ok     ", "warning", "       ", "problem", "       ", "", "1 probl"])
        #expect(lines.last == "1 problem, 1 warning in 3 checks")
        #expect(writer.findings([DoctorFinding(.ok, "clock", "fine")]).last == "no problems, no warnings in 1 checks")
    }

    @Test func `the doctor checks the current directory only if no store is named`() {
        let folder = TemporaryDirectory()
        #expect(Examination.disks(store: nil, isAnswered: true).isEmpty)
        #expect(Examination.disks(store: nil, isAnswered: false).map(\.subject) == ["fsync", "disk"])
        for isAnswered in [true, false] {
            let findings = Examination.disks(store: folder.path, isAnswered: isAnswered)
            #expect(findings.first?.message.contains(folder.path) == true)
        }
    }

    @Test func `a store that is not there is not taken for the one that was meant`() {
        let folder = TemporaryDirectory()
        let empty = Examination.store(folder.path)
        #expect(empty.map(\.subject) == ["store", "fsync", "disk"])
        #expect(
            empty.first?.level == .warning
                && empty.first?.message.contains("no store at \(folder.path)/perch.db") == true)
        TemporaryDirectory.write([1], to: folder.file("perch.db-wal"))
        let alone = Examination.store(folder.path)
        #expect(alone.first?.level == .problem && alone.first?.remedy.contains("put the file back") == true)
        TemporaryDirectory.write([1], to: folder.file("perch.db"))
        let there = Examination.store(folder.path)
        #expect(there.first?.level == .ok && there.first?.message.contains("perch restore --verify") == true)
        let missing = Examination.store(folder.file("mistyped"))
        #expect(missing.map(\.subject) == ["store", "fsync", "disk"])
        #expect(missing.first?.level == .warning && missing.first?.message.contains("mistyped is not there") == true)
    }

    @Test func `a full disk wants space, a broken one a look at it, and a wrong one another user`() {
        func finding(_ code: Int32) -> DoctorFinding { Judgement.failed("fdatasync failed", in: "/srv", errno: code) }
        #expect(finding(ENOSPC).message == "fdatasync failed in /srv: No space left on device")
        for code in [ENOSPC, EDQUOT] { #expect(finding(code).remedy.hasPrefix("free some space")) }
        #expect(finding(EIO).remedy.contains("dmesg"))
        #expect(finding(EACCES).remedy.contains("the user that runs the server"))
    }

    @Test(arguments: [
        Unanswered(.unauthenticated, "UNAUTHENTICATED", "asks who you are", "--credentials-file"),
        Unanswered(.permissionDenied, "PERMISSION_DENIED", "administrators", "scope admin"),
        Unanswered(.unauthenticated, "CREDENTIALS_EXPIRED", "does not take these credentials", "perch token inspect"),
        Unanswered(.failedPrecondition, "TLS_REQUIRED", "speaks TLS only", "--tls-ca"),
        Unanswered(.unauthenticated, .tlsUntrusted, "no trusted authority", "--tls-ca"),
        Unanswered(.unauthenticated, .tlsWrongName, "another name", "--tls-server-name"),
        Unanswered(.unauthenticated, .tlsExpired, "not valid at this time", "renew"),
        Unanswered(.unavailable, .tlsIncompatible, "no version of TLS", "update"),
        Unanswered(.unauthenticated, .tlsRefused, "another certificate", "--tls-client-ca"),
        Unanswered(.unavailable, .tlsFailed, "no TLS", "leave TLS out"),
        Unanswered(.unavailable, .authorizationUnreadable, "was not asked", "--credentials-file"),
        Unanswered(.unavailable, "SHUTTING_DOWN", "did not report its status", "log"),
        Unanswered(.unavailable, .connectionLost, "did not answer as a server", "--listen"),
        Unanswered(.deadlineExceeded, "DEADLINE", "did not answer as a server", "--listen"),
    ])
    func `the doctor distinguishes a refusing server from another program`(_ unanswered: Unanswered) {
        let finding = Judgement.unanswered(
            "127.0.0.1:7447", PerchError(code: unanswered.code, reason: unanswered.reason, message: "so it is"))
        #expect(finding.level == .problem && finding.subject == "server")
        #expect(finding.message.contains(unanswered.message) && finding.message.contains("so it is"))
        #expect(finding.remedy.contains(unanswered.remedy))
        #expect(finding.remedy.contains("--listen") == unanswered.message.hasSuffix("as a server"))
    }

    struct Unanswered: Sendable {
        var code: PerchError.Code
        var reason: PerchError.Reason
        var message: String
        var remedy: String

        init(_ code: PerchError.Code, _ reason: PerchError.Reason, _ message: String, _ remedy: String) {
            self.code = code
            self.reason = reason
            self.message = message
            self.remedy = remedy
        }
    }

    @Test(arguments: [
        ("/nowhere/perch", "/nowhere"), ("/perch", "/"), ("perch", "."), ("a/b.db", "a"), ("/tmp", "/tmp"),
    ])
    func `the doctor looks where the store would lie`(_ setting: String, _ directory: String) {
        #expect(Examination.directory(ofStore: setting) == directory)
    }

    @Test func `a token that has ended, or that ends later than servers accept, is a finding`() {
        let now = Instant(milliseconds: 1_767_225_600_000)
        func finding(_ days: Int64) -> DoctorFinding {
            Judgement.token(ending: now.advanced(byMilliseconds: days * 86_400_000), now: now)
        }
        #expect(finding(400).level == .ok && finding(0).level == .problem)
        let long = finding(500)
        #expect(long.level == .warning && long.message.contains("in 500 days; a server accepts 400 days"))
        #expect(long.remedy.contains("--expires"))
    }

    @Test func `a finding is a line, and its remedy another`() {
        let writer = TextWriter(isColoured: false)
        #expect(
            writer.finding(DoctorFinding(.problem, "clock", "it is 1970", remedy: "set it")) == [
                "problem  clock                 it is 1970", "                               -> set it",
            ])
        #expect(writer.finding(DoctorFinding(.ok, "clock", "fine")) == ["ok       clock                 fine"])
        #expect(TextWriter.number(12) == "12")
        #expect(TextWriter.number(0.25) == "0.25")
        #expect(TextWriter.number(1e300) == "1e+300")
    }
}

@Suite struct `calendar durations` {
    @Test func `months keep the day where there is one, then comes the rest`() {
        let start = CivilTime(year: 2026, month: 1, day: 31, milliseconds: 1_000).instant
        #expect(
            CalendarDuration(months: 1).end(from: start)
                == CivilTime(year: 2026, month: 2, day: 28, milliseconds: 1_000).instant)
        #expect(
            CalendarDuration(months: 14, milliseconds: 86_400_000).end(from: start)
                == CivilTime(year: 2027, month: 4, day: 1, milliseconds: 1_000).instant)
    }
}
