import PerchBase
import PerchClient
import PerchJSON
import PerchWire

/// The start of a watch, and the file for the token of its last value.
///
/// The server decides whether the token still stands for the newest value.
struct Resumption {
    /// The token to resume from.
    let token: [UInt8]?
    private let since: String?
    /// The file that keeps tokens.
    private let path: String?

    /// `since` must exist. `tokenFile` exists from the second run on.
    init(since: String?, tokenFile: String?) throws(CommandFailure) {
        self.since = since
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
            // The server would refuse it too, but could not name the file.
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

    /// The reason for the end of the watch, with the next step. A running watch drops a token of its own automatically.
    func failure(_ error: PerchError) -> any Error {
        guard !self.beginsAnew else { return error }
        return Origin(since: self.since, tokenFile: self.path).failure(error) ?? error
    }
}

/// The start of a stream of events, and the file for the cursor of its last event.
///
/// A watch continues with the newest value. A stream of events ends when its cursor is no longer valid, because events
/// would be missing.
struct EventResumption {
    /// The cursor to resume after.
    let cursor: [UInt8]?
    private let since: String?
    /// The file that keeps cursors.
    private let path: String?

    /// `since` must exist. `tokenFile` exists from the second run on.
    init(since: String?, tokenFile: String?) throws(CommandFailure) {
        self.since = since
        self.path = tokenFile
        var source = since
        if source == nil, let tokenFile, Files.exists(tokenFile) { source = tokenFile }
        self.cursor = if let source { try TokenFile.read(source) } else { nil }
    }

    func keep(_ cursor: [UInt8]) throws(CommandFailure) {
        guard let path else { return }
        try TokenFile.write(cursor, to: path)
    }

    /// The reason for the end of the stream, with the next step.
    func failure(_ error: PerchError) -> any Error {
        guard let failure = Origin(since: self.since, tokenFile: self.path).failure(error) else { return error }
        return CommandFailure(failure.code, "\(failure); `perch get history` has what came meanwhile")
    }
}

/// The file of a token or cursor that the server may refuse.
private struct Origin {
    let since: String?
    let tokenFile: String?

    /// The failure for a refused token, which comes again until the file is removed. Nil for other failures.
    func failure(_ error: PerchError) -> CommandFailure? {
        switch ErrorReason(error.reason) {
        case .tokenMalformed, .tokenOtherView, .tokenOtherStore, .tokenFuture, .cursorMalformed, .cursorTooOld: break
        default: return nil
        }
        if let since { return CommandFailure(.usage, "\(error); leave --since \(printable(since)) out to start again") }
        guard let tokenFile, Files.exists(tokenFile) else { return nil }
        return CommandFailure(.usage, "\(error); remove \(printable(tokenFile)) to start again")
    }
}

/// A token or cursor in a file: Base64 and a line break, so that people can read and send it.
enum TokenFile {
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try Files.read(path, limitBytes: Limits.tokenFileBytesMax)
        } catch {
            throw CommandFailure(.usage, "\(error)")
        }
        let text = String(decoding: bytes.withoutByteOrderMark, as: UTF8.self)
        guard let line = text.split(whereSeparator: \.isWhitespace).first, let token = Base64.decode(String(line))
        else {
            throw CommandFailure(.usage, "\(printable(path)) holds no token; remove it to start again")
        }
        return token
    }

    static func write(_ token: [UInt8], to path: String) throws(CommandFailure) {
        do throws(FileFault) {
            try Files.replace(path, with: Array((Base64.encode(token) + "\n").utf8), for: .owner)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }
}
