import CPerchSQLite
import Glibc
import PerchBase

/// The file system of a store's file: the machine's, or one that a test has registered.
package struct StoreFileSystem: Sendable {
    /// The file system under Perch's own, which checks each page; nil for SQLite's default.
    let base: String?
    let name: String

    package static let machine = StoreFileSystem(base: nil, name: "perch")

    /// The file system registered with SQLite by this name. SQLite creates the files on it.
    package static func registered(_ base: String) -> StoreFileSystem {
        StoreFileSystem(base: base, name: "perch-\(base)")
    }
}

/// Checks and operations on a store's file, most of them before SQLite opens it.
package enum StoreFile {
    /// Whether there is no file at `path`, or an empty one, as a process leaves that ended while it created its store.
    package static func isVacant(_ path: String) -> Bool { Self.bytes(at: path) == 0 }

    /// Whether there is a log without its store.
    package static func hasLogAlone(_ path: String) -> Bool { Self.isVacant(path) && Self.bytes(at: path + "-wal") > 0 }

    /// Throws if there is a log without its store: a new store at this path would destroy the log.
    static func requireNoLogAlone(at path: String) throws(StoreOpenError) {
        if Self.hasLogAlone(path) { throw .logWithoutStore(path: path) }
    }

    /// Creates the file unless it exists. Only its owner can read it, and its name is durable before it has contents.
    static func create(at path: String) throws(StoreOpenError) {
        let directory = Self.directory(of: path)
        // An existing file is not opened here: closing any descriptor of it would drop the locks of this process.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            switch errno {
            case EEXIST: return try Self.requireRegular(path)
            case ENOENT where Self.isThere(directory): throw .takesNoFiles(path: path, directory: directory)
            case ENOENT: throw .missingDirectory(path: path, directory: directory)
            case ENOTDIR: throw .notADirectory(path: path, directory: directory)
            case EACCES, EPERM, EROFS: throw .notPermitted(path: path)
            case ENOSPC, EDQUOT: throw .noRoom(path: path)
            case let number: throw .system(path: path, doing: "creating it", errorNumber: number)
            }
        }
        Glibc.close(descriptor)
        try Self.syncDirectory(directory, of: path)
    }

    /// Makes the names in a file's directory durable.
    static func syncDirectory(of path: String) throws(StoreOpenError) {
        try Self.syncDirectory(Self.directory(of: path), of: path)
    }

    /// A random identity from the kernel.
    static func newIdentity() -> StoreIdentity {
        var bytes: (UInt64, UInt64) = (0, 0)
        let count = withUnsafeMutableBytes(of: &bytes) { getrandom($0.baseAddress, $0.count, 0) }
        // The kernel returns up to 256 bytes whole or not at all. Only an old kernel lacks the call.
        precondition(count == 16, "getrandom gave \(count) of 16 bytes")
        return StoreIdentity(high: bytes.0, low: bytes.1)
    }

    /// The size of a file; 0 if there is none. Opens no descriptor: see `create`.
    static func bytes(at path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The free space for an ordinary user on the file's file system; `Int.max` if it is not known.
    package static func roomBytes(at path: String) -> Int {
        var room = statvfs()
        guard statvfs(path, &room) == 0 else { return .max }
        let bytes = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize))
        return bytes.overflow ? .max : Int(clamping: bytes.partialValue)
    }

    /// Whether the path exists.
    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Syncs a file's contents. The file must not be open elsewhere in this process, because closing it drops locks.
    static func syncContent(of path: String) throws(StoreOpenError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(path: path, doing: "opening it", errorNumber: errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(path: path, doing: "syncing it", errorNumber: errno) }
    }

    /// Whether a process holds SQLite's lock of the file. Must not be used for a file that this process has open.
    static func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        // The 512 bytes at 1 GiB that SQLite locks for pending, reserved and shared.
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Copies a file into a new one, readable by its owner only.
    static func copy(_ path: String, to copy: String) throws(StoreOpenError) {
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw .system(path: path, doing: "opening it", errorNumber: errno) }
        defer { Glibc.close(source) }
        try Self.create(at: copy)
        let target = open(copy, O_WRONLY | O_CLOEXEC)
        guard target >= 0 else { throw .system(path: copy, doing: "opening it", errorNumber: errno) }
        defer { Glibc.close(target) }
        var buffer = [UInt8](repeating: 0, count: Limits.storeCopyBytes)
        while true {
            let count = read(source, &buffer, buffer.count)
            if count == 0 { return }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(path: path, doing: "reading it", errorNumber: errno) }
            try Self.write(buffer[..<count], to: target, of: copy)
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, of path: String) throws(StoreOpenError)
    {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                if errno == ENOSPC || errno == EDQUOT { throw .noRoom(path: path) }
                throw .system(path: path, doing: "writing it", errorNumber: errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives a file that root has created to the owner of its directory, so that a service without root's rights can open it.
    static func handOver(_ path: String) throws(StoreOpenError) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard stat(Self.directory(of: path), &status) == 0,
            // Does not follow a symbolic link that has replaced the file meanwhile.
            lchown(path, status.st_uid, status.st_gid) == 0
        else {
            throw .system(path: path, doing: "giving it to whom its directory belongs", errorNumber: errno)
        }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func requireRegular(_ path: String) throws(StoreOpenError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .system(path: path, doing: "looking at it", errorNumber: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    }

    private static func syncDirectory(_ directory: String, of path: String) throws(StoreOpenError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .system(path: path, doing: "opening its directory", errorNumber: errno)
        }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw .system(path: path, doing: "syncing its directory", errorNumber: errno)
        }
    }
}
