import PerchBase
import PerchModel
import PerchTesting
import Testing

@Suite struct `an app account token` {
    @Test func `an app account token prints what it reads, in lower case`() {
        let text = "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"
        #expect(AccountToken(text)?.text == text)
        #expect(AccountToken(text.uppercased())?.text == text)
        #expect(AccountToken(text) == AccountToken(high: 0x7e3f_b204_2db1_4bbb, low: 0x9a33_bf4c_3b1b_6b0d))
        #expect(AccountToken("00000000-0000-0000-0000-000000000000") == AccountToken(high: 0, low: 0))
    }

    @Test func `an app account token is read from its text, whatever its bytes`() {
        var random = SeededRandom(seed: 28)
        for _ in 0..<1_000 {
            let token = AccountToken(high: random.next(), low: random.next())
            #expect(AccountToken(token.text) == token)
            #expect(AccountToken(token.text.uppercased()) == token)
        }
    }

    /// One wrong byte at each place, of each value that a byte can have.
    @Test func `an app account token has no other characters at any place`() {
        let good = Array("7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d".utf8)
        let digits = Set("0123456789abcdefABCDEF".utf8)
        for place in good.indices {
            for byte in UInt8.min...UInt8.max {
                var bytes = good
                bytes[place] = byte
                let isRead = bytes.withUnsafeBytes { AccountToken(parsing: $0) } != nil
                let isHyphen = good[place] == UInt8(ascii: "-")
                #expect(isRead == (isHyphen ? byte == good[place] : digits.contains(byte)), "\(byte) at \(place)")
            }
        }
        for text in ["", "anna", "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0", "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d0"] {
            #expect(AccountToken(text) == nil)
        }
    }

    @Test func `an app account token is kept as it was written where it is no UUID`() {
        var transaction = Transaction(
            id: 1, originalID: 1, appBundleID: "app", productID: "coins", productType: .consumable,
            purchaseDate: .distantPast, originalPurchaseDate: .distantPast, environment: .production,
            storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: .distantPast)
        let plain = transaction
        for text in ["anna", "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d", "ANNA", ""] {
            transaction.appAccountToken = text
            #expect(transaction.appAccountToken == text)
            #expect((transaction == plain) == text.isEmpty)
        }
    }
}
