package import PerchBase
package import PerchModel
import PerchTesting

/// Random reports about some customers of an App Store app.
///
/// Subscription lines have renewals, failed charges, refunds, reversals, upgrades and restores. There are also purchases of other
/// types, late account tokens, aliases and claims.
package struct ReportedLives {
    package static let day: Int64 = 86_400_000
    package static let month: Int64 = 30 * Self.day
    package static let leeway: Int64 = Self.day
    package static let products = ["basic", "pro", "other", "lifetime", "pass", "coins"]
    package static let groups = ["g1", "g2"]
    private static let app: AppState = {
        var settings = AppSettings()
        settings.leewayMilliseconds = Self.leeway
        return AppState(
            number: 1, bundleID: "com.example.app", environment: .production, revision: 1, effective: .distantPast,
            committed: .distantPast, catalogue: .empty, catalogueRevision: 1, catalogueSource: "", settings: settings,
            clock: .running(offsetMilliseconds: 0))
    }()

    /// What an account with a record has in an app without a catalogue.
    package static func holdings(of reported: ReportedRecord?, at now: Instant) -> ReportedHoldings {
        var record = AccountRecord(account: 1, app: Self.app.number)
        record.reported = reported
        return ReportedHoldings(record: record, app: Self.app, now: now)
    }

    package private(set) var reports: [ReportedValue] = []
    /// Instants at which something was signed, begins or ends, ascending.
    package private(set) var instants: [Instant] = []
    private var random: SeededRandom
    private var nextID: TransactionID
    private var revision: UInt64 = 0
    private let seed: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        self.random = SeededRandom(seed: seed)
        self.nextID = self.random.bool() ? 0 : 1_000
        for _ in 0...self.random.below(4) {
            switch self.random.below(6) {
            case 0: self.purchase(.nonConsumable, "lifetime")
            case 1: self.purchase(.nonRenewable, "pass")
            case 2: self.purchase(.consumable, "coins")
            default: self.line()
            }
        }
        for _ in 0..<self.random.below(5) { self.account() }
        self.instants = Set(self.instants).sorted()
    }

    private mutating func id() -> TransactionID {
        defer { self.nextID += 1 + UInt64(self.random.below(3)) }
        return self.nextID
    }

    private mutating func report(_ transaction: Transaction, signed: Instant) {
        var transaction = transaction
        transaction.signedDate = signed
        self.reports.append(.transaction(transaction, content: self.content()))
        self.instants +=
            [signed, transaction.purchaseDate]
            + [transaction.expirationDate, transaction.revocation?.date].compactMap { $0 }
    }

    private mutating func report(_ info: RenewalInfo, signed: Instant, saysDate: Bool = true) {
        var info = info
        info.signedDate = signed
        self.reports.append(
            .renewal(info, renewalDate: saysDate ? info.renewalDate : nil, content: self.content()))
        self.instants.append(signed)
    }

    /// Each report has content of its own, also where two are signed in one millisecond.
    private func content() -> Digest { Digest(high: self.seed, low: UInt64(self.reports.count)) }

    private func token(_ number: Int) -> String { "00000000-0000-0000-0000-00000000000\(number)" }

    /// One of few names, and now and then none.
    private mutating func name(_ transaction: inout Transaction) {
        transaction.appAccountToken = self.random.below(3) == 0 ? "" : self.token(self.random.below(3))
        transaction.appTransactionID = self.random.below(4) == 0 ? "" : "70\(self.random.below(3))"
    }

    private mutating func bought(_ type: ProductType, _ product: String, at begin: Instant) -> Transaction {
        let id = self.id()
        var transaction = Transaction(
            id: id, originalID: id, appBundleID: "com.example.app", productID: product, productType: type,
            purchaseDate: begin, originalPurchaseDate: begin, environment: .production,
            storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: begin)
        if self.random.below(5) == 0 { transaction.ownership = .familyShared }
        self.name(&transaction)
        return transaction
    }

    private mutating func begin() -> Instant {
        Instant(milliseconds: Int64(1 + self.random.below(200)) * Self.day)
    }

    private mutating func purchase(_ type: ProductType, _ product: String) {
        let begin = self.begin()
        var transaction = self.bought(type, product, at: begin)
        self.report(transaction, signed: begin)
        if self.random.bool() { self.restore(transaction) }
        if self.random.bool() { self.refund(&transaction) }
    }

    /// The same purchase under another ID.
    private mutating func restore(_ transaction: Transaction) {
        guard transaction.productType != .consumable else { return }
        var again = transaction
        again.id = self.id()
        self.report(
            again, signed: transaction.purchaseDate.advanced(byMilliseconds: Int64(self.random.below(40)) * Self.day))
    }

    private mutating func refund(_ transaction: inout Transaction) {
        let date = transaction.purchaseDate.advanced(byMilliseconds: Int64(self.random.below(40)) * Self.day)
        transaction.revocation = Revocation(
            date: date, reason: .other, type: transaction.ownership == .familyShared ? .familyRevoke : .refundFull)
        self.report(transaction, signed: date.advanced(byMilliseconds: Int64(self.random.below(3))))
        guard self.random.below(3) == 0 else { return }
        transaction.revocation = nil
        self.report(transaction, signed: date.advanced(byMilliseconds: Int64(self.random.below(3)) * Self.day))
    }

    private mutating func line() {
        let begin = self.begin()
        let group = self.random.element(Self.groups)
        var transaction = self.bought(.autoRenewable, group == "g1" ? "basic" : "other", at: begin)
        transaction.subscriptionGroupID = group
        transaction.expirationDate = begin.advanced(byMilliseconds: Self.month)
        transaction.webOrderLineItemID = self.random.below(6) == 0 ? "" : "\(900 + transaction.id)"
        for _ in 0...self.random.below(5) {
            self.period(&transaction)
            if !self.next(&transaction) { return }
        }
    }

    /// What is reported of one period.
    private mutating func period(_ transaction: inout Transaction) {
        let end = transaction.expirationDate ?? transaction.purchaseDate
        // A renewal arrives up to a day before its period begins.
        let early = transaction.reason == .renewal ? -Int64(self.random.below(2)) * Self.day : 0
        let signed = transaction.purchaseDate.advanced(byMilliseconds: early)
        if self.random.below(8) > 0 { self.report(transaction, signed: signed) }
        if self.random.below(6) == 0 { self.restore(transaction) }
        var info = RenewalInfo(
            originalTransactionID: transaction.originalID, currentProductID: transaction.productID,
            willAutoRenew: self.random.below(4) > 0, renewalDate: end,
            recentSubscriptionStartDate: transaction.originalPurchaseDate, environment: .production, signedDate: signed)
        info.appAccountToken = transaction.appAccountToken
        if self.random.below(6) > 0 { self.report(info, signed: signed, saysDate: self.random.below(6) > 0) }
        guard self.random.below(3) == 0 else { return }
        switch self.random.below(4) {
        case 0:
            info.willAutoRenew = false
            self.report(info, signed: signed.advanced(byMilliseconds: Int64(self.random.below(29)) * Self.day))
        case 1:
            info.isInBillingRetry = self.random.below(4) > 0
            info.gracePeriodExpirationDate = end.advanced(byMilliseconds: 16 * Self.day)
            self.instants.append(end.advanced(byMilliseconds: 16 * Self.day))
            self.report(info, signed: end)
        case 2:
            info.isInBillingRetry = true
            info.expirationReason = self.random.bool() ? .billingError : nil
            self.report(info, signed: end.advanced(byMilliseconds: Int64(self.random.below(20)) * Self.day))
        default:
            info.expirationReason = ExpirationReason(rawValue: Int32(1 + self.random.below(5)))
            self.report(info, signed: end)
        }
    }

    /// Goes on to the next period, and tells whether there is one.
    private mutating func next(_ transaction: inout Transaction) -> Bool {
        let end = transaction.expirationDate ?? transaction.purchaseDate
        switch self.random.below(8) {
        case 0: return false
        case 1:
            self.refund(&transaction)
            if self.random.bool() { return false }
        case 2 where transaction.subscriptionGroupID == "g1" && transaction.productID == "basic":
            // An upgrade leaves the period behind.
            var left = transaction
            left.isUpgraded = true
            let now = transaction.purchaseDate.advanced(byMilliseconds: Int64(1 + self.random.below(20)) * Self.day)
            self.report(left, signed: now)
            self.begin(&transaction, at: now, .purchase)
            transaction.productID = "pro"
            return true
        case 3:
            // The line was over for a while.
            self.begin(
                &transaction, at: end.advanced(byMilliseconds: Int64(1 + self.random.below(90)) * Self.day), .purchase)
            return true
        default: break
        }
        self.begin(&transaction, at: end, .renewal)
        return true
    }

    private mutating func begin(_ transaction: inout Transaction, at begin: Instant, _ reason: TransactionReason) {
        transaction.id = self.id()
        transaction.webOrderLineItemID = transaction.webOrderLineItemID.isEmpty ? "" : "\(900 + transaction.id)"
        transaction.purchaseDate = begin
        transaction.expirationDate = begin.advanced(byMilliseconds: Self.month)
        transaction.reason = reason
        transaction.revocation = nil
        if self.random.below(3) == 0 { self.name(&transaction) }
    }

    /// An alias of an account, attached or moved, or an original claimed.
    private mutating func account() {
        self.revision += 1
        let claim = AccountClaim(account: AccountNumber(1 + self.random.below(3)), revision: self.revision)
        switch self.random.below(3) {
        case 0: self.reports.append(.alias(.appAccountToken(self.token(self.random.below(3))), claim))
        case 1: self.reports.append(.alias(.appTransactionID("70\(self.random.below(3))"), claim))
        default:
            let originals = self.reports.compactMap { report -> TransactionID? in
                if case .transaction(let transaction, _) = report { return transaction.originalID }
                return nil
            }
            guard !originals.isEmpty else { return }
            self.reports.append(.claim(original: self.random.element(originals), claim))
        }
    }
}
