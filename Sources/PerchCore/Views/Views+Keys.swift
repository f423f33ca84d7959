import PerchBase
import PerchModel
import PerchStore

// Lookups of views and accounts by key. The tables hold only slots, so keys are hashed and compared here.
extension Views {
    // MARK: Accounts

    private static func hash(_ key: AccountKey) -> Int { Int(truncatingIfNeeded: key.hash) }

    /// That of its key.
    private func hash(ofAccount slot: Int32) -> Int {
        let account = self.accounts[slot]
        let key = self.accountKeys.bytes(account.keyPlace, count: Int(account.keyCount))
        return Int(truncatingIfNeeded: KeyHash.hash(app: account.app, key.bytes))
    }

    /// The slot of a watched account; -1 for none.
    func findAccount(_ key: AccountKey) -> Int32 {
        key.bytes.withUnsafeBytes { bytes in
            self.accountTable.find(Self.hash(key)) { slot in
                let account = self.accounts[slot]
                return account.app == key.app
                    && self.accountKeys.holds(bytes, at: account.keyPlace, count: Int(account.keyCount))
            }
        }
    }

    mutating func insertAccount(_ key: AccountKey) -> Int32 {
        if self.accountTable.isFull {
            var full = SlotTable()
            swap(&full, &self.accountTable)
            self.accountTable = full.larger { self.hash(ofAccount: $0) }
        }
        let place = self.accountKeys.insert(key.bytes.span.bytes)
        let slot = self.accounts.insert(AccountSlot(app: key.app, keyPlace: place, keyCount: key.bytes.count))
        self.accountTable.insert(slot, Self.hash(key))
        return slot
    }

    mutating func removeAccount(_ slot: Int32) {
        self.accountTable.remove(slot, self.hash(ofAccount: slot))
        let account = self.accounts[slot]
        self.accountKeys.remove(account.keyPlace, count: Int(account.keyCount))
        self.accounts.remove(slot)
    }

    /// The key of an account, for the store and for tokens.
    func accountKey(_ slot: Int32) -> AccountKey {
        let account = self.accounts[slot]
        return AccountKey(
            app: account.app, bytes: Array(self.accountKeys.bytes(account.keyPlace, count: Int(account.keyCount)))
        )
    }

    // MARK: Numbers of accounts

    private static func hash(_ number: AccountNumber) -> Int { Int(truncatingIfNeeded: number) }

    /// The first slot of an account number; -1 if the account is not watched.
    func firstOfNumber(_ number: AccountNumber) -> Int32 {
        self.numberTable.find(Self.hash(number)) { self.accounts[$0].number == number }
    }

    /// Prefetches the table entry of an account number.
    @inline(__always)
    func prefetchFirstLook(_ number: AccountNumber) { self.numberTable.prefetch(Self.hash(number)) }

    /// The slot at which the lookup of an account number begins.
    @inline(__always)
    func firstLook(_ number: AccountNumber) -> Int32 { self.numberTable.first(Self.hash(number)) }

    /// Assigns changes of account `number` to this slot from now on.
    mutating func setNumber(_ slot: Int32, _ number: AccountNumber) {
        if self.accounts[slot].hasNumber {
            guard self.accounts[slot].number != number else { return }
            self.forgetNumber(slot)
        }
        let first = self.firstOfNumber(number)
        self.accounts[slot].hasNumber = true
        self.accounts[slot].number = number
        self.accounts[slot].nextOfNumber = first
        guard first < 0 else { return self.numberTable.replace(first, with: slot, Self.hash(number)) }
        if self.numberTable.isFull {
            var full = SlotTable()
            swap(&full, &self.numberTable)
            self.numberTable = full.larger { Self.hash(self.accounts[$0].number) }
        }
        self.numberTable.insert(slot, Self.hash(number))
    }

    mutating func forgetNumber(_ slot: Int32) {
        guard self.accounts[slot].hasNumber else { return }
        let (number, next) = (self.accounts[slot].number, self.accounts[slot].nextOfNumber)
        self.accounts[slot].hasNumber = false
        self.accounts[slot].nextOfNumber = -1
        var current = self.firstOfNumber(number)
        if current == slot {
            if next >= 0 {
                self.numberTable.replace(slot, with: next, Self.hash(number))
            } else {
                self.numberTable.remove(slot, Self.hash(number))
            }
            return
        }
        while self.accounts[current].nextOfNumber != slot { current = self.accounts[current].nextOfNumber }
        self.accounts[current].nextOfNumber = next
    }

    // MARK: Views

    @inline(__always)
    private static func hash(_ account: Int32, _ app: AppNumber, _ key: Int32) -> Int {
        Int(UInt32(bitPattern: account)) ^ Int(key) << 32 ^ Int(app) << 48
    }

    /// The view of an account, or of no account; -1 if it is not watched.
    func findView(app: AppNumber, account: Int32, _ key: ViewKey) -> Int32 {
        guard let place = self.viewKeys.place(key) else { return -1 }
        return self.viewTable.find(Self.hash(account, app, place)) {
            self.slots[$0].account == account && self.slots[$0].key == place
                && self.slots[$0].app == app
        }
    }

    mutating func insertView(app: AppNumber, account: Int32, _ key: ViewKey) -> Int32 {
        if self.viewTable.isFull {
            var full = SlotTable()
            swap(&full, &self.viewTable)
            self.viewTable = full.larger {
                Self.hash(self.slots[$0].account, self.slots[$0].app, self.slots[$0].key)
            }
        }
        let place = self.viewKeys.take(key)
        let view = self.slots.insert(ViewSlot(account: account, app: app, key: place))
        self.viewTable.insert(view, Self.hash(account, app, place))
        return view
    }

    /// Removes a view from the table; the caller frees the slot.
    mutating func forgetView(_ view: Int32) {
        let slot = self.slots[view]
        self.viewTable.remove(view, Self.hash(slot.account, slot.app, slot.key))
        self.viewKeys.release(slot.key)
    }

    /// Bytes of the tables and of the keys.
    var tableBytes: Int {
        self.viewTable.memoryBytes + self.accountTable.memoryBytes + self.numberTable.memoryBytes
            + self.accountKeys.memoryBytes
    }
}
