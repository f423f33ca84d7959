import PerchBase
package import PerchModel
package import PerchStore

/// Bytes that earlier versions wrote. A form never changes, so these bytes never do: a new field makes a new form, and
/// versions keep reading the old one.
package enum EarlierForm {
    private static func instant(_ day: Int64) -> Instant { Instant(milliseconds: 1_700_000_000_000 + day * 86_400_000) }
    private static func usd(_ milliunits: Int64) -> Money { Money(milliunits: milliunits, currency: "USD") }

    package static func transaction(_ id: TransactionID, _ product: String) -> Transaction {
        var transaction = Transaction(
            id: id, originalID: 3, appBundleID: "com.example", productID: product, productType: .autoRenewable,
            purchaseDate: Self.instant(1), originalPurchaseDate: Self.instant(0), environment: .xcode,
            storefront: Storefront(countryCode: "USA", id: "143441"), reason: .renewal, signedDate: Self.instant(1))
        transaction.subscriptionGroupID = "plans"
        transaction.expirationDate = Self.instant(31)
        transaction.price = Self.usd(9_990)
        return transaction
    }

    package static var offer: SubscriptionOffer {
        SubscriptionOffer(
            id: "half", type: .promotional, paymentMode: .payAsYouGo, price: Self.usd(4_990), period: Period(1, .month),
            periodCount: 2)
    }

    /// A line whose customer has ordered another product from the next renewal on.
    package static var line: Line {
        var line = Line(
            latest: Self.transaction(4, "silver"), preference: "silver.yearly", recentStart: Self.instant(0))
        line.anchorDay = 31
        line.queuedOffer = Self.offer
        line.lastIncrease = Self.instant(0)
        line.level = 2
        return line
    }

    package static var terms: LineTerms {
        var terms = LineTerms(
            preference: "silver.yearly", anchorDay: 31, offerInForce: nil, offerPeriodsLeft: 0,
            recentStart: Self.instant(0))
        terms.queuedOffer = Self.offer
        terms.agreedPrice = Self.usd(9_990)
        terms.level = 2
        return terms
    }

    package static var record: AccountRecord {
        var record = AccountRecord(account: 7, app: 1)
        record.revision = 12
        record.committed = Self.instant(1)
        record.appTransactionID = "app-7"
        record.lines = [Self.line]
        record.shares = [FamilyShare(original: 3, member: 8, memberOriginal: 5)]
        var history = GroupHistory(groupID: "plans")
        history.paidMilliseconds = 86_400_000
        history.lastWinBack = Self.instant(1)
        record.histories = [history]
        record.storefront = "FRA"
        return record
    }

    package static let bodies: [Fact.Body] = [
        .purchased(Self.transaction(3, "silver"), terms: Boxed(Self.terms)),
        .renewed(Self.transaction(4, "silver"), terms: Self.terms),
        .autoRenewSet(original: 3, isOn: true, preference: "silver.yearly"),
        .sharedLineSet(Self.line, isNew: true),
        .deleted(5, remainder: Remainder(lines: [Self.line], owned: [], histories: [])),
    ]

    package static func fact(_ body: Fact.Body) -> StoredFact {
        StoredFact(account: 7, fact: Fact(body, effective: Self.instant(1)), origin: [1, 2])
    }

    /// `record`, sealed by version 1.
    package static let recordInForm1 =
        """
        01010c8090ded0fa62056170702d3701b920040b636f6d2e6578616d706c650673696c766572068090ded0fa62060355\
        534106313433343431040305706c616e7380a0abfef96280b0d4f88d638c9c0103555344010d73696c7665722e796561\
        726c793e00000000000180a0abfef96200010468616c660404fc4d0355534400060204000480a0abfef962000105706c\
        616e730080f0b252018090ded0fa6200000103080500034652410000e8b98a20
        """

    /// `record` with the addition of form 2: the ordered billing plan of the next period.
    package static var recordOfForm2: AccountRecord {
        var record = Self.record
        record.lines[0].preferredBillingPlan = .monthly
        return record
    }

    /// `recordOfForm2`, sealed by version 2, without extensions and refund requests.
    package static let recordInForm2 =
        """
        02010c8090ded0fa62056170702d3701b920040b636f6d2e6578616d706c650673696c766572068090ded0fa62060355\
        534106313433343431040305706c616e7380a0abfef96280b0d4f88d638c9c0103555344010d73696c7665722e796561\
        726c79043e00000000000180a0abfef96200010468616c660404fc4d0355534400060204000480a0abfef96200010570\
        6c616e730080f0b252018090ded0fa62000001030805000346524100001d57bc74
        """

    /// `recordOfForm2` as form 3 wrote it.
    package static let recordInForm3 =
        """
        03010c8090ded0fa62056170702d3701b920040b636f6d2e6578616d706c650673696c766572068090ded0fa620603\
        55534106313433343431040305706c616e7380a0abfef96280b0d4f88d638c9c0103555344010d73696c7665722e79\
        6561726c79043e00000000000180a0abfef96200010468616c660404fc4d0355534400060204000480a0abfef96200\
        0105706c616e730080f0b252018090ded0fa620000010308050003465241000000004aa6a4d5
        """

    /// `bodies`, sealed by version 1.
    package static let factsInForm1 = [
        """
        01028090ded0fa62b820030b636f6d2e6578616d706c650673696c766572068090ded0fa620603555341063134333434\
        310405706c616e7380a0abfef96280b0d4f88d638c9c0103555344010d73696c7665722e796561726c793e000080a0ab\
        fef962010468616c660404fc4d035553440006020400018c9c0103555344000402010296c61046
        """,
        """
        01038090ded0fa62b920040b636f6d2e6578616d706c650673696c766572068090ded0fa620603555341063134333434\
        31040305706c616e7380a0abfef96280b0d4f88d638c9c01035553440d73696c7665722e796561726c793e000080a0ab\
        fef962010468616c660404fc4d035553440006020400018c9c01035553440004020102c99a35a5
        """,
        """
        01078090ded0fa6203010d73696c7665722e796561726c79020102da31ee54
        """,
        """
        01158090ded0fa62b920040b636f6d2e6578616d706c650673696c766572068090ded0fa620603555341063134333434\
        31040305706c616e7380a0abfef96280b0d4f88d638c9c0103555344010d73696c7665722e796561726c793e00000000\
        000180a0abfef96200010468616c660404fc4d0355534400060204000480a0abfef96201020102d598468e
        """,
        """
        011d8090ded0fa620501b920040b636f6d2e6578616d706c650673696c766572068090ded0fa62060355534106313433\
        343431040305706c616e7380a0abfef96280b0d4f88d638c9c0103555344010d73696c7665722e796561726c793e0000\
        0000000180a0abfef96200010468616c660404fc4d0355534400060204000480a0abfef9620000020102fac9e4fa
        """,
    ]

    package static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).map { index in
            let start = hex.index(hex.startIndex, offsetBy: index)
            return UInt8(hex[start...].prefix(2), radix: 16) ?? 0
        }
    }
}
