import PerchJSON
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `the JSON writer` {
    private func text(_ writer: consuming JSONWriter) throws -> String {
        String(decoding: try writer.finish(), as: UTF8.self)
    }

    private func fill(_ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("z", 1)
        writer.key("list")
        writer.beginArray()
        writer.string("b")
        writer.beginObject()
        writer.member("y", true)
        writer.member("x", "a")
        writer.endObject()
        writer.null()
        writer.endArray()
        writer.key("empty")
        writer.beginObject()
        writer.endObject()
        writer.key("a")
        writer.beginArray()
        writer.endArray()
        writer.endObject()
    }

    @Test func `members stand in the order of the calls`() throws {
        var writer = JSONWriter()
        self.fill(&writer)
        #expect(try self.text(writer) == #"{"z":1,"list":["b",{"y":true,"x":"a"},null],"empty":{},"a":[]}"#)
    }

    @Test func `members stand in the order of their keys at each depth`() throws {
        var writer = JSONWriter(keys: .sorted)
        self.fill(&writer)
        #expect(try self.text(writer) == #"{"a":[],"empty":{},"list":["b",{"x":"a","y":true},null],"z":1}"#)
    }

    @Test func `the indented layout has a line for each member and element`() throws {
        var writer = JSONWriter(keys: .sorted, layout: .indented)
        self.fill(&writer)
        let expected = """
            {
              "a": [],
              "empty": {},
              "list": [
                "b",
                {
                  "x": "a",
                  "y": true
                },
                null
              ],
              "z": 1
            }
            """
        #expect(try self.text(writer) == expected)
    }

    @Test(arguments: [
        ("", #""""#), ("a\"b\\c", #""a\"b\\c""#), ("\n\r\t", #""\n\r\t""#), ("\u{0}\u{1F}", #""\u0000\u001f""#),
        ("\u{1B}[31m", #""\u001b[31m""#), ("\u{7F}\u{9B}", #""\u007f\u009b""#), ("é日🐟/", "\"é日🐟/\""),
    ])
    func `a string is escaped where JSON or a terminal would stumble`(_ plain: String, _ escaped: String) throws {
        var writer = JSONWriter()
        writer.string(plain)
        #expect(try self.text(writer) == escaped)
    }

    @Test(arguments: [
        (1.5, "1.5"), (0.001, "0.001"), (-3, "-3.0"), (.infinity, "null"), (.nan, "null"), (1e300, "1e+300"),
    ])
    func `a fraction is written as a number that can be read again`(_ value: Double, _ expected: String) throws {
        var writer = JSONWriter()
        writer.double(value)
        let bytes = try writer.finish()
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        #expect(try JSONReader.read(bytes).double == (value.isFinite ? value : nil))
    }

    @Test func `integers of any width are written whole`() throws {
        var writer = JSONWriter()
        writer.beginArray()
        writer.integer(Int64.min)
        writer.integer(UInt64.max)
        writer.integer(UInt8(0))
        writer.endArray()
        #expect(try self.text(writer) == "[-9223372036854775808,18446744073709551615,0]")
    }

    @Test(arguments: [JSONWriter.KeyOrder.asCalled, .sorted])
    func `a document at the limit is written and one byte beyond it is refused`(_ order: JSONWriter.KeyOrder) throws {
        let exact = #"{"a":[],"empty":{},"list":["b",{"x":"a","y":true},null],"z":1}"#.utf8.count
        var fitting = JSONWriter(limitBytes: exact, keys: order)
        self.fill(&fitting)
        #expect(try fitting.finish().count == exact)
        for limit in 0..<exact {
            var writer = JSONWriter(limitBytes: limit, keys: order)
            self.fill(&writer)
            #expect(throws: JSONOverflow.self) { try self.text(writer) }
        }
    }

    @Test func `hidden members are left out at each depth`() throws {
        let value = try JSONReader.read(Array(#"{"a":{"s":1,"b":[{"s":2}]},"s":[3],"c":"s"}"#.utf8))
        var writer = JSONWriter()
        writer.value(value, hiding: ["s"])
        #expect(try self.text(writer) == #"{"a":{"b":[{}]},"c":"s"}"#)
    }

    @Test func `calls that make no document trap`() async {
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.string("a value without its key")
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.beginArray()
            writer.key("a key in an array")
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.beginArray()
            writer.endObject()
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.beginArray()
            _ = try writer.finish()
        }
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.null()
            writer.null()
        }
    }
}
