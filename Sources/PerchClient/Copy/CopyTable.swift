import PerchBase

/// The entries of a copy: what each account has, and its other keys.
///
/// A value that knows no clock: it is asked about an instant of the app's clock. `apply` takes the columns of a batch; a lookup
/// allocates nothing.
struct CopyTable: Sendable {
    /// A stretch of time of one name. The first of a name has begun; each later one begins where the one before ends.
    struct Segment: Equatable, Sendable {
        /// Place in `grades`.
        var grade: UInt32
        /// An `EntitlementReason`; 0: not entitled.
        var reason: UInt8
        /// Milliseconds of the app's clock; `Int64.max`: never by itself.
        var until: Int64
    }

    /// A name and a tier.
    struct Grade: Hashable, Sendable {
        var name: String
        var tier: String
    }

    /// Every grade that was seen, each once.
    private(set) var grades: [Grade] = []
    private var gradeNumbers: [Grade: UInt32] = [:]
    /// The name of each grade: place in `names`; -1: nobody may ask for it.
    private var gradeNames: [Int32] = []
    /// The names that may be asked for: those of the app's file, and those of grants beside it.
    private(set) var names: [String] = []
    private var nameNumbers: [String: Int32] = [:]
    /// The only names that may be asked for; empty: all. Entries of others are no answer, because the server was not asked for them.
    private let asked: [String]

    init(asked: [String] = []) {
        self.asked = asked
        for name in asked { self.add(name: name) }
    }

    /// Accounts: the first segment is in the record, the others are at `first` in `segments`; `alias` begins a chain in `aliases`.
    private var accounts = KeyTable()
    /// Other keys of accounts: `number` is the account's record, and `alias` the next one of the same account.
    private var aliases = KeyTable()
    /// The further segments of accounts with several.
    private var segments: [Segment] = []
    /// Places of `segments` that no account has any more.
    private var waste = 0

    /// The number of accounts that have something.
    var count: Int { self.accounts.count }
    /// The number of other keys.
    var aliasCount: Int { self.aliases.count }

    /// Whether accounts may be asked for this name.
    func number(ofName name: String) -> Int32? {
        // Comparing a few short texts is faster than hashing one.
        if self.names.count <= 8 { return self.names.firstIndex(of: name).map { Int32($0) } }
        return self.nameNumbers[name]
    }

    mutating func add(name: String) {
        guard self.nameNumbers[name] == nil, self.asked.isEmpty || self.asked.contains(name) else { return }
        self.nameNumbers[name] = Int32(self.names.count)
        self.names.append(name)
    }

    /// The number of a grade in this table.
    mutating func add(_ grade: Grade) -> UInt32 {
        if let known = self.gradeNumbers[grade] { return known }
        self.add(name: grade.name)
        let number = UInt32(self.grades.count)
        self.grades.append(grade)
        self.gradeNumbers[grade] = number
        self.gradeNames.append(self.nameNumbers[grade.name] ?? -1)
        return number
    }

    // MARK: Questions

    /// An account by its key, or by another key of it; nil: it has nothing.
    func find(_ account: UnsafeRawBufferPointer) -> (account: Int32, isAlias: Bool)? {
        if let number = self.accounts.find(account) { return (number, false) }
        guard self.aliases.count > 0, let number = self.aliases.find(account) else { return nil }
        return (Int32(self.aliases[number].number), true)
    }

    func segmentCount(of account: Int32) -> Int { 1 + Int(self.accounts[account].extraCount) }

    func segment(_ place: Int, of account: Int32) -> Segment {
        let record = self.accounts[account]
        guard place > 0 else { return Segment(grade: record.number, reason: record.reason, until: record.until) }
        return self.segments[Int(record.first) + place - 1]
    }

    func isName(_ name: Int32, _ segment: Segment) -> Bool { self.gradeNames[Int(segment.grade)] == name }

    /// How many places `forEach` goes through: the accounts, and places that none has at present.
    var placeCount: Int { self.accounts.records.count }

    /// The place of an account in `forEach`, by its own key.
    func place(of key: String) -> Int? {
        key.utf8Span.span.withUnsafeBytes { self.accounts.find($0) }.map { Int($0) }
    }

