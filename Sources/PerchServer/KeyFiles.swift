import Glibc
import PerchBase
package import PerchIdentity

/// Reads the files with the keys of signers and the identities of certificates.
package enum KeyFiles {
    /// File extensions that are read in a directory. Other files are ignored.
    private static let endings = [".jwk", ".jwks", ".json", ".pem"]

    /// The authenticator for the settings; nil if they have none.
    package static func authenticator(_ settings: AuthenticationSettings) throws(ServerError) -> Authenticator? {
        guard settings.isOn else { return nil }
        var keys: [TokenKey] = []
        if let path = settings.tokenKeysPath {
            keys = try Self.keys(at: path)
            guard !keys.isEmpty else {
                throw ServerError(
                    "--token-keys: \(path) holds no key; `perch token key create` makes one, its public half is enough here"
                )
            }
        }
        var authenticator: Authenticator
        do throws(KeyFault) {
            authenticator = try Authenticator(keys: keys)
        } catch {
            throw ServerError("--token-keys: \(error)")
        }
        authenticator.audience = settings.audience
        authenticator.issuer = settings.issuer
        authenticator.lifeMilliseconds = settings.tokenLifeMilliseconds
        if let path = settings.certificateIdentitiesPath {
            let bytes = try Self.read(path, limit: Limits.certificateIdentitiesBytesMax).bytes
            do throws(KeyFault) {
                authenticator.certificates = try CertificateIdentities(reading: bytes)
            } catch {
                throw ServerError("--certificate-identities: \(path): \(error)")
            }
        }
        return authenticator
    }

    /// The keys of a file, or of every file of a directory with a key's extension.
    package static func keys(at path: String) throws(ServerError) -> [TokenKey] {
        var info = stat()
        guard stat(path, &info) == 0 else { throw ServerError("no keys at \(path): \(Self.reason())") }
        guard info.st_mode & S_IFMT == S_IFDIR else { return try Self.keys(ofFile: path) }
        var keys: [TokenKey] = []
        for name in try Self.names(in: path) { keys += try Self.keys(ofFile: path + "/" + name) }
        return keys
    }

    /// The keys of one file. A file with a secret is refused if others can read it.
    package static func keys(ofFile path: String) throws(ServerError) -> [TokenKey] {
        let file = try Self.read(path, limit: Limits.tokenKeyFileBytesMax)
        let name = path.split(separator: "/").last.map { String($0) } ?? path
        let stem = Self.endings.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
        let keys: [TokenKey]
        do throws(KeyFault) {
            keys = try TokenKey.read(file.bytes, name: stem)
        } catch {
            throw ServerError("\(path): \(error)")
        }
        if file.isOpenToOthers, keys.contains(where: \.isSecret) {
            throw ServerError(
                "\(path) holds a secret, and others can read it (mode \(String(file.mode, radix: 8))); `chmod 600` it, and make a new key if the secret may be known"
            )
        }
        return keys
    }

    struct File {
        var bytes: [UInt8]
        var mode: mode_t
        /// systemd made it for this service: `LoadCredential=`.
        var isCredential = false
        /// Users other than the owner may read or write it. A credential may be root's, with an access list that lets the service's
        /// user alone read it; the mode shows the list's mask as the group's bits.
        var isOpenToOthers: Bool { self.mode & (self.isCredential ? 0o037 : 0o077) != 0 }
    }

    /// The directory that systemd fills for a service; nil where there is none.
    static let credentialsDirectory = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }

    /// Reads a file, and checks the mode on the open descriptor, because the path may change in between.
    static func read(
        _ path: String, limit: Int, credentials: String? = Self.credentialsDirectory
    ) throws(ServerError) -> File {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ServerError("cannot read \(path): \(Self.reason())") }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw ServerError("\(path) is no file; name one that holds a key")
        }
        let isCredential = credentials.map { $0.hasPrefix("/") && path.hasPrefix($0 + "/") && !path.contains("/..") }
        var file = File(bytes: [], mode: info.st_mode & 0o7777, isCredential: isCredential ?? false)
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ServerError("cannot read \(path): \(Self.reason())") }
            if count == 0 { return file }
            file.bytes.append(contentsOf: buffer[..<count])
            guard file.bytes.count <= limit else {
                throw ServerError("\(path) has more than \(limit) bytes, the limit for such a file")
            }
        }
    }

    /// Names of key files, sorted. Hidden ones are left out, because secret mounts keep links under such names.
    private static func names(in path: String) throws(ServerError) -> [String] {
        guard let directory = opendir(path) else { throw ServerError("cannot read \(path): \(Self.reason())") }
        defer { closedir(directory) }
        var names: [String] = []
        var count = 0
        while let entry = readdir(directory) {
            count += 1
            guard count <= Limits.tokenKeyFilesMax else {
                throw ServerError(
                    "\(path) has more than \(Limits.tokenKeyFilesMax) entries, the limit; keep keys only there")
            }
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix("."), Self.endings.contains(where: { name.hasSuffix($0) }) { names.append(name) }
        }
        return names.sorted()
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}

/// How callers authenticate.
package struct AuthenticationSettings: Hashable, Sendable {
    /// A file with keys, or a directory of such files; read at start and at SIGHUP.
    package var tokenKeysPath: String?
    /// The `aud` of tokens for this server.
    package var audience = Authenticator.standardAudience
    /// The `iss` of accepted tokens; nil for any.
    package var issuer: String?
    /// Longest remaining life of an accepted token, in milliseconds.
    package var tokenLifeMilliseconds = Limits.tokenLifeMilliseconds
    /// A file that maps client certificates to identities; read at start and at SIGHUP.
    package var certificateIdentitiesPath: String?

    package init() {}

    /// Whether callers have to authenticate.
    package var isOn: Bool { self.tokenKeysPath != nil || self.certificateIdentitiesPath != nil }
}
