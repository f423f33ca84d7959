import Glibc
import PerchBase
import PerchLoop
import Synchronization

/// A copy in a file, with which a process answers at once after a restart, also without a server.
///
/// The format belongs to this version of this client: another one ignores the file and fetches the copy anew. A file that is
/// damaged, or is of another app, other names or another shard, is ignored too.
struct CopyFile {
    /// What a file is of.
    struct Subject: Equatable, Sendable {
        var app: String
        var names: [String]
        var shard: UInt32
        var shardCount: UInt32
    }

    private static let magic: [UInt8] = Array("perch copy 2\n".utf8)

    // MARK: Writing

    /// Collects the bytes of a file. Accounts are added in slices, so that nobody waits long for the copy meanwhile. Those that have changed
    /// since are added again behind `changedAt`, so the file is the copy at one position. Of two entries of an account the one behind it counts.
    struct Writer {
        private var head = Bytes()
        private var accounts = Bytes()
        private var changedAt = 0

        mutating func add(accounts places: Range<Int>, of table: CopyTable) {
            table.forEach(at: places) { key, aliases, segments in self.add(key, aliases, segments) }
        }

        /// Accounts again, some of which may have nothing any more.
        mutating func add(changed keys: some Sequence<String>, of table: CopyTable) {
            self.changedAt = self.accounts.all.count
            for key in keys {
                if let place = table.place(of: key) {
                    self.add(accounts: place..<place + 1, of: table)
                } else {
                    self.add(key, [], [])
                }
            }
        }

        private mutating func add(_ key: String, _ aliases: [String], _ segments: [CopyTable.Segment]) {
            self.accounts.add(key)
            self.accounts.add(aliases)
            self.accounts.add(UInt32(segments.count))
            for segment in segments {
                self.accounts.add(segment.grade)
                self.accounts.add(segment.reason)
                self.accounts.add(segment.until)
            }
        }

        /// Everything beside the accounts. Names and grades, to which the numbers of the accounts belong, only grow while a copy is not
        /// replaced.
        mutating func end(_ subject: Subject, _ machine: CopyMachine, now: Int64, wall: Instant) {
            self.head.all = CopyFile.magic
            self.head.add(subject.app)
            self.head.add(subject.names)
            self.head.add(subject.shard)
            self.head.add(subject.shardCount)
            self.head.add(wall.milliseconds)
            self.head.add(machine.time.now(now))
            self.head.add(machine.time.isFrozen ? 1 : 0 as UInt8)
            self.head.add(machine.time.isTestApp ? 1 : 0 as UInt8)
            self.head.add(now - (machine.heard ?? now))
            let position = machine.position ?? Position(revision: 0, asOf: Instant(milliseconds: 0))
            self.head.add(position.revision)
            self.head.add(position.asOf.milliseconds)
            self.head.add(position.epoch)
            self.head.add(UInt32(machine.token.count))
            self.head.all += machine.token
            self.head.add(machine.whole.table.names)
            self.head.add(UInt32(machine.whole.table.grades.count))
            for grade in machine.whole.table.grades {
                self.head.add(grade.name)
                self.head.add(grade.tier)
            }
            self.head.add(UInt64(self.changedAt))
        }

        consuming func finish() -> [UInt8] {
            self.head.all += self.accounts.all
            self.head.add(CRC32C.checksum(self.head.all))
            return self.head.all
        }
    }

    private struct Bytes {
        var all: [UInt8] = []

        mutating func add(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { self.all.append(contentsOf: $0) }
        }

        mutating func add(_ text: String) {
            self.add(UInt32(text.utf8.count))
            self.all.append(contentsOf: text.utf8)
        }

        mutating func add(_ texts: [String]) {
            self.add(UInt32(texts.count))
            for text in texts { self.add(text) }
        }
    }

    /// One at a time in this process: two copies may have the same file, and would write the same draft of it.
    private static let replacing = Mutex(())

    /// Replaces a file whole: a reader sees the old one or the new one. Returns why it could not.
    static func replace(_ path: String, with bytes: [UInt8]) -> String? {
        Self.replacing.withLock { _ in Self.replaceNow(path, with: bytes) }
    }

