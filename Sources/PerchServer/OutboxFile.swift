import Glibc
import PerchBase
import PerchLoop
import PerchTwin

/// The notes of an outbox, one line each, in a file of their store. Lines are appended, and the file is replaced as a whole: a kill at any
/// moment leaves all notes that were written, and cuts off the last line at most.
final class OutboxFile {
    private let path: String
    private var file: Int32
    private var bytes = 0
    /// Bytes after it was written anew.
    private var base = 0
    /// The last line has no end: a crash or a full disk cut it off.
    private var isCut = false

    /// Opens the file of a store. Of the files of other stores, those that were used last stay.
    init(directory: String, store: String) throws(SystemError) {
        self.path = "\(directory)/\(Self.prefix)\(store.prefix(32))"
        self.file = open(self.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard self.file >= 0 else { throw Self.error("open", self.path) }
        // The age of a file is when it was used.
        futimens(self.file, nil)
        Self.removeOldest(in: directory, except: self.path)
    }

    deinit { close(self.file) }

    static let prefix = "outbox-"

    /// The notes that are there. A damaged line is left out.
    func notes() throws(SystemError) -> [OutboxNote] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        lseek(self.file, 0, SEEK_SET)
        while true {
            let count = part.withUnsafeMutableBytes { read(self.file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.error("read", self.path) }
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        self.bytes = bytes.count
        self.isCut = bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { OutboxNote(line: Array($0)) }
    }

    /// Whether it is time to write it anew.
    var isLong: Bool { self.bytes > 2 * self.base + Limits.twinOutboxBytes }

    func append(_ note: OutboxNote) {
        // In one call, so that a crash cuts off the last line at most.
        let line = (self.isCut ? [UInt8(ascii: "\n")] : []) + note.line
        let count = line.withUnsafeBytes { Glibc.write(self.file, $0.baseAddress, $0.count) }
        self.isCut = count > 0 ? count < line.count : self.isCut
        self.bytes += max(count, 0)
    }

    /// Writes the file anew, beside the old one, and puts it in its place.
    func replace(with notes: [OutboxNote]) throws(SystemError) {
        let new = "\(self.path).new"
        unlink(new)
        let file = open(new, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.error("open", new) }
        var total = 0
        do throws(SystemError) {
            for note in notes { total += try Self.write(note.line, to: file, new) }
            guard fsync(file) == 0 else { throw Self.error("fsync", new) }
            guard rename(new, self.path) == 0 else { throw Self.error("rename", new) }
        } catch {
            close(file)
            unlink(new)
            // The next try is after as many bytes again.
            self.base = self.bytes
            throw error
        }
        close(self.file)
        self.file = file
        (self.bytes, self.base, self.isCut) = (total, total, false)
    }

    private static func write(_ line: [UInt8], to file: Int32, _ path: String) throws(SystemError) -> Int {
        var sent = 0
        while sent < line.count {
            let count = line[sent...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.error("write", path) }
            sent += count
        }
        return line.count
    }

    private static func error(_ call: String, _ path: String) -> SystemError {
        SystemError(call: call, subject: path, errno: Errno(errno))
    }

    private static func removeOldest(in directory: String, except own: String) {
        guard let stream = opendir(directory) else { return }
        defer { closedir(stream) }
        var found: [(path: String, used: Int)] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(Self.prefix) else { continue }
            var status = stat()
            let path = "\(directory)/\(name)"
            guard path != own, stat(path, &status) == 0 else { continue }
            found.append((path, status.st_mtim.tv_sec))
        }
        found.sort { $0.used > $1.used }
        for file in found.dropFirst(Limits.twinStoresKept) { unlink(file.path) }
    }
}
