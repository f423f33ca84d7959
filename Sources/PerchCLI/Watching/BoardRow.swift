import PerchBase
import PerchClient
import PerchModel

/// One row of `perch store watch`: a subscription, an owned product, a pending purchase, an intent or a message.
struct BoardRow: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case subscription
        case owned
        case pending
        case intent
        case message
    }

    /// The identity of a row while its values change; also the order of rows.
    struct Key: Hashable, Sendable, Comparable {
        var account: String
        var kind: Kind
        var group = ""
        /// The number of the first transaction, the pending purchase or the intent.
        var number: UInt64 = 0
        /// The reason of a message.
        var word = ""

        private var rank: Int { Kind.allCases.firstIndex(of: self.kind) ?? 0 }

        static func < (left: Key, right: Key) -> Bool {
            (left.account, left.rank, left.group, left.number, left.word)
                < (right.account, right.rank, right.group, right.number, right.word)
        }
    }

    /// A mark for what needs attention.
    enum Badge: String, Hashable, Sendable {
        case grace = "GRACE"
        case retry = "RETRY"
        case trial = "TRIAL"
        case offer = "OFFER"
        case off = "RENEWAL-OFF"
        case change = "PLAN-CHANGE"
        case price = "PRICE"
        case nextOffer = "NEXT-OFFER"
        case winBack = "WIN-BACK"
        case shared = "SHARED"
        case revoked = "REVOKED"
        case unverified = "UNVERIFIED"
        /// The line that entitles, where a group has several.
        case counts = "COUNTS"

        var colour: Paint.Colour {
            switch self {
            case .grace, .price, .off, .change: .yellow
            case .retry, .revoked, .unverified: .red
            case .trial, .offer, .nextOffer, .winBack, .shared, .counts: .bold
            }
        }
    }

    /// The next automatic change. `at` is nil where only a call can change something.
    struct Next: Hashable, Sendable {
        var at: Instant?
        var kind: ForecastKind
        var text: String
        /// When a message was posted.
        var since: Instant?
    }

    var key: Key
    var productID: String
    /// In words.
    var state: String
    /// Of a subscription.
    var renewalState: RenewalState?
    var badges: [Badge] = []
    var transactionID: TransactionID?
    var next: Next
}

extension BoardRow {
    /// The rows of a group, one for each line.
    static func rows(
        of statuses: SubscriptionStatuses, account: String, group: String, forecast: Forecast?
    ) -> [BoardRow] {
        statuses.statuses.enumerated().map { index, status in
            let transaction = status.transaction.value
            let info = status.renewalInfo.value
            let key = Key(account: account, kind: .subscription, group: group, number: transaction.originalID)
            var row = BoardRow(
                key: key, productID: transaction.productID, state: TextWriter.words(status.state),
                renewalState: status.state, next: Self.next(of: status, forecast))
            row.transactionID = transaction.id
            func mark(_ badge: Badge, _ holds: Bool) { if holds { row.badges.append(badge) } }
            let isFree = transaction.offer?.paymentMode == .freeTrial
            mark(.grace, status.state == .inGracePeriod)
            mark(.retry, status.state == .inBillingRetryPeriod)
            mark(.revoked, status.state == .revoked)
            mark(.trial, status.state.isEntitled && isFree)
            mark(.offer, status.state.isEntitled && transaction.offer != nil && !isFree)
            mark(.off, status.state.isEntitled && !info.willAutoRenew)
            mark(.change, info.autoRenewPreference.map { $0 != transaction.productID } ?? false)
            mark(.price, info.priceIncreaseStatus == .pending)
            mark(.nextOffer, info.offer != nil)
            mark(.winBack, !info.eligibleWinBackOfferIDs.isEmpty)
            mark(.shared, transaction.ownership == .familyShared)
            mark(.unverified, !status.transaction.isVerified || !status.renewalInfo.isVerified)
            mark(.counts, statuses.statuses.count > 1 && index == statuses.effectiveIndex)
            return row
        }
    }

