import PerchBase
import PerchModel

/// Reads one line, word by word. The grammar is in extensions of this type.
struct LineCursor {
    let tokens: [Token]
    let text: String
    let lineNumber: Int
    var index = 0
    /// The names that the file has defined so far.
    var names: Names

    /// Names that a file defines, as they are read.
    struct Names: Sendable {
        /// In the order of the file.
        var accounts: [String] = []
        var transactions: Set<String> = []
        /// Whether an `accounts` line lists all accounts: any other name is then a mistake.
        var areAccountsDeclared = false
        /// Products of the catalogues in the file, and of the catalogue files that it names.
        var products: Set<String> = []
        var groups: Set<String> = []
        /// Whether `products` is complete. Any other word in the place of a product is then a mistake.
        var areProductsKnown = false

        mutating func add(account: String) {
            if !self.accounts.contains(account) { self.accounts.append(account) }
        }
    }

    init(_ line: SourceLine, names: Names) {
        self.tokens = line.tokens
        self.text = line.text
        self.lineNumber = line.number
        self.names = names
    }

    var isAtEnd: Bool { self.index >= self.tokens.count }
    var peek: Token? { self.isAtEnd ? nil : self.tokens[self.index] }

    /// Of the next token, or behind the last one.
    var place: SourcePlace {
        if let token = self.peek { return token.place }
        return SourcePlace(line: self.lineNumber, column: self.tokens.last?.endColumn ?? 1)
    }

    /// Whether a phrase, an item or the line ends here.
    var isAtBreak: Bool {
        switch self.peek?.kind {
        case nil, .comma, .arrow: true
        default: false
        }
    }

    // MARK: Keywords

    /// Reads one of the phrases if it comes next. The words of a phrase may be joined, hyphenated or in camelCase.
    mutating func take(_ phrases: String...) -> Bool {
        for phrase in phrases where self.takePhrase(phrase) { return true }
        return false
    }

    mutating func takePhrase(_ phrase: String) -> Bool {
        // Most phrases differ in the first letter. It is ASCII, whose lower case differs by one bit.
        guard let letter = self.peek?.normalised.utf8.first, let first = phrase.utf8.first, first | 0x20 == letter
        else {
            return false
        }
        let wanted = Token.normalise(phrase)
        var seen = ""
        var end = self.index
        while end < self.tokens.count, self.tokens[end].kind == .word, seen.utf8.count < wanted.utf8.count {
            seen += self.tokens[end].normalised
            end += 1
            guard wanted.hasPrefix(seen) else { return false }
            // Words of a phrase may be joined, but no word may be split: `expect S` is not `expects`.
            guard seen.utf8.count == wanted.utf8.count || Self.endsWord(phrase, at: seen.utf8.count) else {
                return false
            }
        }
        guard seen == wanted else { return false }
        self.index = end
        return true
    }

    /// Whether a word of the phrase ends after this number of letters. Hyphens and spaces do not count.
    private static func endsWord(_ phrase: String, at length: Int) -> Bool {
        var count = 0
        for word in ScenarioWords.words(of: phrase) {
            count += word.utf8.count
            if count >= length { return count == length }
        }
        return false
    }

    func isNext(_ phrases: String...) -> Bool {
        var copy = self
        return phrases.contains { copy.takePhrase($0) }
    }

    mutating func take(_ kind: Token.Kind) -> Bool {
        guard self.peek?.kind == kind else { return false }
        self.index += 1
        return true
    }

    /// Skips articles, unless the file uses one as a name: a transaction may have the name `A`.
    mutating func skipFillers() {
        while let token = self.peek, !self.names.transactions.contains(token.text),
            !self.names.products.contains(token.text), self.take("the", "a", "an")
        {}
    }

    // MARK: Words

    /// Any next word.
    mutating func word(_ what: String) throws(ScenarioFault) -> String {
        guard let token = self.peek, token.kind == .word || token.kind == .quoted else { throw self.expected(what) }
        self.index += 1
        return token.text
    }

