import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// The test store's methods, what customers ask for, and reads of another moment, on simulated connections.
@Suite(.onChosenStorage) struct StoreServiceTests {
    private let world = World()
    private let client: WireClient

    init() { self.client = self.world.welcomedClient() }

    private func ask(_ request: Request) -> (response: Response?, reason: String) {
        let (response, status) = self.world.answer(to: request, from: self.client)
        return (response, status?.reason ?? "")
    }

    private func settings() throws -> [AppSettingChange] {
        guard case .getSettings(let list) = try self.world.require(.getSettings(SettingsRequest()), from: self.client)
        else { return [] }
        return list.settings
    }

    @Test func `a setting is reported as the list that would make it, and a reset reverts it`() throws {
        let before = try self.settings()
        try self.world.require(
            .configure(.askToBuy(true), .simulatedError(.purchase, .networkError)), from: self.client)
        #expect(try self.settings().contains(.askToBuy(true)))
        #expect(try self.settings().last == .simulatedError(.purchase, .networkError))
        #expect(self.ask(.buy("gold")).reason == "STOREKIT_NETWORK_ERROR")
        try self.world.require(.configure(.reset), from: self.client)
        #expect(try self.settings() == before)
    }

    @Test func `settings are changed together or not at all`() throws {
        let before = try self.settings()
        #expect(self.ask(.configure(.askToBuy(true), .gracePeriodDays(4))).reason == "FIELD_INVALID")
        #expect(try self.settings() == before)
    }

    @Test func `a purchase that waits is pending under its number, and arrives when it is approved`() throws {
        try self.world.require(.configure(.askToBuy(true)), from: self.client)
        let updates = self.client.call(.updates())
        guard case .purchase(let purchase) = try self.world.require(.buy("gold"), from: self.client) else { return }
        #expect(purchase.result == .pending && purchase.transaction == nil && purchase.pendingNumber > 0)
        let approve = Request.operate(.decidePurchase(id: purchase.pendingNumber, approves: true), "anna")
        guard case .operate(let done) = try self.world.require(approve, from: self.client) else { return }
        #expect(done.purchaseResult == .success && done.transaction?.value.productID == "gold")
        let events = self.client.updates(on: updates).compactMap { $0.transaction }
        #expect(events.map(\.value.productID) == ["gold"])
        #expect(self.ask(approve).reason == "PENDING_UNKNOWN")
    }

    @Test func `operations of a test store have no origin, an app's purchase has its client's`() throws {
        let stream = self.client.call(.updates())
        let app = self.world.welcomedClient(clientID: [7])
        try self.world.buy("coins", from: app)
        try self.world.require(.operate(.buy(PurchaseOrder(productID: "season")), "anna"), from: self.client)
        let events = self.client.updates(on: stream).filter { $0.transaction != nil }
        #expect(events.map(\.originClientID) == [[7], []])
    }

    @Test func `an idempotency key stands for the whole request`() throws {
        let once = Request.operate(.buy(PurchaseOrder(productID: "coins")), "anna", key: [1])
        let first = try self.world.require(once, from: self.client)
        #expect(try self.world.require(once, from: self.client) == first)
        var order = PurchaseOrder(productID: "coins")
        order.seenStorefront = "DEU"
        #expect(self.ask(.operate(.buy(order), "anna", key: [1])).reason == "KEY_REUSED")
        #expect(self.ask(.configure(.dialogs(true), key: [1])).reason == "KEY_REUSED")
    }

    @Test func `an account is inspected with what it holds, and none is made for it`() throws {
        #expect(self.ask(.inspectAccount(InspectAccountRequest(account: "anna"))).reason == "ACCOUNT_UNKNOWN")
        try self.world.buy("gold", from: self.client)
        try self.world.buy("lifetime", from: self.client)
        try self.world.require(
            .operate(.createIntent(productID: "silver", offer: nil), "anna"), from: self.client)
        let request = Request.inspectAccount(InspectAccountRequest(account: "anna"))
        guard case .inspectAccount(let found) = try self.world.require(request, from: self.client) else { return }
        #expect(found.groups.map(\.groupID) == ["plans"] && found.groups[0].statuses.states == [.subscribed])
        #expect(found.owned.map(\.value.productID) == ["lifetime"])
        #expect(found.intents.map(\.productID) == ["silver"])
        #expect(!found.appTransactionID.isEmpty)
    }

