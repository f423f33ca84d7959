import Glibc
import PerchApple
import PerchBase
import PerchTLS

/// What a backend needs to meet a twin.
package struct TwinFacts: Sendable {
    /// Address of the listener, as that of a proxy.
    package var proxy: String
    /// Whole paths of the root certificate and of the caller's key.
    package var rootPath: String
    package var keyPath: String
    package var keyID: String
    package var issuerID: String

    /// Reads the directory of a twin.
    package init(directory: String) throws(ServerError) {
        guard let whole = realpath(directory, nil) else {
            throw ServerError(
                "there is no directory \(directory); start a server with --twin-listen on --twin-directory \(directory)"
            )
        }
        defer { free(whole) }
        let path = String(cString: whole)
        do {
            let authority = try TwinAuthority(stored: TLSFile.readSecret("\(path)/\(TwinFiles.authorityName)"))
            self.proxy = String(authority.responder.dropLast("/ocsp".count))
            self.rootPath = "\(path)/\(TwinFiles.rootName)"
            self.keyPath = "\(path)/\(TwinFiles.keyName(authority))"
            self.keyID = authority.keyID
            self.issuerID = authority.issuerID
        } catch {
            throw ServerError("\(directory) is no directory of a twin: \(error)")
        }
    }
}

/// The directory of `--twin-directory`: the authority of the twin, and the files that a backend is given.
struct TwinFiles {
    let authority: TwinAuthority

    /// The authority with all its keys.
    static let authorityName = "authority"
    static let rootName = "twin-root.pem"

    static func keyName(_ authority: TwinAuthority) -> String { "AuthKey_\(authority.keyID).p8" }

    /// Opens the directory, or begins it. Certificates are issued again where the responder's address has changed.
    init(directory: String, responder: String) throws(ServerError) {
        do {
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
                throw ServerError("--twin-directory: \(directory) cannot be made: \(String(cString: strerror(errno)))")
            }
            let path = "\(directory)/\(Self.authorityName)"
            let known: TwinAuthority?
            if access(path, F_OK) == 0 {
                known = try TwinAuthority(stored: TLSFile.readSecret(path))
            } else {
                known = nil
            }
            self.authority = try known?.moved(to: responder) ?? .make(responder: responder)
            if known == nil || known?.responder != responder {
                try Self.write(self.authority.stored, to: path)
            }
            try Self.write(Array(self.authority.rootPEM.utf8), to: "\(directory)/\(Self.rootName)")
            try Self.write(
                Array(self.authority.callerPEM.utf8), to: "\(directory)/\(Self.keyName(self.authority))")
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError("--twin-directory: \(directory): \(error)")
        }
    }

    /// Replaces a file whole, with the mode 0600.
    private static func write(_ bytes: [UInt8], to path: String) throws(ServerError) {
        let temporary = "\(path).new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.refusal(temporary) }
        defer { close(file) }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.refusal(temporary) }
            sent += count
        }
        guard fsync(file) == 0, rename(temporary, path) == 0 else { throw Self.refusal(path) }
    }

    private static func refusal(_ path: String) -> ServerError {
        ServerError("--twin-directory: \(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
