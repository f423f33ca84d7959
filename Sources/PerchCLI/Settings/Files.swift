import Glibc
import PerchBase

/// The failure to read or write a file.
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

    /// The permissions of a written file.
    enum Audience {
        /// Those of the directory and the umask; an existing file keeps its own.
        case everybody
        /// Its owner alone.
        case owner
        /// Its owner alone, unless the file exists: it keeps its own.
        case ownerAtFirst
    }

    /// Replaces a file atomically: a killed process leaves the old content whole. A device or a pipe is written to. A link
    /// stays, and its target is replaced.
    static func replace(_ path: String, with bytes: [UInt8], for audience: Audience = .everybody) throws(FileFault) {
        let place = try Place(path)
        let descriptor = try place.open(for: audience)
        do throws(FileFault) {
            try Self.write(bytes, to: descriptor, path)
        } catch {
            close(descriptor)
            place.forget()
            throw error
        }
        // Some file systems report a full disk only here.
        guard close(descriptor) == 0 else {
            let code = errno
            place.forget()
            throw FileFault(path, "written", errno: code)
        }
        try place.settle()
    }

    /// Checks whether `replace` would succeed, before a long job. Changes nothing.
    static func requireReplaceable(_ path: String) throws(FileFault) {
        let place = try Place(path)
        guard place.draft != nil else {
            guard access(path, W_OK) == 0 else { throw FileFault(path, "written", errno: errno) }
            return
        }
        close(try place.open(for: .everybody))
        place.forget()
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw FileFault(path, "written", errno: errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// The destination of new content.
    private struct Place {
        let name: String
        /// The file that links lead to.
        let path: String
        /// The temporary file that replaces the real one; nil for a device or a pipe.
        let draft: String?
        /// The permissions of the existing file.
        let mode: mode_t?

        init(_ name: String) throws(FileFault) {
            var status = stat()
            let isThere = stat(name, &status) == 0
            let kind = status.st_mode & S_IFMT
            if isThere, kind == S_IFDIR { throw FileFault(name, "written", errno: EISDIR) }
            self.name = name
            self.mode = isThere ? status.st_mode & 0o777 : nil
            let target = isThere ? realpath(name, nil) : nil
            self.path = target.map { String(cString: $0) } ?? name
            free(target)
            self.draft = isThere && kind != S_IFREG ? nil : "\(self.path).\(getpid()).new"
        }

        func open(for audience: Audience) throws(FileFault) -> Int32 {
            let descriptor: Int32
            if let draft {
                // A fresh file: a secret must not go into a file that another process has open.
                unlink(draft)
                descriptor = Glibc.open(
                    draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, audience == .everybody ? 0o666 : 0o600)
            } else {
                descriptor = Glibc.open(self.path, O_WRONLY | O_CLOEXEC)
            }
            guard descriptor >= 0 else { throw FileFault(self.name, "written", errno: errno) }
            if self.draft != nil, audience != .owner, let mode { fchmod(descriptor, mode) }
            return descriptor
        }

        func settle() throws(FileFault) {
            guard let draft else { return }
            guard rename(draft, self.path) == 0 else {
                let code = errno
                unlink(draft)
                throw FileFault(self.name, "written", errno: code)
            }
        }

        func forget() {
            if let draft { unlink(draft) }
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The files of a directory in the order of their names, without hidden ones.
    static func paths(in directory: String) throws(FileFault) -> [String] {
        guard let handle = opendir(directory) else { throw FileFault(directory, "read", errno: errno) }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted().map { directory.hasSuffix("/") ? directory + $0 : "\(directory)/\($0)" }
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
