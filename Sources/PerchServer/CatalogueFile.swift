import Glibc
import PerchBase
package import PerchCatalogue

/// Reads catalogue files: a plain `.storekit` file, or a bundle directory with `Configuration.storekit` in it.
package enum CatalogueFile {
    /// The bytes of the file at `path`; at most what the loader takes.
    package static func bytes(at path: String) throws(ServerError) -> [UInt8] {
        var info = stat()
        guard stat(path, &info) == 0 else {
            throw ServerError("no catalogue at \(path): \(Self.reason()); give --catalog a .storekit file")
        }
        if info.st_mode & S_IFMT == S_IFDIR {
            return try Self.read(path + "/Configuration.storekit")
        }
        return try Self.read(path)
    }

    /// The catalogue in the file at `path`.
    package static func load(_ path: String) throws(ServerError) -> LoadedCatalogue {
        let bytes = try Self.bytes(at: path)
        do throws(CatalogueError) {
            return try StoreKitFile.load(bytes)
        } catch {
            throw ServerError("\(path): \(error)")
        }
    }

    private static func read(_ path: String) throws(ServerError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ServerError("cannot read the catalogue \(path): \(Self.reason())")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ServerError("cannot read the catalogue \(path): \(Self.reason())") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= Limits.catalogRequestBytesMax else {
                throw ServerError(
                    "the catalogue \(path) has more than \(Limits.catalogRequestBytesMax) bytes, the limit; split the app"
                )
            }
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
