import Glibc
import PerchBase
import PerchMetrics
import PerchTesting
import PerchWire
import Testing

@testable import PerchServer

@Suite struct `files that are read again` {
    private let directory = TemporaryDirectory()

    @Test func `unusable files are reported only while they are unusable`() {
        var files = ReloadedFiles()
        files.took(ReloadedFiles.keys, fault: nil)
        #expect(files.told.isEmpty)
        files.took(ReloadedFiles.keys, fault: "no JSON")
        files.took(ReloadedFiles.catalogue(of: "com.example.app"), fault: "line 3")
        files.took(ReloadedFiles.keys, fault: "empty")
        #expect(
            files.told == ["keys and names of certificates: empty", "the catalogue of com.example.app: line 3"])
        files.took(ReloadedFiles.keys, fault: nil)
        #expect(files.told == ["the catalogue of com.example.app: line 3"])
    }

    @Test func `reloadable files are checked before a restart needs them`() {
        var catalogue = self.directory.file("catalog.storekit")
        var settings = ServerSettings()
        settings.authentication.tokenKeysPath = self.directory.file("keys")
        #expect(mkdir(self.directory.file("keys"), 0o700) == 0)
        var namesEntitlements = false
        func faults() -> [String] {
            ReloadedFiles.faultsNow(
                settings,
                catalogues: [
                    ReloadedFiles.HeldCatalogue(
                        bundleID: "com.example.app", path: catalogue, namesEntitlements: namesEntitlements)
                ])
        }
        #expect(
            faults().map { String($0.prefix { $0 != ":" }) } == [
                "keys and names of certificates", "the catalogue of com.example.app",
            ])
        TemporaryDirectory.write(Array("garbage".utf8), to: self.directory.file("keys/bad.jwk"))
        TemporaryDirectory.write(Array("{}".utf8), to: catalogue)
        #expect(faults().first?.contains("bad.jwk") == true)
        settings.authentication.tokenKeysPath = nil
        catalogue = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/deploy/sample.storekit"
        #expect(faults() == [])
        // A catalogue whose names come from a file that is not there any more.
        TemporaryDirectory.write(TemporaryDirectory.read(catalogue), to: self.directory.file("alone.storekit"))
        catalogue = self.directory.file("alone.storekit")
        #expect(faults() == [])
        namesEntitlements = true
        #expect(faults() == ["the named entitlements of com.example.app: \(ReloadedFiles.entitlementsAreGone)"])
    }

    @Test(arguments: [
        (Limits.storeRoomWantedBytes - 1, ["problem"]), (Limits.storeRoomWantedBytes, ["ok"]), (.max, []),
    ])
    func `stand beside the store, whose room is judged by what its log needs`(_ bytes: Int, _ levels: [String]) {
        #expect(self.findings([], room: bytes).filter { $0.subject == "disk" }.map(\.level) == levels)
    }

    private func finding(_ faults: [String]) -> Finding? {
        self.findings(faults, room: .max).first { $0.subject == "files" }
    }

    private func findings(_ faults: [String], room: Int) -> [Finding] {
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        let now = Instant(milliseconds: 0)
        return Findings(
            samples: SampleReports.samples(), store: SampleReports.store(), isStoreInMemory: false,
            storePath: "/srv/perch", storeRoomBytes: room, readiness: ReadyState(since: now), awaited: "", http: nil,
            manager: ServiceManager(Supervision(), log: log), backups: Backups(),
            uptimeMilliseconds: 0, now: now, fileFaults: faults, sinceProof: nil
        ).all
    }

    @Test func `unusable files are a warning of the doctor, each with its reason`() {
        #expect(self.finding([])?.level == "ok")
        let found = self.finding(["a: b", "c: d"])
        #expect(found?.level == "warning" && found?.message.contains("a: b; c: d") == true)
        #expect(found?.remedy.contains("SIGHUP") == true)
    }
}