    private static func next(of status: SubscriptionStatus, _ forecast: Forecast?) -> Next {
        let info = status.renewalInfo.value
        let transaction = status.transaction.value
        // The forecast describes the first of several lines to change.
        let own = forecast.flatMap { $0.originalTransactionID == transaction.originalID ? $0 : nil }
        switch status.state {
        case .subscribed:
            let end = transaction.expirationDate ?? info.renewalDate
            guard !info.isUnreported else {
                return Next(at: end, kind: .renewal, text: "ends, and whether it renews is unknown")
            }
            guard info.willAutoRenew else { return Next(at: end, kind: .expiry, text: "expires") }
            if let own, own.kind == .renewal, own.state != .subscribed {
                return Next(
                    at: end, kind: .renewal, text: own.state.isEntitled ? "charge fails, grace begins" : "charge fails")
            }
            // No consent of the customer, or no product to renew as.
            if let own, own.kind == .expiry, info.priceIncreaseStatus != .pending {
                return Next(at: end, kind: .expiry, text: "expires: the plan is not sold any more")
            }
            var text = "renews"
            if let preference = info.autoRenewPreference, preference != transaction.productID {
                text += " as \(printable(preference))"
            }
            if let price = info.renewalPrice { text += " for \(price)" }
            if info.priceIncreaseStatus == .pending { text += ", if the higher price is agreed to" }
            return Next(at: end, kind: .renewal, text: text)
        case .inGracePeriod:
            return Next(
                at: info.gracePeriodExpirationDate ?? own?.at, kind: .graceEnd, text: "grace ends, retry goes on")
        case .inBillingRetryPeriod:
            return Next(
                at: own?.kind == .retryEnd ? own?.at : nil, kind: .retryEnd, text: "the store gives up charging")
        default:
            if let own, own.kind == .offerWindow {
                return Next(at: own.at, kind: .offerWindow, text: "win-back offers change")
            }
            let why = status.state == .expired ? info.expirationReason.map { TextWriter.words($0) } : nil
            return Next(at: nil, kind: .unspecified, text: why.map { "nothing: \($0)" } ?? "nothing")
        }
    }

    /// Owned products and pending purchases of an account.
    static func rows(of details: AccountDetails, account: String) -> [BoardRow] {
        let owned = details.owned.map { transaction in
            let value = transaction.value
            let key = Key(account: account, kind: .owned, number: value.originalID)
            var row = BoardRow(
                key: key, productID: value.productID, state: value.revocation == nil ? "owned" : "revoked",
                next: Next(at: nil, kind: .unspecified, text: "nothing: it has no end"))
            row.transactionID = value.id
            if value.revocation != nil {
                row.badges.append(.revoked)
                row.next.text = "nothing"
            }
            if value.ownership == .familyShared { row.badges.append(.shared) }
            if !transaction.isVerified { row.badges.append(.unverified) }
            return row
        }
        let pending = details.pendingPurchases.map { purchase in
            BoardRow(
                key: Key(account: account, kind: .pending, number: purchase.id), productID: purchase.order.productID,
                state: "waits",
                next: Next(
                    at: nil, kind: .unspecified,
                    text: "nothing: \(TextWriter.words(purchase.reason)); approve or decline \(purchase.id)"))
        }
        return owned + pending
    }

    static func rows(of intents: [PurchaseIntent], account: String) -> [BoardRow] {
        intents.map { intent in
            BoardRow(
                key: Key(account: account, kind: .intent, number: intent.id), productID: intent.productID,
                state: "intent",
                next: Next(at: nil, kind: .unspecified, text: "nothing: the app buys, or end-intent \(intent.id)"))
        }
    }

    static func rows(of messages: [StoreMessage], account: String) -> [BoardRow] {
        messages.map { message in
            let key = Key(
                account: account, kind: .message, number: message.originalTransactionID ?? 0,
                word: "\(message.reason) \(message.offerID)")
            return BoardRow(
                key: key, productID: message.productID, state: "message",
                next: Next(
                    at: nil, kind: .message, text: TextWriter.words(message.reason), since: message.since))
        }
    }
}
