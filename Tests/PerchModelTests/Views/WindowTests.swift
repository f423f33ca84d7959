import PerchBase
import PerchModel
import Testing

@Suite struct `automatic changes` {
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `neither statuses nor messages change between two crossings`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let rates = ["realTime", "monthlyRenewalEveryHour", "oneRenewalEveryMinute", "oneHourIsOneDay"]
        let name = rates.randomElement(using: &random) ?? "realTime"
        let rate = try #require(TimeRate(named: name))
        var account = TestAccount(catalogue: OfferShop.catalogue(), settings: Shop.settings(rate))
        for _ in 0..<40 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let product = ["silver", "gold", "bronze"].randomElement(using: &random) ?? "silver"
                _ = try? account.order(product) { $0.introductoryEligibility = .denied }
            case 3: _ = try? account.order("silver", .winBack, "return")
            case 4 where account.record.ownLineIndex(inGroup: "G") != nil: try? account.setAutoRenew(false)
            case 5: try account.ask(.postMessage)
            case 6: account.settings.areRenewalBillingIssuesEnabled.toggle()
            case 7: account.settings.isGracePeriodEnabled.toggle()
            default:
                let span = Int64.random(in: 0...2 * rate.retryMilliseconds, using: &random)
                account.advance(to: account.now.advanced(byMilliseconds: span))
            }
            self.requireStill(account, &random, seed)
        }
    }

    private func requireStill(_ account: TestAccount, _ random: inout SplitMix64, _ seed: UInt64) {
        let (record, app, now) = (account.record, account.app, account.now)
        let messages = storeMessages(of: record, app: app, at: now)
        let statuses = subscriptionStatuses(of: record, inGroup: "G", app: app, at: now)
        let horizon = now.advanced(byMilliseconds: 1_000 * day)
        for _ in 0..<5 {
            let calm = min(messages.nextCrossing ?? horizon, horizon)
            let later = Instant(milliseconds: .random(in: now.milliseconds..<calm.milliseconds, using: &random))
            #expect(storeMessages(of: record, app: app, at: later).value == messages.value, "seed \(seed), \(later)")
            let still = min(statuses.nextCrossing ?? horizon, horizon)
            let after = Instant(milliseconds: .random(in: now.milliseconds..<still.milliseconds, using: &random))
            #expect(
                subscriptionStatuses(of: record, inGroup: "G", app: app, at: after).value == statuses.value,
                "seed \(seed), \(after)")
        }
    }
}
