package import PerchBase

/// Something that happened to an account and was written down. Facts are only appended; a record is their fold.
package struct Fact: Hashable, Sendable {
    /// When it took effect, on the app's clock.
    package var effective: Instant
    package var body: Body

    package init(_ body: Body, effective: Instant) {
        self.body = body
        self.effective = effective
    }

    package enum Body: Hashable, Sendable {
        /// The account was opened; the number StoreKit calls the app transaction.
        case opened(appTransactionID: String)
        /// A product was bought. `terms` for auto-renewable subscriptions only.
        case purchased(Transaction, terms: LineTerms?)
        /// A renewal attempt succeeded.
        case renewed(Transaction, terms: LineTerms)
        /// A renewal attempt failed.
        case renewalFailed(original: TransactionID, retry: BillingRetry)
        /// A renewal was not attempted: the line ends at its boundary.
        case lapsed(original: TransactionID, reason: ExpirationReason)
        /// An upgrade left this transaction behind.
        case upgradedFrom(Transaction)
        /// The customer switched renewal on or off; the product of the next period. Off in a grace or retry period
        /// ends the line at once.
        case autoRenewSet(original: TransactionID, isOn: Bool, preference: String)
        /// A transaction was refunded or revoked. `fallback`: the transaction that entitles instead, if there is one.
        case revoked(Transaction, fallback: Transaction?)
        /// A subscription's period was cut short, for good.
        case expiredEarly(Transaction)
        /// A subscription's period was cut short because the next one begins: a renewal that was forced.
        case periodCut(Transaction)
        /// A transaction was delivered.
        case finished(TransactionID)
    }

    /// What led to a value that this fact changes; unspecified where it changes none.
    package var cause: Cause {
        switch self.body {
        case .opened, .purchased, .upgradedFrom: .purchase
        case .renewed, .renewalFailed, .periodCut: .renewal
        case .autoRenewSet: .setting
        case .revoked: .refund
        case .lapsed, .expiredEarly: .expiry
        case .finished: .unspecified
        }
    }

    /// What subscribers of the account's transactions are told, if anything.
    package var event: (transaction: Transaction, kind: TransactionEventKind)? {
        switch self.body {
        case .purchased(let transaction, _): (transaction, .purchased)
        case .renewed(let transaction, _): (transaction, .renewed)
        case .upgradedFrom(let transaction), .expiredEarly(let transaction), .periodCut(let transaction):
            (transaction, .changed)
        case .revoked(let transaction, _): (transaction, .revoked)
        case .opened, .renewalFailed, .lapsed, .autoRenewSet, .finished: nil
        }
    }

    /// What this fact writes to the account's transaction rows, if anything.
    package var rowWrite: TransactionWrite? {
        switch self.body {
        case .purchased(let transaction, _), .renewed(let transaction, _): .insert(transaction)
        case .upgradedFrom(let transaction), .expiredEarly(let transaction), .periodCut(let transaction),
            .revoked(let transaction, _):
            .update(transaction)
        case .finished(let id): .finish(id)
        case .opened, .renewalFailed, .lapsed, .autoRenewSet: nil
        }
    }
}

/// What a purchase or renewal settles about its line, beyond the transaction.
package struct LineTerms: Hashable, Sendable {
    package var preference: String
    package var anchorDay: Int64
    package var offerInForce: SubscriptionOffer?
    package var offerPeriodsLeft: Int32
    package var recentStart: Instant

    package init(
        preference: String, anchorDay: Int64, offerInForce: SubscriptionOffer?, offerPeriodsLeft: Int32,
        recentStart: Instant
    ) {
        self.preference = preference
        self.anchorDay = anchorDay
        self.offerInForce = offerInForce
        self.offerPeriodsLeft = offerPeriodsLeft
        self.recentStart = recentStart
    }
}

/// A change of one transaction row.
package enum TransactionWrite: Hashable, Sendable {
    /// A new row, not finished.
    case insert(Transaction)
    /// The same row with other fields; whether it is finished stays.
    case update(Transaction)
    case finish(TransactionID)
}

extension AccountRecord {
    /// Folds one fact into the record: the only way a record changes.
    package mutating func apply(_ fact: Fact) {
        switch fact.body {
        case .opened(let appTransactionID):
            self.appTransactionID = appTransactionID

        case .purchased(let transaction, let terms):
            if transaction.offer?.type == .introductory, transaction.ownership == .purchased,
                !self.introductoryGroups.contains(transaction.subscriptionGroupID)
            {
                self.introductoryGroups.append(transaction.subscriptionGroupID)
            }
            if let terms {
                self.begin(transaction, terms)
            } else if transaction.productType != .consumable {
                self.own(transaction)
            }

        case .renewed(let transaction, let terms):
            // A renewal that was forced leaves the customer's own switch alone.
            let held = self.lineIndex(original: transaction.originalID).map { self.lines[$0] }
            self.begin(transaction, terms, willAutoRenew: held?.willAutoRenew ?? true)

        case .renewalFailed(let original, let retry):
            self.changeLine(original) { $0.retry = retry }

        case .lapsed(let original, let reason):
            self.changeLine(original) { line in
                line.lapse = reason
                line.willAutoRenew = false
            }

        case .upgradedFrom, .periodCut:
            // The fact that follows in the same change brings the line's next transaction.
            break

        case .autoRenewSet(let original, let isOn, let preference):
            self.changeLine(original) { line in
                line.willAutoRenew = isOn
                line.preference = preference
                if !isOn { line.retry = nil }
            }

        case .revoked(let transaction, let fallback):
            if let index = self.lines.firstIndex(where: { $0.latest.id == transaction.id }) {
                self.lines[index].latest = transaction
            }
            if let index = self.owned.firstIndex(where: { $0.id == transaction.id }) {
                if let fallback {
                    self.owned[index] = fallback
                } else {
                    self.owned.remove(at: index)
                }
            }

        case .expiredEarly(let transaction):
            self.changeLine(transaction.originalID) { line in
                line.latest = transaction
                line.willAutoRenew = false
                line.retry = nil
            }

        case .finished:
            break
        }
    }

    /// A period begins: of a new line, or the next one of a line that is there.
    private mutating func begin(_ transaction: Transaction, _ terms: LineTerms, willAutoRenew: Bool = true) {
        var line = Line(latest: transaction, preference: terms.preference, recentStart: terms.recentStart)
        line.willAutoRenew = willAutoRenew
        line.anchorDay = terms.anchorDay
        line.offerInForce = terms.offerInForce
        line.offerPeriodsLeft = terms.offerPeriodsLeft
        if let index = self.lineIndex(original: transaction.originalID) {
            self.lines[index] = line
        } else {
            self.lines.append(line)
        }
    }

    private mutating func own(_ transaction: Transaction) {
        let index = self.owned.firstIndex {
            $0.productID == transaction.productID && $0.ownership == transaction.ownership
        }
        if let index {
            self.owned[index] = transaction
        } else {
            self.owned.append(transaction)
        }
    }

    /// A fact names a line that its own decision has seen: its absence is our bug.
    private mutating func changeLine(_ original: TransactionID, _ change: (inout Line) -> Void) {
        guard let index = self.lineIndex(original: original) else {
            preconditionFailure("a fact names line \(original), which account \(self.account) does not have")
        }
        change(&self.lines[index])
    }
}
