import PerchBase
import PerchTesting
import Testing

@testable import PerchCore

@Suite struct `tables of slots` {
    /// A table beside a dictionary that does the same, both lived from one seed. The hash is a bad one, so that slots meet.
    @Test(arguments: [1, 7, 61, 1_000_003])
    func `a slot is found by its key as long as it is there, however full and worn the table`(_ spread: Int) {
        var random = SeededRandom(seed: UInt64(spread))
        var table = SlotTable()
        var slots: [Int: Int32] = [:]
        var keys: [Int32: Int] = [:]
        var next: Int32 = 0
        func hash(_ key: Int) -> Int { key % spread }
        for _ in 0..<6_000 {
            let key = Int(random.next() % 400)
            if let slot = slots[key] {
                let found = table.find(hash(key)) { keys[$0] == key }
                #expect(found == slot)
                switch random.next() % 3 {
                case 0:
                    table.remove(slot, hash(key))
                    slots[key] = nil
                    keys[slot] = nil
                case 1:
                    table.replace(slot, with: next, hash(key))
                    (keys[slot], keys[next], slots[key]) = (nil, key, next)
                    next += 1
                default: break
                }
            } else {
                let found = table.find(hash(key)) { keys[$0] == key }
                #expect(found == -1)
                if table.isFull {
                    var full = SlotTable()
                    swap(&full, &table)
                    table = full.larger { hash(keys[$0] ?? -1) }
                    let isFull = table.isFull
                    #expect(!isFull)
                }
                table.insert(next, hash(key))
                (slots[key], keys[next]) = (next, key)
                next += 1
            }
            let count = table.count
            #expect(count == slots.count)
        }
        for (key, slot) in slots {
            let found = table.find(hash(key)) { keys[$0] == key }
            #expect(found == slot)
        }
    }

    @Test func `a table that was worn and emptied holds no more than a new one`() {
        var table = SlotTable()
        for slot in 0..<10_000 as Range<Int32> {
            if table.isFull {
                var full = SlotTable()
                swap(&full, &table)
                table = full.larger { Int($0) }
            }
            table.insert(slot, Int(slot))
            table.remove(slot, Int(slot))
        }
        let (count, bytes) = (table.count, table.memoryBytes)
        let fresh = SlotTable()
        let freshBytes = fresh.memoryBytes
        #expect(count == 0 && bytes == freshBytes)
    }

    @Test func `keys are kept apart, and what one leaves is given to the next of its size`() {
        var store = KeyStore()
        var random = SeededRandom(seed: 3)
        var kept: [Int32: [UInt8]] = [:]
        for round in 0..<4_000 {
            if round % 3 == 2, let place = kept.keys.sorted().randomElement(using: &random), let key = kept[place] {
                store.remove(place, count: key.count)
                kept[place] = nil
                continue
            }
            let key = (0..<Int.random(in: 1...255, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next())
            }
            let place = store.insert(key.span.bytes)
            #expect(kept[place] == nil, "two keys at one place")
            kept[place] = key
        }
        for (place, key) in kept {
            let bytes = Array(store.bytes(place, count: key.count))
            #expect(bytes == key)
            var other = key
            other[other.count - 1] ^= 1
            let holds = key.withUnsafeBytes { store.holds($0, at: place, count: key.count) }
            let holdsOther = other.withUnsafeBytes { store.holds($0, at: place, count: key.count) }
            #expect(holds && !holdsOther)
        }
        let bytes = store.memoryBytes
        for (place, key) in kept { store.remove(place, count: key.count) }
        for (_, key) in kept { _ = store.insert(key.span.bytes) }
        let bytesAfter = store.memoryBytes
        #expect(bytesAfter == bytes, "what was given back is used again")
    }