    /// The key of the account at a place; nil: none is there.
    func key(at place: Int) -> String? {
        self.accounts.records[place].length > 0 ? self.accounts.text(Int32(place)) : nil
    }

    /// The accounts at some places, each with its key, its other keys and its segments.
    func forEach(at places: Range<Int>, _ body: (_ key: String, _ aliases: [String], _ segments: [Segment]) -> Void) {
        for place in places.clamped(to: 0..<self.accounts.records.count) where self.accounts.records[place].length > 0 {
            var others: [String] = []
            var alias = self.accounts.records[place].alias
            while alias >= 0 {
                others.append(self.aliases.text(alias))
                alias = self.aliases[alias].alias
            }
            let account = Int32(place)
            let segments = (0..<self.segmentCount(of: account)).map { self.segment($0, of: account) }
            body(self.accounts.text(account), others, segments)
        }
    }

    // MARK: Changes

    /// The columns of a batch.
    struct Columns: Sendable {
        var keys: [UInt8] = []
        var keyEnds: [UInt32] = []
        var segmentEnds: [UInt32] = []
        /// Grades of the batch: places in the table of its `begin`, and beyond it in the grades of the batch itself.
        var grades: [UInt32] = []
        var untils: [Int64] = []
        var reasons: [UInt8] = []
        var aliases: [UInt8] = []
        var aliasEnds: [UInt32] = []
        var aliasAccounts: [UInt32] = []
    }

    /// Enters a batch. `grade` translates a batch's number of a grade. Throws, without effect, if the columns do not fit each other.
    mutating func apply(_ columns: Columns, grades: [UInt32], changed: (_ key: UnsafeRawBufferPointer) -> Void)
        throws(ColumnFault)
    {
        try columns.check(gradeCount: grades.count)
        columns.keys.withUnsafeBytes { keys in
            var from = 0
            var segment = 0
            for index in columns.keyEnds.indices {
                let to = Int(columns.keyEnds[index])
                let last = Int(columns.segmentEnds[index])
                let key = UnsafeRawBufferPointer(rebasing: keys[from..<to])
                changed(key)
                self.replace(key, columns, segment..<last, grades)
                (from, segment) = (to, last)
            }
        }
        columns.aliases.withUnsafeBytes { aliases in
            columns.keys.withUnsafeBytes { keys in
                var from = 0
                for index in columns.aliasEnds.indices {
                    let to = Int(columns.aliasEnds[index])
                    let account = Int(columns.aliasAccounts[index])
                    let first = account == 0 ? 0 : Int(columns.keyEnds[account - 1])
                    let key = UnsafeRawBufferPointer(rebasing: keys[first..<Int(columns.keyEnds[account])])
                    self.attach(UnsafeRawBufferPointer(rebasing: aliases[from..<to]), to: key)
                    from = to
                }
            }
        }
        if self.waste > 4_096, self.waste * 2 > self.segments.count { self.compact() }
    }

    private mutating func replace(
        _ key: UnsafeRawBufferPointer, _ columns: Columns, _ range: Range<Int>, _ grades: [UInt32]
    ) {
        guard !range.isEmpty else {
            if let account = self.accounts.find(key) { self.remove(account) }
            return
        }
        let (account, isNew) = self.accounts.insert(key)
        if !isNew { self.detachAll(account) }
        func segment(_ index: Int) -> Segment {
            Segment(
                grade: grades[Int(columns.grades[index])], reason: columns.reasons[index], until: columns.untils[index])
        }
        let extra = range.count - 1
        let before = Int(self.accounts[account].extraCount)
        var first = Int(self.accounts[account].first)
        if extra <= before {
            self.waste += before - extra
        } else {
            self.waste += before
            first = self.segments.count
            for _ in 0..<extra { self.segments.append(Segment(grade: 0, reason: 0, until: 0)) }
        }
        for place in 0..<extra { self.segments[first + place] = segment(range.lowerBound + 1 + place) }
        let own = segment(range.lowerBound)
        self.accounts[account].number = own.grade
        self.accounts[account].reason = own.reason
        self.accounts[account].until = own.until
        self.accounts[account].first = UInt32(first)
        self.accounts[account].extraCount = UInt16(extra)
    }

