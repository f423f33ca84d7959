import PerchBase
import PerchWire

/// Where a watch begins and what it leaves behind: the token of its last value, in a file.
///
/// A token carries the digest of its value, so whether the first value is the known one is told from it alone. A watch
/// over the wire resumes by the same comparison; this one goes over the life of a process, which keeps no value.
struct Resumption {
    /// The token to go on from.
    private let known: ResumeToken?
    /// Where tokens are kept.
    private let path: String?
    private var isFirst = true

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
            self.known = nil
            return
        }
        let bytes = try TokenFile.read(source)
        do throws(TokenError) {
            self.known = try ResumeToken(bytes)
        } catch {
            throw CommandFailure(.usage, "\(printable(source)): \(error)")
        }
    }

    /// Whether a call with this token would begin with `loading`.
    var beginsAnew: Bool { self.known == nil }

    /// Whether a value is the known one. Only the first value of a watch can be.
    mutating func isUnchanged(_ bytes: [UInt8]) throws(CommandFailure) -> Bool {
        guard self.isFirst, let known else { return false }
        self.isFirst = false
        let token: ResumeToken
        do throws(TokenError) {
            token = try ResumeToken(bytes)
        } catch {
            throw CommandFailure(.failure, "the server sent a token that cannot be read: \(error)")
        }
        guard token.store == known.store, token.epoch == known.epoch else {
            throw CommandFailure(
                .refused,
                "the token is of another store (\(known.store), epoch \(known.epoch)) than the server's (\(token.store), "
                    + "epoch \(token.epoch)); begin without it")
        }
        guard token.app == known.app, token.view == known.view else {
            throw CommandFailure(
                .usage,
                "the token is of another watch: another app, account, group, product, locale or storefront; "
                    + "begin without it")
        }
        return token.digest == known.digest
    }

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
