import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

@Suite struct `an operation of the test store` {
    @Test func `an operation of the test store sees the rows that it asks for, however many the account has`() throws {
        let store = try FamilyStore()
        let first = try store.buy("season", "a")
        for _ in 0..<Limits.pageSizeMax + 20 {
            store.now = store.now.advanced(byMilliseconds: 1)
            try store.buy("coins", "a")
        }
        store.now = store.now.advanced(byMilliseconds: 1)
        let last = try store.buy("season", "a")
        let refund = StoreOperation.refund(.product("season"), reason: .other, share: .full)
        #expect(try FamilyStore.transaction(try store.operate(refund, "a")).id == last.id)
        #expect(try store.entitlement("season", "a")?.id == first.id)
    }

    @Test func `an operation of the test store needs no account where it names a transaction`() throws {
        let store = try FamilyStore()
        let bought = try store.buy("silver", "a")
        try store.operate(.refund(.transaction(bought.id), reason: .other, share: .full), nil)
        #expect(try store.states("a") == [.revoked])
        #expect(throws: Refusal.self) { try store.operate(.reverseRefund(.transaction(99)), nil) }
    }

    @Test func `an operation of the test store is refused for an account that is not there`() throws {
        let store = try FamilyStore()
        #expect {
            try store.operate(.expire(.product("silver")), "nobody")
        } throws: { ($0 as? Refusal)?.reason == .accountUnknown }
    }

    @Test func `an operation settles both accounts' due attempts before it decides`() throws {
        let store = try FamilyStore()
        try store.buy("silver", "a")
        try store.buy("gold", "b")
        store.now = store.now.advanced(byMilliseconds: FamilyStore.month * 3 / 2)
        try store.operate(.share(.product("silver"), member: "b"), "a")
        #expect(try store.rows("a").count == 2)
        #expect(try store.rows("b").count == 3)
        #expect(try store.record("b").lines.map(\.latest.reason) == [.renewal, .renewal])
    }
}

@Suite struct `a read about the past` {
    @Test func `a read about the past has no line before it began, and nothing can be dated back into it`() throws {
        let store = try FamilyStore()
        let minute: Int64 = 60_000
        store.advance(10 * minute)
        let bought = try store.buy("gold", "a")
        let before = bought.purchaseDate.advanced(byMilliseconds: -2 * minute)
        store.advance(minute)
        var order = PurchaseOrder(productID: "silver")
        order.date = before
        #expect(throws: Refusal.self) { try store.operate(.buy(order), "a") }
        #expect(try store.past("a", before.advanced(byMilliseconds: minute)) == [])
        #expect(try store.past("a", bought.purchaseDate) == ["gold"])
    }

    @Test func `a read about the past has a limit of facts`() throws {
        let store = try FamilyStore()
        let bought = try store.buy("gold", "a")
        let number = try #require(try store.storage.account(FamilyStore.key("a")))
        _ = try store.operate(.setAutoRenew(.product("gold"), isOn: false), "a")
        let count = try store.storage.facts(of: number).count
        #expect(store.engine.factsPerReadMax == Limits.factsPerReadMax)
        for limit in [count + 1, count] {
            store.engine.factsPerReadMax = limit
            #expect(try store.past("a", bought.purchaseDate) == ["gold"])
        }
        store.engine.factsPerReadMax = count - 1
        let refusal = #expect(throws: Refusal.self) { try store.past("a", bought.purchaseDate) }
        #expect(refusal?.reason == .historyLimit)
        #expect(refusal?.message.contains("more than \(count - 1) facts") == true)
    }
}

@Suite struct `Family Sharing in the store` {
    @Test func `sharing opens the member's account in the revision of the purchaser's fact`() throws {
        let store = try FamilyStore()
        let bought = try store.buy("silver", "a")
        let shared = try FamilyStore.transaction(try store.operate(.share(.product("silver"), member: "b"), "a"))
        #expect(try store.rows("b") == [shared])
        #expect(shared.ownership == .familyShared && shared.id == shared.originalID && shared.id != bought.id)
        #expect(shared.appTransactionID == (try store.record("b")).appTransactionID)
        #expect(try store.states("b") == [.subscribed])
        let change = try #require(store.changes.last)
        #expect(change.accounts.count == 2 && change.aliases.map(\.key) == [FamilyStore.key("b")])
    }

