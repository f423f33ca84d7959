import PerchBase
import PerchClient
import PerchJSON
import PerchTesting
import PerchWire
import Testing

@testable import PerchCLI

private func token(
    store: UInt64 = 1, epoch: UInt32 = 1, app: UInt32 = 1, view: UInt64 = 1, revision: UInt64 = 1, digest: UInt64 = 1
) -> [UInt8] {
    ResumeToken(
        store: StoreIdentity(high: store, low: 0), epoch: epoch, app: app, view: Digest(high: view, low: 0),
        position: Position(revision: revision, asOf: Instant(milliseconds: Int64(revision))),
        digest: Digest(high: digest, low: 0)
    ).bytes
}

@Suite struct `a token in a file` {
    private let folder = TemporaryDirectory()
    private var path: String { self.folder.file("anna.token") }

    @Test func `the first watch starts fresh and leaves a token, the second resumes from it`() throws {
        let first = try Resumption(since: nil, tokenFile: self.path)
        #expect(first.beginsAnew && first.token == nil)
        try first.keep(token())
        let second = try Resumption(since: nil, tokenFile: self.path)
        #expect(!second.beginsAnew)
        #expect(second.token == token())
    }

    @Test func `a token may stand after a byte order mark`() throws {
        try TokenFile.write(token(), to: self.path)
        TemporaryDirectory.write([0xEF, 0xBB, 0xBF] + TemporaryDirectory.read(self.path), to: self.path)
        #expect(try TokenFile.read(self.path) == token())
    }

    @Test func `since is read and never written`() throws {
        try TokenFile.write(token(), to: self.path)
        let watch = try Resumption(since: self.path, tokenFile: nil)
        try watch.keep(token(digest: 2))
        #expect(try TokenFile.read(self.path) == token())
    }

    @Test func `since is over the file that tokens are kept in`() throws {
        let other = self.folder.file("other.token")
        try TokenFile.write(token(digest: 1), to: self.path)
        try TokenFile.write(token(digest: 2), to: other)
        #expect(try Resumption(since: other, tokenFile: self.path).token == token(digest: 2))
    }

    @Test(arguments: ["", "\n", "not Base64!", "Zm9v", "AA=="])
    func `a file that holds no token is refused`(_ text: String) {
        TemporaryDirectory.write(Array(text.utf8), to: self.path)
        for (since, kept) in [(self.path, nil), (nil, self.path)] as [(String?, String?)] {
            let failure = #expect(throws: CommandFailure.self) { try Resumption(since: since, tokenFile: kept) }
            #expect(failure?.code == .usage)
        }
    }

    @Test func `a token with a flipped bit is refused`() {
        let good = token()
        for index in good.indices {
            var bad = good
            bad[index] ^= 0x10
            TemporaryDirectory.write(Array((Base64.encode(bad) + "\n").utf8), to: self.path)
            #expect(throws: CommandFailure.self) { try Resumption(since: self.path, tokenFile: nil) }
        }
    }

    @Test(arguments: [PerchError.Reason.tokenOtherStore, .tokenOtherView, .tokenFuture, .tokenMalformed])
    func `a refused token fails again with the same file, which is named`(_ reason: PerchError.Reason) throws {
        let error = PerchError(code: .failedPrecondition, reason: reason, message: "no")
        let first = try Resumption(since: nil, tokenFile: self.path)
        try first.keep(token())
        #expect(first.failure(error) as? PerchError == error)
        let kept = try Resumption(since: nil, tokenFile: self.path).failure(error)
        #expect((kept as? CommandFailure)?.code == .usage)
        #expect("\(kept)" == "\(error); remove \(self.path) to start again")
        let given = try Resumption(since: self.path, tokenFile: nil).failure(error)
        #expect("\(given)" == "\(error); leave --since \(self.path) out to start again")
        let other = PerchError(code: .notFound, reason: "APP_UNKNOWN", message: "no")
        #expect(try Resumption(since: nil, tokenFile: self.path).failure(other) as? PerchError == other)
    }

    @Test func `a file for since must be there`() {
        let failure = #expect(throws: CommandFailure.self) { try Resumption(since: self.path, tokenFile: nil) }
        #expect(failure?.code == .usage)
    }

    @Test func `a file is replaced whole, and nothing is left beside it`() throws {
        try TokenFile.write(token(), to: self.path)
        try TokenFile.write(token(digest: 2), to: self.path)
        #expect(TemporaryDirectory.names(in: self.folder.path) == ["anna.token"])
        #expect(try TokenFile.read(self.path) == token(digest: 2))
    }

    @Test func `a directory that is not there is a failure that names it`() {
        let failure = #expect(throws: CommandFailure.self) { try TokenFile.write(token(), to: "/nowhere/x.token") }
        #expect(failure?.code == .failure)
        #expect(failure?.description == "/nowhere/x.token could not be written: No such file or directory")
    }
}

@Suite struct `a cursor in a file` {
    private let folder = TemporaryDirectory()
    private var path: String { self.folder.file("anna.cursor") }

    private func refused(_ reason: PerchError.Reason) -> PerchError {
        PerchError(code: .failedPrecondition, reason: reason, message: "no")
    }

    @Test func `the first stream leaves a cursor, and the second continues after it`() throws {
        let first = try EventResumption(since: nil, tokenFile: self.path)
        #expect(first.cursor == nil)
        try first.keep([1, 2, 3])
        #expect(try EventResumption(since: nil, tokenFile: self.path).cursor == [1, 2, 3])
        #expect(try EventResumption(since: self.path, tokenFile: nil).cursor == [1, 2, 3])
        #expect(throws: CommandFailure.self) { try EventResumption(since: self.folder.file("none"), tokenFile: nil) }
    }

    @Test(arguments: ["TOKEN_OTHER_STORE", "TOKEN_FUTURE", "CURSOR_TOO_OLD", "CURSOR_MALFORMED"])
    func `that is refused fails again with the same file, which is named`(_ reason: String) throws {
        try TokenFile.write([1, 2, 3], to: self.path)
        let kept = try EventResumption(since: nil, tokenFile: self.path).failure(self.refused(.init(rawValue: reason)))
        #expect((kept as? CommandFailure)?.code == .usage)
        #expect("\(kept)".contains(reason) && "\(kept)".contains("remove \(self.path) to start again"))
        let given = try EventResumption(since: self.path, tokenFile: nil).failure(self.refused(.init(rawValue: reason)))
        #expect((given as? CommandFailure)?.code == .usage)
        #expect("\(given)".contains("leave --since \(self.path) out"))
    }

    @Test func `a cursor in a file is not to blame for what else ends a stream, nor where there is none`() throws {
        try TokenFile.write([1, 2, 3], to: self.path)
        let other = try EventResumption(since: nil, tokenFile: self.path).failure(self.refused("ACCOUNT_UNKNOWN"))
        #expect(other as? PerchError == self.refused("ACCOUNT_UNKNOWN"))
        let none = try EventResumption(since: nil, tokenFile: nil).failure(self.refused("TOKEN_OTHER_STORE"))
        #expect(none as? PerchError == self.refused("TOKEN_OTHER_STORE"))
    }
}
