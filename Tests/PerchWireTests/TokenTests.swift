import PerchBase
import PerchWire
import Testing

@Suite struct `tokens` {
    private static let store = StoreIdentity(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    private static let resume = ResumeToken(
        store: Self.store, epoch: 3, app: 7, view: Digest(high: 1, low: 2),
        position: Position(revision: 99, asOf: Instant(milliseconds: -5)), digest: Digest(high: 3, low: .max))
    private static let cursor = EventCursor(
        store: Self.store, epoch: 3, view: Digest(high: 4, low: 5), revision: .max, ordinal: 6)
    private static let origin = TokenOrigin(store: Self.store, epoch: 3)
    private static let page = PageToken(
        origin: Self.origin, query: Digest(high: 7, low: 8), purchaseDate: .distantPast, id: 0)
    private static let accounts = AccountPageToken(origin: Self.origin, app: 7, key: Array("anna".utf8))

    @Test func `each comes back as it was made`() throws {
        #expect(try ResumeToken(Self.resume.bytes) == Self.resume)
        #expect(try EventCursor(Self.cursor.bytes) == Self.cursor)
        #expect(try PageToken(Self.page.bytes) == Self.page)
        #expect(try AccountPageToken(Self.accounts.bytes) == Self.accounts)
    }

    @Test func `a token has one version byte and the length that it says`() {
        #expect(Self.resume.bytes.count == ResumeToken.byteCount)
        #expect(Self.cursor.bytes.count == EventCursor.byteCount)
        #expect(Self.page.bytes.count == PageToken.byteCount)
        let all = [Self.resume.bytes, Self.cursor.bytes, Self.page.bytes, Self.accounts.bytes]
        #expect(Set(all.map { $0[0] }).count == 4)
    }

    @Test func `each bit flipped is seen`() {
        let bytes = Self.resume.bytes
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                #expect(throws: TokenError.self) { try ResumeToken(damaged) }
            }
        }
    }

    @Test func `a wrong length, version or checksum is named with both numbers`() {
        let bytes = Self.cursor.bytes
        for count in 0..<bytes.count {
            #expect(throws: TokenError.length(token: "event cursor", found: count, expected: bytes.count)) {
                try EventCursor(Array(bytes[..<count]))
            }
        }
        #expect(throws: TokenError.version(token: "event cursor", found: 9, expected: 2)) {
            try EventCursor([9] + bytes[1...])
        }
        #expect(throws: TokenError.checksum(token: "event cursor")) { try EventCursor([2] + [0] + bytes[2...]) }
    }

    @Test func `a token of one kind is not read as another`() {
        #expect(throws: TokenError.self) { try ResumeToken(Self.cursor.bytes) }
        #expect(throws: TokenError.self) { try EventCursor(Self.page.bytes) }
        #expect(throws: TokenError.self) { try PageToken(Self.resume.bytes) }
        #expect(throws: TokenError.self) { try AccountPageToken(Self.page.bytes) }
    }

    @Test func `a store's identity reads the same as bytes and as text`() {
        #expect(Self.store.bytes == Array(1...16))
        #expect(StoreIdentity(bytes: Self.store.bytes) == Self.store)
        #expect(Self.store.description == "0102030405060708090a0b0c0d0e0f10")
        #expect(StoreIdentity(bytes: Array(1...15)) == nil)
        #expect(StoreIdentity(bytes: Array(1...17)) == nil)
    }
}
