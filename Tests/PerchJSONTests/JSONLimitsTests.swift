import PerchBase
import PerchJSON
import Testing

@Suite struct `the limits of JSON` {
    private func nested(_ open: String, _ close: String, _ depth: Int) -> [UInt8] {
        Array((String(repeating: open, count: depth) + "0" + String(repeating: close, count: depth)).utf8)
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func `nesting is read to the limit and refused one level beyond, where it opens`(
        _ open: String, _ close: String
    ) throws {
        _ = try JSONReader.read(self.nested(open, close, Limits.jsonDepth))
        let error = try #require(throws: JSONError.self) {
            _ = try JSONReader.read(self.nested(open, close, Limits.jsonDepth + 1))
        }
        #expect(error.reason == .tooDeep)
        #expect(error.place == JSONPlace(line: 1, column: UInt32(open.count * Limits.jsonDepth + 1)))
        #expect(error.message == "expected at most 32 levels of nesting, found level 33")
    }

    @Test(arguments: ["[", "{\"a\":", "[[{\"a\":"])
    func `a file of opening brackets up to the limit of bytes does not touch the stack's end`(_ open: String) throws {
        let bytes = Array(String(repeating: open, count: Limits.catalogueFileBytes / open.utf8.count).utf8)
        let error = try #require(throws: JSONError.self) { _ = try JSONReader.read(bytes) }
        #expect(error.reason == .tooDeep)
    }

    @Test func `a file is read to its limit of bytes and refused unread beyond`() throws {
        var limits = JSONLimits()
        limits.bytes = 16
        _ = try JSONReader.read(Array("\"12345678901234\"".utf8), limits: limits)
        #expect(throws: JSONError(.tooManyBytes, at: .start, expected: "at most 16 bytes", found: "17")) {
            _ = try JSONReader.read([UInt8](repeating: 0xFF, count: 17), limits: limits)
        }
        let huge = [UInt8](repeating: UInt8(ascii: " "), count: Limits.catalogueFileBytes + 1)
        let error = try #require(throws: JSONError.self) { _ = try JSONReader.read(huge) }
        #expect(error.reason == .tooManyBytes)
        #expect(error.message == "expected at most 4194304 bytes, found 4194305")
    }

    @Test func `values are counted, and the one beyond the limit is refused at its place`() throws {
        var limits = JSONLimits()
        limits.values = 4
        _ = try JSONReader.read(Array("[1,{\"a\":2}]".utf8), limits: limits)
        let error = try #require(throws: JSONError.self) {
            _ = try JSONReader.read(Array("[1,{\"a\":2},\n3]".utf8), limits: limits)
        }
        #expect(error.reason == .tooManyValues)
        #expect(error.place == JSONPlace(line: 2, column: 1))
    }

    @Test func `the limit of values holds as it is shipped`() throws {
        let elements = Array(repeating: UInt8(ascii: "0"), count: Limits.jsonValues).flatMap {
            [$0, UInt8(ascii: ",")]
        }
        let exact = [UInt8(ascii: "[")] + elements.dropLast(3) + [UInt8(ascii: "]")]
        #expect(try JSONReader.read(exact).array?.count == Limits.jsonValues - 1)
        let beyond = [UInt8(ascii: "[")] + elements.dropLast(1) + [UInt8(ascii: "]")]
        let error = try #require(throws: JSONError.self) { _ = try JSONReader.read(beyond) }
        #expect(error.reason == .tooManyValues)
    }

    @Test(arguments: [("\"", "\""), ("{\"", "\":1}")])
    func `a string or key is read to its limit of bytes, escapes undone, and refused beyond`(
        _ open: String, _ close: String
    ) throws {
        var limits = JSONLimits()
        limits.stringBytes = 6
        _ = try JSONReader.read(Array("\(open)\\u00e9\\n日\(close)".utf8), limits: limits)
        let error = try #require(throws: JSONError.self) {
            _ = try JSONReader.read(Array("\(open)\\u00e9\\n日!\(close)".utf8), limits: limits)
        }
        #expect(error.reason == .stringTooLong)
        #expect(error.place == JSONPlace(line: 1, column: UInt32(open.count)))
        #expect(error.message == "expected a string of at most 6 bytes, found 7")
    }

    @Test func `the limit of a string holds as it is shipped`() throws {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: Limits.jsonStringBytes)
        let quote = [UInt8(ascii: "\"")]
        #expect(try JSONReader.read(quote + text + quote).string?.utf8.count == Limits.jsonStringBytes)
        let error = try #require(throws: JSONError.self) { _ = try JSONReader.read(quote + text + text + quote) }
        #expect(error.reason == .stringTooLong)
    }

    @Test func `an object of many keys is not compared key by key`() throws {
        let members = (0..<20_000).map { "\"k\($0)\":0" }
        let text = "{" + members.joined(separator: ",") + ",\"k0\":1}"
        let error = try #require(throws: JSONError.self) { _ = try JSONReader.read(Array(text.utf8)) }
        #expect(error.reason == .duplicateKey)
        #expect(error.found.hasSuffix("which stands already at line 1, column 2"))
    }
}
