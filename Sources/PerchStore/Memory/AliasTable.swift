import PerchBase
import PerchModel

/// Maps callers' keys to accounts: an open-addressed table over a list of keys. A place has four bytes of hash and four of
/// index.
///
/// Unlike a dictionary it can prefetch the memory that a lookup touches, given the hash of a key.
/// Only the last inserted key gives its place back, when a batch is undone. A key that is removed keeps it, and names no account.
struct AliasTable: ~Copyable {
    private struct Alias {
        let key: AccountKey
        var account: AccountNumber
    }

    private struct Place: BitwiseCopyable {
        /// The upper half of the hash.
        var mark: UInt32
        /// Index of the alias; negative for none.
        var index: Int32
    }

    private static let empty = Place(mark: 0, index: -1)

    private var aliases: [Alias] = []
    /// The index of the first key of an account that callers use, in bytewise order, by account; negative where it is looked
    /// for. The store's own names, which begin with NUL, are none of these keys.
    private var names: [Int32] = [-1]
    /// The index of the key that an account was opened with, by account; negative once it names another.
    private var opened: [Int32] = [-1]
    /// The indexes of an account's other keys.
    private var others: [AccountNumber: [Int32]] = [:]
    /// The keys of each app, those without an account among them.
    private var ordered: [AppNumber: OrderedKeys] = [:]
    private var places: UnsafeMutablePointer<Place>
    private var mask: Int

    init() {
        self.mask = 63
        self.places = GrowingMemory.resized(nil, from: 0, to: 64)
        self.places.initialize(repeating: Self.empty, count: 64)
    }

    deinit { GrowingMemory.free(self.places, self.mask + 1) }

    var count: Int { self.aliases.count }

    subscript(key: AccountKey) -> AccountNumber? {
        let place = self.find(key)
        let index = self.places[place].index
        guard index >= 0 else { return nil }
        let account = self.aliases[Int(index)].account
        return account == 0 ? nil : account
    }

    /// The key names no account from now on.
    mutating func remove(_ key: AccountKey) {
        let index = self.places[self.find(key)].index
        guard index >= 0 else { return }
        if !key.isInternal { self.forgetName(of: self.aliases[Int(index)].account) }
        self.detach(index, from: self.aliases[Int(index)].account)
        self.aliases[Int(index)].account = 0
    }

    /// Names an account by a key from now on; returns which one it named before: 0 if the key was removed, nil if it is new.
    mutating func update(_ key: AccountKey, _ account: AccountNumber) -> AccountNumber? {
        var place = self.find(key)
        let index = self.places[place].index
        if index >= 0 {
            let before = self.aliases[Int(index)].account
            self.aliases[Int(index)].account = account
            self.detach(index, from: before)
            if account != 0 { self.others[account, default: []].append(index) }
            if !key.isInternal {
                self.forgetName(of: before)
                self.forgetName(of: account)
            }
            return before
        }
        if (self.aliases.count + 1) * 4 > (self.mask + 1) * 3 {
            self.grow()
            place = self.find(key)
        }
        self.places[place] = Place(mark: Self.mark(key.hash), index: Int32(self.aliases.count))
        if account == self.names.count {
            // As for nearly all: an account is opened with its key.
            self.names.append(key.isInternal ? Self.unclaimed : Int32(self.aliases.count))
            self.opened.append(Int32(self.aliases.count))
        } else {
            if !key.isInternal { self.forgetName(of: account) }
            self.others[account, default: []].append(Int32(self.aliases.count))
        }
        self.aliases.append(Alias(key: key, account: account))
        let last = Int32(self.aliases.count - 1)
        self.order(key) { $0.insert(last, key.bytes, in: $1) }
        return nil
    }

    /// Reverts the last `update` that returned nil.
    mutating func removeLast(_ key: AccountKey) {
        precondition(self.aliases.last?.key == key, "a key is taken back that was not the last")
        // Later places in the table are older keys, which did not have to step over this one.
        self.places[self.find(key)] = Self.empty
        self.order(key) { $0.remove(key.bytes, in: $1) }
        let last = self.aliases.removeLast()
        self.detach(Int32(self.aliases.count), from: last.account)
        let name = self.names.last ?? -1
        if last.account + 1 == self.names.count,
            name == Int32(self.aliases.count) || key.isInternal && name == Self.unclaimed
        {
            self.names.removeLast()
            self.opened.removeLast()
        } else if !key.isInternal {
            self.forgetName(of: last.account)
        }
    }

    /// Of an account that was opened under a name of the store's own, and got no key since.
    private static let unclaimed: Int32 = -2

    /// The key of an account that callers use, the first in bytewise order if it has several.
    func key(of account: AccountNumber) -> [UInt8]? {
        if account < self.names.count, self.names[Int(account)] == Self.unclaimed { return nil }
        if account < self.names.count, self.names[Int(account)] >= 0 {
            return self.aliases[Int(self.names[Int(account)])].key.bytes
        }
        // An account with a moved key: rare.
        var first: AccountKey?
        for key in self.names(of: account) where !key.isInternal {
            if first.map({ key.bytes.lexicographicallyPrecedes($0.bytes) }) ?? true { first = key }
        }
        return first?.bytes
    }

