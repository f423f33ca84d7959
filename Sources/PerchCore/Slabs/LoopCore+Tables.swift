import PerchBase
import PerchModel
import PerchStore

// Lookups of slots by key. The tables hold only slots, so keys are hashed and compared here.
extension LoopCore {
    // MARK: Stream numbers

    @inline(__always)
    private static func hash(_ connection: Int32, _ stream: UInt32) -> Int { Int(connection) << 24 | Int(stream) }

    /// The call with a stream number of a connection.
    func call(_ connection: Int32, _ stream: UInt32) -> Int32? {
        let call = self.transport.streams.find(Self.hash(connection, stream)) {
            self.calls[$0].stream == stream && self.calls[$0].connection == connection
        }
        return call >= 0 ? call : nil
    }

    mutating func nameStream(of call: Int32) {
        if self.connections[self.calls[call].connection].wire.isHTTP {
            self.transport.http.streams[Int32(bitPattern: self.calls[call].stream)].call = call
            return
        }
        if self.transport.streams.isFull {
            var full = SlotTable()
            swap(&full, &self.transport.streams)
            self.transport.streams = full.larger { Self.hash(self.calls[$0].connection, self.calls[$0].stream) }
        }
        self.transport.streams.insert(call, Self.hash(self.calls[call].connection, self.calls[call].stream))
    }

    mutating func forgetStream(of call: Int32) {
        if self.connections[self.calls[call].connection].wire.isHTTP {
            self.transport.http.streams[Int32(bitPattern: self.calls[call].stream)].call = -1
            return
        }
        self.transport.streams.remove(call, Self.hash(self.calls[call].connection, self.calls[call].stream))
    }

    // MARK: Streams of HTTP/2

    /// The stream that a number of a connection stands for; -1 where there is none.
    func httpStream(_ connection: Int32, _ id: UInt32) -> Int32 {
        self.transport.http.table.find(Self.hash(connection, id)) {
            self.transport.http.streams[$0].id == id && self.transport.http.streams[$0].connection == connection
        }
    }

    mutating func nameHTTPStream(_ stream: Int32) {
        if self.transport.http.table.isFull {
            var full = SlotTable()
            swap(&full, &self.transport.http.table)
            self.transport.http.table = full.larger {
                Self.hash(self.transport.http.streams[$0].connection, self.transport.http.streams[$0].id)
            }
        }
        let slot = self.transport.http.streams[stream]
        self.transport.http.table.insert(stream, Self.hash(slot.connection, slot.id))
    }

    mutating func forgetHTTPStream(_ stream: Int32) {
        let slot = self.transport.http.streams[stream]
        self.transport.http.table.remove(stream, Self.hash(slot.connection, slot.id))
    }

    // MARK: Accounts

    private static func hash(_ key: AccountKey) -> Int { Int(truncatingIfNeeded: key.hash) }

    /// That of its key.
    private func hash(ofAccount slot: Int32) -> Int {
        let account = self.views.accounts[slot]
        let key = self.views.accountKeys.bytes(account.keyPlace, count: Int(account.keyCount))
        return Int(truncatingIfNeeded: KeyHash.hash(app: account.app, key.bytes))
    }

    /// The slot of a watched account; -1 for none.
    func findAccount(_ key: AccountKey) -> Int32 {
        key.bytes.withUnsafeBytes { bytes in
            self.views.accountTable.find(Self.hash(key)) { slot in
                let account = self.views.accounts[slot]
                return account.app == key.app
                    && self.views.accountKeys.holds(bytes, at: account.keyPlace, count: Int(account.keyCount))
            }
        }
    }

    mutating func insertAccount(_ key: AccountKey) -> Int32 {
        if self.views.accountTable.isFull {
            var full = SlotTable()
            swap(&full, &self.views.accountTable)
            self.views.accountTable = full.larger { self.hash(ofAccount: $0) }
        }
        let place = self.views.accountKeys.insert(key.bytes.span.bytes)
        let slot = self.views.accounts.insert(AccountSlot(app: key.app, keyPlace: place, keyCount: key.bytes.count))
        self.views.accountTable.insert(slot, Self.hash(key))
        return slot
    }

    mutating func removeAccount(_ slot: Int32) {
        self.views.accountTable.remove(slot, self.hash(ofAccount: slot))
        let account = self.views.accounts[slot]
        self.views.accountKeys.remove(account.keyPlace, count: Int(account.keyCount))
        self.views.accounts.remove(slot)
    }

