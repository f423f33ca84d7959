package import PerchBase

/// The holdings of an account of an App Store app: what reports say. Renewal information is as reported.
package struct ReportedHoldings: Holdings {
    package let record: AccountRecord?
    package let app: AppState
    package let now: Instant

    /// A line, and how it stands; nil before its first period.
    package typealias Held = (line: ReportedOriginal, standing: ReportedStanding?)

    package init(record: AccountRecord?, app: AppState, now: Instant) {
        self.record = record
        self.app = app
        self.now = now
    }

    var leeway: Int64 { self.app.renewalLeewayMilliseconds ?? 0 }
    var originals: [ReportedOriginal] { self.record?.reported?.originals ?? [] }

    func standing(of line: ReportedOriginal) -> ReportedStanding? {
        line.standing(at: self.now, leewayMilliseconds: self.leeway)
    }

    // MARK: Subscription lines

    package func lines(inGroup groupID: String) -> [Held] {
        let lines = self.originals.filter { $0.isSubscription && $0.groupID(in: self.app.catalogue) == groupID }
            .map { (line: $0, standing: self.standing(of: $0)) }
        func isOwn(_ held: Held) -> Bool { held.standing?.transaction.ownership != .familyShared }
        return lines.filter(isOwn) + lines.filter { !isOwn($0) }
    }

    package func status(of held: Held, winBacks: [String]) -> SubscriptionStatus? {
        held.standing.map {
            SubscriptionStatus(
                state: $0.state, transaction: verified($0.transaction, app: self.app),
                renewalInfo: verified(held.line.renewalInfo(of: $0), app: self.app))
        }
    }

    package func level(of held: Held) -> Int32 {
        held.standing.flatMap { self.app.catalogue.product($0.transaction.productID)?.subscription?.level } ?? .max
    }

    package func note(_ held: Held, in outlook: inout Outlook) { self.note(held.line, in: &outlook) }

    private func note(_ original: ReportedOriginal, in outlook: inout Outlook) {
        outlook.note(
            crossing: original.nextChange(after: self.now, leewayMilliseconds: self.leeway),
            forecast: original.isSubscription
                ? original.forecast(after: self.now, leewayMilliseconds: self.leeway) : nil)
    }

    /// The reports name win-back offers themselves.
    package func winBacks(inGroup groupID: String) -> (offerIDs: [String], nextChange: Forecast?) { ([], nil) }

    package func awaitedUntil(original id: TransactionID) -> Instant? {
        self.record?.reported?.original(id)?.entitlementEnd(after: self.now, leewayMilliseconds: self.leeway)
    }

    package func serviceEnd(original id: TransactionID) -> Instant? {
        self.record?.reported?.original(id)?.serviceEnd(at: self.now)
    }

    package var lineCount: Int { self.originals.count { $0.isSubscription } }

    package var ownLines: [(state: RenewalState, isOverdue: Bool)] {
        self.originals.filter(\.isSubscription).compactMap { self.standing(of: $0) }
            .filter { $0.transaction.ownership != .familyShared }.map { ($0.state, $0.isOverdue) }
    }

    // MARK: Owned transactions

    /// Own before shared, then the one that ends later, then the one that was bought later.
    package func entitlement(
        toProduct productID: String, noting outlook: inout Outlook
    ) -> Verified<Transaction>? {
        var best: Transaction?
        for original in self.originals {
            guard original.registers.values.contains(where: { $0.reported.productID == productID }) else { continue }
            self.note(original, in: &outlook)
            for transaction in original.entitling(at: self.now, leewayMilliseconds: self.leeway)
            where transaction.productID == productID {
                if best.map({ Self.precedes(transaction, $0) }) ?? true { best = transaction }
            }
        }
        return best.map { verified($0, app: self.app) }
    }

    /// Of non-renewing subscriptions of one product only the latest counts, as in StoreKit.
    package var entitling: [Transaction] {
        let all = self.originals.flatMap { $0.entitling(at: self.now, leewayMilliseconds: self.leeway) }
        return all.filter { transaction in
            transaction.productType != .nonRenewable
                || !all.contains { $0.productID == transaction.productID && Self.precedes($0, transaction) }
        }
    }

    package static func precedes(_ left: Transaction, _ right: Transaction) -> Bool {
        if let precedes = precedesByEnd(left, right) { return precedes }
        return left.purchaseDate == right.purchaseDate ? left.id > right.id : left.purchaseDate > right.purchaseDate
    }

    package var owned: [Verified<Transaction>] { self.entitlements.filter { $0.value.productType != .autoRenewable } }

    package var unclaimedCount: Int { self.record?.reported?.isUnclaimed == true ? self.originals.count : 0 }

    // MARK: Offers and the customer

    package func offers(inGroup groupID: String) -> any GroupOffers {
        ReportedOfferRules(of: self.record, inGroup: groupID, app: self.app, at: self.now)
    }

    /// The App Store alone knows the rest.
    package var appTransaction: AppTransaction {
        AppTransaction(
            id: self.record?.reported?.appTransactionID ?? "", bundleID: self.app.bundleID,
            environment: self.app.environment)
    }

    /// The App Store says it on the device only.
    package var payments: Eligibility { .unknown }
}

