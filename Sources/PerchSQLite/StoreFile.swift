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
enum StoreFile {
    /// Creates the file if it is not there: readable by its owner only, and its name durable before anything is in it.
    static func create(at path: String) throws(StoreOpenError) {
        let directory = Self.directory(of: path)
        // An existing file is not opened here: closing any descriptor of it would drop the locks of this process.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            switch errno {
            case EEXIST: return try Self.requireRegular(path)
            case ENOENT, ENOTDIR: throw .missingDirectory(path: path, directory: directory)
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

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func requireRegular(_ path: String) throws(StoreOpenError) {
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
