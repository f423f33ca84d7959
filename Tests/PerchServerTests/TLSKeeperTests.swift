import Glibc
import PerchBase
import PerchMetrics
import PerchTLS
import PerchTesting
import PerchWire
import Testing

@testable import PerchServer

@Suite struct `the files of TLS` {
    private let directory = TemporaryDirectory()
    private let authority = MadeCertificate.authority()
    /// Read anew each time: a certificate that ended a second ago, as it is made, has not ended at an earlier instant.
    private var now: Instant { Instant(milliseconds: Int64(time(nil)) * 1_000) }

    private var settings: TLSSettings {
        var settings = TLSSettings()
        settings.mode = .required
        settings.certificatePath = self.directory.file("certificate.pem")
        settings.keyPath = self.directory.file("key.pem")
        return settings
    }

    private func put(_ made: MadeCertificate, key: [UInt8]? = nil, mode: mode_t = 0o600) {
        TemporaryDirectory.write(made.certificate, to: self.directory.file("certificate.pem"))
        TemporaryDirectory.write(key ?? made.key, to: self.directory.file("key.pem"))
        chmod(self.directory.file("key.pem"), mode)
    }

    private func keeper(endsInSeconds: Int64 = 86_400) throws -> TLSKeeper {
        self.put(MadeCertificate.server(of: self.authority, endsInSeconds: endsInSeconds))
        return try TLSKeeper(self.settings, wall: self.now)
    }

    @Test func `usable files of TLS are reloaded`() throws {
        var keeper = try self.keeper()
        let before = keeper.context.fingerprint
        self.put(MadeCertificate.server(of: self.authority))
        #expect(keeper.faultNow() == nil)
        #expect(keeper.reload(wall: self.now) == nil)
        #expect(keeper.context.fingerprint != before)
    }

    @Test func `stay as they were where the new ones cannot be used, and it is known why`() throws {
        var keeper = try self.keeper()
        let before = keeper.context.fingerprint
        let made = MadeCertificate.server(of: self.authority)
        let spoilt: [(String, () -> Void)] = [
            ("key.pem: the key does not belong to the certificate", { self.put(made, key: self.authority.key) }),
            ("chmod 600", { self.put(made, mode: 0o640) }),
            (
                "certificate.pem: the certificate has ended",
                { self.put(MadeCertificate.server(of: self.authority, endsInSeconds: -1)) }
            ),
            ("key.pem: the key cannot be read", { self.put(made, key: []) }),
        ]
        for (reason, spoil) in spoilt {
            spoil()
            #expect(keeper.reload(wall: self.now)?.contains(reason) == true, "\(reason)")
            #expect(keeper.fault?.contains(reason) == true)
            #expect(keeper.context.fingerprint == before)
        }
        self.put(made)
        #expect(keeper.reload(wall: self.now) == nil && keeper.fault == nil)
    }

    @Test func `unusable files of TLS stop a server from starting`() throws {
        self.put(MadeCertificate.server(of: self.authority, endsInSeconds: -1))
        #expect(throws: ServerError.self) { try TLSKeeper(self.settings, wall: self.now) }
        self.put(MadeCertificate.server(of: self.authority))
        var short = self.settings
        short.ticketSecretPath = self.directory.file("secret")
        TemporaryDirectory.write([UInt8](repeating: 1, count: 31), to: self.directory.file("secret"))
        chmod(self.directory.file("secret"), 0o600)
        #expect {
            try TLSKeeper(short, wall: self.now)
        } throws: {
            "\($0)".contains("has 31 bytes, a secret has 32 to 4096")
        }
    }

    @Test(arguments: [
        (30, "ok"), (20, "warning"), (-1, "problem"),
    ])
    func `the files of TLS are a finding of the doctor`(_ days: Int64, _ level: String) throws {
        let keeper = try self.keeper(endsInSeconds: 40 * 86_400)
        let wall = keeper.certificateEnd.advanced(byMilliseconds: -days * 86_400_000)
        #expect(self.finding(TLSFinding(keeper, isLoopback: true, wall: wall)).level == level)
    }

    @Test func `that could not be read again are a finding of the doctor, before a restart needs them`() throws {
        let keeper = try self.keeper(endsInSeconds: 40 * 86_400)
        chmod(self.directory.file("key.pem"), 0o644)
        let finding = self.finding(TLSFinding(keeper, isLoopback: true, wall: self.now))
        #expect(finding.level == "warning" && finding.message.contains("chmod 600"))
    }

    private func finding(_ tls: TLSFinding?) -> (level: String, message: String) {
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        let findings = Findings(
            samples: SampleReports.samples(), store: nil, isStoreInMemory: true,
            readiness: ReadyState(since: self.now), awaited: "", http: nil,
            manager: ServiceManager(Supervision(), log: log), backups: Backups(), uptimeMilliseconds: 0,
            now: self.now, tls: tls, sinceProof: nil)
        let found = findings.all.filter { $0.subject == "tls" }
        return (found.first?.level ?? "", found.first?.message ?? "")
    }

    @Test func `the files of TLS are off without a word of warning`() {
        #expect(self.finding(nil).level == "ok")
    }
}