extension Catalogue {
    /// The group of a reported subscription. Its product decides: a signed value carries Apple's number of the group, and a catalogue
    /// may have another identifier for it.
    package func groupID(of reported: Transaction) -> String {
        self.product(reported.productID)?.subscription?.groupID ?? reported.subscriptionGroupID
    }
}

extension ReportedOriginal {
    /// The group of a line: that of its latest period.
    package func groupID(in catalogue: Catalogue) -> String {
        self.periods.last.map { catalogue.groupID(of: $0.reported) } ?? ""
    }

    /// What it entitles to at an instant: nothing for a consumable and for a type that is not known.
    package func entitling(at now: Instant, leewayMilliseconds leeway: Int64) -> [Transaction] {
        if self.isSubscription {
            guard let standing = self.standing(at: now, leewayMilliseconds: leeway), standing.state.isEntitled else {
                return []
            }
            return [standing.transaction]
        }
        return self.periods.map(\.transaction).filter { transaction in
            guard transaction.productType == .nonConsumable || transaction.productType == .nonRenewable,
                transaction.purchaseDate <= now
            else { return false }
            return transaction.revocation.map { $0.date > now } ?? true
        }
    }

    /// Renewal information as reported; where none arrived yet, what the transaction alone says.
    func renewalInfo(of standing: ReportedStanding) -> RenewalInfo {
        if let info = self.renewal?.info { return info }
        let transaction = standing.transaction
        var info = RenewalInfo(
            originalTransactionID: self.id, currentProductID: transaction.productID,
            willAutoRenew: standing.state.isEntitled,
            renewalDate: transaction.expirationDate ?? transaction.purchaseDate,
            recentSubscriptionStartDate: transaction.originalPurchaseDate, environment: transaction.environment,
            signedDate: transaction.signedDate)
        info.isUnreported = true
        return info
    }

    /// The next instant after `now` at which a view of it changes by itself.
    package func nextChange(after now: Instant, leewayMilliseconds leeway: Int64) -> Instant? {
        self.isSubscription
            ? self.nextCrossing(after: now, leewayMilliseconds: leeway) : self.nextPurchaseCrossing(after: now)
    }

    /// Whether a view of it changes at an instant by itself.
    func changes(at instant: Instant, leewayMilliseconds leeway: Int64) -> Bool {
        let before = instant.advanced(byMilliseconds: -1)
        return self.nextChange(after: before, leewayMilliseconds: leeway) == instant
    }

    /// The next instant after `now` at which a purchase that does not expire changes: it begins, or is revoked.
    func nextPurchaseCrossing(after now: Instant) -> Instant? {
        self.periods.flatMap { [$0.reported.purchaseDate, $0.reported.revocation?.date].compactMap { $0 } }
            .filter { $0 > now }.min()
    }
}
