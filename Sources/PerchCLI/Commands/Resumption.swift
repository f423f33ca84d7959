import PerchBase
import PerchWire

/// Where a watch begins and what it leaves behind: the token of its last value, in a file.
///
/// The token goes to the server, which tells whether the value is still the one that it stands for.
struct Resumption {
    /// What to go on from.
    let token: [UInt8]?
    /// Where tokens are kept.
    private let path: String?

    /// `since` must be there; `tokenFile` is there from the second run on.
    init(since: String?, tokenFile: String?) throws(CommandFailure) {
        self.path = tokenFile
        let source: String?
        if let since {
            source = since
        } else if let tokenFile, Files.exists(tokenFile) {
            source = tokenFile
        } else {
            source = nil
        }
        guard let source else {
            self.token = nil
            return
        }
        let bytes = try TokenFile.read(source)
        do throws(TokenError) {
            _ = try ResumeToken(bytes)
        } catch {
            // The server would say so too, but not in which file it lies.
            throw CommandFailure(.usage, "\(printable(source)): \(error)")
        }
        self.token = bytes
    }

    /// Whether a call with this token would begin with `loading`.
    var beginsAnew: Bool { self.token == nil }

    func keep(_ token: [UInt8]) throws(CommandFailure) {
        guard let path, !token.isEmpty else { return }
        try TokenFile.write(token, to: path)
    }
}

/// A token or cursor in a file: Base64 and a line break, so that it can be looked at and sent around.
enum TokenFile {
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try Files.read(path, limitBytes: Limits.tokenFileBytesMax)
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let line = text.split(whereSeparator: \.isWhitespace).first, let token = Base64.decode(String(line))
        else {
            throw CommandFailure(.usage, "\(printable(path)) holds no token; remove it to begin anew")
        }
        return token
    }

    static func write(_ token: [UInt8], to path: String) throws(CommandFailure) {
        do throws(FileFault) {
            try Files.replace(path, with: Array((Base64.encode(token) + "\n").utf8))
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }
}