    @Test func `accounts are listed page by page in bytewise order`() throws {
        let names = ["b", "a", "\u{E4}", "Z", "aa"]
        for name in names { try self.world.buy("coins", name, from: self.client) }
        var token: [UInt8] = []
        var seen: [String] = []
        repeat {
            let request = ListAccountsRequest(pageSize: 2, pageToken: token)
            guard case .listAccounts(let page) = try self.world.require(.listAccounts(request), from: self.client)
            else { return }
            seen += page.accounts
            token = page.nextPageToken
        } while !token.isEmpty
        #expect(seen == ["Z", "a", "aa", "b", "\u{E4}"])
        #expect(
            self.ask(.listAccounts(ListAccountsRequest(pageToken: [4, 1, 2]))).reason == "CURSOR_MALFORMED")
    }

    @Test func `a list with summaries has the line of each account that matters most, page by page`() throws {
        try self.world.buy("coins", "anna", from: self.client)
        try self.world.buy("gold", "bert", from: self.client)
        try self.world.buy("gold", "carl", from: self.client)
        var token: [UInt8] = []
        var rows: [(String, AccountSummary)] = []
        repeat {
            let request = ListAccountsRequest(pageSize: 2, pageToken: token, withSummaries: true)
            guard case .listAccounts(let page) = try self.world.require(.listAccounts(request), from: self.client)
            else { return }
            #expect(page.accounts.count == page.summaries.count)
            rows += zip(page.accounts, page.summaries)
            token = page.nextPageToken
        } while !token.isEmpty
        #expect(rows.map(\.0) == ["anna", "bert", "carl"])
        #expect(rows[0].1.state == .unspecified && rows[0].1.lineCount == 0 && rows[0].1.revision > 0)
        let bert = rows[1].1
        #expect(bert.state == .subscribed && bert.productID == "gold" && bert.willAutoRenew && bert.lineCount == 1)
        #expect(bert.nextChange?.at == bert.expirationDate && bert.expirationDate != nil)
        #expect(
            self.ask(.listAccounts(ListAccountsRequest(pageToken: [4, 1, 2], withSummaries: true))).reason
                == "CURSOR_MALFORMED")
        guard
            case .listAccounts(let plain) = try self.world.require(
                .listAccounts(ListAccountsRequest()), from: self.client)
        else { return }
        #expect(plain.summaries.isEmpty && plain.accounts.count == 3)
    }

    /// A page token of another store, or of this one before a restore, would continue a list that does not exist.
    @Test func `page tokens of another life of the store are refused`() throws {
        for name in ["anna", "bert"] { try self.world.buy("coins", name, from: self.client) }
        try self.world.buy("coins", "anna", from: self.client)
        guard
            case .listAccounts(let accounts) = try self.world.require(
                .listAccounts(ListAccountsRequest(pageSize: 1)), from: self.client),
            case .listTransactions(let rows) = try self.world.require(
                .listTransactions(ListTransactionsRequest(account: "anna", pageSize: 1)), from: self.client)
        else { return }
        var list = try AccountPageToken(accounts.nextPageToken)
        var page = try PageToken(rows.nextPageToken)
        func reasons() -> [String] {
            [
                self.ask(.listAccounts(ListAccountsRequest(pageToken: list.bytes))).reason,
                self.ask(.listTransactions(ListTransactionsRequest(account: "anna", pageToken: page.bytes))).reason,
            ]
        }
        #expect(reasons() == ["", ""])
        list.origin.epoch += 1
        page.origin.epoch += 1
        #expect(reasons() == ["TOKEN_OTHER_STORE", "TOKEN_OTHER_STORE"])
        (list.origin.epoch, page.origin.epoch) = (list.origin.epoch - 1, page.origin.epoch - 1)
        list.origin.store.high += 1
        page.origin.store.high += 1
        #expect(reasons() == ["TOKEN_OTHER_STORE", "TOKEN_OTHER_STORE"])
    }

    @Test func `a customer's refund request is approved, unless its text is REJECT`() throws {
        let coins = try self.world.buy("coins", from: self.client)
        func ask(_ text: String) throws -> RefundAnswer? {
            let request = RefundRequest(account: "anna", transactionID: coins.id, text: text)
            guard case .requestRefund(let answer) = try self.world.require(.requestRefund(request), from: self.client)
            else { return nil }
            return answer
        }
        let approved = try ask("it broke")
        #expect(approved?.isApproved == true && approved?.transaction?.value.revocation != nil)
        let other = try self.world.buy("coins", from: self.client)
        let rejected = RefundRequest(account: "anna", transactionID: other.id, text: "REJECT")
        guard case .requestRefund(let answer) = try self.world.require(.requestRefund(rejected), from: self.client)
        else { return }
        #expect(!answer.isApproved)
    }

    /// `Transaction.RefundRequestError.duplicateRequest`: the first request is pending, denied or approved.
    @Test(arguments: ["it broke", "REJECT"])
    func `a second refund request for a transaction is a duplicate, whatever became of the first`(
        _ text: String
    ) throws {
        let coins = try self.world.buy("coins", from: self.client)
        let request = Request.requestRefund(RefundRequest(account: "anna", transactionID: coins.id, text: text))
        _ = try self.world.require(request, from: self.client)
        #expect(self.ask(request).reason == "STOREKIT_DUPLICATE_REQUEST")
        let other = try self.world.buy("coins", from: self.client)
        let next = Request.requestRefund(RefundRequest(account: "anna", transactionID: other.id))
        #expect(self.ask(next).reason == "")
    }

    @Test(arguments: [
        (StoreKitAPI.appStoreSync, Request.sync(SyncRequest(account: "anna"))),
        (.manageSubscriptions, .manageSubscriptions(ManageSubscriptionsRequest(account: "anna", productID: "gold"))),
        (.refundRequest, .requestRefund(RefundRequest(account: "anna", transactionID: 1))),
        (.offerCodeRedeem, .redeemOfferCode(RedeemOfferCodeRequest(account: "anna", code: "SPRING"))),
        (.appTransaction, .getAppTransaction(AppTransactionRequest(account: "anna"))),
    ])
    func `a part that is armed to fail fails with StoreKit's reason`(_ api: StoreKitAPI, _ request: Request) throws {
        try self.world.buy("gold", from: self.client)
        try self.world.require(.configure(.simulatedError(api, .systemError)), from: self.client)
        #expect(self.ask(request).reason == "STOREKIT_SYSTEM_ERROR")
        try self.world.require(.configure(.simulatedError(api, nil)), from: self.client)
        #expect(self.ask(request).reason != "STOREKIT_SYSTEM_ERROR")
    }

    @Test func `a customer resolves a billing issue and answers a price increase`() throws {
        try self.world.buy("gold", from: self.client)
        let resolve = Request.resolveBillingIssue(ResolveBillingIssueRequest(account: "anna", productID: "gold"))
        #expect(self.ask(resolve).reason == "NOT_IN_RETRY")
        try self.world.require(.operate(.setCharges(fail: true), "anna"), from: self.client)
        try self.world.require(.clock(.advanceToBoundary(account: "anna")), from: self.client)
        let status = self.client.call(.status())
        self.world.settle()
        #expect(self.client.statuses(on: status).last?.value?.states == [.inBillingRetryPeriod])
        try self.world.require(.operate(.setCharges(fail: nil), "anna"), from: self.client)
        #expect(self.ask(resolve).reason == "")
        #expect(self.client.statuses(on: status).last?.value?.states == [.subscribed])
        func answer(_ agrees: Bool) -> Request {
            .answerPriceIncrease(AnswerPriceIncreaseRequest(account: "anna", productID: "gold", agrees: agrees))
        }
        #expect(self.ask(answer(true)).reason == "NO_PRICE_INCREASE")
        try self.world.require(
            .operate(.raisePrice(.product("gold"), milliunits: 99_990, needsConsent: true), "anna"), from: self.client)
        #expect(self.ask(answer(true)).reason == "")
    }

    @Test func `what all callers may read says whether customers are asked before they buy`() throws {
        func shows() throws -> Bool {
            guard
                case .getAppPolicies(let policies) = try self.world.require(
                    .getAppPolicies(AppPoliciesRequest()), from: self.client)
            else { throw NoAnswer(status: nil) }
            return policies.showsDialogs
        }
        #expect(try !shows())
        try self.world.require(.configure(.dialogs(true)), from: self.client)
        #expect(try shows())
    }

    @Test func `a repeated key answers with the signature of the first answer`() throws {
        func bought(_ key: UInt8) throws -> PurchaseResponse {
            guard
                case .purchase(let answer) = try self.world.require(
                    .buy("coins", "anna", key: [key]), from: self.client)
            else { throw NoAnswer(status: nil) }
            return answer
        }
        let verified = try bought(1)
        try self.world.require(
            .configure(.simulatedError(.verification, .invalidSignature)), from: self.client)
        #expect(try bought(1) == verified)
        let spoiled = try bought(2)
        #expect(spoiled.transaction.map { $0.failure == .noFailure } == false)
        try self.world.require(.configure(.simulatedError(.verification, nil)), from: self.client)
        #expect(try bought(2) == spoiled)
        #expect(try bought(3).transaction.map { $0.failure == .noFailure } == true)
    }

    @Test func `watches of a failing part get the failure once, and the value after it is disarmed`() throws {
        try self.world.buy("gold", from: self.client)
        let products = self.client.call(.products())
        let statuses = self.client.call(.status())
        let entitlement = self.client.call(.entitlement())
        self.world.settle()
        let value = self.client.statuses(on: statuses).last?.value
        let apis: [StoreKitAPI] = [.loadProducts, .subscriptionStatus, .currentEntitlement]
        try self.world.require(
            .configure(ConfigureRequest(settings: apis.map { .simulatedError($0, .networkError) })), from: self.client)
        #expect(self.client.statuses(on: statuses).last?.failure?.reason == "STOREKIT_NETWORK_ERROR")
        #expect(self.client.products(on: products).last?.failure != nil)
        #expect(self.client.entitlements(on: entitlement).last?.failure != nil)
        // A new watch begins with the failure too; other watches get nothing.
        let count = self.client.statuses(on: statuses).count
        let late = self.client.call(.status())
        self.world.settle()
        #expect(self.client.statuses(on: late).map(\.failure?.reason) == [nil, "STOREKIT_NETWORK_ERROR"])
        #expect(self.client.statuses(on: statuses).count == count)
        guard case .getSubscriptionStatus(let read)? = self.ask(.readStatus()).response else { return }
        #expect(read.failure?.reason == "STOREKIT_NETWORK_ERROR")

        try self.world.require(.configure(.reset), from: self.client)
        #expect(self.client.statuses(on: statuses).last?.value == value)
        #expect(self.client.products(on: products).last?.value != nil)
        #expect(self.client.entitlements(on: entitlement).last?.value != nil)
        self.world.checkInvariants()
    }

    @Test func `values become unverified while verification fails`() throws {
        try self.world.buy("gold", from: self.client)
        let stream = self.client.call(.entitlement())
        try self.world.require(
            .configure(.simulatedError(.verification, .invalidSignature)), from: self.client)
        let failure = self.client.entitlements(on: stream).last?.value.flatMap { $0?.failure }
        #expect(failure != nil && failure != .noFailure)
        try self.world.require(.configure(.simulatedError(.verification, nil)), from: self.client)
        #expect(self.client.entitlements(on: stream).last?.value.flatMap { $0?.failure } == .noFailure)
    }

    @Test func `intents are a state stream: loading, all that wait, unchanged for a token, and each change`() throws {
        let request = Request.purchaseIntents(AccountWatchRequest(account: "anna"))
        let stream = self.client.call(request)
        self.world.settle()
        func states(_ stream: UInt32) -> [TaskState<[PurchaseIntent]>] {
            self.client.messages(on: stream).compactMap {
                if case .purchaseIntents(let state) = $0 { state } else { nil }
            }
        }
        #expect(states(stream).map(\.value) == [nil, []])
        guard
            case .operate(let made) = try self.world.require(
                .operate(.createIntent(productID: "gold", offer: nil), "anna"), from: self.client)
        else { return }
        let told = try #require(states(stream).last)
        #expect(told.value?.map(\.id) == [made.number] && told.info?.cause == .purchase)
        let token = try #require(told.info?.token)
        let again = self.client.call(
            .purchaseIntents(AccountWatchRequest(account: "anna", resumeToken: token)))
        self.world.settle()
        #expect(states(again).map(\.isUnchanged) == [true])
        try self.world.require(.operate(.endIntent(id: made.number), "anna"), from: self.client)
        #expect(states(stream).last?.value == [] && states(again).last?.value == [])
        #expect(
            self.ask(.messages(AccountWatchRequest(account: "anna", resumeToken: token))).reason == "TOKEN_OTHER_VIEW")
    }

    @Test func `a posted message is pushed, and disappears automatically`() throws {
        try self.world.buy("coins", from: self.client)
        let stream = self.client.call(.messages(AccountWatchRequest(account: "anna")))
        func states() -> [TaskState<[StoreMessage]>] {
            self.client.messages(on: stream).compactMap { if case .messages(let state) = $0 { state } else { nil } }
        }
        try self.world.require(.operate(.postMessage, "anna"), from: self.client)
        #expect(states().last?.value?.map(\.reason) == [.generic])
        #expect(states().last?.info?.forecast?.kind == .message)
        try self.world.require(.clock(.advanceBy(milliseconds: 3 * 86_400_000)), from: self.client)
        #expect(states().last?.value == [])
    }

    @Test func `a read can be about another instant, and about what was known`() throws {
        let gold = try self.world.buy("gold", from: self.client)
        guard case .getSubscriptionStatus(let before)? = self.ask(.readStatus()).response else { return }
        let known = try #require(before.info?.position.revision)
        try self.world.require(.autoRenew(gold.id, false), from: self.client)
        func read(_ asOf: AsOf) -> TaskState<SubscriptionStatuses>? {
            let request = SubscriptionStatusRequest(account: "anna", groupID: "plans", asOf: asOf)
            guard case .getSubscriptionStatus(let state)? = self.ask(.getSubscriptionStatus(request)).response else {
                return nil
            }
            return state
        }
        let end = try #require(gold.expirationDate)
        #expect(read(AsOf(instant: end))?.value?.states == [.expired])
        #expect(read(AsOf(instant: end.advanced(byMilliseconds: -1)))?.value?.states == [.subscribed])
        let then = try #require(read(AsOf(revision: known)))
        #expect(then.value == before.value, "auto-renew was on then")
        #expect(then.info?.token == [] && then.info?.position.revision == known)
        let early = read(AsOf(revision: known - 1))
        #expect(early?.value?.statuses == [], "nothing was bought yet")
        let ahead = SubscriptionStatusRequest(account: "anna", groupID: "plans", asOf: AsOf(revision: 1_000))
        #expect(self.ask(.getSubscriptionStatus(ahead)).reason == "FIELD_INVALID")
        let never = SubscriptionStatusRequest(
            account: "anna", groupID: "plans", asOf: AsOf(instant: Instant(milliseconds: -1)))
        #expect(self.ask(.getSubscriptionStatus(never)).reason == "FIELD_INVALID")
    }

    @Test func `plans, offers, policies and the app transaction are answered`() throws {
        try self.world.buy("silver", from: self.client)
        let plans = try self.world.require(
            .listPlanOptions(PlanOptionsRequest(account: "anna", groupID: "plans")), from: self.client)
        guard case .listPlanOptions(let list) = plans else { return }
        #expect(list.options.map(\.product.id) == ["gold", "silver"])
        #expect(list.options.map(\.relation) == [.upgrade, .current])
        let offers = try self.world.require(
            .getOfferEligibility(OfferEligibilityRequest(account: "anna", groupID: "plans")), from: self.client)
        guard case .getOfferEligibility = offers else { return }
        _ = try self.world.require(.getAppPolicies(AppPoliciesRequest()), from: self.client)
        let found = try self.world.require(
            .getAppTransaction(AppTransactionRequest(account: "anna")), from: self.client)
        guard case .getAppTransaction(let answer) = found else { return }
        #expect(!answer.appTransactionID.isEmpty && answer.bundleID == TestShop.bundleID)
    }

    // MARK: Notes for the log

    @Test func `a change by a test is noted with who, what and the revision, and without the account`() throws {
        try self.world.buy("gold", from: self.client)
        self.world.loops[0].core.notes.removeAll()
        let request = Request.operate(.expire(.product("gold")), "anna")
        guard case .operate(let done) = try self.world.require(request, from: self.client) else { return }
        let notes = self.world.loops[0].core.notes
        #expect(notes.count == 1)
        let note = try #require(notes.first)
        #expect(note.kind == .change && note.what == "expire" && note.subject == "everyone")
        #expect(note.method.hasSuffix("/Operate") && note.app?.bundleID == TestShop.bundleID)
        #expect(note.revision == done.position?.revision)
        #expect(!"\(note)".contains("anna"))
    }

    @Test func `customers' calls, reads and refusals are not noted`() throws {
        try self.world.buy("gold", from: self.client)
        self.world.loops[0].core.notes.removeAll()
        _ = self.ask(.getClock(ClockRequest()))
        _ = self.ask(.operate(.expire(.product("nosuch")), "anna"))
        #expect(self.world.loops[0].core.notes.isEmpty)
    }

    @Test func `each call is noted at level debug, and notes beyond the limit are counted`() throws {
        self.world.loops[0].core.notesEverything = true
        _ = self.ask(.getClock(ClockRequest()))
        let kinds = self.world.loops[0].core.notes.map(\.kind)
        #expect(kinds == [.called, .ended])
        #expect(self.world.loops[0].core.notes.last?.status == "OK")
        for _ in 0..<Limits.notesPerTurnMax { _ = self.ask(.getClock(ClockRequest())) }
        #expect(self.world.loops[0].core.notes.count == Limits.notesPerTurnMax)
        #expect(self.world.loops[0].core.counters.notesDropped == UInt64(Limits.notesPerTurnMax + 2))
    }

    // MARK: Limits of time

    @Test(arguments: [(-1, true), (0, true), (1, false)])
    func `the clock goes forward by a hundred years at once, and no further`(_ over: Int64, _ isAllowed: Bool) {
        let by = self.ask(.clock(.advanceBy(milliseconds: Limits.advanceMillisecondsMax + over)))
        #expect(by.reason == (isAllowed ? "" : "ADVANCE_LIMIT"))
        let other = World()
        let target = World.begin.advanced(byMilliseconds: Limits.advanceMillisecondsMax + over)
        let (_, status) = other.answer(to: .clock(.advanceTo(target)), from: other.welcomedClient())
        #expect((status?.reason ?? "") == (isAllowed ? "" : "ADVANCE_LIMIT"))
    }

    @Test(arguments: [-1, -Limits.advanceMillisecondsMax, .min]) func `the clock goes back by no number`(_ delta: Int64)
    {
        #expect(self.ask(.clock(.advanceBy(milliseconds: delta))).reason == "CLOCK_BACKWARDS")
        let target = Instant(milliseconds: delta)
        #expect(self.ask(.clock(.advanceTo(target))).reason != "")
    }

    @Test(arguments: [(-1, true), (0, true), (1, false)])
    func `one advance passes a limited number of renewals`(_ over: Int64, _ isAllowed: Bool) throws {
        var setup = World.Setup()
        setup.storeLimits.renewalsPerAdvanceMax = 20
        let world = World(setup)
        let client = world.welcomedClient()
        // Nobody does, so nothing is written.
        let (_, nobody) = world.answer(to: .clock(.advanceBy(milliseconds: 1_000 * TestShop.month)), from: client)
        #expect(nobody?.reason == "")
        try world.buy("gold", from: client)
        let week = TestShop.month * 3 / 5
        let first = try #require(try world.storage.earliestDue(world.app))
        let goal = first.advanced(byMilliseconds: week * (20 + over))
        let (_, status) = world.answer(to: .clock(.advanceTo(goal)), from: client)
        #expect((status?.reason ?? "") == (isAllowed ? "" : "ADVANCE_LIMIT"))
        #expect(
            isAllowed || status?.message.contains("weekly would renew 21 times") == true, "\(status?.message ?? "")")
    }

    @Test func `a purchase in the past renews by the settings of now, not by those of its time`() throws {
        // Until now a month has lasted five minutes: of those there were fifty thousand in half a year.
        _ = try self.world.require(.configure(ConfigureRequest(settings: [.timeRate(0)])), from: self.client)
        var order = PurchaseOrder(productID: "silver")
        order.date = World.begin.advanced(byMilliseconds: -181 * 86_400_000)
        _ = try self.world.require(
            .purchase(PurchaseRequest(account: "anna", order: order, idempotencyKey: [1])), from: self.client)
        let history = try self.world.require(
            .listTransactions(ListTransactionsRequest(account: "anna", pageSize: 100)), from: self.client)
        guard case .listTransactions(let page) = history else { return }
        #expect(page.transactions.count == 6, "one a month")
    }

    @Test(
        arguments: [
            (-1, false), (0, true), (1, true), (Limits.readableMilliseconds.upperBound, true),
            (Limits.readableMilliseconds.upperBound + 1, false), (Int64.max, false), (Int64.min, false),
        ] as [(Int64, Bool)])
    func `a read is about an instant with a civil date`(_ milliseconds: Int64, _ isAllowed: Bool) {
        let asOf = AsOf(instant: Instant(milliseconds: milliseconds))
        let status = Request.getSubscriptionStatus(
            SubscriptionStatusRequest(account: "anna", groupID: "plans", asOf: asOf))
        let why = Request.explain(ExplainRequest(account: "anna", about: .product("gold"), asOf: asOf))
        for request in [status, why] {
            #expect(self.ask(request).reason == (isAllowed ? "" : "FIELD_INVALID"))
        }
    }
}
