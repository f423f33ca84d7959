extension Method {
    /// The path as in gRPC: `/package.Service/Method`.
    package var path: String { Self.paths[Int(self.rawValue)] }

    /// The method with that path; nil if there is none.
    package init?(path: String) {
        guard let method = Self.byPath[path] else { return nil }
        self = method
    }

    /// The method with a path that is still in the received bytes.
    ///
    /// Compares length and last eight bytes first, without making a text or a hash.
    package init?(path: UnsafeRawBufferPointer) {
        guard path.count >= 8 else { return nil }
        let tail = path.loadUnaligned(fromByteOffset: path.count - 8, as: UInt64.self)
        var place = Self.home(tail)
        while Self.places[place] != Self.none {
            let index = Int(Self.places[place])
            if Self.tails[index].tail == tail, Self.tails[index].count == path.count,
                Self.equal(Self.tails[index].path, path)
            {
                self.init(rawValue: UInt8(index))
                return
            }
            place = (place + 1) & 0xFF
        }
        return nil
    }

    private static func home(_ tail: UInt64) -> Int {
        Int(truncatingIfNeeded: (tail &* 0x9E37_79B9_7F4A_7C15) >> 56)
    }

    private static let none: UInt8 = 0xFF

    /// A table of 256 slots, by the last eight bytes of the path, with the index of the case.
    private static let places: [UInt8] = {
        var places = [UInt8](repeating: Self.none, count: 256)
        for (index, known) in Self.tails.enumerated() {
            var place = Self.home(known.tail)
            while places[place] != Self.none { place = (place + 1) & 0xFF }
            places[place] = UInt8(index)
        }
        return places
    }()

    /// Length and last eight bytes of each path, in the order of the cases.
    private static let tails: [(count: Int, tail: UInt64, path: [UInt8])] = Self.paths.map { path in
        let bytes = Array(path.utf8)
        let tail = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self) }
        return (bytes.count, tail, bytes)
    }

    /// Compares paths of equal length, of at least eight bytes, whose last eight are known to be equal.
    private static func equal(_ path: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
        path.withUnsafeBytes { path in
            var offset = 0
            while path.count - offset > 8 {
                let word = path.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                if word != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
                offset += 8
            }
            return true
        }
    }

    private static let byPath = Dictionary(uniqueKeysWithValues: Self.allCases.map { ($0.path, $0) })
}
