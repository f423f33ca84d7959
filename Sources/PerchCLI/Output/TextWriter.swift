import PerchBase
import PerchClient
import PerchModel

/// Values as lines for people: instant, cause, value, end, and the next automatic change.
///
/// Times are of the app's clock, in UTC. Columns are as wide as the known words, so the lines of a watch align.
struct TextWriter {
    let paint: Paint

    init(isColoured: Bool) {
        self.paint = Paint(isOn: isColoured)
    }

    // MARK: The three streams

    func state<Value>(
        _ state: EntitlementTaskState<Value>, wall: Instant, _ write: (Value, ValueInfo) -> [String]
    ) -> [String] {
        switch state {
        case .loading:
            return [self.line(wall, "", self.paint(.dim, "loading"))]
        case .failure(let failure, let last):
            let kept = last == nil ? "" : "; the value before is the last known one"
            return [
                self.line(
                    wall, "",
                    self.paint(.yellow, "no value now") + ": \(printable(failure.message)) (\(failure.reason))\(kept)")
            ]
        case .success(let value, let info):
            return write(value, info)
        case .unchanged(let info):
            return self.unchanged(info)
        }
    }

    func unchanged(_ info: ValueInfo) -> [String] {
        [self.line(info, self.paint(.dim, "unchanged"))]
    }

    /// `group`: nil for all groups.
    func statuses(_ value: SubscriptionStatuses, _ info: ValueInfo, group: String?) -> [String] {
        guard !value.statuses.isEmpty else {
            let unknown = self.unknown(info.isNotInCatalog)
            let place = group.map { "in group \(printable($0))" } ?? "in any group"
            return [self.line(info, "never subscribed \(place)" + unknown)]
        }
        return value.statuses.enumerated().map { index, status in
            let transaction = status.transaction.value
            var text = "\(self.padded(status)) \(printable(transaction.productID))"
            if group == nil { text += "  in group \(printable(transaction.subscriptionGroupID))" }
            text += "  \(self.course(of: status, info.forecast))"
            text += "  (\(self.origin(of: status.transaction.value)))" + self.verification(of: status)
            let counts = value.effectiveInGroups.first { $0.index == index }?.reason
            if counts != nil || value.statuses.count > 1 && index == value.effectiveIndex {
                text += "  <- counts: \(Self.words(counts ?? value.effectiveReason))"
            }
            return self.line(info, text)
        }
    }

    func entitlement(_ value: Verified<Transaction>?, _ info: ValueInfo, product: String) -> [String] {
        guard let value else {
            return [
                self.line(
                    info,
                    self.paint(.red, "not entitled".padded(to: Self.stateWidth)) + " \(printable(product))"
                        + self.unknown(info.isNotInCatalog))
            ]
        }
        let transaction = value.value
        let word =
            value.isVerified
            ? self.paint(.green, "entitled".padded(to: Self.stateWidth))
            : self.paint(.red, "not entitled".padded(to: Self.stateWidth))
        var text = word + " \(printable(transaction.productID))"
        text += "  \(self.end(of: transaction, info.forecast))  (\(self.origin(of: transaction)))"
        text += self.verification(value.failure)
        return [self.line(info, text)]
    }

    func products(_ value: Products, _ info: ValueInfo) -> [String] {
        var head = counted(value.products.count, "product")
        if !value.unavailableIDs.isEmpty {
            head += ", unavailable: \(value.unavailableIDs.map(printable).joined(separator: ", "))"
        }
        let width = value.products.map { printable($0.id).count }.max() ?? 0
        return [self.line(info, head)]
            + value.products.map { product in
                var text = "  \(printable(product.id).padded(to: width))  "
                text += "\(Self.words(product.type).padded(to: 14))  \(printable(product.displayPrice))"
                if let subscription = product.subscription {
                    text += " for \(Self.words(subscription.period)), group \(printable(subscription.groupID)) level "
                    text += "\(subscription.groupLevel)"
                    for offer in subscription.introductoryOffers { text += ", \(self.introduction(offer))" }
                }
                if !product.displayName.isEmpty { text += "  \(printable(product.displayName))" }
                return text
            }
    }

    // MARK: Transactions

    func update(_ value: TransactionUpdate) -> [String] {
        let transaction = value.transaction.value
        // An unfinished transaction is no event, so it has no time of a commit.
        let time = value.kind == .unfinished ? "" : "\(value.committed)"
        return [
            "\(time.padded(to: Self.timeWidth))  \(Self.words(value.kind).padded(to: Self.eventWidth))  "
                + self.transaction(transaction) + self.verification(value.transaction.failure)
        ]
    }

