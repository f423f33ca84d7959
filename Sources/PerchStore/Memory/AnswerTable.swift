/// The answers that keys were given. They do not move when the table grows: an answer is several hundred bytes.
struct AnswerTable {
    private var places = GrowingDictionary<MutationKey, Int32>()
    private var answers = PagedLog<KeptAnswer?>()
    private var free: [Int32] = []

    func destroy() { self.answers.destroy() }

    subscript(key: MutationKey) -> KeptAnswer? { self.places[key].flatMap { self.answers[Int($0)] } }

    /// Replaces an answer, or forgets it. Returns the one before.
    mutating func update(_ key: MutationKey, _ answer: KeptAnswer?) -> KeptAnswer? {
        let old: Int32?
        if let answer {
            old = self.places.updateValue(self.keep(answer), forKey: key)
        } else {
            old = self.places.removeValue(forKey: key)
        }
        guard let old else { return nil }
        defer { self.answers[Int(old)] = nil }
        self.free.append(old)
        return self.answers[Int(old)]
    }

    private mutating func keep(_ answer: KeptAnswer) -> Int32 {
        if let place = self.free.popLast() {
            self.answers[Int(place)] = answer
            return place
        }
        self.answers.append(answer)
        return Int32(self.answers.count - 1)
    }

    /// In no order.
    func filter(_ isIncluded: (borrowing KeptAnswer) -> Bool) -> [KeyedAnswer] {
        var found: [KeyedAnswer] = []
        self.places.forEach { key, place in
            if let answer = self.answers[Int(place)], isIncluded(answer) {
                found.append(KeyedAnswer(key: key, answer: answer))
            }
        }
        return found
    }
}

extension MutationKey: Spread {
    /// Of all bytes, eight at a time, and of a number that no client knows: whole keys may share all but one byte.
    var spread: Int {
        self.bytes.withUnsafeBytes { bytes in
            var (hash, place) = (Self.secret, 0)
            func mix(_ word: UInt64) {
                hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash &>> 32
            }
            while place + 8 <= bytes.count {
                mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                place += 8
            }
            for byte in bytes[place...] { mix(UInt64(byte)) }
            return Int(truncatingIfNeeded: hash)
        }
    }

    private static let secret = UInt64.random(in: 0...UInt64.max)
}
