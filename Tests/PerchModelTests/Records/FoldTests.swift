import PerchBase
import PerchModel
import Testing

/// A customer, a tester and a clock act in random order. The seed alone reproduces the run.
struct RandomLife {
    var account: TestAccount
    private(set) var refusalCount = 0
    private var random: SplitMix64

    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
        let offers: [SubscriptionOffer?] = [
            nil, Shop.introductory(.freeTrial, Period(1, .week)),
            Shop.introductory(.payAsYouGo, Period(1, .month), count: 3, price: 1_990),
            Shop.introductory(.payUpFront, Period(2, .month), price: 5_000),
        ]
        let catalogue = Shop.catalogue(introductory: offers.randomElement(using: &self.random)!)
        self.account = TestAccount(at: at("2026-01-29"), catalogue: catalogue)
    }

    /// One thing happens. A refusal is one of the things that can happen.
    mutating func step() {
        let group = Int.random(in: 0..<4, using: &self.random) == 0 ? "H" : "G"
        let hasLine = self.account.record.ownLineIndex(inGroup: group) != nil
        let product = Shop.all.randomElement(using: &self.random)!
        let row = self.account.rows.randomElement(using: &self.random)
        switch Int.random(in: 0..<32, using: &self.random) {
        case 0..<6: self.attempt { try $0.buy(product) }
        case 6: if let row { self.attempt { try $0.refund(row.id) } }
        case 7 where hasLine: self.attempt { try $0.refund(try $0.line(group).latest.id) }
        case 8 where hasLine, 9 where hasLine: self.attempt { try $0.setAutoRenew(false, inGroup: group) }
        case 10 where hasLine: self.attempt { try $0.setAutoRenew(true, inGroup: group) }
        case 11 where hasLine: self.attempt { try $0.expire(inGroup: group) }
        case 12 where hasLine: self.attempt { try $0.forceRenewal(inGroup: group) }
        case 13: self.account.settings = self.randomSettings()
        case 14:
            let withdrawn: Set<String> = Bool.random(using: &self.random) ? [] : ["bronze", "silver.twin"]
            self.account.catalogue = Shop.catalogue(without: withdrawn)
        case 15:
            if let row { self.account.finish(row.id) }
            // An account whose charges fail buys nothing.
            self.attempt { try $0.operate(.setCharges(fail: false)) }
        case 16: if let due = self.account.record.attemptDue { self.account.advance(to: due) }
        case 20..<30: if let operation = self.randomOperation(group) { self.attempt { try $0.operate(operation) } }
        case 17: self.advance(upTo: 2 * self.account.settings.timeRate.retryMilliseconds)
        default: self.advance(upTo: self.account.settings.timeRate.retryMilliseconds / 3)
        }
    }

    /// A random operation of a tester on a current or former product of the account.
    private mutating func randomOperation(_ group: String) -> StoreOperation? {
        let line = self.account.record.ownLineIndex(inGroup: group).map { self.account.record.lines[$0] }
        guard let row = self.account.rows.randomElement(using: &self.random) else { return nil }
        let latest = OperationTarget.transaction(line?.latest.id ?? row.id)
        let target =
            [latest, latest, .transaction(row.id), .product(row.productID)].randomElement(using: &self.random)!
        let price = (line?.latest.price?.milliunits ?? 0) + Int64.random(in: -1_000...20_000, using: &self.random)
        switch Int.random(in: 0..<16, using: &self.random) {
        case 0: return .refund(target, reason: .developerIssue, share: .prorated)
        case 1: return .refund(target, reason: .other, share: .part(milliPercent: 25_000))
        case 2, 3: return .reverseRefund(.transaction(row.id))
        case 4: return .requestConsumption(target)
        case 5: return .renew(target)
        case 6: return .expire(target)
        case 7: return .setAutoRenew(target, isOn: Bool.random(using: &self.random))
        case 8: return .resolveBilling(target)
        case 9: return .setCharges(fail: [nil, true, false, false, false].randomElement(using: &self.random)!)
        case 10: return .raisePrice(latest, milliunits: price, needsConsent: nil)
        case 11: return .raisePrice(latest, milliunits: price, needsConsent: true)
        case 12: return .answerPriceIncrease(latest, agrees: Bool.random(using: &self.random))
        case 13: return .extendRenewal(latest, milliseconds: Int64.random(in: 1...40 * day, using: &self.random))
        case 14: return .deleteTransaction(row.id)
        default:
            return Int.random(in: 0..<4, using: &self.random) == 0 ? .clearTransactions : .deleteTransaction(row.id)
        }
    }

    private mutating func advance(upTo longest: Int64) {
        let span = Int64.random(in: 0...longest, using: &self.random)
        self.account.advance(to: self.account.now.advanced(byMilliseconds: span))
    }

    private mutating func attempt(_ change: (inout TestAccount) throws -> Void) {
        do {
            try change(&self.account)
        } catch is Refusal {
            self.refusalCount += 1
        } catch {
            Issue.record("\(error)")
        }
    }

    private mutating func randomSettings() -> AppSettings {
        let rates = [0, 0, 0, 1, 10, 15, 1005].compactMap { TimeRate(rawValue: $0) }
        return Shop.settings(
            rates.randomElement(using: &self.random)!, billingIssues: Bool.random(using: &self.random),
            grace: Bool.random(using: &self.random), graceDays: [3, 16, 28].randomElement(using: &self.random)!)
    }
}

@Suite struct `a record is the fold of its facts` {
    private static let steps = 100

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `the same life twice writes the same facts`(_ seed: UInt64) {
        var lives = [RandomLife(seed: seed), RandomLife(seed: seed)]
        for _ in 0..<Self.steps {
            lives[0].step()
            lives[1].step()
        }
        #expect(lives[0].account.facts == lives[1].account.facts, "seed \(seed)")
        #expect(lives[0].account.record == lives[1].account.record, "seed \(seed)")
        #expect(lives[0].refusalCount == lives[1].refusalCount, "seed \(seed)")
    }

    @Test func `a decision that is thrown away has used no number`() throws {
        var account = TestAccount()
        try account.buy("silver")
        let before = account
        _ = try decidePurchase(
            PurchaseOrder(productID: "gold"), record: account.record, app: account.app, now: account.now,
            numbers: &account.numbers)
        account.numbers = before.numbers
        #expect(try account.buy("gold").transaction.id == 2)
    }
}
