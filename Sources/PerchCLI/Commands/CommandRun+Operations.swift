import PerchBase
import PerchClient
import PerchModel
import PerchWire

extension CommandRun {
    /// The commands of `perch store` that change one account.
    func operate() async throws {
        try await self.withClient { client in
            let (operation, account) = try self.operation()
            try self.tell(
                try await client.operate(operation, account: account, idempotencyKey: self.idempotencyKey))
        }
    }

    /// The operation of the command, and its account.
    private func operation() throws -> (StoreOperation, account: String) {
        func held() -> OperationTarget { self.target }
        func number() -> UInt64 { self.transactionID("NUMBER") }
        let account = self.text("ACCOUNT")
        switch self.invocation.action {
        case .storeReverseRefund: return (.reverseRefund(held()), account)
        case .storeDeclineRefund: return (.declineRefund(held()), account)
        case .storeConsumption: return (.requestConsumption(held()), account)
        case .storeResolve: return (.resolveBilling(held()), account)
        case .storeCharges:
            let outcome = self.text("OUTCOME")
            return (.setCharges(fail: outcome == "as-app" ? nil : outcome == "fail"), account)
        case .storeCanMakePayments: return (.setPayments(isAllowed: self.text("SWITCH") == "on"), account)
        case .storeAppTransaction:
            return (
                .setAppTransaction(
                    AppTransactionTerms(
                        originalAppVersion: self.settings.text("original-version") ?? "",
                        originalPurchaseDate: self.settings.number("original-date").map { Instant(milliseconds: $0) },
                        originalPlatform: self.settings.text("platform").flatMap { AppPlatform(named: $0) }
                            ?? .unspecified,
                        environment: self.settings.text("receipt-type").flatMap { AppEnvironment(named: $0) }
                            ?? .unspecified)),
                account
            )
        case .storeExtend:
            guard case .duration(let length)? = self.values("DURATION").first else {
                preconditionFailure("no operand DURATION")
            }
            guard length.months == 0 else {
                throw UsageError(
                    "DURATION has calendar months, which have no fixed length; write days, such as 30d",
                    command: self.invocation.name)
            }
            return (.extendRenewal(held(), milliseconds: length.milliseconds), account)
        case .storeRaisePrice:
            let consent = self.settings.text("consent").map { $0 == "needed" }
            return (
                .raisePrice(held(), milliunits: try self.price(self.text("PRICE"), "PRICE"), needsConsent: consent),
                account
            )
        case .storeAgreePrice: return (.answerPriceIncrease(held(), agrees: true), account)
        case .storeDeclinePrice: return (.answerPriceIncrease(held(), agrees: false), account)
        case .storeShare: return (.share(held(), member: self.text("MEMBER")), account)
        case .storeStopSharing:
            let target = self.settings.text("target").map { OperationTarget($0) }
            return (.stopSharing(target, member: self.settings.text("member")), account)
        case .storeApprove: return (.decidePurchase(id: number(), approves: true), account)
        case .storeDecline: return (.decidePurchase(id: number(), approves: false), account)
        case .storeIntent: return (.createIntent(productID: self.text("PRODUCT"), offer: self.offer), account)
        case .storeEndIntent: return (.endIntent(id: number()), account)
        case .storeMessage: return (.postMessage, account)
        case .storeDelete: return (.deleteTransaction(self.transactionID("ID")), account)
        case .storeClear: return (.clearTransactions, account)
        case .storeStorefront:
            let code = self.text("CODE")
            return (.setStorefront(code == "app" ? "" : code), account)
        default: preconditionFailure("\(self.invocation.action) is no operation")
        }
    }

    /// The offer of `--offer`; nil where none was given.
    var offer: OrderedOffer? {
        self.settings.text("offer").map { id in
            OrderedOffer(type: OfferType(named: self.settings.text("offer-type") ?? "") ?? .promotional, id: id)
        }
    }

    /// Thousandths of a currency's unit.
    private func price(_ text: String, _ name: String) throws -> Int64 {
        guard let milliunits = thousandths(of: text) else {
            throw UsageError(
                "\(name) is \(quoted(text)), it should be a price such as 12.99", command: self.invocation.name)
        }
        return milliunits
    }

    var refundReason: RevocationReason {
        self.settings.text("reason") == "developer-issue" ? .developerIssue : .other
    }

    // MARK: The app

    /// `perch store set`, `fail`, `reset`, `product`.
    func configure() async throws {
        let change: AppSettingChange
        switch self.invocation.action {
        case .storeSet: change = try self.setting()
        case .storeFail:
            guard let api = StoreKitAPI(named: self.text("API")) else { preconditionFailure("a part was read") }
            change = .simulatedError(api, SimulatedError(named: self.text("ERROR")))
        case .storeReset: change = .reset
        case .storeProduct:
            let asked = ["price", "name", "withdrawn", "sharing"]
            guard asked.contains(where: { self.settings.text($0) != nil }) else { return try await self.showProduct() }
            var edit = ProductEdit(productID: self.text("PRODUCT"))
            edit.priceMilliunits = try self.settings.text("price").map { try self.price($0, "--price") }
            edit.displayName = self.settings.text("name")
            edit.isWithdrawn = self.settings.text("withdrawn").map { $0 == "on" }
            edit.isFamilyShareable = self.settings.text("sharing").map { $0 == "on" }
            change = .product(edit)
        default: preconditionFailure("\(self.invocation.action) sets nothing")
        }
        try await self.withClient { client in
            try self.tell(
                try await client.configure([change], idempotencyKey: self.idempotencyKey), "the app is changed")
        }
    }

