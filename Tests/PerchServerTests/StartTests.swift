import Glibc
import PerchBase
import PerchMetrics
import PerchModel
import PerchTesting
import Testing
import TestingThreads

@testable import PerchServer

@Suite(.onOwnThreads) struct `a start` {
    /// Each start changes the process, so each runs in a new one.
    @Test func `a start without an app leaves no new store behind`() async {
        let directory = TemporaryDirectory()
        let fresh = directory.file("store")
        await #expect(processExitsWith: .exitCode(42)) {
            [fresh = fresh as String, directory = directory.path as String] in
            for path in [fresh, directory] {
                var settings = ServerSettings()
                settings.listen = "127.0.0.1:0"
                settings.store = .file(path: path)
                do throws(ServerError) {
                    _ = try Server.run(settings)
                } catch {
                    guard error.isOfSettings, error.description.contains("no store at \(path)/perch.db") else {
                        exit(1)
                    }
                    continue
                }
                exit(2)
            }
            exit(42)
        }
        #expect(TemporaryDirectory.names(in: directory.path) == [])
    }

    @Test func `a start with a log but no store is refused, and the log stays`() async {
        let directory = TemporaryDirectory()
        TemporaryDirectory.write([1, 2, 3], to: directory.file("perch.db-wal"))
        await #expect(processExitsWith: .exitCode(42)) { [path = directory.path as String] in
            var settings = ServerSettings()
            settings.listen = "127.0.0.1:0"
            settings.store = .file(path: path)
            do throws(ServerError) {
                _ = try Server.run(settings)
            } catch {
                exit(!error.isOfSettings && error.description.contains("put the file back") ? 42 : 1)
            }
        }
        #expect(TemporaryDirectory.names(in: directory.path) == ["perch.db-wal"])
    }

    @Test func `a start with a pipe as catalogue does not wait for a writer`() {
        let directory = TemporaryDirectory()
        let path = directory.file("pipe.storekit")
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: ServerError.self) { try CatalogueFile.load(path) }
        #expect(error?.description == "\(path) is no regular file; write the catalogue into one")
    }

    struct Contradiction: CustomTestStringConvertible {
        var says: String
        var settings = ServerSettings()
        var testDescription: String { self.says }

        init(_ says: String, _ change: (inout ServerSettings) -> Void) {
            self.says = says
            change(&self.settings)
        }
    }

    @Test(arguments: [
        Contradiction("give --tls-client-certificates") { $0.authentication.certificateIdentitiesPath = "ids.json" },
        Contradiction("give --tls-client-certificates") {
            $0.authentication.certificateIdentitiesPath = "ids.json"
            ($0.tls.mode, $0.tls.certificatePath, $0.tls.keyPath) = (.required, "c.pem", "k.pem")
        },
        Contradiction("without --token-keys") { $0.authentication.issuer = "https://login.example.com" },
        Contradiction("without --token-keys") { $0.authentication.audience = "shop" },
        Contradiction("--tls-ticket-secret needs TLS, and there is no certificate") { $0.tls.ticketSecretPath = "s" },
        Contradiction("without --token-keys") { $0.authentication.tokenLifeMilliseconds = 60_000 },
        Contradiction("give --twin-listen too") { $0.twinNotify = "https://backend.example.com/" },
        Contradiction("10.0.0.1 is elsewhere") {
            ($0.twinListen, $0.twinDirectory, $0.twinNotify) = ("127.0.0.1:0", "twin", "http://10.0.0.1:8080/n")
        },
        Contradiction("--clock is for test apps") {
            $0.apps = [
                ServerSettings.AppSettings(
                    bundleID: "a", environment: .production, catalogPath: "a", clock: Instant(milliseconds: 0))
            ]
        },
    ])
    func `a start with contradictory settings is refused`(_ contradiction: Contradiction) {
        #expect(contradiction.settings.contradiction?.contains(contradiction.says) == true)
        let error = #expect(throws: ServerError.self) {
            try Listeners(contradiction.settings, log: Log(LogSettings(), Supervision()))
        }
        #expect(error?.isOfSettings == true && error?.description == contradiction.settings.contradiction)
    }

    @Test func `a start with consistent settings is not refused`() {
        var settings = ServerSettings()
        #expect(settings.contradiction == nil)
        settings.authentication.certificateIdentitiesPath = "ids.json"
        (settings.tls.mode, settings.tls.certificatePath, settings.tls.keyPath) = (.required, "c.pem", "k.pem")
        (settings.tls.clientCertificates, settings.tls.clientAuthorityPath) = (.optional, "a.pem")
        #expect(settings.contradiction == nil)
        settings.authentication.tokenKeysPath = "keys"
        settings.authentication.issuer = "https://login.example.com"
        #expect(settings.contradiction == nil)
    }
}
