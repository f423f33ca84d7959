import PerchBase
import PerchModel
import Testing

/// One customer of a test app, and the customer's store: a record, the rows beside it, and a clock moved by hand.
///
/// It acts like the store's thread, without a store: decides, folds the facts, writes the rows, and settles due
/// attempts on the way to an instant.
struct TestAccount {
    var record = AccountRecord(account: 1, app: 1)
    /// Transaction rows, in the order of their numbers.
    var rows: [Transaction] = []
    var finished: Set<TransactionID> = []
    /// Every fact, in the order in which they were written down.
    var facts: [Fact] = []
    var numbers = TransactionNumbers(next: 1)
    var now: Instant
    var catalogue: Catalogue
    var settings: AppSettings

    init(
        at now: Instant = at("2026-01-10"), catalogue: Catalogue = Shop.catalogue(),
        settings: AppSettings = AppSettings()
    ) {
        self.now = now
        self.catalogue = catalogue
        self.settings = settings
        self.commit([Fact(.opened(appTransactionID: "app-1"), effective: now)])
    }

    var app: AppState { Shop.app(catalogue: self.catalogue, settings: self.settings) }

    mutating func commit(_ facts: [Fact]) {
        for fact in facts {
            self.record.apply(fact)
            self.facts.append(fact)
            switch fact.rowWrite {
            case .insert(let transaction): self.rows.append(transaction)
            case .update(let transaction):
                guard let index = self.rows.firstIndex(where: { $0.id == transaction.id }) else {
                    Issue.record("fact \(fact.body) updates row \(transaction.id), which does not exist")
                    continue
                }
                self.rows[index] = transaction
            case .finish(let id): self.finished.insert(id)
            case .delete(let id): self.rows.removeAll { $0.id == id }
            case .deleteAll: self.rows.removeAll()
            case .rewrite(let remove, let add):
                self.rows.removeAll { row in remove.contains(row.id) || add.contains { $0.id == row.id } }
                self.rows += add
            case nil: break
            }
        }
    }

    // Applies an operation of a customer or a tester.

    @discardableResult
    mutating func buy(_ productID: String, quantity: UInt32 = 1, token: String = "") throws -> PurchaseOutcome {
        try self.buy(PurchaseOrder(productID: productID, quantity: quantity, appAccountToken: token))
    }

    /// The commitment of `Shop.billedMonthly`.
    mutating func buyMonthly() throws {
        var order = PurchaseOrder(productID: "silver.yearly")
        order.billingPlan = .monthly
        try self.buy(order)
    }

    @discardableResult
    mutating func buy(_ order: PurchaseOrder) throws -> PurchaseOutcome {
        let outcome = try decidePurchase(
            order, record: self.record, app: self.app, now: self.now, numbers: &self.numbers)
        self.commit(outcome.facts)
        return outcome
    }

    @discardableResult
    mutating func refund(_ id: TransactionID) throws -> Transaction {
        let row = try #require(self.rows.first { $0.id == id })
        let (facts, transaction) = try decideRefund(of: row, reason: .other, others: self.rows, now: self.now)
        self.commit(facts)
        return transaction
    }

    mutating func setAutoRenew(_ isOn: Bool, inGroup group: String = "G") throws {
        self.commit(try decideAutoRenew(isOn, line: self.line(group), app: self.app, now: self.now))
    }

    /// The product is not sold from now on.
    mutating func withdraw(_ productID: String) throws {
        var edit = ProductEdit(productID: productID)
        edit.isWithdrawn = true
        let decided = try decideConfiguration(
            [.product(edit)], settings: self.settings, fileSettings: self.settings, catalogue: self.catalogue)
        self.catalogue = decided.catalogue ?? self.catalogue
    }

    mutating func expire(inGroup group: String = "G") throws {
        self.commit(try decideExpiry(of: self.line(group), app: self.app, now: self.now))
    }

    @discardableResult
    mutating func forceRenewal(inGroup group: String = "G") throws -> Transaction {
        let line = try self.line(group)
        let (facts, transaction) = try decideForcedRenewal(
            of: line, record: self.record, app: self.app, now: self.now, numbers: &self.numbers)
        self.commit(facts)
        return transaction
    }

    /// One operation of the test store, with the rows that it asks for.
    @discardableResult
    mutating func operate(_ operation: StoreOperation, member: AccountRecord? = nil) throws -> OperationOutcome {
        var subject = OperationSubject(record: self.record, member: member)
        for _ in 0..<8 {
            var numbers = self.numbers
            switch try decide(operation, on: subject, app: self.app, now: self.now, numbers: &numbers) {
            case .needs(let need):
                subject.answers[need] = self.rows(need)
                subject.rows = (subject.rows ?? []) + self.rows(need)
            case .done(let outcome):
                self.numbers = numbers
                self.commit(outcome.facts)
                return outcome
            }
        }
        throw Endless()
    }

