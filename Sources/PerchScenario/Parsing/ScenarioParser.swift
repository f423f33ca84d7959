import PerchBase
import PerchModel

/// A parsed scenario and its mistakes.
package struct ParsedScenario: Sendable {
    package var scenario = Scenario()
    /// In the order of the text; at most `Limits.scenarioFaultsMax`.
    package var faults: [ScenarioFault] = []
    package var faultCount = 0

    package var isSound: Bool { self.faultCount == 0 }
}

/// Parses the text of a scenario. It continues after a mistake, so that one run reports all of them.
package struct ScenarioParser {
    /// The identifiers in a catalogue file; nil if they are unknown.
    package typealias Contents = (products: [String], groups: [String])

    private let text: String
    /// Reads a catalogue file that the scenario names or holds. Its error is a sentence for the user.
    private let catalogueFile: (_ source: CatalogueSource) throws(CatalogueUnreadable) -> Contents?
    private var parsed = ParsedScenario()
    private var names = LineCursor.Names()
    private var catalogue = ScenarioCatalogue()
    private var hasInlineCatalogue = false
    /// The open catalogue block.
    private var block: (name: String, place: SourcePlace, catalogue: ScenarioCatalogue)?
    private var hasBegun = false
    private var hasStart = false

    /// Why a catalogue file cannot be used.
    package struct CatalogueUnreadable: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    package static func parse(
        _ text: String,
        catalogueFile: @escaping (_ source: CatalogueSource) throws(CatalogueUnreadable) -> Contents? = { _ in nil }
    ) -> ParsedScenario {
        var parser = ScenarioParser(text: text, catalogueFile: catalogueFile)
        return parser.parse()
    }

    private init(
        text: String, catalogueFile: @escaping (_ source: CatalogueSource) throws(CatalogueUnreadable) -> Contents?
    ) {
        self.text = text
        self.catalogueFile = catalogueFile
    }

    private mutating func parse() -> ParsedScenario {
        var faults: [ScenarioFault] = []
        let text = Self.withQuotedCatalogue(Self.withoutMark(self.text)) { faults.append($0) }
        let lines = Tokenizer.lines(text) { faults.append($0) }
        for fault in faults { self.note(fault) }
        self.survey(lines)
        for line in lines {
            do throws(ScenarioFault) {
                try self.parse(line)
            } catch {
                self.note(error)
            }
        }
        if let block = self.block {
            self.note(ScenarioFault(block.place, "the catalogue \(quoted(block.name)) has no `end`"))
        }
        if self.parsed.scenario.lines.isEmpty, self.parsed.isSound {
            self.note(
                ScenarioFault(
                    SourcePlace(line: 1, column: 1),
                    "the file has no step and no expectation; write at least one, or remove the file"))
        }
        if self.hasInlineCatalogue { self.parsed.scenario.catalogue = .inline(self.catalogue) }
        self.parsed.scenario.accounts = self.names.accounts.isEmpty ? [Scenario.defaultAccount] : self.names.accounts
        self.parsed.faults.sort { $0.place < $1.place }
        return self.parsed
    }

    /// The text without a byte order mark, which some editors write in front of UTF-8.
    private static func withoutMark(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }

    /// The text with its catalogue file in quotes: from `catalog {` to the first line that is `}` alone.
    ///
    /// The other lines of the file become empty, so that every line keeps its number.
    private static func withQuotedCatalogue(_ text: String, _ fault: (ScenarioFault) -> Void) -> String {
        var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        let begin = lines.firstIndex { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.count == 2 && ["catalog", "catalogue"].contains(words[0].lowercased()) && words[1] == "{"
        }
        guard let begin else { return text }
        guard
            let end = lines[begin...].firstIndex(where: { $0.first == "}" && $0.dropFirst().allSatisfy(\.isWhitespace) }
            )
        else {
            fault(
                ScenarioFault(
                    SourcePlace(line: begin + 1, column: 1),
                    "this catalogue has no end; write `}` at the beginning of a line below it"))
            return lines[..<begin].joined(separator: "\n")
        }
        // White space within a text of JSON is a space, never a line break.
        let file = "{ " + lines[(begin + 1)...end].joined(separator: " ")
        for index in begin...end { lines[index] = "" }
        lines[begin] = "catalog \"\(file.replacing("\"", with: "\"\""))\""
        return lines.joined(separator: "\n")
    }

    private mutating func note(_ fault: ScenarioFault) {
        self.parsed.faultCount += 1
        if self.parsed.faults.count < Limits.scenarioFaultsMax { self.parsed.faults.append(fault) }
    }

    // MARK: Names

    /// Collects the names of accounts, products and groups first, because a line may name one that a later line defines.
    private mutating func survey(_ lines: [SourceLine]) {
        var hasFile = false
        var mentioned: [String] = []
        for line in lines {
            let tokens = line.tokens
            let words = tokens.map(\.normalised)
            if ["product", "sell"].contains(words[0]), tokens.count > 1 {
                self.names.products.insert(tokens[tokens[1].kind == .colon && tokens.count > 2 ? 2 : 1].text)
                if let group = words.firstIndex(of: "group") ?? words.firstIndex(of: "in"), group + 1 < tokens.count {
                    self.names.groups.insert(tokens[group + 1].text)
                } else {
                    self.names.groups.insert("main")
                }
            } else if ["catalog", "catalogue"].contains(words[0]) {
                hasFile = hasFile || self.looksLikeFile(tokens.last?.text ?? "")
            } else if words[0] == "load" {
                hasFile = hasFile || self.looksLikeFile(tokens.last?.text ?? "")
            } else if Self.isAccountList(tokens) {
                self.names.areAccountsDeclared = true
                for token in tokens.dropFirst() where token.kind == .word || token.kind == .quoted {
                    if token.kind == .quoted || token.normalised != "and" { self.names.add(account: token.text) }
                }
            } else if let name = self.prefixAccount(tokens) {
                mentioned.append(name)
            }
            if words.contains("share") || words.contains("shares"), let with = words.lastIndex(of: "with"),
                with + 1 < tokens.count
            {
                mentioned.append(tokens[with + 1].text)
            }
        }
        if !self.names.areAccountsDeclared {
            for name in mentioned { self.names.add(account: name) }
        }
        self.names.areProductsKnown = !self.names.products.isEmpty && !hasFile
    }

    private func looksLikeFile(_ text: String) -> Bool {
        text.contains("/") || text.hasSuffix(".storekit") || text.hasPrefix("{")
    }

    /// The account in `alice: …`, `+1mo alice: …` or `alice shares …`.
    private func prefixAccount(_ tokens: [Token]) -> String? {
        for index in tokens.indices.dropFirst() where tokens[index].kind == .colon {
            let before = tokens[index - 1]
            guard before.kind == .quoted || !Self.isReserved(before) else { return nil }
            // The colon after the subject of an expectation follows no account.
            guard index == 1 || Self.isTime(tokens[..<(index - 1)]) else { return nil }
            return before.kind == .comma ? nil : before.text
        }
        guard tokens.count > 1, tokens[0].kind == .word, !Self.isReserved(tokens[0]),
            Self.verb(ofThirdPerson: tokens[1]) != nil
        else { return nil }
        return tokens[0].text
    }

    private static func isTime(_ tokens: ArraySlice<Token>) -> Bool {
        guard let first = tokens.first else { return false }
        if first.text.first == "+" { return true }
        return ["at", "on", "after", "advance", "wait", "next", "to", "go"].contains(first.normalised)
            || CivilTime(parsing: first.text.prefix(10)) != nil
    }

    private static let headerWords = [
        "start", "strict", "accounts", "account", "catalog", "catalogue", "end", "sell", "licence", "license",
        "privacy",
    ]

    private static let reserved = Set((Self.headerWords + LineCursor.verbs).map(Token.normalise))

    private static func isReserved(_ token: Token) -> Bool { Self.reserved.contains(token.normalised) }

    /// `buys` is `buy`.
    private static func verb(ofThirdPerson token: Token) -> String? {
        guard token.kind == .word, token.text.last == "s" else { return nil }
        for ending in [1, 2] where token.text.count > ending + 1 {
            let stem = String(token.text.dropLast(ending))
            if LineCursor.verbs.contains(stem.lowercased()) { return stem }
        }
        return nil
    }

    // MARK: Lines

    private mutating func parse(_ line: SourceLine) throws(ScenarioFault) {
        var cursor = LineCursor(Self.naming(self.inFirstPerson(line)), names: self.names)
        defer { self.names = cursor.names }
        if try self.header(&cursor) { return }
        // A time may precede a step.
        while true {
            let start = cursor.index
            guard let clock = try cursor.clockStep() else {
                cursor.index = start
                break
            }
            self.add(.step(.clock(clock)), cursor, from: start)
            _ = cursor.take(.colon)
            if cursor.isAtEnd { return }
            if cursor.peek?.kind == .arrow { return try self.tail(&cursor) }
        }
        var said: String?
        if cursor.index + 1 < cursor.tokens.count, cursor.tokens[cursor.index + 1].kind == .colon,
            let token = cursor.peek, token.kind == .quoted || !Self.isReserved(token)
        {
            try cursor.requireDeclared(token.text, at: token.place)
            said = token.text
            cursor.index += 2
            guard !cursor.isAtEnd else { throw cursor.expected("a step") }
        }
        let start = cursor.index
        if cursor.take("expects", "expect", "sees") {
            let expectation = try cursor.expectation(said)
            try cursor.requireEnd()
            self.add(.expectation(expectation), cursor, from: start)
            self.hasBegun = true
            return
        }
        if let said, let clock = try cursor.clockStep(said) {
            if case .toNextBoundary = clock {} else { throw self.noAccount(said, cursor, "the clock") }
            self.add(.step(.clock(clock)), cursor, from: start)
            return try self.tail(&cursor)
        }
        try self.step(&cursor, said)
    }

    private func inFirstPerson(_ line: SourceLine) -> SourceLine {
        guard line.tokens.count > 1, line.tokens[0].kind == .word, !Self.isReserved(line.tokens[0]),
            line.tokens[1].kind == .word, let verb = Self.verb(ofThirdPerson: line.tokens[1])
        else { return line }
        var line = line
        line.tokens[1] = line.tokens[1].saying(verb)
        let colon = Token(.colon, ":", at: line.tokens[0].place, endColumn: line.tokens[0].endColumn)
        line.tokens.insert(colon, at: 1)
        return line
    }

    /// Moves `as NAME` after the options of a step, because it may be among them.
    private static func naming(_ line: SourceLine) -> SourceLine {
        guard !line.tokens.prefix(3).contains(where: { ["expect", "expects", "sees"].contains($0.normalised) }),
            let index = line.tokens.indices.dropFirst().first(where: { line.tokens[$0].normalised == "as" }),
            index + 2 < line.tokens.count, line.tokens[index].kind == .word, line.tokens[index + 1].kind == .word,
            // `charges as set` is no name.
            line.tokens[index + 1].normalised != "set", line.tokens[index + 2].kind != .arrow
        else { return line }
        var line = line
        let named = line.tokens[index...index + 1]
        line.tokens.removeSubrange(index...index + 1)
        line.tokens.insert(
            contentsOf: named, at: line.tokens.firstIndex { $0.kind == .arrow } ?? line.tokens.endIndex)
        return line
    }

    private mutating func step(_ cursor: inout LineCursor, _ said: String?) throws(ScenarioFault) {
        let start = cursor.index
        if let step = try cursor.purchase(said) {
            self.add(.step(step), cursor, from: start)
        } else if cursor.take("again", "ask again") {
            if let said { throw self.noAccount(said, cursor, "`again`") }
            self.add(.step(.again), cursor, from: start)
        } else if cursor.take("load the catalogue", "load catalogue", "load catalog", "load") {
            if let said { throw self.noAccount(said, cursor, "the catalogue") }
            let source = try self.catalogueSource(&cursor)
            self.add(.step(.load(source)), cursor, from: start)
        } else if cursor.take("watch", "unwatch", "stop watching") {
            let isWatch = cursor.tokens[start].normalised == "watch"
            guard let (key, _) = try cursor.watchKey(said) else {
                throw cursor.expected(
                    "a stream", among: ["status", "entitlement", "products", "updates", "intents", "messages"])
            }
            self.add(.step(isWatch ? .watch(key) : .unwatch(key)), cursor, from: start)
        } else if let mishap = try cursor.mishap() {
            if let said { throw self.noAccount(said, cursor, "a mishap") }
            self.add(.step(.mishap(mishap)), cursor, from: start)
        } else if let step = try cursor.accountStep(said) {
            self.add(.step(step), cursor, from: start)
        } else if let settings = try cursor.settings() {
            if let said { throw self.noAccount(said, cursor, "a setting") }
            guard self.hasBegun else {
                try cursor.requireEnd()
                self.parsed.scenario.settings += settings
                return
            }
            self.add(.step(.configure(settings)), cursor, from: start)
        } else {
            throw self.unknownStep(cursor, said)
        }
        self.hasBegun = true
        try self.tail(&cursor)
    }

    /// A line that names an account and is about the whole app.
    private func noAccount(_ account: String, _ cursor: LineCursor, _ what: String) -> ScenarioFault {
        ScenarioFault(
            cursor.tokens[0].place,
            "\(what) belongs to the whole app and to no account; remove \(quoted(account)) and its colon")
    }

    /// `as NAME`, and `->` with the expected outcome.
    private mutating func tail(_ cursor: inout LineCursor) throws(ScenarioFault) {
        let start = cursor.index
        if cursor.take("as") {
            let place = cursor.place
            let name = try cursor.newName()
            let check = Expectation.Check(place: place, text: "as \(name)", kind: .capture(name))
            let item = Expectation.Item(place: place, text: "as \(name)", checks: [check])
            self.add(.expectation(Expectation(subject: .outcome, items: [item])), cursor, from: start)
        }
        if cursor.take(.arrow) {
            let items = try cursor.items(.outcome)
            self.add(.expectation(Expectation(subject: .outcome, items: items)), cursor, from: start)
        }
        try cursor.requireEnd()
    }

    private func unknownStep(_ cursor: LineCursor, _ said: String?) -> ScenarioFault {
        var words = LineCursor.verbs
        if !self.hasBegun { words += Self.headerWords }
        guard let token = cursor.peek else { return cursor.expected("a step") }
        if said == nil, cursor.index == 0, let fault = self.unknownDeed(cursor.tokens) { return fault }
        let meant = token.kind == .word ? nearest(to: token.text, in: words) : nil
        return ScenarioFault(
            token.place,
            "\(quoted(token.text)) begins no step"
                + (meant.map { "; did you mean `\($0)`?" } ?? "; proto/scenario/README.md lists all"))
    }

    /// `alice byus gold`: a name and a misspelt verb. A first word that resembles a verb is no name, unless an account has
    /// that name.
    private func unknownDeed(_ tokens: [Token]) -> ScenarioFault? {
        guard tokens.count > 1, tokens[0].kind == .word, tokens[1].kind == .word, !Self.isReserved(tokens[0]) else {
            return nil
        }
        let (name, deed) = (tokens[0], tokens[1])
        let isName = self.names.accounts.contains(name.text) || nearest(to: name.text, in: LineCursor.verbs) == nil
        let verb = nearest(to: deed.text, in: Self.deeds) ?? nearest(to: deed.text, in: LineCursor.verbs)
        guard isName, let verb else { return nil }
        let meant = Self.deeds.contains(verb) ? verb : Self.deed(of: verb)
        return ScenarioFault(
            deed.place, "\(quoted(deed.text)) is nothing that \(quoted(name.text)) can do; did you mean `\(meant)`?")
    }

    /// The third person of a verb: `buys` of `buy`, `finishes` of `finish`.
    private static func deed(of verb: String) -> String {
        ["s", "sh", "ch", "x"].contains { verb.hasSuffix($0) } ? verb + "es" : verb + "s"
    }

    private static let deeds = LineCursor.verbs.map(Self.deed)

    private mutating func add(_ content: ScenarioLine.Content, _ cursor: LineCursor, from start: Int) {
        if case .step = content { self.hasBegun = true }
        let place = start < cursor.tokens.count ? cursor.tokens[start].place : cursor.place
        self.parsed.scenario.lines.append(ScenarioLine(place: place, text: cursor.text, content: content))
    }

    // MARK: The head of a file

    private mutating func header(_ cursor: inout LineCursor) throws(ScenarioFault) -> Bool {
        if self.block != nil || cursor.isNext("product") || cursor.isNext("sell") {
            if try self.catalogueLine(&cursor) { return true }
        }
        if cursor.take("strict") {
            _ = cursor.take(.colon)
            self.parsed.scenario.isStrict = cursor.optionalSwitch() ?? true
            try cursor.requireEnd()
            return true
        }
        if Self.isAccountList(cursor.tokens), cursor.take("accounts", "account") {
            try self.accountList(&cursor)
            return true
        }
        if cursor.take("start") {
            try self.startLine(&cursor)
            return true
        }
        if cursor.take("catalogue", "catalog") {
            try self.catalogueHead(&cursor)
            return true
        }
        return false
    }

    /// `accounts alice, bob`.
    private static func isAccountList(_ tokens: [Token]) -> Bool {
        tokens[0].kind == .word && ["accounts", "account"].contains(tokens[0].normalised)
    }

    private func accountList(_ cursor: inout LineCursor) throws(ScenarioFault) {
        _ = cursor.take(.colon)
        var seen: Set<String> = []
        repeat {
            _ = cursor.take("and")
            let name = try cursor.word("the name of an account")
            try cursor.requireFirst("\(quoted(name))", &seen)
            while !cursor.isAtEnd, cursor.peek?.kind != .comma, !cursor.isNext("and") {
                try cursor.requireFirst("\(quoted(try cursor.word("the name of an account")))", &seen)
            }
        } while cursor.take(.comma) || cursor.isNext("and")
        try cursor.requireEnd()
    }

    private mutating func startLine(_ cursor: inout LineCursor) throws(ScenarioFault) {
        _ = cursor.take(.colon)
        _ = cursor.take("at", "on")
        try self.requireHead(cursor, "`start`")
        let place = cursor.place
        let expression = try cursor.instant()
        guard case .absolute(let instant) = expression.base, expression.offset.isZero else {
            throw ScenarioFault(place, "`start` is a date, such as 2026-01-31T10:00:00Z")
        }
        try cursor.requireEnd()
        guard !self.hasStart else { throw ScenarioFault(cursor.tokens[0].place, "there is a `start` above already") }
        self.hasStart = true
        self.parsed.scenario.start = instant
    }

    /// `catalog Shop.storekit`, or the first line of a catalogue block.
    private mutating func catalogueHead(_ cursor: inout LineCursor) throws(ScenarioFault) {
        _ = cursor.take(.colon)
        let place = cursor.place
        let name = try cursor.word("a .storekit file, or the name of a catalogue that follows")
        try cursor.requireEnd()
        if self.looksLikeFile(name) {
            try self.requireHead(cursor, "`catalog`")
            guard self.parsed.scenario.catalogue == nil, !self.hasInlineCatalogue else {
                throw ScenarioFault(place, "this is a second catalogue for the beginning; `load` replaces one later")
            }
            let source = Self.fileSource(name)
            try self.learn(source, place)
            self.parsed.scenario.catalogue = source
        } else {
            guard self.parsed.scenario.namedCatalogues[name] == nil else {
                throw ScenarioFault(place, "there is a catalogue \(quoted(name)) already")
            }
            self.block = (name, place, ScenarioCatalogue())
        }
    }

    private func requireHead(_ cursor: LineCursor, _ what: String) throws(ScenarioFault) {
        guard self.hasBegun else { return }
        throw ScenarioFault(cursor.tokens[0].place, "\(what) stands above the first step")
    }

    private static func fileSource(_ name: String) -> CatalogueSource {
        name.hasPrefix("{") ? .text(name) : .file(path: name)
    }

    private mutating func learn(_ source: CatalogueSource, _ place: SourcePlace) throws(ScenarioFault) {
        do throws(CatalogueUnreadable) {
            guard let contents = try self.catalogueFile(source) else { return }
            self.names.products.formUnion(contents.products)
            self.names.groups.formUnion(contents.groups)
        } catch {
            throw ScenarioFault(place, "\(error)")
        }
    }

    private mutating func catalogueSource(_ cursor: inout LineCursor) throws(ScenarioFault) -> CatalogueSource {
        let place = cursor.place
        let name = try cursor.word("a .storekit file, or the name of a catalogue of this file")
        guard !self.looksLikeFile(name) else {
            let source = Self.fileSource(name)
            try self.learn(source, place)
            cursor.names = self.names
            return source
        }
        guard self.parsed.scenario.namedCatalogues[name] != nil else {
            let known = self.parsed.scenario.namedCatalogues.keys.sorted()
            let meant = nearest(to: name, in: known).map { "; did you mean `\($0)`?" }
            throw ScenarioFault(
                place,
                "no catalogue is called \(quoted(name))"
                    + (meant ?? "; `catalog \(name)`, products and `end` above this line make one"))
        }
        return .named(name)
    }

    /// A line of a catalogue, of a block or of the file itself.
    private mutating func catalogueLine(_ cursor: inout LineCursor) throws(ScenarioFault) -> Bool {
        if let block = self.block, cursor.take("end") {
            try cursor.requireEnd()
            self.block = nil
            self.parsed.scenario.namedCatalogues[block.name] = block.catalogue
            return true
        }
        var catalogue = self.block?.catalogue ?? self.catalogue
        if cursor.take("product", "sell") {
            if self.block == nil {
                try self.requireHead(cursor, "`product`")
                guard self.parsed.scenario.catalogue == nil else {
                    throw ScenarioFault(
                        cursor.tokens[0].place,
                        "the catalogue is a file already; add the product there, or remove the `catalog` line")
                }
            }
            _ = cursor.take(.colon)
            let place = cursor.place
            let entry = try cursor.catalogueEntry()
            guard catalogue.entry(entry.id) == nil else {
                throw ScenarioFault(place, "there is a product \(quoted(entry.id)) already")
            }
            catalogue.entries.append(entry)
            self.names.products.insert(entry.id)
        } else if self.block != nil, cursor.take("offer") {
            let place = cursor.place
            let (product, offer) = try cursor.offerEdit()
            try cursor.requireEnd()
            guard let index = catalogue.entries.firstIndex(where: { $0.id == product }) else {
                throw ScenarioFault(place, "the product \(quoted(product)) is not above this line")
            }
            guard !catalogue.entries[index].offers.contains(where: { $0.type == offer.type && $0.id == offer.id })
            else {
                let name = offer.id.isEmpty ? "introductory offer" : "\(offer.type) offer \(quoted(offer.id))"
                throw ScenarioFault(place, "\(quoted(product)) has the \(name) already; a product has one")
            }
            catalogue.entries[index].offers.append(offer)
        } else if self.block != nil {
            throw cursor.expected("`product`, `offer` or `end`", among: ["product", "offer", "end"])
        } else {
            return false
        }
        if self.block == nil {
            self.catalogue = catalogue
            self.hasInlineCatalogue = true
        } else {
            self.block?.catalogue = catalogue
        }
        return true
    }
}
