import PerchBase
import PerchModel

// A mutation reads a dozen cache lines, each found through the one before. Before a group of mutations is decided, these
// lines are fetched for all of them, one step at a time.
extension MemoryTables {
    /// Prefetches for the next `Limits.prefetchedAtOnce` mutations. A single one gains nothing, because it would only be read
    /// twice.
    mutating func prefetch(_ requests: [StoreRequest], from start: Int) {
        let end = min(requests.count, start + Limits.prefetchedAtOnce)
        self.isFetchedAhead = end - start > 1
        guard self.isFetchedAhead else { return }
        self.accounts.withUnsafeBufferPointer { accounts in
            guard let base = accounts.baseAddress else { return }
            // As many as `Limits.prefetchedAtOnce`.
            var hashes = InlineArray<16, UInt64>(repeating: 0)
            var named = 0
            for index in start..<end {
                guard let hash = requests[index].keyHash else { continue }
                self.aliases.prefetch(hash)
                hashes[named] = hash
                named += 1
            }
            for index in 0..<named { self.aliases.prefetchAlias(hashes[index]) }
            var places = InlineArray<16, UnsafePointer<Account>>(repeating: base)
            var found = 0
            for index in 0..<named {
                guard let number = self.aliases.likely(hashes[index]), number < accounts.count else { continue }
                places[found] = base + Int(number)
                Prefetch.bytes(places[found], MemoryLayout<Account>.size)
                found += 1
            }
            for index in 0..<found { AccountRecord.prefetch(at: places[index].record) }
            for index in 0..<found { AccountRecord.prefetchOwned(at: places[index].record) }
            for index in 0..<found { AccountRecord.prefetchFirstOwned(at: places[index].record) }
        }
    }

    /// Prefetches the record and the lists of an account that is about to be read and extended.
    func prefetch(_ account: AccountNumber) {
        self.accounts.withUnsafeBufferPointer { accounts in
            guard let base = accounts.baseAddress else { return }
            let place = base + Int(account)
            AccountRecord.prefetch(at: place.record)
            AccountRecord.prefetchOwned(at: place.record)
        }
    }
}

extension UnsafePointer<MemoryTables.Account> {
    // The memory of an account's references.
    fileprivate var record: UnsafePointer<AccountRecord?> {
        self.place(of: \.record).assumingMemoryBound(to: AccountRecord?.self)
    }

    @inline(__always)
    private func place(of field: PartialKeyPath<Pointee>) -> UnsafeRawPointer {
        UnsafeRawPointer(self) + (MemoryLayout<Pointee>.offset(of: field) ?? 0)
    }
}
