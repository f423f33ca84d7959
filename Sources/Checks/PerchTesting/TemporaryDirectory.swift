import Glibc

/// A directory of one test. It is removed with its content when the test releases it.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/perch-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("no temporary directory: errno \(errno)") }
        self.path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { Self.remove(self.path) }

    package func file(_ name: String) -> String { "\(self.path)/\(name)" }

    /// The names in a directory, sorted; empty if there is none.
    package static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    package static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "rb") else { return [] }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        let count = ftell(file)
        rewind(file)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = fread(buffer.baseAddress, 1, count, file)
        }
    }

    package static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "wb") else { preconditionFailure("\(path) cannot be written: errno \(errno)") }
        defer { fclose(file) }
        let count = fwrite(bytes, 1, bytes.count, file)
        precondition(count == bytes.count, "\(path): wrote \(count) of \(bytes.count) bytes")
    }

    private static func remove(_ path: String) {
        for name in Self.names(in: path) {
            let child = "\(path)/\(name)"
            if unlink(child) != 0 { Self.remove(child) }
        }
        rmdir(path)
    }
}
