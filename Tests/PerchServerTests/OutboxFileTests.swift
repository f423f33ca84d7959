import Glibc
import PerchBase
import PerchTesting
import PerchTwin
import Testing

@testable import PerchServer

@Suite struct `the file of an outbox` {
    private let directory = TemporaryDirectory()

    private func note(_ number: Int) -> OutboxNote { .lost(app: "com.example", uuid: "\(number)") }

    private func notes(_ store: String) throws -> [OutboxNote] {
        try OutboxFile(directory: self.directory.path, store: store).notes()
    }

    @Test func `keeps what was appended, and what was written anew`() throws {
        let file = try OutboxFile(directory: self.directory.path, store: "a")
        for number in 0..<5 { file.append(self.note(number)) }
        #expect(try self.notes("a") == (0..<5).map { self.note($0) })
        try file.replace(with: [self.note(7)])
        file.append(self.note(8))
        #expect(try self.notes("a") == [self.note(7), self.note(8)])
        #expect(try self.notes("b") == [], "another store has a file of its own")
    }

    /// A crash cut off the last line: the next one must not be glued to it.
    @Test func `begins a new line behind one that was cut off`() throws {
        let path = "\(self.directory.path)/\(OutboxFile.prefix)a"
        TemporaryDirectory.write(self.note(1).line + self.note(2).line.dropLast(4), to: path)
        let file = try OutboxFile(directory: self.directory.path, store: "a")
        #expect(try file.notes() == [self.note(1)])
        file.append(self.note(3))
        #expect(try self.notes("a") == [self.note(1), self.note(3)])
    }

    /// A crash while it was written anew leaves a second file; a disk that is full, or a directory in its place, the old one.
    @Test func `stays whole where it cannot be written anew`() throws {
        let file = try OutboxFile(directory: self.directory.path, store: "a")
        file.append(self.note(1))
        let new = "\(self.directory.path)/\(OutboxFile.prefix)a.new"
        TemporaryDirectory.write(Array("half a li".utf8), to: new)
        #expect(try self.notes("a") == [self.note(1)])
        try file.replace(with: [self.note(2)])
        #expect(try self.notes("a") == [self.note(2)] && access(new, F_OK) != 0)
        #expect(mkdir(new, 0o700) == 0)
        #expect(throws: (any Error).self) { try file.replace(with: []) }
        file.append(self.note(3))
        #expect(try self.notes("a") == [self.note(2), self.note(3)])
    }

    @Test func `grows by so many bytes before it is written anew`() throws {
        let file = try OutboxFile(directory: self.directory.path, store: "a")
        let long = OutboxNote.lost(app: "com.example", uuid: String(repeating: "x", count: 1 << 20))
        for _ in 0..<(Limits.twinOutboxBytes >> 20) {
            #expect(!file.isLong)
            file.append(long)
        }
        #expect(file.isLong)
        try file.replace(with: [long])
        #expect(!file.isLong)
    }

    @Test func `is forgotten when so many other stores were served`() throws {
        for number in 0..<(Limits.twinStoresKept + 5) {
            let file = try OutboxFile(directory: self.directory.path, store: "store-\(number)")
            file.append(self.note(number))
            // The time of use, in the order of the numbers.
            let path = "\(self.directory.path)/\(OutboxFile.prefix)store-\(number)"
            var times = [timespec(tv_sec: 1_000 + number, tv_nsec: 0), timespec(tv_sec: 1_000 + number, tv_nsec: 0)]
            utimensat(AT_FDCWD, path, &times, 0)
        }
        let last = Limits.twinStoresKept + 4
        #expect(try self.notes("store-\(last)") == [self.note(last)])
        #expect(try self.notes("store-0") == [])
    }
}
