/// All spellings of a text that differ in capitals alone, as a set that is never written out.
///
/// A walk over keys in bytewise order asks for the least spelling that a later key may begin with, and goes on there. So it needs no
/// index that folds capitals, and looks at a few places of the one that there is.
struct NameSpellings {
    /// For each letter its spellings, in bytewise order.
    private let letters: [[[UInt8]]]

    init(_ text: String) {
        self.letters = text.unicodeScalars.map { scalar in
            let properties = scalar.properties
            let forms = [properties.lowercaseMapping, properties.uppercaseMapping].filter {
                $0.unicodeScalars.count == 1
            }
            return Set([String(scalar)] + forms).map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    /// The least spelling that `key`, or a later key, may begin with; nil: there is none.
    func least(from key: [UInt8]) -> [UInt8]? { self.least(from: key[...], 0) }

    /// The least of all.
    var first: [UInt8] { self.rest(0) }

    /// Letters from a place on, each in its least spelling.
    private func rest(_ place: Int) -> [UInt8] { self.letters[place...].flatMap { $0[0] } }

    private func least(from key: ArraySlice<UInt8>, _ place: Int) -> [UInt8]? {
        guard place < self.letters.count else { return [] }
        for spelling in self.letters[place] {
            if key.starts(with: spelling) {
                guard let later = self.least(from: key.dropFirst(spelling.count), place + 1) else { continue }
                return spelling + later
            }
            if key.lexicographicallyPrecedes(spelling) { return spelling + self.rest(place + 1) }
        }
        return nil
    }

    /// The end of the keys that precede all that begin with a spelling. No key has the byte 0xFF, because keys are UTF-8.
    static func place(before spelling: [UInt8]) -> [UInt8] {
        guard let last = spelling.last, last > 0 else { return Array(spelling.dropLast()) }
        return spelling.dropLast() + [last - 1, 0xFF]
    }
}
