internal import Glibc
internal import PerchBase

/// Reads a small file completely: certificates, a key, a secret.
package enum TLSFile {
    /// Reads a public file.
    package static func read(_ path: String) throws(TLSError) -> [UInt8] {
        try Self.read(path, isSecret: false)
    }

    /// Reads a secret file. Refused if group or others have access, because it may already have been read.
    package static func readSecret(_ path: String) throws(TLSError) -> [UInt8] {
        try Self.read(path, isSecret: true)
    }

    private static func read(_ path: String, isSecret: Bool) throws(TLSError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.refusal(path, "cannot be read: \(Self.reason())") }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw Self.refusal(path, "is not a file")
        }
        // Checks the open descriptor instead of the name, so that the file cannot be replaced in between.
        if isSecret, info.st_mode & 0o077 != 0 {
            throw Self.refusal(
                path,
                "is a secret, but other users can read or change it (mode \(Self.octal(info.st_mode & 0o777))); run `chmod 600` on it, and replace it if it may have been read"
            )
        }
        let limit = Limits.tlsFileBytesMax
        guard info.st_size <= limit else {
            throw Self.refusal(path, "has \(info.st_size) bytes, the limit is \(limit)")
        }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.refusal(path, "cannot be read: \(Self.reason())") }
            if count == 0 { break }
            filled += count
        }
        bytes.removeSubrange(filled...)
        return Array(bytes.withoutByteOrderMark)
    }

    private static func refusal(_ path: String, _ what: String) -> TLSError { TLSError(.file, "\(path) \(what)") }

    private static func reason() -> String { String(cString: strerror(errno)) }

    private static func octal(_ mode: mode_t) -> String { "0" + String(mode, radix: 8) }
}
