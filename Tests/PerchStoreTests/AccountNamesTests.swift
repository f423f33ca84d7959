import PerchModel
import PerchStore
import Testing

@Suite struct `the names of an account in a copy` {
    /// A name that was attached becomes a key when its accounts are merged, and two kinds of names may have one text.
    @Test func `have each text once`() throws {
        let text = "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"
        let (token, customer) = (AccountAlias.appAccountToken(text), AccountAlias.appTransactionID("700"))
        func own(_ text: String) -> AccountKey { AccountKey(app: 1, bytes: Array(text.utf8)) }
        let names = try #require(
            AccountNames([
                own(text), .attached(token, app: 1), own("anna"), own("700"), .attached(customer, app: 1),
                .attached(.appAccountToken("bert"), app: 1), .attached(.appTransactionID("bert"), app: 1),
            ]))
        #expect(names.key == Array("700".utf8) && names.otherKeys == [Array(text.utf8), Array("anna".utf8)])
        #expect(names.attached == [Array("bert".utf8)])
    }
}
