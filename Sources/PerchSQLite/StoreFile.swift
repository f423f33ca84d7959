import CPerchSQLite
import Glibc
import PerchBase

/// Where SQLite finds a store's file: on the machine's own file systems, or on another that a test has registered.
package struct StoreFileSystem: Sendable {
    /// What our own, which checks each page, lies over; nil for SQLite's default.
    let base: String?
    let name: String

    package static let machine = StoreFileSystem(base: nil, name: "perch")

    /// The one that SQLite knows by this name. Files are created there by SQLite itself.
    package static func registered(_ base: String) -> StoreFileSystem {
        StoreFileSystem(base: base, name: "perch-\(base)")
    }
}

/// What has to be true of a store's file before SQLite may open it.
package enum StoreFile {
    /// Whether there is nothing at `path` that a store could be in: no file, or one with nothing in it, as a process leaves
    /// that ended while it made its store.
    package static func isVacant(_ path: String) -> Bool { Self.bytes(at: path) == 0 }

    /// Whether a log lies there without its store.
    package static func hasLogAlone(_ path: String) -> Bool { Self.isVacant(path) && Self.bytes(at: path + "-wal") > 0 }

    /// Where a file was moved away from its log, a new one in its place would be the end of what is in that.
    static func requireNoLogAlone(at path: String) throws(StoreOpenError) {
        if Self.hasLogAlone(path) { throw .logWithoutStore(path: path) }
    }

    /// Creates the file if it is not there: readable by its owner only, and its name durable before anything is in it.
    static func create(at path: String) throws(StoreOpenError) {
        let directory = Self.directory(of: path)
        // An existing file is not opened here: closing any descriptor of it would drop the locks of this process.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            switch errno {
            case EEXIST: return try Self.requireRegular(path)
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

    /// Sixteen bytes from the kernel's own source.
    static func newIdentity() -> StoreIdentity {
        var bytes: (UInt64, UInt64) = (0, 0)
        let count = withUnsafeMutableBytes(of: &bytes) { getrandom($0.baseAddress, $0.count, 0) }
        // Up to 256 bytes are given whole or not at all, and only an old kernel has no such call.
        precondition(count == 16, "getrandom gave \(count) of 16 bytes")
        return StoreIdentity(high: bytes.0, low: bytes.1)
    }

    /// How long a file is; 0 where there is none. No descriptor is opened: see `create`.
    static func bytes(at path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// What an ordinary user may still write where a file lies; as much as you like where that is not known.
    package static func roomBytes(at path: String) -> Int {
        var room = statvfs()
        guard statvfs(path, &room) == 0 else { return .max }
        let bytes = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize))
        return bytes.overflow ? .max : Int(clamping: bytes.partialValue)
    }

    /// Whether there is anything of that name.
    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Waits until what was written to a file is on the disk. Nobody has it open, so closing it drops no lock.
    static func syncContent(of path: String) throws(StoreOpenError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(path: path, doing: "opening it", errorNumber: errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(path: path, doing: "syncing it", errorNumber: errno) }
    }

    /// Whether a process holds SQLite's lock of the file. Not of a file that this process has open.
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

    /// Gives a file that root has made to whom its directory belongs: a service without root's rights could not open it.
    /// Others could not give it away, and need not.
    static func handOver(_ path: String) throws(StoreOpenError) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard stat(Self.directory(of: path), &status) == 0,
            // Never what somebody has put in its place meanwhile, elsewhere.
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
