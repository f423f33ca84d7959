import Testing

@testable import PerchBase

@Suite struct `small values` {
    @Test func `CRC32C agrees with the published check value`() {
        #expect(CRC32C.checksum(Array("123456789".utf8)) == 0xE306_9283)
        #expect(CRC32C.checksum([]) == 0)
    }

    @Test func `CRC32C by instruction and by table agree for every split of the input`() {
        let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
        for begin in 0..<9 {
            for end in stride(from: begin, through: bytes.count, by: 3) {
                let piece = bytes.span.extracting(begin..<end)
                let whole = CRC32C.checksumByTables(piece.bytes)
                #expect(CRC32C.checksum(piece.bytes) == whole, "\(begin)..<\(end)")
                let middle = (begin + end) / 2
                let first = CRC32C.checksum(bytes.span.extracting(begin..<middle).bytes)
                #expect(CRC32C.checksum(bytes.span.extracting(middle..<end).bytes, continuing: first) == whole)
            }
        }
    }

    @Test func `an instant survives the round trip through civil time, across leap years and before 1970`() {
        for days in stride(from: Int64(-800_000), through: 800_000, by: 137) {
            let instant = Instant(milliseconds: days * 86_400_000 + 12_345)
            #expect(CivilTime(instant).instant == instant)
        }
        #expect(CivilTime(Instant(milliseconds: 0)).description == "1970-01-01T00:00:00Z")
        #expect(CivilTime(year: 2024, month: 2, day: 29).instant.milliseconds == 1_709_164_800_000)
    }

    @Test func `adding months keeps the anchor day and clamps to short months`() {
        let start = CivilTime(year: 2026, month: 1, day: 31)
        #expect(start.adding(months: 1, anchorDay: 31).description == "2026-02-28T00:00:00Z")
        #expect(start.adding(months: 1, anchorDay: 31).adding(months: 1, anchorDay: 31).day == 31)
        #expect(start.adding(months: 12, anchorDay: 31).description == "2027-01-31T00:00:00Z")
        #expect(start.adding(months: 12, anchorDay: 0).description == "2027-01-31T00:00:00Z", "without an anchor day")
        #expect(start.adding(months: -2, anchorDay: 31).description == "2025-11-30T00:00:00Z")
    }

    @Test(arguments: ["2026-11-21T09:30:00Z", "2026-11-21T09:30:00.250Z", "0001-01-01T00:00:00Z"])
    func `an instant's description parses to the same instant`(_ text: String) {
        #expect(CivilTime(parsing: text)?.description == text)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-02-29", "2026-1-1", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00",
    ])
    func `malformed instants do not parse`(_ text: String) {
        #expect(CivilTime(parsing: text) == nil)
    }

    @Test(arguments: [
        [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xE2, 0x82], [0x80],
        [0x41, 0xF0, 0x80, 0x80, 0x80],
    ])
    func `text that is not UTF-8 is refused`(_ bytes: [UInt8]) {
        #expect(throws: TextFault.self) { try bytes.span.bytes.checkText() }
        let long = Array("abcdefghijk".utf8) + bytes
        #expect(throws: TextFault.self) { try long.span.bytes.checkText() }
    }

    @Test func `text with a NUL is refused at its offset`() {
        let bytes = Array("0123456789\u{0}abcdef".utf8)
        #expect(throws: TextFault.containsNUL(atOffset: 10)) { try bytes.span.bytes.checkText() }
    }

    @Test func `text in any script passes`() throws {
        try Array("plain, dünn, 日本語, 🐦, \u{7FF}\u{800}\u{FFFF}\u{10FFFF}".utf8).span.bytes.checkText()
    }

    @Test func `a digest depends on each byte and on the length`() {
        var seen: Set<Digest> = []
        for length in 0..<40 { seen.insert(Digest(of: [UInt8](repeating: 0, count: length))) }
        for index in 0..<40 {
            var bytes = [UInt8](repeating: 0, count: 40)
            bytes[index] = 1
            seen.insert(Digest(of: bytes))
        }
        #expect(seen.count == 80)
    }

    @Test func `a digest is SipHash-2-4 with 128 bits, because tokens and stores persist it`() {
        #expect(Digest(of: []).description == "8958ca2e1a4854c849e214a7a3f63b62")
        #expect(Digest(of: Array(0..<15)).description == "b1c5e61bea3efb178e419d165443701e")
        #expect(Digest(of: Array(0..<64)).description == "0167f647f4f0dd1633bc61fc10c400b6")
        // SipHash-1-3 of pushed values, from the same independent implementation.
        func value(_ bytes: [UInt8]) -> String { Digest(ofValue: bytes.span.bytes).description }
        #expect(value([]) == "6b231f7509fbea7a0e2a6dafc7b7f611")
        #expect(value(Array(0..<15)) == "38798c6d8b7e6acbdc95bc238152e52d")
        #expect(value(Array(0..<64)) == "432c6d1eea578193f146879c0e95ddbf")
    }

    @Test func `key hashes match published SipHash-1-3 vectors`() {
        // Published vectors: the bytes 0, 1, 2 and so on under a key of such bytes. Those of SipHash-2-4 are from its
        // paper.
        func hash(_ bytes: [UInt8], rounds: (Int, Int) = (1, 3)) -> UInt64 {
            var state = SipState(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
            state.absorb(bytes.span.bytes, rounds: rounds.0)
            state.v2 ^= 0xff
            state.rounds(rounds.1)
            return state.folded
        }
        #expect(hash([]) == 0xabac_0158_050f_c4dc)
        #expect(hash(Array(0..<15), rounds: (2, 4)) == 0xa129_ca61_49be_45e5)
        // The app is the first word of the hash input.
        let keys: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        for key in [[], [7], Array(0...20)] as [[UInt8]] {
            let whole: [UInt8] = [0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0] + key
            #expect(KeyHash.hash(app: 0x1234_5678, key.span.bytes, under: keys) == hash(whole))
        }
        let key = Array("user-1".utf8)
        #expect(KeyHash.hash(app: 1, key.span.bytes) == KeyHash.hash(app: 1, key.span.bytes))
        #expect(KeyHash.hash(app: 1, key.span.bytes) != KeyHash.hash(app: 2, key.span.bytes))
    }
}
