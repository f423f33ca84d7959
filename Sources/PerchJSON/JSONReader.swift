import PerchBase

/// The size of a document that a reader accepts. A document beyond one of the limits is refused at the place where it
/// exceeds it.
package struct JSONLimits: Hashable, Sendable {
    package var bytes = Limits.catalogueFileBytes
    package var depth = Limits.jsonDepth
    package var values = Limits.jsonValues
    package var stringBytes = Limits.jsonStringBytes

    package init() {}
}

/// Reads one JSON document (RFC 8259), strictly and within limits, into a tree that knows its places.
///
/// It is strict, because a document that two programs read differently is worse than a refusal. It refuses duplicate keys,
/// text that is not UTF-8, half of a surrogate pair, NUL, and anything after the document, each with line and column. Two
/// keys are equal if their Swift strings are. It skips one leading byte order mark, since editors write it.
///
/// It recurses once for each level of nesting, and refuses a level beyond the limit before it enters it.
package struct JSONReader {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var offset = 0
    private var line: UInt32 = 1
    private var lineStart = 0
    /// Bytes of this line that continue a character, and so are no columns.
    private var followers = 0
    private var valueCount = 0

    private init(_ bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    package static func read(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes, limits: limits)
        return try reader.document()
    }

    private mutating func document() throws(JSONError) -> JSONValue {
        guard self.bytes.count <= self.limits.bytes else {
            throw JSONError(
                .tooManyBytes, at: .start, expected: "at most \(self.limits.bytes) bytes",
                found: "\(self.bytes.count)")
        }
        if self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            self.offset = 3
            self.lineStart = 3
        }
        try self.checkText()
        self.skipSpace()
        guard self.offset < self.bytes.count else {
            throw JSONError(
                .empty, at: self.place, expected: "a JSON document",
                found: self.bytes.isEmpty ? "an empty document of 0 bytes" : "nothing but white space")
        }
        let value = try self.value(depth: 0)
        self.skipSpace()
        guard self.offset == self.bytes.count else {
            throw JSONError(.trailing, at: self.place, expected: "the end behind the document", found: self.found)
        }
        return value
    }

    /// Checks the whole document once, so that strings need no check of their own.
    private func checkText() throws(JSONError) {
        do {
            try self.bytes.span.bytes.checkText()
        } catch {
            throw self.refusal(of: error)
        }
    }

    private func refusal(of fault: TextFault) -> JSONError {
        switch fault {
        case .containsNUL(let offset):
            return JSONError(.nul, at: self.place(ofOffset: offset), expected: "text", found: "a NUL byte")
        case .notUTF8(let offset):
            let isUTF16 = self.bytes.starts(with: [0xFF, 0xFE]) || self.bytes.starts(with: [0xFE, 0xFF])
            let byte = "the byte 0x\(String(self.bytes[offset], radix: 16)), which does not belong there"
            return JSONError(
                .notUTF8, at: self.place(ofOffset: offset), expected: "UTF-8",
                found: isUTF16 ? "UTF-16; save the file as UTF-8" : byte)
        }
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        let place = self.place
        self.valueCount += 1
        guard self.valueCount <= self.limits.values else {
            throw JSONError(
                .tooManyValues, at: place, expected: "at most \(self.limits.values) values", found: "one more")
        }
        switch self.byte {
        case UInt8(ascii: "{"):
            try self.checkDepth(depth + 1)
            return JSONValue(.object(try self.object(depth: depth + 1)), at: place)
        case UInt8(ascii: "["):
            try self.checkDepth(depth + 1)
            return JSONValue(.array(try self.array(depth: depth + 1)), at: place)
        case UInt8(ascii: "\""): return JSONValue(.string(try self.string()), at: place)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return JSONValue(.number(try self.number()), at: place)
        case UInt8(ascii: "t"): return JSONValue(try self.word("true", .boolean(true)), at: place)
        case UInt8(ascii: "f"): return JSONValue(try self.word("false", .boolean(false)), at: place)
        case UInt8(ascii: "n"): return JSONValue(try self.word("null", .null), at: place)
        default: throw self.unexpected("a value")
        }
    }

    private func checkDepth(_ depth: Int) throws(JSONError) {
        guard depth <= self.limits.depth else {
            throw JSONError(
                .tooDeep, at: self.place, expected: "at most \(self.limits.depth) levels of nesting",
                found: "level \(depth)")
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        self.step()
        self.skipSpace()
        if self.take("]") { return elements }
        while true {
            elements.append(try self.value(depth: depth))
            self.skipSpace()
            if self.take("]") { return elements }
            guard self.take(",") else { throw self.unexpected("',' or ']'") }
            self.skipSpace()
            if self.byte == UInt8(ascii: "]") {
                throw self.unexpected("a value behind the comma, for JSON allows no trailing one")
            }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> [JSONMember] {
        var members: [JSONMember] = []
        var keys: Set<String> = []
        self.step()
        self.skipSpace()
        if self.take("}") { return members }
        while true {
            guard self.byte == UInt8(ascii: "\"") else {
                throw self.unexpected(
                    members.isEmpty
                        ? "a key in quotes or '}'" : "a key in quotes behind the comma, for JSON allows no trailing one"
                )
            }
            let place = self.place
            let key = try self.string()
            guard keys.insert(key).inserted else {
                let first = members.first { $0.key == key }?.place ?? place
                throw JSONError(
                    .duplicateKey, at: place, expected: "a key that is new in its object",
                    found: "\(quoted(key)), which stands already at \(first)")
            }
            self.skipSpace()
            guard self.take(":") else { throw self.unexpected("':' behind the key") }
            self.skipSpace()
            members.append(JSONMember(key: key, at: place, value: try self.value(depth: depth)))
            self.skipSpace()
            if self.take("}") { return members }
            guard self.take(",") else { throw self.unexpected("',' or '}'") }
            self.skipSpace()
        }
    }

    private mutating func word(_ word: StaticString, _ content: JSONValue.Content) throws(JSONError)
        -> JSONValue.Content
    {
        let place = self.place
        for index in 0..<word.utf8CodeUnitCount {
            guard self.byte == word.utf8Start[index] else {
                throw JSONError(.unexpected, at: place, expected: "a value", found: "a word that JSON does not have")
            }
            self.step()
        }
        return content
    }

    private mutating func number() throws(JSONError) -> String {
        let first = self.offset
        self.skip("-")
        if self.byte == UInt8(ascii: "0") {
            self.step()
            if self.isDigit {
                throw JSONError(
                    .badNumber, at: self.place, expected: "a number without leading zeros", found: self.found)
            }
        } else {
            try self.digits()
        }
        if self.take(".") { try self.digits() }
        if self.take("e") || self.take("E") {
            if !self.take("+") { self.skip("-") }
            try self.digits()
        }
        return String(decoding: self.bytes[first..<self.offset], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        guard self.isDigit else {
            throw JSONError(.badNumber, at: self.place, expected: "a digit of a number", found: self.found)
        }
        while self.isDigit { self.step() }
    }

    // MARK: Strings

    private mutating func string() throws(JSONError) -> String {
        let begin = self.place
        self.step()
        // Most strings have no escapes, and the document is known to be UTF-8, so their bytes are copied.
        let first = self.offset
        try self.skipPlain(in: begin)
        var text = self.bytes[first..<self.offset]
        while self.byte == UInt8(ascii: "\\") {
            text.append(contentsOf: try self.escape())
            let next = self.offset
            try self.skipPlain(in: begin)
            text.append(contentsOf: self.bytes[next..<self.offset])
        }
        guard self.take("\"") else { throw self.unexpected("the closing '\"' of the string that begins at \(begin)") }
        guard text.count <= self.limits.stringBytes else {
            throw JSONError(
                .stringTooLong, at: begin, expected: "a string of at most \(self.limits.stringBytes) bytes",
                found: "\(text.count)")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Skips to the end of the string at `begin`, or to its next escape.
    private mutating func skipPlain(in begin: JSONPlace) throws(JSONError) {
        var offset = self.offset
        var followers = self.followers
        defer {
            self.offset = offset
            self.followers = followers
        }
        while offset < self.bytes.count {
            let byte = self.bytes[offset]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            if byte < 0x20 {
                self.offset = offset
                self.followers = followers
                throw JSONError(
                    .controlCharacter, at: self.place,
                    expected: "the closing '\"' of the string that begins at \(begin), or an escape",
                    found: self.found)
            }
            if byte & 0xC0 == 0x80 { followers += 1 }
            offset += 1
        }
    }

    private mutating func escape() throws(JSONError) -> [UInt8] {
        let place = self.place
        self.step()
        let plain: UInt8
        switch self.byte {
        case UInt8(ascii: "u"): return try self.unicodeEscape(at: place)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = self.bytes[self.offset]
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0C
        case UInt8(ascii: "n"): plain = 0x0A
        case UInt8(ascii: "r"): plain = 0x0D
        case UInt8(ascii: "t"): plain = 0x09
        default:
            throw JSONError(
                .badEscape, at: place, expected: "one of \" \\ / b f n r t u behind '\\'", found: self.found)
        }
        self.step()
        return [plain]
    }

    private mutating func unicodeEscape(at place: JSONPlace) throws(JSONError) -> [UInt8] {
        let unit = try self.hexadecimal(at: place)
        guard unit != 0 else {
            throw JSONError(.nul, at: place, expected: "text", found: "an escaped NUL")
        }
        var number = unit
        if (0xD800...0xDFFF).contains(unit) {
            let isHigh = unit < 0xDC00
            guard isHigh, self.take("\\"), self.byte == UInt8(ascii: "u") else {
                throw self.loneSurrogate(unit, at: place)
            }
            let low = try self.hexadecimal(at: place)
            guard (0xDC00...0xDFFF).contains(low) else { throw self.loneSurrogate(unit, at: place) }
            number = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(number), let units = UTF8.encode(scalar) else {
            throw self.loneSurrogate(unit, at: place)
        }
        return Array(units)
    }

    private func loneSurrogate(_ unit: UInt32, at place: JSONPlace) -> JSONError {
        JSONError(
            .loneSurrogate, at: place, expected: "a pair of surrogates, the high one first",
            found: "\\u\(String(unit, radix: 16)) alone")
    }

    /// The four digits behind the `u`, which is the next byte.
    private mutating func hexadecimal(at place: JSONPlace) throws(JSONError) -> UInt32 {
        self.step()
        var number: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch self.byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = self.bytes[self.offset] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = self.bytes[self.offset] - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = self.bytes[self.offset] - UInt8(ascii: "A") + 10
            default:
                throw JSONError(
                    .badEscape, at: place, expected: "four hexadecimal digits behind \\u", found: self.found)
            }
            number = number << 4 | UInt32(digit)
            self.step()
        }
        return number
    }

    // MARK: Bytes and places

    /// The next byte; 0, which the text is known not to have, at the end.
    private var byte: UInt8 { self.offset < self.bytes.count ? self.bytes[self.offset] : 0 }

    private var isDigit: Bool { self.byte >= UInt8(ascii: "0") && self.byte <= UInt8(ascii: "9") }

    /// Over one byte that does not end a line.
    private mutating func step() {
        if self.byte & 0xC0 == 0x80 { self.followers += 1 }
        self.offset += 1
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard self.byte == UInt8(ascii: character) else { return false }
        self.offset += 1
        return true
    }

    private mutating func skip(_ character: Unicode.Scalar) {
        if self.byte == UInt8(ascii: character) { self.offset += 1 }
    }

    private mutating func skipSpace() {
        while self.offset < self.bytes.count {
            let byte = self.bytes[self.offset]
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") {
                self.offset += 1
            } else if byte == UInt8(ascii: "\n") {
                self.endLine(bytes: 1)
            } else if byte == UInt8(ascii: "\r") {
                let isPair = self.offset + 1 < self.bytes.count && self.bytes[self.offset + 1] == UInt8(ascii: "\n")
                self.endLine(bytes: isPair ? 2 : 1)
            } else {
                return
            }
        }
    }

    private mutating func endLine(bytes: Int) {
        self.offset += bytes
        self.line += 1
        self.lineStart = self.offset
        self.followers = 0
    }

    private var place: JSONPlace {
        JSONPlace(line: self.line, column: UInt32(self.offset - self.lineStart - self.followers + 1))
    }

    /// The place of any byte, by counting from the beginning: for errors only.
    private func place(ofOffset target: Int) -> JSONPlace {
        var counter = JSONReader(self.bytes, limits: self.limits)
        counter.offset = self.offset
        counter.lineStart = self.lineStart
        while counter.offset < target {
            let before = counter.offset
            counter.skipSpace()
            if counter.offset == before { counter.step() }
        }
        return counter.place
    }

    private func unexpected(_ expected: String) -> JSONError {
        JSONError(.unexpected, at: self.place, expected: expected, found: self.found)
    }

    /// The next character for a message, with a hint at common mistakes. One character only, because the text may be a
    /// secret with a missing quote.
    private var found: String {
        guard self.offset < self.bytes.count else { return "the end of the document" }
        let end = min(self.offset + 4, self.bytes.count)
        let rest = String(decoding: self.bytes[self.offset..<end], as: UTF8.self)
        guard let scalar = rest.unicodeScalars.first else { return "nothing" }
        let code = String(scalar.value, radix: 16, uppercase: true)
        let number = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
        switch scalar {
        case "\n", "\r": return "a line break"
        case "'", "\u{201C}", "\u{201D}": return "\(scalar) (\(number)); JSON quotes with '\"'"
        case "/", "#": return "'\(scalar)'; JSON has no comments"
        case " "..."~": return "'\(scalar)'"
        default: return scalar.properties.generalCategory == .control ? number : "\(scalar) (\(number))"
        }
    }
}
