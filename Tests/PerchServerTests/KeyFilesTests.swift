import Glibc
import PerchTesting
import Testing

@testable import PerchServer

@Suite struct `files with secrets` {
    private static func isOpen(_ mode: mode_t, credentials: String?) throws -> Bool {
        let directory = TemporaryDirectory()
        let path = directory.file("key.p8")
        TemporaryDirectory.write(Array("secret".utf8), to: path)
        chmod(path, mode)
        let place = credentials.map { $0.isEmpty ? String(path.dropLast("/key.p8".count)) : $0 }
        return try KeyFiles.read(path, limit: 100, credentials: place).isOpenToOthers
    }

    @Test(arguments: [(0o400, false), (0o600, false), (0o440, true), (0o604, true), (0o620, true)] as [(mode_t, Bool)])
    func `may be read by their owner alone`(_ mode: mode_t, _ isOpen: Bool) throws {
        #expect(try Self.isOpen(mode, credentials: nil) == isOpen)
        #expect(try Self.isOpen(mode, credentials: "/run/credentials/perch.service") == isOpen)
    }

    /// What systemd gives a service with `DynamicUser=`.
    @Test(arguments: [(0o400, false), (0o440, false), (0o444, true), (0o460, true)] as [(mode_t, Bool)])
    func `may be credentials of systemd, with an access list`(_ mode: mode_t, _ isOpen: Bool) throws {
        #expect(try Self.isOpen(mode, credentials: "") == isOpen)
    }
}
