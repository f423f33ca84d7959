import PerchBase
import PerchClient
import PerchTesting
import Testing

@Suite struct `credentials` {
    private let directory = TemporaryDirectory()

    private func read(_ bytes: [UInt8]) throws(PerchError) -> String {
        let path = self.directory.file("credentials")
        TemporaryDirectory.write(bytes, to: path)
        return try PerchClientOptions.Authorization.file(path: path).read()
    }

    @Test func `credentials are the first line of a file, the given text, or none`() throws {
        #expect(try self.read(Array("Bearer abc\n# mine".utf8)) == "Bearer abc")
        #expect(try self.read(Array("Bearer abc".utf8)) == "Bearer abc")
        // A token alone, as `perch token create` writes it.
        #expect(try self.read(Array("abc.def.ghi\n".utf8)) == "Bearer abc.def.ghi")
        #expect(try PerchClientOptions.Authorization.value("x").read() == "x")
        #expect(try PerchClientOptions.Authorization.none.read() == "")
    }

    @Test func `start after a byte order mark`() throws {
        #expect(try self.read(Array("\u{FEFF}abc.def.ghi\n".utf8)) == "Bearer abc.def.ghi")
    }

    @Test func `credentials of the maximum length are accepted, and longer ones refused`() throws {
        let limit = Limits.clientAuthorizationBytesMax
        let word = Array("Bearer ".utf8)
        #expect(try self.read(word + [UInt8](repeating: 65, count: limit - word.count)).utf8.count == limit)
        let error = #expect(throws: PerchError.self) { try self.read([UInt8](repeating: 65, count: limit + 1)) }
        #expect(error?.message.contains("\(limit) bytes") == true)
    }

    @Test(arguments: [[], [10], [0xFF], [65, 0]] as [[UInt8]])
    func `credentials that are no text are refused, and never shown`(_ bytes: [UInt8]) {
        let error = #expect(throws: PerchError.self) {
            try self.read(bytes + Array("hush!".utf8.prefix(bytes.count * 5)))
        }
        #expect(error?.reason == .authorizationUnreadable && error?.code == .unauthenticated)
        #expect(error?.message.contains("hush!") == false)
    }

    @Test func `in a file that is not there are refused, with its path and why`() {
        let error = #expect(throws: PerchError.self) {
            try PerchClientOptions.Authorization.file(path: self.directory.file("nothing")).read()
        }
        #expect(error?.message.contains("nothing, cannot be opened: No such file") == true)
    }
}
