import Glibc
import PerchTesting
import Testing

@testable import PerchCLI

@Suite struct `A file that is written` {
    private let directory = TemporaryDirectory()
    private var path: String { self.directory.file("report.html") }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : 0
    }

    private func names() -> [String] { TemporaryDirectory.names(in: self.directory.path).sorted() }

    private func read(_ path: String) throws -> String {
        String(decoding: try Files.read(path, limitBytes: 1_000), as: UTF8.self)
    }

    @Test func `a file that is written is everybody's as the umask says, and a secret its owner's alone`() throws {
        let before = umask(0o022)
        defer { umask(before) }
        try Files.replace(self.path, with: Array("one".utf8))
        #expect(self.mode(self.path) & 0o777 == 0o644)
        try Files.replace(self.path, with: Array("kept".utf8), for: .ownerAtFirst)
        #expect(self.mode(self.path) & 0o777 == 0o644)
        try Files.replace(self.path, with: Array("two".utf8), for: .owner)
        #expect(self.mode(self.path) & 0o777 == 0o600)
        #expect(try self.read(self.path) == "two")
        #expect(self.names() == ["report.html"])
        unlink(self.path)
        try Files.replace(self.path, with: Array("customers".utf8), for: .ownerAtFirst)
        #expect(self.mode(self.path) & 0o777 == 0o600)
    }

    @Test func `a file that is written keeps who could read it`() throws {
        TemporaryDirectory.write([], to: self.path)
        chmod(self.path, 0o640)
        try Files.replace(self.path, with: Array("one".utf8))
        #expect(self.mode(self.path) & 0o777 == 0o640)
    }

    @Test func `a file that is written is the one that a link leads to`() throws {
        let link = self.directory.file("latest.html")
        TemporaryDirectory.write([], to: self.path)
        #expect(symlink("report.html", link) == 0)
        try Files.replace(link, with: Array("one".utf8))
        #expect(self.mode(link) & S_IFMT == S_IFLNK)
        #expect(try self.read(self.path) == "one")
        #expect(self.names() == ["latest.html", "report.html"])
    }

    /// Otherwise root, writing to `/dev/null`, would replace the device by a file for all programs.
    @Test func `a file that is written takes the place of no pipe and no device`() throws {
        #expect(mkfifo(self.path, 0o600) == 0)
        let reader = open(self.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try Files.requireReplaceable(self.path)
        try Files.replace(self.path, with: Array("one".utf8))
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(Glibc.read(reader, &bytes, bytes.count) == 3)
        #expect(self.mode(self.path) & S_IFMT == S_IFIFO)
        #expect(self.names() == ["report.html"])
    }

    @Test func `a file that is written is known to be impossible beforehand, and nothing is left of the attempt`()
        throws
    {
        for path in [self.directory.path, self.directory.file("none/report.html")] {
            #expect(throws: FileFault.self) { try Files.requireReplaceable(path) }
            #expect(throws: FileFault.self) { try Files.replace(path, with: []) }
        }
        try Files.requireReplaceable(self.path)
        #expect(self.names() == [])
        TemporaryDirectory.write(Array("old".utf8), to: self.path)
        try Files.requireReplaceable(self.path)
        #expect(try self.read(self.path) == "old")
        #expect(self.names() == ["report.html"])
    }
}
