import Glibc
import PerchBase

/// Why a file could not be read or written.
package struct FileFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    init(_ path: String, _ doing: String, errno code: Int32) {
        let reason = String(cString: strerror(code))
        self.init("\(printable(path)) could not be \(doing): \(reason)")
    }
}

/// Whole small files: catalogues, settings, tokens, credentials.
enum Files {
    /// Reads a file, or standard input for `-`, that has at most `limitBytes`.
    static func read(_ path: String, limitBytes: Int) throws(FileFault) -> [UInt8] {
        let isInput = path == "-"
        let descriptor = isInput ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFault(path, "read", errno: errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw FileFault(isInput ? "standard input" : path, "read", errno: errno)
            }
            if count == 0 { return bytes }
            guard bytes.count + count <= limitBytes else {
                throw FileFault(
                    "\(printable(path)) has more than \(limitBytes) bytes, which is the limit for such a file")
            }
            bytes += chunk[..<count]
        }
    }

    /// Puts new content in the place of a file at once: whoever is killed on the way leaves the old one whole.
    static func replace(_ path: String, with bytes: [UInt8]) throws(FileFault) {
        let draft = "\(path).\(getpid()).new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFault(path, "written", errno: errno) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                close(descriptor)
                unlink(draft)
                throw FileFault(path, "written", errno: code)
            }
            rest = rest.dropFirst(count)
        }
        close(descriptor)
        guard rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw FileFault(path, "written", errno: code)
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