    private mutating func remove(_ account: Int32) {
        self.detachAll(account)
        self.waste += Int(self.accounts[account].extraCount)
        self.accounts[account].extraCount = 0
        self.accounts.remove(account)
    }

    private mutating func detachAll(_ account: Int32) {
        var alias = self.accounts[account].alias
        while alias >= 0 {
            let next = self.aliases[alias].alias
            self.aliases.remove(alias)
            alias = next
        }
        self.accounts[account].alias = -1
    }

    /// Gives an account that has something another key.
    private mutating func attach(_ alias: UnsafeRawBufferPointer, to key: UnsafeRawBufferPointer) {
        guard let account = self.accounts.find(key) else { return }
        let (number, isNew) = self.aliases.insert(alias)
        if !isNew { self.unchain(number) }
        self.aliases[number].number = UInt32(account)
        self.aliases[number].alias = self.accounts[account].alias
        self.accounts[account].alias = number
    }

    /// Takes an alias out of its account's chain.
    private mutating func unchain(_ number: Int32) {
        let account = Int32(self.aliases[number].number)
        let next = self.aliases[number].alias
        if self.accounts[account].alias == number {
            self.accounts[account].alias = next
            return
        }
        var alias = self.accounts[account].alias
        while alias >= 0, self.aliases[alias].alias != number { alias = self.aliases[alias].alias }
        if alias >= 0 { self.aliases[alias].alias = next }
    }

    private mutating func compact() {
        var kept: [Segment] = []
        kept.reserveCapacity(self.segments.count - self.waste)
        for place in self.accounts.records.indices where self.accounts.records[place].extraCount > 0 {
            let record = self.accounts.records[place]
            let first = Int(record.first)
            self.accounts[Int32(place)].first = UInt32(kept.count)
            kept.append(contentsOf: self.segments[first..<first + Int(record.extraCount)])
        }
        self.segments = kept
        self.waste = 0
    }
}

/// Why the columns of a batch cannot be read.
struct ColumnFault: Error, Equatable, CustomStringConvertible {
    var description: String
}

extension CopyTable.Columns {
    fileprivate func check(gradeCount: Int) throws(ColumnFault) {
        func refuse(_ text: String) -> ColumnFault {
            ColumnFault(description: "the columns of a batch do not fit: \(text)")
        }
        guard self.segmentEnds.count == self.keyEnds.count else {
            throw refuse("\(self.keyEnds.count) accounts, \(self.segmentEnds.count) ends of segments")
        }
        guard self.untils.count == self.grades.count, self.reasons.count == self.grades.count else {
            throw refuse("\(self.grades.count) grades, \(self.untils.count) ends, \(self.reasons.count) reasons")
        }
        guard self.aliasAccounts.count == self.aliasEnds.count else {
            throw refuse("\(self.aliasEnds.count) aliases of \(self.aliasAccounts.count) accounts")
        }
        try Self.check(self.keyEnds, upTo: self.keys.count, lengths: 1...255, "key")
        try Self.check(self.segmentEnds, upTo: self.grades.count, lengths: 0...Int(UInt16.max), "segment")
        try Self.check(self.aliasEnds, upTo: self.aliases.count, lengths: 1...255, "alias")
        if let grade = self.grades.first(where: { $0 >= gradeCount }) {
            throw refuse("grade \(grade) of \(gradeCount)")
        }
        if let account = self.aliasAccounts.first(where: { $0 >= self.keyEnds.count }) {
            throw refuse("an alias of account \(account) of \(self.keyEnds.count)")
        }
    }

    /// Ends rise, by a length that is allowed, up to all that there is.
    private static func check(
        _ ends: [UInt32], upTo count: Int, lengths: ClosedRange<Int>, _ what: String
    ) throws(ColumnFault) {
        var last = 0
        for end in ends {
            guard lengths.contains(Int(end) - last) else {
                throw ColumnFault(description: "the columns of a batch do not fit: a \(what) of \(Int(end) - last)")
            }
            last = Int(end)
        }
        guard last == count else {
            throw ColumnFault(
                description: "the columns of a batch do not fit: the last \(what) ends at \(last) of \(count)")
        }
    }
}