    /// A switch; nil if none comes next.
    mutating func optionalSwitch() -> Bool? {
        if self.take("on", "yes", "true", "enabled") { return true }
        if self.take("off", "no", "false", "disabled") { return false }
        return nil
    }

    mutating func requiredSwitch() throws(ScenarioFault) -> Bool {
        guard let value = self.optionalSwitch() else { throw self.expected("`on` or `off`") }
        return value
    }

    mutating func optionalNumber() -> Int64? {
        guard let token = self.peek, token.kind == .word, let number = Self.number(token.text) else { return nil }
        self.index += 1
        return number
    }

    mutating func number(_ what: String) throws(ScenarioFault) -> Int64 {
        guard let number = self.optionalNumber() else { throw self.expected(what) }
        return number
    }

    static func number(_ text: some StringProtocol) -> Int64? {
        let digits = text.utf8
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// A name of an enumeration of the model, in any spelling.
    mutating func optionalName<Name: OpenEnumeration>(_ type: Name.Type) -> Name? {
        // Longest first: one name may begin another.
        let names = Name.names.enumerated().sorted { $0.element.count > $1.element.count }
        for (index, name) in names where name != "unspecified" && self.takePhrase(name) {
            return Name(rawValue: Int32(index))
        }
        return nil
    }

    mutating func name<Name: OpenEnumeration>(_ type: Name.Type, _ what: String) throws(ScenarioFault) -> Name {
        if let name = self.optionalName(type) { return name }
        throw self.expected(what, among: Name.names.filter { $0 != "unspecified" })
    }

    // MARK: Mistakes

    /// A mistake at the next word, with a suggestion if it resembles one of `words`.
    func expected(_ what: String, among words: [String] = []) -> ScenarioFault {
        guard let token = self.peek else { return ScenarioFault(self.place, "the line ends where \(what) is expected") }
        var message = "expected \(what), but found \(quoted(token.text))"
        if token.kind == .word, let meant = nearest(to: token.text, in: words) {
            message += "; did you mean `\(meant)`?"
        } else if !words.isEmpty {
            message += "; there are " + words.joined(separator: ", ")
        }
        return ScenarioFault(token.place, message)
    }

    func requireEnd() throws(ScenarioFault) {
        guard let token = self.peek else { return }
        throw ScenarioFault(token.place, "nothing is expected behind this step, but found \(quoted(token.text))")
    }

    /// Refuses the second of two options that exclude each other, at the token that was read last.
    func requireFirst(_ option: String, _ seen: inout Set<String>) throws(ScenarioFault) {
        guard !seen.insert(option).inserted else { return }
        let token = self.tokens[max(0, self.index - 1)]
        throw ScenarioFault(token.place, "this line has two values for \(option); remove one of them")
    }

    /// Refuses an account that the file's `accounts` line does not list.
    func requireDeclared(_ account: String, at place: SourcePlace) throws(ScenarioFault) {
        guard self.names.areAccountsDeclared, !self.names.accounts.contains(account) else { return }
        let meant = nearest(to: account, in: self.names.accounts)
        throw ScenarioFault(
            place,
            "the `accounts` line has no \(quoted(account))"
                + (meant.map { "; did you mean `\($0)`?" } ?? "; add it there"))
    }

    /// The account behind `of`, `for` or `by`, or else the one in front of the line. Refuses two different ones.
    mutating func accountSuffix(or front: String?) throws(ScenarioFault) -> String? {
        try self.accountSuffix(besides: front) ?? front
    }

    /// The account behind `of`, `for` or `by`, if there is one.
    mutating func accountSuffix(besides front: String?) throws(ScenarioFault) -> String? {
        let suffix = self.optionalAccountSuffix()
        if let front, let suffix, front != suffix {
            throw ScenarioFault(
                self.tokens[max(0, self.index - 1)].place,
                "the line is about \(quoted(front)) and about \(quoted(suffix)); write one of them")
        }
        return suffix
    }
}