    @Test func `a shared line renews, fails, recovers, upgrades and ends with the purchaser, in one revision each`()
        throws
    {
        let store = try FamilyStore()
        try store.buy("silver", "a")
        for member in ["b", "c", "d"] { try store.operate(.share(.product("silver"), member: member), "a") }
        let members = ["b", "c", "d"]
        func check(_ state: RenewalState, changes: Int = 1, _ what: String, _ body: () throws -> Void) throws {
            let before = store.changes.count
            try body()
            #expect(store.changes.count == before + changes, "\(what)")
            #expect(store.changes.last?.accounts.count == 4, "\(what)")
            for member in members { #expect(try store.states(member) == [state], "\(what)") }
            #expect(try store.fault(of: "a", members: members) == nil, "\(what)")
        }
        try check(.subscribed, "renewal") { store.advance(FamilyStore.month) }
        try check(.subscribed, "renewal off") { try store.operate(.setAutoRenew(.product("silver"), isOn: false), "a") }
        try check(.subscribed, "renewal on") { try store.operate(.setAutoRenew(.product("silver"), isOn: true), "a") }
        try check(.subscribed, "upgrade") { try store.buy("gold", "a") }
        #expect(try store.rows("b").map(\.isUpgraded) == [false, true, false])
        #expect(try store.entitlement("gold", "b") != nil && store.entitlement("silver", "b") == nil)
        try check(.subscribed, "extension") {
            try store.operate(.extendRenewal(.product("gold"), milliseconds: 1_000), "a")
        }
        try store.operate(.setCharges(fail: true), "a")
        try check(.inBillingRetryPeriod, "failure") { store.advance(FamilyStore.month + 1_000) }
        try check(.subscribed, "recovery") { try store.operate(.resolveBilling(.product("gold")), "a") }
        try check(.subscribed, "forced renewal") { try store.operate(.renew(.product("gold")), "a") }
        let last = try store.record("a").lines[0].latest.id
        try check(.revoked, "refund") {
            try store.operate(.refund(.transaction(last), reason: .other, share: .full), "a")
        }
        #expect(try store.rows("b").last?.revocation?.type == .familyRevoke)
        try check(.revoked, "renewal off after the refund") {
            try store.operate(.setAutoRenew(.transaction(last), isOn: false), "a")
        }
        #expect(try store.record("b").lines[0].willAutoRenew == false)
        try check(.revoked, "renewal on after the refund") {
            try store.operate(.setAutoRenew(.transaction(last), isOn: true), "a")
        }
        #expect(try store.record("b").lines[0].willAutoRenew == true)
        try check(.subscribed, "reversal") { try store.operate(.reverseRefund(.transaction(last)), "a") }
        try check(.expired, "expiry") { try store.operate(.expire(.product("gold")), "a") }
        try store.operate(.setCharges(fail: nil), "a")
        try check(.subscribed, "bought again") { try store.buy("silver", "a") }
        try check(.revoked, "a product that is not shareable") { try store.buy("alone", "a") }
    }

    @Test func `sharing is for five other members, and for shareable products`() throws {
        let store = try FamilyStore()
        try store.buy("silver", "a")
        try store.buy("lifetime", "a")
        try store.buy("season", "a")
        func refuses(_ operation: StoreOperation, _ reason: Refusal.Reason) {
            #expect { try store.operate(operation, "a") } throws: { ($0 as? Refusal)?.reason == reason }
        }
        refuses(.share(.product("silver"), member: "a"), .notShareable)
        refuses(.share(.product("season"), member: "b"), .notShareable)
        for member in 1...5 { try store.operate(.share(.product("silver"), member: "m\(member)"), "a") }
        refuses(.share(.product("silver"), member: "m6"), .familyLimit)
        refuses(.share(.product("lifetime"), member: "m6"), .familyLimit)
        try store.operate(.share(.product("lifetime"), member: "m5"), "a")
        let again = try store.operate(.share(.product("silver"), member: "m5"), "a")
        if case .transaction(_, wasHeld: false, _) = again { Issue.record("sharing twice is sharing once") }
        #expect { try store.operate(.share(.product("silver"), member: "b"), "m5") } throws: {
            ($0 as? Refusal)?.reason == .transactionUnknown
        }
        #expect(try store.rows("m5").count == 2)
    }