    @Test func `keys of views are kept once, as long as a view has them`() {
        var keys = ViewKeys()
        let gold = keys.take(.entitlement(product: "gold"))
        #expect(keys.take(.entitlement(product: "gold")) == gold)
        let news = keys.take(.status(group: "news"))
        #expect(news != gold && keys.count == 2 && keys.viewCount == 3)
        keys.release(gold)
        #expect(keys.place(.entitlement(product: "gold")) == gold)
        keys.release(gold)
        #expect(keys.place(.entitlement(product: "gold")) == nil && keys.count == 1)
        let before = keys.bytes
        let ids = (0..<500).map { "product-\($0)" }
        let many = keys.take(.products(ids: ids, locale: "", storefront: ""))
        keys.checkInvariants()
        #expect(keys.bytes - before > ids.reduce(0) { $0 + $1.utf8.count + MemoryLayout<String>.stride })
        keys.release(many)
        keys.checkInvariants()
        #expect(keys.bytes == before)
        #expect(keys.take(.messages) == many, "its place is free for another")
    }

    /// Clients keep cursors and page tokens for weeks, over upgrades.
    @Test func `the digest in a cursor is that of the bytes that name its view`() {
        let named: [UInt8] =
            [0, 0, 0, 7, 0, 0, 0, 4] + "anna".utf8 + [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7] + "updates".utf8
        let key = ViewKey.products(ids: ["updates"], locale: "", storefront: "")
        #expect(key.lastingDigest(app: 7, account: Array("anna".utf8)) == Digest(of: named.span.bytes))
    }
}

@Suite struct `slabs and payloads` {
    @Test func `a slot that was freed is taken again, the last one first, under another generation`() {
        var slab = Slab<Int64>(capacity: 2)
        let slots = (0..<200).map { slab.insert(Int64($0)) }
        let generation = slab.generation(slots[7])
        slab.remove(slots[3])
        slab.remove(slots[7])
        let wasTaken = slab.isTaken(slots[7])
        let (first, second, third) = (slab.insert(70), slab.insert(30), slab.insert(200))
        #expect(!wasTaken && first == slots[7] && second == slots[3] && third == 200)
        let isOld = slab.isTaken(slots[7], generation: generation)
        let values = (0..<201).map { slab[Int32($0)] }
        #expect(!isOld)
        var expected = (0..<201).map { Int64($0) }
        (expected[3], expected[7]) = (30, 70)
        #expect(values == expected)
        let (count, bytes) = (slab.count, slab.memoryBytes)
        #expect(count == 201 && bytes == 201 * 12)
    }

    @Test func `a payload has its own bytes as long as it is held, whatever its length`() {
        var payloads = Payloads()
        var random = SeededRandom(seed: 11)
        var held: [(handle: PayloadHandle, bytes: [UInt8])] = []
        for round in 0..<6_000 {
            if round % 5 < 3 {
                let count = [0, 1, 63, 64, 65, 300, 1_023, 1_024, 1_025, 5_000][Int(random.next() % 10)]
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: count)
                held.append((payloads.insert(bytes), bytes))
            } else if !held.isEmpty {
                let one = held.remove(at: Int(random.next() % UInt64(held.count)))
                let isWhole = payloads[one.handle].elementsEqual(one.bytes)
                #expect(isWhole)
                payloads.release(one.handle)
            }
        }
        for one in held { payloads.release(one.handle) }
        let (count, bytes) = (payloads.count, payloads.bytes)
        #expect(count == 0 && bytes == 0)
    }
}

/// The sizes that the design promises: the hot path reads only these for a connection or a watch.
@Suite struct `sizes of what there are many of` {
    @Test func `the hot state of a connection is within two cache lines`() {
        #expect(MemoryLayout<Connection>.stride <= 128)
    }

    @Test
    func `a watch, its view and its account are within four cache lines together, their places in tables included`() {
        let slab = MemoryLayout<CallSlot>.stride + MemoryLayout<ViewSlot>.stride + MemoryLayout<AccountSlot>.stride
        let marks = 3 * MemoryLayout<UInt32>.stride
        // Stream number, view, account, number of the account: two places a slot, as tables of a million have.
        let places = 4 * 2 * MemoryLayout<Int32>.stride
        let key = 16
        #expect(slab + marks + places + key <= 256)
    }
}