    /// The main facts of one transaction, and whether it is trusted.
    func transaction(_ value: Verified<Transaction>) -> String {
        self.transaction(value.value) + self.verification(value.failure)
    }

    /// Why a value is not trusted; empty for one that is. It entitles to nothing.
    func verification(_ failure: VerificationFailure) -> String {
        failure == .noFailure ? "" : "  " + self.paint(.red, "UNVERIFIED: \(Self.words(failure))")
    }

    func verification(of status: SubscriptionStatus) -> String {
        self.verification(status.transaction.isVerified ? status.renewalInfo.failure : status.transaction.failure)
    }

    /// The main facts of one transaction.
    func transaction(_ value: Transaction) -> String {
        var text = "transaction \(value.id)  \(printable(value.productID))"
        if value.originalID != value.id { text += "  of \(value.originalID)" }
        if value.quantity != 1 { text += "  times \(value.quantity)" }
        text += "  \(Self.words(value.reason)) \(value.purchaseDate)"
        if let price = value.price { text += "  \(price)" }
        if let offer = value.offer { text += "  \(Self.words(offer.type)) offer, \(Self.words(offer.paymentMode))" }
        if let expiration = value.expirationDate { text += "  until \(expiration)" }
        if let revocation = value.revocation {
            text += "  " + self.paint(.red, "\(Self.words(revocation.type)) \(revocation.date)")
        }
        if value.isUpgraded { text += "  upgraded" }
        if value.ownership == .familyShared { text += "  shared by the family" }
        return text
    }

    /// The result of an operation, in one line.
    func change(_ value: OperationResult) -> String {
        switch value.purchase {
        case .pending(let number)?:
            return "purchase \(number) waits; `perch store approve` or `perch store decline` ends that"
        case .userCancelled?:
            return "the customer cancelled; nothing was bought"
        default:
            guard let transaction = value.transaction else { return "done at revision \(value.position.revision)" }
            return self.transaction(transaction)
                + (value.wasHeld ? "  held already, nothing was charged" : "")
        }
    }

    func clock(_ value: AppClockState) -> String {
        let rate = TimeRate(rawValue: value.timeRate)?.name ?? "unknown(\(value.timeRate))"
        let offset = milliseconds(of: value.offset)
        let motion = value.isFrozen ? self.paint(.yellow, "frozen") : "running"
        // An offset below a second is only the time of the answer.
        let ahead =
            abs(offset) < 1_000
            ? "" : ", \(roughly(milliseconds: offset)) \(offset > 0 ? "ahead of" : "behind") the wall clock"
        return "\(value.now)  \(motion)\(ahead), time rate \(rate)"
    }

    // MARK: Pieces of lines

    /// `2026-11-21T12:00:00Z`. A fraction makes it longer.
    private static let timeWidth = 20
    static let causeWidth = 8
    static let stateWidth = 12
    private static let eventWidth = 10

    private func line(_ info: ValueInfo, _ text: String) -> String {
        self.line(info.position.asOf, Self.words(info.cause), text)
    }

    private func line(_ time: Instant, _ cause: String, _ text: String) -> String {
        "\(time)  \(cause.padded(to: Self.causeWidth))  \(text)"
    }

    /// The state of a line: red if it is not trusted, because it then gives nothing.
    func padded(_ status: SubscriptionStatus) -> String {
        status.isVerified
            ? self.padded(status.state) : self.paint(.red, Self.words(status.state).padded(to: Self.stateWidth))
    }

    func padded(_ state: RenewalState) -> String {
        let colour: Paint.Colour = state == .subscribed ? .green : state.isEntitled ? .yellow : .red
        return self.paint(colour, Self.words(state).padded(to: Self.stateWidth))
    }

    private func origin(of transaction: Transaction) -> String {
        "transaction \(transaction.id)" + (transaction.ownership == .familyShared ? ", shared by the family" : "")
    }

    /// The change of plan that waits for the charge to succeed; empty for none.
    private static func change(in info: RenewalInfo) -> String {
        guard let preference = info.autoRenewPreference, preference != info.currentProductID else { return "" }
        return "; renews as \(printable(preference)) when the charge succeeds"
    }

