import PerchBase
import PerchClient
import PerchModel
import PerchWire

import struct PerchClient.ClockChange

extension CommandRun {
    /// `perch store buy`, `finish`, `refund`, `renew`, `expire`, `auto-renew`.
    func changeStore() async throws {
        try await self.withClient { client in
            let key = self.idempotencyKey
            switch self.invocation.action {
            case .storeBuy:
                let order = try await self.order(client)
                try self.tell(
                    try await client.operate(.buy(order), account: self.text("ACCOUNT"), idempotencyKey: key))
            case .storeRefund:
                try self.tell(
                    try await client.operate(
                        .refund(self.target, reason: self.refundReason, share: try self.refundShare),
                        account: self.text("ACCOUNT"), idempotencyKey: key))
            case .storeRenew:
                try self.tell(
                    try await client.operate(
                        .renew(self.target), account: self.text("ACCOUNT"), idempotencyKey: key))
            case .storeFinish:
                try self.tell(
                    try await client.finish(
                        self.transactionID("ID"), account: self.text("ACCOUNT"), idempotencyKey: key),
                    "transaction \(self.transactionID("ID")) is finished")
            case .storeExpire:
                try self.tell(
                    try await client.operate(
                        .expire(self.target), account: self.text("ACCOUNT"), idempotencyKey: key
                    ).position,
                    "\(self.target.words) is over")
            case .storeAutoRenew:
                let isOn = self.text("SWITCH") == "on"
                try self.tell(
                    try await client.operate(
                        .setAutoRenew(self.target, isOn: isOn), account: self.text("ACCOUNT"), idempotencyKey: key
                    ).position,
                    "\(self.target.words) \(isOn ? "renews" : "does not renew")")
            default:
                preconditionFailure("\(self.invocation.action) is no change of the store")
            }
        }
    }

    /// The part of the price that `perch store refund` gives back.
    private var refundShare: RefundShare {
        get throws(UsageError) {
            guard let text = self.settings.text("percent") else {
                return self.settings.flag("prorated") ? .prorated : .full
            }
            func wrong(_ why: String) -> UsageError { UsageError("--percent \(why)", command: self.invocation.name) }
            guard !self.settings.flag("prorated") else {
                throw wrong("and --prorated both say how much is given back; use one")
            }
            guard let thousandths = thousandths(of: text), (1...100_000).contains(thousandths) else {
                throw wrong("is \(quoted(text)), it should be more than 0 and at most 100, such as 50 or 12.5")
            }
            return thousandths == 100_000 ? .full : .part(milliPercent: UInt32(thousandths))
        }
    }

    /// The order of `perch store buy`.
    private func order(_ client: PerchClient) async throws(PerchError) -> PurchaseOrder {
        var order = PurchaseOrder(
            productID: self.text("PRODUCT"), quantity: UInt32(self.settings.number("quantity") ?? 1),
            appAccountToken: self.settings.text("token") ?? "", offer: self.offer)
        order.introductoryEligibility =
            IntroductoryEligibility(named: self.settings.text("introductory") ?? "") ?? .byHistory
        order.billingPlan = BillingPlanType(named: self.settings.text("plan") ?? "") ?? .unspecified
        order.date = try await self.instant(client)
        order.renewalBehaviour = RenewalBehaviour(named: self.settings.text("then") ?? "") ?? .unspecified
        order.simulatesAskToBuy = self.settings.flag("ask-to-buy")
        return order
    }

    /// `perch store clock …`
    func moveClock() async throws {
        try await self.withClient { client in
            switch self.invocation.action {
            case .clockShow:
                try self.tell(try await client.clock())
            case .clockFreeze:
                try self.tell(try await client.setClock(.freeze))
            case .clockResume:
                try self.tell(try await client.setClock(.resume))
            case .clockAdvance:
                guard case .duration(let length)? = self.values("DURATION").first else {
                    preconditionFailure("no operand DURATION")
                }
                try self.tell(try await client.setClock(try await self.move(by: length, client)))
            case .clockTo:
                guard case .number(let instant)? = self.values("INSTANT").first else {
                    preconditionFailure("no operand INSTANT")
                }
                try self.tell(try await client.setClock(.advance(to: Instant(milliseconds: instant))))
            case .clockNext:
                try self.tell(try await client.setClock(.advance(toNextBoundaryOf: self.text("ACCOUNT"))))
            case .clockRate:
                guard let rate = TimeRate(named: self.text("RATE")) else { preconditionFailure("a rate was read") }
                try self.tell(
                    try await client.configure([.timeRate(rate.rawValue)]),
                    "periods last by \(rate) from the next one on")
            default:
                preconditionFailure("\(self.invocation.action) is nothing about the clock")
            }
        }
    }

    /// A calendar month has no fixed length, so it counts from the instant of the clock.
    private func move(by length: CalendarDuration, _ client: PerchClient) async throws(PerchError) -> ClockMove {
        guard length.months > 0 else { return .advance(by: .milliseconds(length.milliseconds)) }
        return .advance(to: length.end(from: try await client.clock().now))
    }

    func tell(_ change: OperationResult) throws {
        try self.printer.print(.operate(change.message)) { [$0.change(change)] }
    }

    func tell(_ position: Position, _ text: String) throws {
        try self.printer.print(.configure(Acknowledgement(position: position))) { _ in [text] }
    }

    private func tell(_ clock: AppClockState) throws {
        try self.printer.print(.getClock(ClockResponse(clock: clock.message))) { [$0.clock(clock)] }
    }

    /// Renewal attempts on the way of a clock: `; 2 renewed, 1 failed`.
    static func attempts(of change: ClockChange) -> String {
        let ended = change.settledCount - min(change.settledCount, change.renewedCount + change.failedCount)
        let parts = [(change.renewedCount, "renewed"), (change.failedCount, "failed"), (ended, "ended")]
        let said = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return said.isEmpty ? "" : "; renewals: " + said.joined(separator: ", ")
    }

    private func tell(_ change: ClockChange) throws {
        try self.printer.print(.setClock(change.message)) { writer in
            [writer.clock(change.clock) + Self.attempts(of: change)]
        }
    }
}

extension OperationTarget {
    /// As the subject of a sentence.
    fileprivate var words: String {
        switch self {
        case .transaction(let id): "the subscription of transaction \(id)"
        case .product(let id): printable(id)
        }
    }
}

extension CalendarDuration {
    /// Adds months first, on the same day where the month has it, then the part of fixed length.
    func end(from start: Instant) -> Instant {
        let civil = CivilTime(start)
        return civil.adding(months: self.months, anchorDay: civil.day).instant
            .advanced(byMilliseconds: self.milliseconds)
    }
}