    private static func replaceNow(_ path: String, with bytes: [UInt8]) -> String? {
        // Another process may have the file, too, while one program replaces another.
        let temporary = "\(path).\(getpid()).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return "\(temporary) cannot be opened: \(Errno(errno))" }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, bytes.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let fault = Errno(errno)
                close(descriptor)
                unlink(temporary)
                return "\(temporary) cannot be written: \(fault)"
            }
            written += count
        }
        let isSynced = fsync(descriptor) == 0
        close(descriptor)
        guard isSynced, rename(temporary, path) == 0 else {
            let fault = Errno(errno)
            unlink(temporary)
            return "\(path) cannot be replaced: \(fault)"
        }
        return nil
    }

    // MARK: Reading

    /// The copy in a file; nil if there is none, and the reason if the file cannot be used.
    static func read(
        _ path: String, _ subject: Subject, now: Int64, wall: Instant
    ) -> (machine: CopyMachine?, fault: String?) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return (nil, errno == ENOENT ? nil : "\(path) cannot be opened: \(Errno(errno))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return (nil, "\(path) cannot be read: \(Errno(errno))") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var taken = 0
        while taken < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + taken, $0.count - taken)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (nil, "\(path) cannot be read: \(Errno(errno))") }
            taken += count
        }
        do throws(ColumnFault) {
            return (try Self.machine(bytes, subject, now: now, wall: wall), nil)
        } catch {
            return (nil, "\(path) is ignored, and written anew: \(error)")
        }
    }

    static func machine(
        _ bytes: [UInt8], _ subject: Subject, now: Int64, wall: Instant
    ) throws(ColumnFault) -> CopyMachine {
        let end = bytes.count - 4
        guard end >= Self.magic.count, Array(bytes[..<Self.magic.count]) == Self.magic else {
            throw ColumnFault(description: "it is no copy of this version")
        }
        var sum = Reader(bytes: bytes, place: end)
        guard try sum.number() == CRC32C.checksum(Array(bytes[..<end])) else {
            throw ColumnFault(description: "it is damaged")
        }
        var reader = Reader(bytes: bytes, place: Self.magic.count)
        let own = Subject(
            app: try reader.text(), names: try reader.texts(), shard: try reader.number(),
            shardCount: try reader.number())
        guard own == subject else {
            throw ColumnFault(description: "it is of another copy: of another app, other names or another shard")
        }
        let saved: Int64 = try reader.number()
        let app: Int64 = try reader.number()
        let isFrozen: UInt8 = try reader.number()
        let isTestApp: UInt8 = try reader.number()
        let silence: Int64 = try reader.number()
        let position = Position(
            revision: try reader.number(), asOf: Instant(milliseconds: try reader.number()), epoch: try reader.number())
        let tokenCount: UInt32 = try reader.number()
        let token = try reader.bytes(Int(tokenCount))
        // The wall clock decides how long the file lay there; one that was set back since cannot make it younger.
        // The numbers are what a server said, so none is trusted to fit a sum.
        let passed = max(wall.milliseconds &- saved, 0)
        let time = CopyMachine.CopyTime(
            app: isFrozen == 1 ? app : app &+ passed, monotonic: now, isFrozen: isFrozen == 1, isTestApp: isTestApp == 1
        )
        var filled = CopyMachine.Filled(asked: subject.names)
        for name in try reader.texts() { filled.table.add(name: name) }
        let gradeCount: UInt32 = try reader.number()
        for _ in 0..<gradeCount {
            filled.grades.append(filled.table.add(CopyTable.Grade(name: try reader.text(), tier: try reader.text())))
        }
        let changedAt: UInt64 = try reader.number()
        guard changedAt <= UInt64(end - reader.place) else { throw ColumnFault(description: "it is cut off") }
        let changed = reader.place + Int(changedAt)
        while reader.place < end {
            var columns = CopyTable.Columns()
            // Two entries of an account are never applied at once: names of the earlier one would stay.
            repeat {
                try reader.account(into: &columns)
            } while reader.place < end && reader.place != changed && columns.keyEnds.count < 1_024
            try filled.table.apply(columns, grades: filled.grades) { _ in }
        }
        return CopyMachine(
            filled, time: time, position: position, token: token, heard: now &- passed &- max(silence, 0),
            shard: subject.shard, shardCount: subject.shardCount, asked: subject.names)
    }

    private struct Reader {
        let bytes: [UInt8]
        var place: Int

        mutating func number<Number: FixedWidthInteger & BitwiseCopyable>() throws(ColumnFault) -> Number {
            let count = MemoryLayout<Number>.size
            guard self.place + count <= self.bytes.count else { throw ColumnFault(description: "it is cut off") }
            defer { self.place += count }
            let place = self.place
            return Number(
                littleEndian: self.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Number.self) })
        }

        mutating func bytes(_ count: Int) throws(ColumnFault) -> [UInt8] {
            guard count <= self.bytes.count - self.place else { throw ColumnFault(description: "it is cut off") }
            defer { self.place += count }
            return Array(self.bytes[self.place..<self.place + count])
        }

        mutating func text() throws(ColumnFault) -> String {
            let count: UInt32 = try self.number()
            return String(decoding: try self.bytes(Int(count)), as: UTF8.self)
        }

        mutating func texts() throws(ColumnFault) -> [String] {
            let count: UInt32 = try self.number()
            var texts: [String] = []
            for _ in 0..<count { texts.append(try self.text()) }
            return texts
        }

        mutating func account(into columns: inout CopyTable.Columns) throws(ColumnFault) {
            let account = UInt32(columns.keyEnds.count)
            let keyCount: UInt32 = try self.number()
            columns.keys += try self.bytes(Int(keyCount))
            columns.keyEnds.append(UInt32(columns.keys.count))
            let aliasCount: UInt32 = try self.number()
            for _ in 0..<aliasCount {
                let count: UInt32 = try self.number()
                columns.aliases += try self.bytes(Int(count))
                columns.aliasEnds.append(UInt32(columns.aliases.count))
                columns.aliasAccounts.append(account)
            }
            let segmentCount: UInt32 = try self.number()
            for _ in 0..<segmentCount {
                columns.grades.append(try self.number())
                columns.reasons.append(try self.number())
                columns.untils.append(try self.number())
            }
            columns.segmentEnds.append(UInt32(columns.grades.count))
        }
    }
}
