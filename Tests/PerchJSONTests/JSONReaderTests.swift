import PerchJSON
import Testing

/// A document that is read, and what comes out when it is written again without white space.
struct Accepted: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let compact: String

    init(_ name: String, _ text: String, _ compact: String? = nil) {
        self.name = name
        self.text = text
        self.compact = compact ?? text
    }

    var testDescription: String { self.name }
}

/// A refused document, with reason and place.
struct Refused: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let reason: JSONError.Reason
    let place: JSONPlace

    /// `place`: a column of the first line, or a line and a column.
    init(_ name: String, _ bytes: [UInt8], _ reason: JSONError.Reason, _ place: UInt32...) {
        self.name = name
        self.bytes = bytes
        self.reason = reason
        self.place = JSONPlace(line: place.count == 2 ? place[0] : 1, column: place[place.count - 1])
    }

    init(_ name: String, _ text: String, _ reason: JSONError.Reason, _ place: UInt32...) {
        self.name = name
        self.bytes = Array(text.utf8)
        self.reason = reason
        self.place = JSONPlace(line: place.count == 2 ? place[0] : 1, column: place[place.count - 1])
    }

    var testDescription: String { self.name }
}

@Suite struct `the JSON reader` {
    static let accepted: [Accepted] = [
        // Structure.
        Accepted("an empty array", "[]"),
        Accepted("an empty object", "{}"),
        Accepted("an array of one", "[1]"),
        Accepted("an array of all kinds", "[null, true, false, 1, \"a\", [], {}]", "[null,true,false,1,\"a\",[],{}]"),
        Accepted("nested arrays", "[[[[]]]]"),
        Accepted("nested objects", "{\"a\":{\"b\":{\"c\":{}}}}"),
        Accepted("members in their own order", "{\"z\":1,\"a\":2}"),
        Accepted("an empty key", "{\"\":0}"),
        Accepted("keys that differ in case", "{\"a\":1,\"A\":2}"),
        Accepted("the same key in two objects", "[{\"a\":1},{\"a\":1}]"),
        Accepted("a long array", "[" + Array(repeating: "0", count: 1_000).joined(separator: ",") + "]"),
        // Scalars as documents.
        Accepted("a lone string", "\"a\""),
        Accepted("a lone number", "42"),
        Accepted("a lone zero", "0"),
        Accepted("a lone true", "true"),
        Accepted("a lone false", "false"),
        Accepted("a lone null", "null"),
        // White space.
        Accepted("space before", " []", "[]"),
        Accepted("space behind", "[] ", "[]"),
        Accepted("a line break behind", "[]\n", "[]"),
        Accepted("all white space everywhere", "\t\r\n [ \t1 \r\n, 2\n]\r", "[1,2]"),
        Accepted("lines that end as on old Macs", "[\r1\r]", "[1]"),
        Accepted("Xcode's spaces before colons", "{\n  \"a\" : [\n\n  ]\n}\n", "{\"a\":[]}"),
        Accepted("a byte order mark", "\u{FEFF}{}", "{}"),
        // Numbers, which keep their digits.
        Accepted("minus zero", "[-0]"),
        Accepted("a negative integer", "[-123]"),
        Accepted("a fraction", "[0.5]"),
        Accepted("trailing zeros of a fraction", "[4.9900]"),
        Accepted("an exponent", "[1e3]"),
        Accepted("a capital exponent with plus", "[1E+3]"),
        Accepted("a negative exponent", "[12.5e-3]"),
        Accepted("zero with an exponent", "[0e1]"),
        Accepted("leading zeros in an exponent", "[1e007]"),
        Accepted("an integer beyond 64 bits", "[123456789012345678901234567890]"),
        Accepted("a number beyond any double", "[1e999999]"),
        Accepted("a number below any double", "[-1e-999999]"),
        Accepted("more digits than a double holds", "[804965276.435507061234567890123]"),
        Accepted("a hundred digits", "[" + String(repeating: "9", count: 100) + "]"),
        // Strings.
        Accepted("an empty string", "[\"\"]"),
        Accepted("each short escape", #"["\"\\\/\b\f\n\r\t"]"#, #"["\"\\/\u0008\u000c\n\r\t"]"#),
        Accepted("a Unicode escape", #"["\u00e9"]"#, "[\"é\"]"),
        Accepted("a Unicode escape in capitals", #"["\u00E9\uABCD"]"#, "[\"é\u{ABCD}\"]"),
        Accepted("an escape of ASCII", #"["\u0041"]"#, "[\"A\"]"),
        Accepted("an escaped control character", #"["\u001f"]"#),
        Accepted("an escaped pair of surrogates", #"["\ud83d\udc1f"]"#, "[\"🐟\"]"),
        Accepted("the last scalar by surrogates", #"["\uDBFF\uDFFF"]"#, "[\"\u{10FFFF}\"]"),
        Accepted("noncharacters", #"["\uFFFE\uFFFF"]"#, "[\"\u{FFFE}\u{FFFF}\"]"),
        Accepted("a byte order mark inside a string", #"["\uFEFF"]"#, "[\"\u{FEFF}\"]"),
        Accepted("text in several scripts", "[\"日本語 Ömür 한국어 🐟\"]"),
        Accepted("line separators of Unicode", "[\"\u{2028}\u{2029}\"]"),
        Accepted("a plain DEL", "[\"\u{7F}\"]", #"["\u007f"]"#),
        Accepted("an escape between texts", #"["a\nb\nc"]"#),
        Accepted("an escape in a key", #"{"\u0061":1}"#, "{\"a\":1}"),
        Accepted("slashes of a comment inside a string", "[\"// /* */ #\"]"),
        Accepted("brackets inside a string", "[\"]}{[\"]"),
    ]

    @Test(arguments: accepted)
    func `valid JSON is read, and written again unchanged`(_ document: Accepted) throws {
        let value = try JSONReader.read(Array(document.text.utf8))
        var writer = JSONWriter()
        writer.value(value)
        let written = try writer.finish()
        #expect(String(decoding: written, as: UTF8.self) == document.compact)
        var again = JSONWriter()
        again.value(try JSONReader.read(written))
        #expect(try again.finish() == written)
    }

    static let refused: [Refused] = [
        // Nothing.
        Refused("no bytes", [], .empty, 1),
        Refused("only white space", " \n\t ", .empty, 2, 3),
        Refused("only a byte order mark", [0xEF, 0xBB, 0xBF], .empty, 1),
        // Structure.
        Refused("an open array", "[", .unexpected, 2),
        Refused("an open array with a value", "[1", .unexpected, 3),
        Refused("an open array behind a comma", "[1,", .unexpected, 4),
        Refused("an open object", "{", .unexpected, 2),
        Refused("an object that ends in a key", "{\"a\"", .unexpected, 5),
        Refused("an object that ends in a colon", "{\"a\":", .unexpected, 6),
        Refused("an object that ends in a value", "{\"a\":1", .unexpected, 7),
        Refused("an object that ends in a comma", "{\"a\":1,", .unexpected, 8),
        Refused("a trailing comma in an array", "[1,]", .unexpected, 4),
        Refused("a trailing comma in an object", "{\"a\":1,}", .unexpected, 8),
        Refused("a lone comma in an array", "[,]", .unexpected, 2),
        Refused("a leading comma in an array", "[,1]", .unexpected, 2),
        Refused("two commas", "[1,,2]", .unexpected, 4),
        Refused("a lone comma in an object", "{,}", .unexpected, 2),
        Refused("no comma in an array", "[1 2]", .unexpected, 4),
        Refused("no comma in an object", "{\"a\":1 \"b\":2}", .unexpected, 8),
        Refused("a colon in an array", "[\"a\":1]", .unexpected, 5),
        Refused("a comma for a colon", "{\"a\",1}", .unexpected, 5),
        Refused("two colons", "{\"a\"::1}", .unexpected, 6),
        Refused("a member without value", "{\"a\":}", .unexpected, 6),
        Refused("a member without key", "{:1}", .unexpected, 2),
        Refused("a key without quotes", "{a:1}", .unexpected, 2),
        Refused("a key in single quotes", "{'a':1}", .unexpected, 2),
        Refused("a number as key", "{1:1}", .unexpected, 2),
        Refused("null as key", "{null:1}", .unexpected, 2),
        Refused("an array closed as an object", "[1}", .unexpected, 3),
        Refused("an object closed as an array", "{\"a\":1]", .unexpected, 7),
        Refused("a closing bracket alone", "]", .unexpected, 1),
        Refused("a closing brace alone", "}", .unexpected, 1),
        Refused("a comma alone", ",", .unexpected, 1),
        Refused("a key that occurs twice", "{\"a\":1,\"a\":1}", .duplicateKey, 8),
        Refused("a key that occurs twice, once escaped", #"{"a":1,"\u0061":2}"#, .duplicateKey, 8),
        Refused("a key that occurs twice, composed and not", "{\"é\":1,\"e\u{301}\":2}", .duplicateKey, 8),
        Refused("a key that occurs twice further in", "[{\"b\":{\"a\":1,\n \"c\":2, \"a\":3}}]", .duplicateKey, 2, 9),
        // Behind the document.
        Refused("two documents", "{} {}", .trailing, 4),
        Refused("a bracket too many", "[]]", .trailing, 3),
        Refused("a comma behind", "[],", .trailing, 3),
        Refused("text behind", "1 a", .trailing, 3),
        Refused("a comment behind", "{} // done", .trailing, 4),
        Refused("a second byte order mark", "\u{FEFF}\u{FEFF}{}", .unexpected, 1),
        Refused("a byte order mark behind", "{}\u{FEFF}", .trailing, 3),
        // Comments and words of other languages.
        Refused("a comment", "/* a */ {}", .unexpected, 1),
        Refused("a line comment inside", "[1, // one\n2]", .unexpected, 5),
        Refused("a hash comment", "# a\n{}", .unexpected, 1),
        Refused("a capital word", "[True]", .unexpected, 2),
        Refused("a word cut short", "[tru]", .unexpected, 2),
        Refused("a word cut by the end", "nul", .unexpected, 1),
        Refused("a word too long", "[nulll]", .unexpected, 6),
        Refused("NaN", "[NaN]", .unexpected, 2),
        Refused("Infinity", "[Infinity]", .unexpected, 2),
        Refused("minus Infinity", "[-Infinity]", .badNumber, 3),
        Refused("undefined", "[undefined]", .unexpected, 2),
        Refused("XML", "<plist/>", .unexpected, 1),
        Refused("a quotation mark of typography", "{\u{201C}a\u{201D}:1}", .unexpected, 2),
        Refused("a no-break space", "[\u{A0}1]", .unexpected, 2),
        Refused("a form feed", "[\u{0C}1]", .unexpected, 2),
        Refused("a vertical tab", "[\u{0B}1]", .unexpected, 2),
        // Numbers.
        Refused("a leading zero", "[012]", .badNumber, 3),
        Refused("two zeros", "[00]", .badNumber, 3),
        Refused("a negative leading zero", "[-01]", .badNumber, 4),
        Refused("a leading plus", "[+1]", .unexpected, 2),
        Refused("a lone minus", "[-]", .badNumber, 3),
        Refused("two minuses", "[--1]", .badNumber, 3),
        Refused("a leading point", "[.5]", .unexpected, 2),
        Refused("a trailing point", "[1.]", .badNumber, 4),
        Refused("two points", "[1.2.3]", .unexpected, 5),
        Refused("a decimal comma", "[1,5,]", .unexpected, 6),
        Refused("an exponent without digits", "[1e]", .badNumber, 4),
        Refused("an exponent with a sign only", "[1e+]", .badNumber, 5),
        Refused("an exponent with two signs", "[1e+-1]", .badNumber, 5),
        Refused("an exponent with a point", "[1e1.5]", .unexpected, 5),
        Refused("a hexadecimal number", "[0x10]", .unexpected, 3),
        Refused("a number with a thousands mark", "[1_000]", .unexpected, 3),
        Refused("a number with a space", "[1 000]", .unexpected, 4),
        Refused("digits of another script", "[\u{0661}]", .unexpected, 2),
        Refused("a number cut behind its minus", "-", .badNumber, 2),
        Refused("a number cut behind its point", "1.", .badNumber, 3),
        // Strings.
        Refused("an open string", "\"abc", .unexpected, 5),
        Refused("an open string behind an escape", "\"abc\\n", .unexpected, 7),
        Refused("a string cut in its escape", "\"abc\\", .badEscape, 5),
        Refused("single quotes", "['a']", .unexpected, 2),
        Refused("a line break in a string", "[\"a\nb\"]", .controlCharacter, 4),
        Refused("a tab in a string", "[\"a\tb\"]", .controlCharacter, 4),
        Refused("U+001F in a string", "[\"\u{1F}\"]", .controlCharacter, 3),
        Refused("a line break in a key", "{\"a\n\":1}", .controlCharacter, 4),
        Refused("an unknown escape", #"["a\x41"]"#, .badEscape, 4),
        Refused("an escape of a quote mark", #"["\'"]"#, .badEscape, 3),
        Refused("an escaped line break", "[\"\\\n\"]", .badEscape, 3),
        Refused("an escape in capitals", #"["\U0041"]"#, .badEscape, 3),
        Refused("a Unicode escape of three digits", #"["\u123"]"#, .badEscape, 3),
        Refused("a Unicode escape in braces", #"["\u{41}"]"#, .badEscape, 3),
        Refused("a Unicode escape with a letter beyond f", #"["\u00g0"]"#, .badEscape, 3),
        Refused("a Unicode escape cut by the end", #"["\u00"#, .badEscape, 3),
        Refused("an escaped NUL", #"["a\u0000b"]"#, .nul, 4),
        Refused("an escaped NUL in a key", #"{"\u0000":1}"#, .nul, 3),
        Refused("a plain NUL in a string", "[\"a\u{0}\"]", .nul, 4),
        Refused("a plain NUL between values", "[1,\u{0}2]", .nul, 4),
        Refused("a NUL for a document", "\u{0}", .nul, 1),
        Refused("a NUL behind the document", "{}\n\u{0}", .nul, 2, 1),
        Refused("a high surrogate alone", #"["\ud800"]"#, .loneSurrogate, 3),
        Refused("a high surrogate before text", #"["\ud800abc"]"#, .loneSurrogate, 3),
        Refused("a high surrogate before another escape", #"["\ud800\n"]"#, .loneSurrogate, 3),
        Refused("two high surrogates", #"["\ud800\ud800"]"#, .loneSurrogate, 3),
        Refused("a high surrogate before a letter's escape", #"["\ud800\u0041"]"#, .loneSurrogate, 3),
        Refused("a low surrogate alone", #"["\udc00"]"#, .loneSurrogate, 3),
        Refused("a pair the wrong way round", #"["\udc1f\ud83d"]"#, .loneSurrogate, 3),
        Refused("a high surrogate cut by the end", #"["\ud83d"#, .loneSurrogate, 3),
        Refused("a surrogate pair cut in its second half", #"["\ud83d\udc"]"#, .badEscape, 3),
        // Encodings.
        Refused("a lone byte of Latin-1", Array("[\"a".utf8) + [0xE9] + Array("\"]".utf8), .notUTF8, 4),
        Refused("a lone continuation", Array("[\"".utf8) + [0x80] + Array("\"]".utf8), .notUTF8, 3),
        Refused("an overlong slash", Array("[\"".utf8) + [0xC0, 0xAF] + Array("\"]".utf8), .notUTF8, 3),
        Refused("an overlong NUL", Array("[\"".utf8) + [0xC0, 0x80] + Array("\"]".utf8), .notUTF8, 3),
        Refused("a surrogate as bytes", Array("[\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"]".utf8), .notUTF8, 3),
        Refused("beyond the last scalar", Array("[\"".utf8) + [0xF4, 0x90, 0x80, 0x80], .notUTF8, 3),
        Refused("a byte that UTF-8 never has", Array("[\"".utf8) + [0xFF], .notUTF8, 3),
        Refused("a character cut by the end", Array("[\"é".utf8.dropLast()), .notUTF8, 3),
        Refused("a bad byte outside of strings", Array("{}\n ".utf8) + [0xE9], .notUTF8, 2, 2),
        Refused("UTF-16 with its mark", [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], .notUTF8, 1),
        Refused("UTF-16 without a mark", [0x7B, 0x00, 0x7D, 0x00], .nul, 2),
        Refused("a cut byte order mark", [0xEF, 0xBB, 0x7B, 0x7D], .notUTF8, 1),
    ]

    @Test(arguments: refused)
    func `invalid JSON is refused, with its reason and place`(_ document: Refused) throws {
        let error = try #require(throws: JSONError.self) { _ = try JSONReader.read(document.bytes) }
        #expect(error.reason == document.reason, "\(error)")
        #expect(error.place == document.place, "\(error)")
        #expect(error.description.hasPrefix("\(document.place): expected "))
        #expect(!error.expected.isEmpty && !error.found.isEmpty)
    }

    @Test func `every value and key knows its line and column, in characters`() throws {
        let text = "{\n  \"日本\" : [ \"é🐟\", 7 ],\r\n\t\"b\" : { \"c\" : null },\r\"d\":true}"
        let root = try JSONReader.read(Array(text.utf8))
        #expect(root.place == .start)
        let members = try #require(root.members)
        #expect(
            members.map(\.place) == [
                JSONPlace(line: 2, column: 3), JSONPlace(line: 3, column: 2), JSONPlace(line: 4, column: 1),
            ])
        let elements = try #require(members[0].value.array)
        #expect(members[0].value.place == JSONPlace(line: 2, column: 10))
        #expect(elements.map(\.place) == [JSONPlace(line: 2, column: 12), JSONPlace(line: 2, column: 18)])
        #expect(root["b"]?["c"]?.place == JSONPlace(line: 3, column: 16))
        #expect(root["d"]?.place == JSONPlace(line: 4, column: 5))
    }

    @Test func `columns count from behind the byte order mark`() throws {
        #expect(try JSONReader.read(Array("\u{FEFF}[1]".utf8)).array?[0].place == JSONPlace(line: 1, column: 2))
        #expect(
            throws: JSONError(
                .notUTF8, at: JSONPlace(line: 1, column: 2), expected: "UTF-8",
                found: "the byte 0xff, which does not belong there"
            )
        ) { _ = try JSONReader.read([0xEF, 0xBB, 0xBF, 0x5B, 0xFF]) }
    }

    @Test func `a number becomes an integer only if it is written as one that fits`() throws {
        func number(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }
        #expect(try number("9223372036854775807").integer == .max)
        #expect(try number("-9223372036854775808").integer == .min)
        #expect(try number("9223372036854775808").integer == nil)
        #expect(try number("1.0").integer == nil)
        #expect(try number("1e3").integer == nil)
        #expect(try number("1e3").double == 1_000)
        #expect(try number("\"1\"").integer == nil)
    }

    @Test func `an error names the character it met and hints at the habit behind it`() {
        func found(_ text: String) -> String {
            do {
                _ = try JSONReader.read(Array(text.utf8))
                return "nothing wrong"
            } catch {
                return error.found
            }
        }
        #expect(found("[1,") == "the end of the document")
        #expect(found("[;]") == "';'")
        #expect(found("['a']").contains("JSON quotes with"))
        #expect(found("// a").contains("JSON has no comments"))
        #expect(found("[é]") == "é (U+00E9)")
        #expect(found("[\u{9B}]") == "U+009B")
    }
}
