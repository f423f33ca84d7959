import PerchBase
import Testing

@testable import PerchModel

/// Values held by the million. Allocators round up: one more byte can cost sixty-four.
@Suite struct `the size of a value` {
    private static var transaction: Transaction {
        let start = Instant(milliseconds: 0)
        return Transaction(
            id: 1, originalID: 1, appBundleID: "a", productID: "p", productType: .nonConsumable, purchaseDate: start,
            originalPurchaseDate: start, environment: .xcode, storefront: Storefront(countryCode: "USA"),
            reason: .purchase, signedDate: start)
    }

    @Test func `a transaction, a record and a fact have their designed sizes`() {
        #expect(Prefetch.headerBytes + MemoryLayout<TransactionFields>.size <= 256)
        #expect(Prefetch.headerBytes + MemoryLayout<RecordFields>.size <= 96)
        guard case .purchased(let bought, let terms) = Fact.Body.purchased(Self.transaction, terms: nil) else { return }
        #expect(MemoryLayout.size(ofValue: bought) + MemoryLayout.size(ofValue: terms) <= 16)
        #expect(MemoryLayout<Fact.Body>.size <= 16, "each purchase copies one")
        #expect(MemoryLayout<TransactionWrite>.size <= 16)
    }

    @Test func `rare fields of a transaction are stored when set, and take no space when cleared`() {
        var transaction = Self.transaction
        let revocation = Revocation(date: Instant(milliseconds: 1), reason: .other)
        transaction.change {
            $0.offer = nil
            $0.commitment = nil
            $0.advancedCommerceInfo = [1]
            $0.deviceVerification = [2]
            $0.deviceVerificationNonce = "n"
            $0.revocation = revocation
        }
        #expect(transaction.offer == nil && transaction.commitment == nil)
        #expect(transaction.revocation == revocation && transaction.advancedCommerceInfo == [1])
        #expect(transaction.deviceVerification == [2] && transaction.deviceVerificationNonce == "n")
        // Copies do not share later changes.
        let copy = transaction
        transaction.revocation = nil
        #expect(copy.revocation == revocation && transaction.revocation == nil)
        transaction.change {
            $0.advancedCommerceInfo = []
            $0.deviceVerification = []
            $0.deviceVerificationNonce = ""
        }
        #expect(transaction.contents.fields.rare == nil, "a box of nothing is kept")
    }
}