    /// The key of an account, for the store and for tokens.
    func accountKey(_ slot: Int32) -> AccountKey {
        let account = self.views.accounts[slot]
        return AccountKey(
            app: account.app, bytes: Array(self.views.accountKeys.bytes(account.keyPlace, count: Int(account.keyCount)))
        )
    }

    // MARK: Numbers of accounts

    private static func hash(_ number: AccountNumber) -> Int { Int(truncatingIfNeeded: number) }

    /// The first slot of an account number; -1 if the account is not watched.
    func firstOfNumber(_ number: AccountNumber) -> Int32 {
        self.views.numberTable.find(Self.hash(number)) { self.views.accounts[$0].number == number }
    }

    /// Prefetches the table entry of an account number.
    @inline(__always)
    func prefetchFirstLook(_ number: AccountNumber) { self.views.numberTable.prefetch(Self.hash(number)) }

    /// The slot at which the lookup of an account number begins.
    @inline(__always)
    func firstLook(_ number: AccountNumber) -> Int32 { self.views.numberTable.first(Self.hash(number)) }

    /// Assigns changes of account `number` to this slot from now on.
    mutating func setNumber(_ slot: Int32, _ number: AccountNumber) {
        if self.views.accounts[slot].hasNumber {
            guard self.views.accounts[slot].number != number else { return }
            self.forgetNumber(slot)
        }
        let first = self.firstOfNumber(number)
        self.views.accounts[slot].hasNumber = true
        self.views.accounts[slot].number = number
        self.views.accounts[slot].nextOfNumber = first
        guard first < 0 else { return self.views.numberTable.replace(first, with: slot, Self.hash(number)) }
        if self.views.numberTable.isFull {
            var full = SlotTable()
            swap(&full, &self.views.numberTable)
            self.views.numberTable = full.larger { Self.hash(self.views.accounts[$0].number) }
        }
        self.views.numberTable.insert(slot, Self.hash(number))
    }

    mutating func forgetNumber(_ slot: Int32) {
        guard self.views.accounts[slot].hasNumber else { return }
        let (number, next) = (self.views.accounts[slot].number, self.views.accounts[slot].nextOfNumber)
        self.views.accounts[slot].hasNumber = false
        self.views.accounts[slot].nextOfNumber = -1
        var current = self.firstOfNumber(number)
        if current == slot {
            if next >= 0 {
                self.views.numberTable.replace(slot, with: next, Self.hash(number))
            } else {
                self.views.numberTable.remove(slot, Self.hash(number))
            }
            return
        }
        while self.views.accounts[current].nextOfNumber != slot { current = self.views.accounts[current].nextOfNumber }
        self.views.accounts[current].nextOfNumber = next
    }

    // MARK: Views

    @inline(__always)
    private static func hash(_ account: Int32, _ app: AppNumber, _ key: Int32) -> Int {
        Int(UInt32(bitPattern: account)) ^ Int(key) << 32 ^ Int(app) << 48
    }

    /// The view of an account, or of no account; -1 if it is not watched.
    func findView(app: AppNumber, account: Int32, _ key: ViewKey) -> Int32 {
        guard let place = self.views.viewKeys.place(key) else { return -1 }
        return self.views.viewTable.find(Self.hash(account, app, place)) {
            self.views.slots[$0].account == account && self.views.slots[$0].key == place
                && self.views.slots[$0].app == app
        }
    }

    mutating func insertView(app: AppNumber, account: Int32, _ key: ViewKey) -> Int32 {
        if self.views.viewTable.isFull {
            var full = SlotTable()
            swap(&full, &self.views.viewTable)
            self.views.viewTable = full.larger {
                Self.hash(self.views.slots[$0].account, self.views.slots[$0].app, self.views.slots[$0].key)
            }
        }
        let place = self.views.viewKeys.take(key)
        let view = self.views.slots.insert(ViewSlot(account: account, app: app, key: place))
        self.views.viewTable.insert(view, Self.hash(account, app, place))
        return view
    }

    /// Removes a view from the table; the caller frees the slot.
    mutating func forgetView(_ view: Int32) {
        let slot = self.views.slots[view]
        self.views.viewTable.remove(view, Self.hash(slot.account, slot.app, slot.key))
        self.views.viewKeys.release(slot.key)
    }

    /// Bytes of all tables.
    var tableBytes: Int {
        self.transport.streams.memoryBytes + self.views.viewTable.memoryBytes + self.views.accountTable.memoryBytes
            + self.views.numberTable.memoryBytes + self.views.accountKeys.memoryBytes
    }
}