    @Test func `a shared non-consumable reaches the member at once if shared when bought, else at the next sync`()
        throws
    {
        let store = try FamilyStore()
        try store.buy("lifetime", "a")
        try store.operate(.share(.product("lifetime"), member: "b"), "a")
        #expect(try store.entitlement("lifetime", "b")?.ownership == .familyShared)

        store.now = store.now.advanced(byMilliseconds: 1_000)
        try store.operate(.share(.product("lifetime"), member: "c"), "a")
        #expect(try store.entitlement("lifetime", "c") == nil && store.rows("c").isEmpty)
        let refund = StoreOperation.refund(.product("lifetime"), reason: .other, share: .full)
        try store.operate(refund, "a")
        #expect(try store.entitlement("lifetime", "b") == nil)
        try store.mutate(.sync(FamilyStore.key("c")))
        #expect(try store.rows("c").isEmpty, "what was refunded meanwhile is not delivered")
        let first = try store.rows("a")[0].id
        try store.operate(.reverseRefund(.transaction(first)), "a")
        #expect(try store.entitlement("lifetime", "b") != nil)
        try store.mutate(.sync(FamilyStore.key("c")))
        #expect(try store.entitlement("lifetime", "c") != nil)
        let revision = store.engine.header.revision
        try store.mutate(.sync(FamilyStore.key("c")))
        #expect(store.engine.header.revision == revision, "a second sync changes nothing")
    }

    @Test(
        arguments: [
            .buy(PurchaseOrder(productID: "silver")), .extendRenewal(.product("gold"), milliseconds: 1_000),
            .raisePrice(.product("gold"), milliunits: 50_000, needsConsent: true),
        ] as [StoreOperation])
    func `a member's older period is kept, even if the next one began at the same instant`(
        _ operation: StoreOperation
    ) throws {
        let store = try FamilyStore()
        try store.buy("gold", "a")
        try store.operate(.share(.product("gold"), member: "b"), "a")
        try store.operate(.renew(.product("gold")), "a")
        try store.operate(.deleteTransaction(try #require(try store.rows("b").map(\.id).max())), "b")
        let left = try store.record("b").lines
        #expect(try left.count == 1 && store.states("b") == [.expired])
        try store.operate(operation, "a")
        #expect(try store.record("b").lines == left)
        #expect(try store.states("b") == [.expired])
    }

    /// Random purchases, sharing, operations of a tester and passing time in a family of three.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `a member's copy equals the purchaser's line after every event, and records are the fold of their facts`(
        _ seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let store = try FamilyStore()
        let family = ["a", "b", "c"]
        for name in family { try store.buy("coins", name) }
        var done = 0
        for step in 0..<60 {
            let name = random.element(family)
            let product = OperationTarget.product(random.element(["silver", "gold", "alone", "lifetime"]))
            let rows = try store.rows(name)
            let row = OperationTarget.transaction(rows.isEmpty ? 0 : random.element(rows).id)
            let target = random.below(3) == 0 ? row : product
            let revision = store.engine.header.revision
            do {
                switch random.below(24) {
                case 0..<5: try store.buy(random.element(["silver", "gold", "alone", "lifetime"]), name)
                case 5..<9: try store.operate(.share(product, member: random.element(family)), name)
                case 9: try store.operate(.stopSharing(nil, member: random.element(family + [nil] as [String?])), name)
                case 10: try store.operate(.refund(target, reason: .other, share: .full), name)
                case 11: try store.operate(.reverseRefund(row), name)
                case 12: try store.operate(.renew(target), name)
                case 13: try store.operate(.expire(target), name)
                case 14: try store.operate(.setAutoRenew(target, isOn: random.bool()), name)
                case 15: try store.operate(.setCharges(fail: random.below(4) == 0), name)
                case 16: try store.operate(.resolveBilling(target), name)
                case 17: try store.operate(.raisePrice(product, milliunits: 50_000, needsConsent: random.bool()), name)
                case 18: try store.operate(.answerPriceIncrease(product, agrees: random.bool()), name)
                case 19: try store.operate(.extendRenewal(product, milliseconds: 1_000), name)
                case 20:
                    if case .transaction(let id) = row, random.below(3) == 0 {
                        try store.operate(.deleteTransaction(id), name)
                    }
                case 21: try store.mutate(.sync(FamilyStore.key(name)))
                default: store.advance(Int64(random.below(2 * Int(FamilyStore.month))))
                }
            } catch let refusal as Refusal {
                #expect(store.engine.header.revision >= revision, "\(refusal)")
            }
            if store.engine.header.revision > revision { done += 1 }
            for purchaser in family {
                if let fault = try store.fault(of: purchaser, members: family.filter { $0 != purchaser }) {
                    Issue.record("seed \(seed), step \(step), \(purchaser): \(fault)")
                    return
                }
            }
            for name in family {
                let own = try store.record(name).lines.filter { $0.isOwn && $0.groupID == "G" }
                #expect(own.count <= 1, "seed \(seed), step \(step): \(name)")
            }
        }
        #expect(done > 10, "seed \(seed) did next to nothing")
    }
}