    /// The next change of a subscription line, and its instant.
    private func course(of status: SubscriptionStatus, _ forecast: Forecast?) -> String {
        let transaction = status.transaction.value
        let info = status.renewalInfo.value
        let own = forecast.flatMap { $0.originalTransactionID == transaction.originalID ? $0 : nil }
        switch status.state {
        case .subscribed:
            var text = transaction.expirationDate.map { "until \($0)" } ?? "without end"
            guard !info.isUnreported else { return text + "; whether it renews is unknown" }
            guard info.willAutoRenew, own?.kind != .expiry else { return text + ", then it expires" }
            if let own, own.kind == .renewal, own.state != .subscribed { return text + Self.failedCharge(own.state) }
            text += ", then it renews"
            if let preference = info.autoRenewPreference, preference != transaction.productID {
                text += " as \(printable(preference))"
            }
            if let price = info.renewalPrice { text += " for \(price)" }
            return text
        case .inGracePeriod:
            let end = info.gracePeriodExpirationDate ?? own?.at
            return "the charge failed" + (end.map { "; still entitled until \($0)" } ?? "") + Self.change(in: info)
        case .inBillingRetryPeriod:
            let since = transaction.expirationDate.map { " since \($0)" } ?? ""
            return "the charge fails\(since)" + (own.map { "; the store tries until \($0.at)" } ?? "")
                + Self.change(in: info)
        case .expired:
            let since = transaction.expirationDate.map { "since \($0)" } ?? "ended"
            return since + (info.expirationReason.map { ": \(Self.words($0))" } ?? "")
        case .revoked:
            guard let revocation = transaction.revocation else { return "" }
            return "since \(revocation.date): \(Self.words(revocation.type))"
        default:
            return transaction.expirationDate.map { "until \($0)" } ?? ""
        }
    }

    private static func failedCharge(_ state: RenewalState) -> String {
        ", then the charge fails" + (state.isEntitled ? "; still entitled for a while" : "")
    }

    private func end(of transaction: Transaction, _ forecast: Forecast?) -> String {
        guard let forecast, forecast.originalTransactionID == transaction.originalID else {
            guard let expiration = transaction.expirationDate, transaction.productType == .autoRenewable else {
                return "for good"
            }
            return "until \(expiration)"
        }
        switch forecast.kind {
        case .renewal where forecast.state != .subscribed:
            return "until \(forecast.at)" + Self.failedCharge(forecast.state)
        case .renewal: return "until \(forecast.at), then it renews"
        case .expiry: return "until \(forecast.at), then it expires"
        case .graceEnd: return "the charge failed; still entitled until \(forecast.at)"
        default: return "until \(forecast.at)"
        }
    }

    private func introduction(_ offer: SubscriptionOffer) -> String { "first \(self.terms(offer))" }

    /// The benefit of an offer, such as `1 week free`.
    func terms(_ offer: SubscriptionOffer) -> String {
        let length = Self.words(offer.period)
        switch offer.paymentMode {
        case .freeTrial: return "\(length) free"
        case .payUpFront: return "\(length) for \(printable(offer.displayPrice))"
        default: return "\(offer.periodCount) times \(printable(offer.displayPrice)) for \(length)"
        }
    }
}

// MARK: Words

extension TextWriter {
    /// `inGracePeriod` as `in grace period`: the name of any value without a better word, unknown ones included.
    static func words(_ value: some OpenEnumeration) -> String {
        guard value.isKnown else { return value.description }
        return String(
            value.description.flatMap { $0.isUppercase ? [" ", Character($0.lowercased())] : [$0] })
    }

    static func words(_ state: RenewalState) -> String {
        switch state {
        case .inGracePeriod: "grace period"
        case .inBillingRetryPeriod: "retrying"
        default: state.description
        }
    }

    static func words(_ type: ProductType) -> String {
        switch type {
        case .nonConsumable: "non-consumable"
        case .autoRenewable: "auto-renewable"
        case .nonRenewable: "non-renewing"
        default: type.description
        }
    }

    static func words(_ type: RevocationType) -> String {
        switch type {
        case .refundFull: "refunded"
        case .refundProrated: "refunded in part"
        case .familyRevoke: "no longer shared"
        default: "revoked"
        }
    }

    static func words(_ reason: ExpirationReason) -> String {
        switch reason {
        case .autoRenewDisabled: "auto-renew was off"
        case .billingError: "the charge failed"
        case .didNotConsentToPriceIncrease: "no consent to a higher price"
        case .productUnavailable: "the product is no longer sold"
        default: "the reason is \(reason)"
        }
    }

    static func words(_ reason: EffectiveReason) -> String {
        switch reason {
        case .onlyEntitled: "the only one that entitles"
        case .highestLevel: "the highest level of service"
        case .ownBeforeShared: "own before shared"
        case .latestExpiration: "it ends last"
        default: reason.description
        }
    }

    static func words(_ reason: TransactionReason) -> String {
        switch reason {
        case .purchase: "bought"
        case .renewal: "renewed"
        default: reason.description
        }
    }

    static func words(_ period: Period) -> String {
        period.value == 1 ? "1 \(period.unit)" : "\(period.value) \(period.unit)s"
    }
}
