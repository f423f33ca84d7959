import Glibc
import PerchBase
package import PerchCatalogue

/// Reads catalogue files: a plain `.storekit` file, or a bundle directory with `Configuration.storekit` and `Assets`,
/// as Xcode writes one for products with images.
package enum CatalogueFile {
    /// The content on disk: a file, and the images beside it.
    package struct Content: Sendable {
        package var file: [UInt8]
        /// By name, including images that no product uses.
        package var images: [ImageFile]
        /// The file of named entitlements beside it; nil for none.
        package var entitlements: [UInt8]?
        /// Where the files were read, for sentences.
        private let path: String
        private let entitlementsPath: String

        package init(
            file: [UInt8], at path: String, images: [ImageFile] = [],
            entitlements: (path: String, bytes: [UInt8]?)? = nil
        ) {
            self.file = file
            self.path = path
            self.images = images
            self.entitlements = entitlements?.bytes
            self.entitlementsPath = entitlements?.path ?? path
        }

        /// Bytes of all of it.
        package var byteCount: Int {
            self.images.reduce(self.file.count + (self.entitlements?.count ?? 0)) {
                $0 + $1.id.utf8.count + $1.bytes.count
            }
        }

        /// The catalogue that it is. An error names the file that has the mistake.
        package func load() throws(ServerError) -> LoadedCatalogue {
            do throws(CatalogueError) {
                return try StoreKitFile.load(self.file, images: self.images, entitlements: self.entitlements)
            } catch {
                throw ServerError("\(error.isOfEntitlements ? self.entitlementsPath : self.path): \(error)")
            }
        }
    }

    /// The bytes of the catalogue at `path`, up to the loader's limit.
    package static func content(at path: String) throws(ServerError) -> Content {
        var info = stat()
        guard stat(path, &info) == 0 else {
            throw ServerError(
                "there is no catalogue at \(path): \(Self.reason()); name a .storekit file, or a directory that holds Configuration.storekit"
            )
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            var stem = path
            if stem.hasSuffix(".storekit") { stem.removeLast(9) }
            return Content(
                file: try Self.read(path, limit: Limits.catalogueFileBytes, "split the app"), at: path,
                entitlements: try Self.entitlements(at: stem + ".entitlements.json"))
        }
        guard stat(path + "/Configuration.storekit", &info) == 0 else {
            throw ServerError(
                "the directory \(path) is no catalogue: it holds no Configuration.storekit; name a .storekit file, or a directory that holds one"
            )
        }
        let file = try Self.read(
            path + "/Configuration.storekit", limit: Limits.catalogueFileBytes, "split the app")
        return Content(
            file: file, at: path, images: try Self.images(in: path + "/Assets"),
            entitlements: try Self.entitlements(at: path + "/entitlements.json"))
    }

    /// The file of named entitlements beside a catalogue, without bytes where there is none.
    private static func entitlements(at path: String) throws(ServerError) -> (path: String, bytes: [UInt8]?) {
        var info = stat()
        guard stat(path, &info) == 0 else { return (path, nil) }
        return (path, try Self.read(path, limit: Limits.entitlementFileBytesMax, "name fewer"))
    }

    /// The catalogue at `path`.
    package static func load(_ path: String) throws(ServerError) -> LoadedCatalogue {
        try Self.content(at: path).load()
    }

    /// Every PNG of a directory, under its name without the extension. Other files of Xcode and the Finder are ignored.
    ///
    /// The code lists the directory and never builds a path from a name in the file, so nothing outside the directory
    /// is read.
    private static func images(in path: String) throws(ServerError) -> [ImageFile] {
        guard let directory = opendir(path) else {
            // A bundle without images has no such directory.
            if errno == ENOENT { return [] }
            throw ServerError("cannot read \(path): \(Self.reason())")
        }
        defer { closedir(directory) }
        var names: [String] = []
        var count = 0
        while let entry = readdir(directory) {
            count += 1
            guard count <= Limits.catalogueAssets else {
                throw ServerError(
                    "\(path) has more than \(Limits.catalogueAssets) entries, the limit; keep the catalogue's images only"
                )
            }
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".png"), name.utf8.count > 4 { names.append(name) }
        }
        var images: [ImageFile] = []
        var total = 0
        for name in names.sorted() {
            let bytes = try Self.read(
                path + "/" + name, limit: Limits.catalogueImageBytes, "make the image smaller")
            total += bytes.count
            guard total <= Limits.catalogueImagesBytes else {
                throw ServerError(
                    "the images in \(path) up to \(name) have \(total) bytes, the limit is "
                        + "\(Limits.catalogueImagesBytes); make them smaller")
            }
            images.append(ImageFile(id: String(name.dropLast(4)), bytes: bytes))
        }
        return images
    }

    private static func read(_ path: String, limit: Int, _ remedy: String) throws(ServerError) -> [UInt8] {
        // Opening a pipe without a writer would block this thread for ever, and with it signals and HTTP.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ServerError("cannot read \(path): \(Self.reason())") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError("\(path) is no regular file; write the catalogue into one")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ServerError("cannot read \(path): \(Self.reason())") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else {
                throw ServerError("\(path) has more than \(limit) bytes, the limit; \(remedy)")
            }
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