    /// A refund request of the customer, with the rows that it asks for.
    @discardableResult
    mutating func requestRefund(
        _ id: TransactionID, _ reason: RevocationReason, _ text: String
    ) throws -> OperationOutcome {
        var subject = OperationSubject(record: self.record)
        for _ in 0..<8 {
            switch try decideRefundRequest(
                of: id, reason: reason, text: text, subject, app: self.app, now: self.now)
            {
            case .needs(let need):
                subject.answers[need] = self.rows(need)
                subject.rows = (subject.rows ?? []) + self.rows(need)
            case .done(let outcome):
                self.commit(outcome.facts)
                return outcome
            }
        }
        throw Endless()
    }

    /// A code that the customer enters. `redemptions`: how often the store has counted each code.
    @discardableResult
    mutating func redeem(
        _ code: String, _ product: String = "", redemptions: [String: UInt64] = [:]
    ) throws -> OperationOutcome {
        var subject = OperationSubject(record: self.record)
        for _ in 0..<8 {
            var numbers = self.numbers
            switch try decideRedemption(
                ofCode: code, productID: product, subject, app: self.app, now: self.now, numbers: &numbers)
            {
            case .needs(.redemptions(let name)): subject.redemptions[name] = redemptions[name.code] ?? 0
            case .needs(let need):
                Issue.record("a redemption needs \(need)")
                throw Endless()
            case .done(let outcome):
                self.numbers = numbers
                self.commit(outcome.facts)
                return outcome
            }
        }
        throw Endless()
    }

    private struct Endless: Error {}

    private func rows(_ need: RowNeed) -> [Transaction] {
        let newestFirst = self.rows.sorted { ($0.purchaseDate, $0.id) > ($1.purchaseDate, $1.id) }
        switch need {
        case .transaction(let id): return newestFirst.filter { $0.id == id }
        case .product(let id): return newestFirst.filter { $0.productID == id }
        case .all: return newestFirst
        case .redemptions: return []
        case .newest(let kind): return Array(newestFirst.filter(kind.includes).prefix(1))
        }
    }

    mutating func finish(_ id: TransactionID) {
        self.commit([Fact(.finished(id), effective: self.now)])
    }

    /// Applies a purchaser's facts to this account, through the share.
    mutating func follow(_ facts: [Fact], of purchaser: AccountRecord, _ share: FamilyShare) {
        self.commit(
            mirroredFacts(
                of: facts, purchaser: purchaser, share: share, member: self.record, app: self.app,
                numbers: &self.numbers))
    }

    /// Moves the clock, settling due attempts, oldest first.
    mutating func advance(to instant: Instant) {
        while let due = self.record.attemptDue, due <= instant {
            self.now = max(self.now, due)
            self.commit(settleRenewals(of: self.record, app: self.app, at: due, numbers: &self.numbers))
        }
        self.now = instant
    }

    mutating func advance(days: Int64) {
        self.advance(to: self.now.advanced(byMilliseconds: days * day))
    }

    /// Moves the clock to the end of the current period of the group's own line.
    mutating func advanceToBoundary(inGroup group: String = "G") throws {
        self.advance(to: try self.line(group).boundary)
    }

    // What can be seen.

    func line(_ group: String = "G") throws -> Line {
        self.record.lines[try #require(self.record.ownLineIndex(inGroup: group))]
    }

    func statuses(_ group: String = "G") -> SubscriptionStatuses {
        subscriptionStatuses(of: self.record, inGroup: group, app: self.app, at: self.now).value
    }

    func state(_ group: String = "G") -> RenewalState? { self.statuses(group).statuses.first?.state }

    func renewalInfo(_ group: String = "G") throws -> RenewalInfo {
        try #require(self.statuses(group).statuses.first).renewalInfo.value
    }

    func entitlement(_ productID: String) -> Transaction? {
        currentEntitlement(of: self.record, toProduct: productID, app: self.app, at: self.now).value?.value
    }
}

let minute: Int64 = 60_000
let hour: Int64 = 60 * minute
let day: Int64 = 24 * hour

/// An instant from its text, `2026-01-31` or `2026-01-31T12:00:00Z`.
func at(_ text: String) -> Instant {
    guard let time = CivilTime(parsing: text) else { preconditionFailure("\(text) is not an instant") }
    return time.instant
}

func usd(_ milliunits: Int64) -> Money { Money(milliunits: milliunits, currency: "USD") }