    private mutating func forgetName(of account: AccountNumber) {
        if account < self.names.count { self.names[Int(account)] = -1 }
    }

    /// The account of an order's key.
    func account(_ key: OrderAccount, app: AppNumber) -> AccountNumber? {
        var place = self.home(key.hash)
        while self.places[place].index >= 0 {
            let found = self.places[place]
            if found.mark == Self.mark(key.hash), self.aliases[Int(found.index)].key.isKey(of: key, app: app) {
                let account = self.aliases[Int(found.index)].account
                return account == 0 ? nil : account
            }
            place = (place + 1) & self.mask
        }
        return nil
    }

    /// All keys that lead to an account.
    func names(of account: AccountNumber) -> [AccountKey] {
        var indexes = self.others[account] ?? []
        if account < self.opened.count, self.opened[Int(account)] >= 0 { indexes.append(self.opened[Int(account)]) }
        return indexes.sorted().map { self.aliases[Int($0)].key }
    }

    /// A key names the account no longer.
    private mutating func detach(_ index: Int32, from account: AccountNumber) {
        if account < self.opened.count, self.opened[Int(account)] == index {
            self.opened[Int(account)] = -1
            return
        }
        guard var rest = self.others.removeValue(forKey: account) else { return }
        rest.removeAll { $0 == index }
        if !rest.isEmpty { self.others[account] = rest }
    }

    /// Changes the order of the keys of a key's app. Moved out and back: a second reference would have it copied.
    private mutating func order(_ key: AccountKey, _ change: (inout OrderedKeys, (Int32) -> [UInt8]) -> Void) {
        var keys = self.ordered.removeValue(forKey: key.app) ?? OrderedKeys()
        change(&keys) { self.aliases[Int($0)].key.bytes }
        self.ordered[key.app] = keys
    }

    /// Keys of an app that name an account, in bytewise order after `key`.
    func keys(of app: AppNumber, after key: [UInt8], limit: Int) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        guard limit > 0 else { return keys }
        self.ordered[app]?.forEach(after: key) {
            self.aliases[Int($0)].key.bytes
        } _: { index in
            if self.aliases[Int(index)].account != 0 { keys.append(self.aliases[Int(index)].key.bytes) }
            return keys.count < limit
        }
        return keys
    }

    // MARK: Fetching ahead

    /// A key will be looked up, as its hash says.
    @inline(__always)
    func prefetch(_ hash: UInt64) { Prefetch.bytes(self.places + self.home(hash), 1) }

    /// Prefetches the alias at the prefetched entry.
    @inline(__always)
    func prefetchAlias(_ hash: UInt64) {
        let index = self.places[self.home(hash)].index
        guard index >= 0 else { return }
        self.aliases.withUnsafeBufferPointer { aliases in
            if let base = aliases.baseAddress { Prefetch.bytes(base + Int(index), MemoryLayout<Alias>.size) }
        }
    }

    /// Then: which account it is likely to name, its key being fetched. Nil: none, or one that is not at once found.
    @inline(__always)
    func likely(_ hash: UInt64) -> AccountNumber? {
        let place = self.places[self.home(hash)]
        guard place.index >= 0, place.mark == Self.mark(hash) else { return nil }
        // Account 0, of a removed key, has an empty place of its own.
        return self.aliases.withUnsafeBufferPointer { aliases in
            let alias = aliases.baseAddress.map { UnsafeRawPointer($0 + Int(place.index)) }
            if let alias, let offset = MemoryLayout<Alias>.offset(of: \.key.bytes) {
                // An array's own fields, and the first bytes of a key.
                Prefetch.object(at: alias + offset, 2 * Prefetch.headerBytes + 16)
            }
            return aliases[Int(place.index)].account
        }
    }

    // MARK: Places

    @inline(__always)
    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & self.mask }

    @inline(__always)
    private static func mark(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    /// The entry of a key, or the empty one for its insertion.
    private func find(_ key: AccountKey) -> Int {
        var place = self.home(key.hash)
        while self.places[place].index >= 0 {
            let found = self.places[place]
            if found.mark == Self.mark(key.hash), self.aliases[Int(found.index)].key == key { break }
            place = (place + 1) & self.mask
        }
        return place
    }

    private mutating func grow() {
        let before = self.mask + 1
        self.mask = 2 * before - 1
        self.places = GrowingMemory.resized(self.places, from: before, to: 2 * before)
        self.places.initialize(repeating: Self.empty, count: 2 * before)
        for index in self.aliases.indices {
            let hash = self.aliases[index].key.hash
            var place = self.home(hash)
            while self.places[place].index >= 0 { place = (place + 1) & self.mask }
            self.places[place] = Place(mark: Self.mark(hash), index: Int32(index))
        }
    }
}
