import PerchBase

/// A token of a line.
struct Token: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case word
        /// In quotes, so never a keyword.
        case quoted
        case comma
        case colon
        case arrow
    }

    var kind: Kind
    /// Without quotes.
    let text: String
    var place: SourcePlace
    /// The column behind it.
    var endColumn: Int
    /// The form that keywords are compared in: `autoRenew`, `auto-renew` and `auto_renew` are equal. It is stored, because
    /// the parser compares each word with a hundred phrases.
    let normalised: String

    init(_ kind: Kind, _ text: String, at place: SourcePlace, endColumn: Int) {
        self.kind = kind
        self.text = text
        self.place = place
        self.endColumn = endColumn
        self.normalised = Self.normalise(text)
    }

    /// A token at the same place, with another text.
    func saying(_ text: String) -> Token { Token(self.kind, text, at: self.place, endColumn: self.endColumn) }

    static func normalise(_ text: some StringProtocol) -> String {
        // Most words are in lower case already.
        if text.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) { return String(text) }
        return text.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " }
    }
}

/// A line of a scenario that has tokens.
struct SourceLine: Sendable {
    var number: Int
    var tokens: [Token]
    /// Without comment and white space around it.
    var text: String
}

/// Text to lines of tokens.
///
/// Words end at white space, at a comma, and at a colon that white space, a comma or the end of the line follows: so
/// instants keep their colons. `=` is white space. `#` begins a comment where a word could begin.
enum Tokenizer {
    static func lines(_ text: String, _ fault: (ScenarioFault) -> Void) -> [SourceLine] {
        var result: [SourceLine] = []
        // CR LF is one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (index, line) in lines.enumerated() {
            let characters = Array(line)
            do throws(ScenarioFault) {
                let tokens = try Self.tokens(characters, line: index + 1)
                guard let first = tokens.first, let last = tokens.last else { continue }
                let shown = String(characters[(first.place.column - 1)..<(last.endColumn - 1)])
                result.append(SourceLine(number: index + 1, tokens: tokens, text: shown))
            } catch {
                fault(error)
            }
        }
        return result
    }

    private static func tokens(_ characters: [Character], line: Int) throws(ScenarioFault) -> [Token] {
        var tokens: [Token] = []
        var index = 0
        func place(_ index: Int) -> SourcePlace { SourcePlace(line: line, column: index + 1) }
        func add(_ kind: Token.Kind, _ text: String, from start: Int) {
            tokens.append(Token(kind, text, at: place(start), endColumn: index + 1))
        }
        while index < characters.count {
            let start = index
            let character = characters[index]
            index += 1
            switch character {
            case "#":
                return tokens
            case _ where character == "=" || character.isWhitespace:
                continue
            case ",":
                add(.comma, ",", from: start)
            case ":":
                add(.colon, ":", from: start)
            case "→":
                add(.arrow, "->", from: start)
            case "-" where index < characters.count && characters[index] == ">":
                index += 1
                add(.arrow, "->", from: start)
            case "\"":
                var text = ""
                // A quote within quotes is doubled.
                repeat {
                    guard let end = characters[index...].firstIndex(of: "\"") else {
                        throw ScenarioFault(place(start), "this quote has no end on its line; close it with \"")
                    }
                    if index > start + 1 { text += "\"" }
                    text += String(characters[index..<end])
                    index = end + 1
                    guard index < characters.count, characters[index] == "\"" else { break }
                    index += 1
                } while true
                add(.quoted, text, from: start)
            default:
                while index < characters.count, !Self.endsWord(characters, index) { index += 1 }
                add(.word, String(characters[start..<index]), from: start)
            }
        }
        return tokens
    }

    private static func endsWord(_ characters: [Character], _ index: Int) -> Bool {
        switch characters[index] {
        case ",", "\"", "=": return true
        case ":":
            guard index + 1 < characters.count else { return true }
            let next = characters[index + 1]
            return next.isWhitespace || next == "," || next == "\""
        case let other: return other.isWhitespace
        }
    }
}