    /// `perch store mishap`
    func orderMishap() async throws {
        let kinds: [String: MishapKind] = [
            "lose": .lose, "delay": .delay, "double": .double, "reorder": .reorder, "answer-429": .rateLimit,
            "answer-500": .error, "answer-503": .unavailable,
        ]
        guard let kind = kinds[self.text("KIND")] else { preconditionFailure("a mishap was read") }
        let delay = self.settings.number("by").map { Duration.milliseconds($0) }
        if kind == .delay, delay == nil {
            throw UsageError("delay needs --by, such as --by 5h", command: self.invocation.name)
        }
        let path = self.settings.text("path") ?? ""
        try await self.withClient { client in
            let waiting = try await client.orderMishap(
                kind, times: Int(self.settings.number("times") ?? 1), delay: delay, path: path)
            try self.printer.print(.orderMishap(OrderMishapResponse(waiting: UInt32(clamping: waiting)))) { _ in
                [waiting == 1 ? "one mishap waits" : "\(waiting) mishaps wait"]
            }
        }
    }

    /// `perch store product` without a change: the product, and each offer on a line.
    private func showProduct() async throws {
        let id = self.text("PRODUCT")
        try await self.withClient { client in
            let found = try await client.products([id])
            guard let product = found.value.products.first else {
                throw CommandFailure(
                    .notFound, "the catalogue does not sell \(quoted(id)); `perch catalog show` lists it all")
            }
            try self.printer.list("success.products", of: .getProducts(found.message)) { writer in
                writer.products(found.value, found.info).dropFirst().map { String($0.dropFirst(2)) }
                    + writer.offers(of: product).map { "  " + $0 }
            }
        }
    }

    private func setting() throws -> AppSettingChange {
        let value = self.text("VALUE")
        func wrong(_ expected: String, suggesting suggestion: String? = nil) -> UsageError {
            UsageError(
                "VALUE is \(quoted(value)), it should be \(expected)", suggesting: suggestion,
                command: self.invocation.name)
        }
        func isOn() throws -> Bool {
            guard case .text(let word)? = try? ValueKind.toggle.parse(value) else { throw wrong("on or off") }
            return word == "on"
        }
        switch SettingName(rawValue: self.text("NAME")) {
        case .askToBuy: return .askToBuy(try isOn())
        case .interrupted: return .interruptedPurchases(try isOn())
        case .billingRetry: return .billingRetryOnRenewal(try isOn())
        case .grace: return .gracePeriod(try isOn())
        case .graceForAll: return .gracePeriodForAllRenewals(try isOn())
        case .dialogs: return .dialogs(try isOn())
        case .graceDays:
            guard let days = UInt32(value), [3, 16, 28].contains(days) else { throw wrong("3, 16 or 28") }
            return .gracePeriodDays(days)
        case .timeRate:
            let number = Int32(value).flatMap { TimeRate(rawValue: $0) }
            guard let rate = TimeRate(named: value) ?? number else {
                throw wrong(
                    "a time rate of `perch store clock rate --help`",
                    suggesting: nearest(to: value, in: TimeRate.all.map(\.name)))
            }
            return .timeRate(rate.rawValue)
        case .storefront:
            do throws(ValueKind.Mismatch) {
                _ = try ValueKind.storefront(orWord: nil).parse(value)
            } catch {
                throw UsageError("VALUE \(error)", suggesting: error.suggestion, command: self.invocation.name)
            }
            return .storefront(value)
        case .locale: return .locale(value)
        case nil: preconditionFailure("a setting was read")
        }
    }

    // MARK: Looking

    /// `perch store list` and `inspect`.
    func look() async throws {
        try await self.withClient { client in
            if self.invocation.action == .storeInspect {
                let found = try await client.inspect(account: self.text("ACCOUNT"))
                try self.printer.print(.inspectAccount(found.message)) {
                    $0.inspection(found.value, now: found.position.asOf)
                }
                return
            }
            guard let account = self.texts("ACCOUNT").first else {
                var all: [String] = []
                var left = self.settings.number("limit") ?? .max
                for try await key in client.accounts() {
                    left -= 1
                    guard left >= 0 else { break }
                    guard self.printer.format != .json else {
                        all.append(key)
                        continue
                    }
                    try self.printer.print(.listAccounts(AccountPage(accounts: [key]))) { _ in [printable(key)] }
                }
                if self.printer.format == .json {
                    try self.printer.print(.listAccounts(AccountPage(accounts: all))) { _ in [] }
                }
                return
            }
            try await self.list(client.transactions(account: account, includingFinishedConsumables: true))
            try await self.listPending(account, client)
        }
    }

    /// Pending purchases, below the transactions of an account. `perch store inspect` has them as JSON.
    private func listPending(_ account: String, _ client: PerchClient) async throws {
        guard self.printer.format == .text else { return }
        let found: Positioned<AccountDetails>
        do throws(PerchError) {
            found = try await client.inspect(account: account)
        } catch {
            // A store that knows no such account has listed no transaction.
            guard error.code == .notFound else { throw error }
            return
        }
        try self.printer.lines(
            found.value.pendingPurchases.map { self.printer.text.pending($0, now: found.position.asOf) })
    }
}
