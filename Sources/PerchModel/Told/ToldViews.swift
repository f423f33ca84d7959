package import PerchBase

/// The statuses of a reported account in a group: one for each line, own lines first. Renewal information is as told.
package func toldStatuses(
    of record: ToldRecord?, inGroup groupID: String, catalogue: Catalogue, leewayMilliseconds leeway: Int64,
    at now: Instant
) -> Viewed<SubscriptionStatuses> {
    var viewed = Viewed(value: SubscriptionStatuses(statuses: []))
    var levels: [Int32] = []
    var lines: [(standing: ToldStanding, line: ToldOriginal)] = []
    for line in record?.originals ?? [] where line.isSubscription {
        let standing = line.standing(at: now, leewayMilliseconds: leeway)
        guard line.groupID(in: catalogue) == groupID else { continue }
        viewed.outlook.note(line, after: now, leewayMilliseconds: leeway)
        if let standing { lines.append((standing, line)) }
    }
    func isOwn(_ standing: ToldStanding) -> Bool { standing.transaction.ownership != .familyShared }
    for (standing, line) in lines.filter({ isOwn($0.standing) }) + lines.filter({ !isOwn($0.standing) }) {
        viewed.value.statuses.append(
            SubscriptionStatus(
                state: standing.state, transaction: Verified(standing.transaction),
                renewalInfo: Verified(line.renewalInfo(of: standing))))
        levels.append(catalogue.product(standing.transaction.productID)?.subscription?.level ?? .max)
    }
    (viewed.value.effectiveIndex, viewed.value.effectiveReason) = effectiveStatus(
        among: viewed.value.statuses, levels: levels)
    return viewed
}

/// The transaction that entitles a reported account to a product, or nil. Own before shared, then the one that ends later, then
/// the one that was bought later.
package func toldEntitlement(
    of record: ToldRecord?, toProduct productID: String, leewayMilliseconds leeway: Int64, at now: Instant
) -> Viewed<Verified<Transaction>?> {
    var viewed = Viewed<Verified<Transaction>?>(value: nil)
    var best: Transaction?
    for original in record?.originals ?? [] {
        guard original.registers.values.contains(where: { $0.told.productID == productID }) else { continue }
        viewed.outlook.note(original, after: now, leewayMilliseconds: leeway)
        for transaction in original.entitling(at: now, leewayMilliseconds: leeway)
        where transaction.productID == productID {
            if best.map({ precedes(transaction, $0) }) ?? true { best = transaction }
        }
    }
    viewed.value = best.map { Verified($0) }
    return viewed
}

/// Everything that entitles a reported account, by product, own before shared. Of non-renewing subscriptions of one product only the latest
/// counts, as in StoreKit.
package func toldEntitlements(
    of record: ToldRecord?, leewayMilliseconds leeway: Int64, at now: Instant
) -> [Verified<Transaction>] {
    let entitling = (record?.originals ?? []).flatMap { $0.entitling(at: now, leewayMilliseconds: leeway) }
    func isLatest(_ transaction: Transaction) -> Bool {
        transaction.productType != .nonRenewable
            || !entitling.contains { $0.productID == transaction.productID && precedes($0, transaction) }
    }
    return entitling.filter(isLatest)
        .sorted { $0.productID == $1.productID ? precedes($0, $1) : $0.productID < $1.productID }
        .map { Verified($0) }
}

private func precedes(_ left: Transaction, _ right: Transaction) -> Bool {
    let leftIsOwn = left.ownership != .familyShared
    let rightIsOwn = right.ownership != .familyShared
    if leftIsOwn != rightIsOwn { return leftIsOwn }
    let leftEnd = left.expirationDate ?? .distantFuture
    let rightEnd = right.expirationDate ?? .distantFuture
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    return left.purchaseDate == right.purchaseDate ? left.id > right.id : left.purchaseDate > right.purchaseDate
}

extension Catalogue {
    /// The group of a reported subscription. Its product decides: a signed value carries Apple's number of the group, and a catalogue
    /// may have another identifier for it.
    package func groupID(of told: Transaction) -> String {
        self.product(told.productID)?.subscription?.groupID ?? told.subscriptionGroupID
    }
}

extension ToldOriginal {
    /// The group of a line: that of its latest period.
    package func groupID(in catalogue: Catalogue) -> String {
        self.periods.last.map { catalogue.groupID(of: $0.told) } ?? ""
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

    /// Renewal information as told; where none arrived yet, what the transaction alone says.
    func renewalInfo(of standing: ToldStanding) -> RenewalInfo {
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
    fileprivate func nextPurchaseCrossing(after now: Instant) -> Instant? {
        self.periods.flatMap { [$0.told.purchaseDate, $0.told.revocation?.date].compactMap { $0 } }
            .filter { $0 > now }.min()
    }
}

extension Outlook {
    fileprivate mutating func note(_ original: ToldOriginal, after now: Instant, leewayMilliseconds leeway: Int64) {
        guard original.isSubscription else {
            self.note(crossing: original.nextPurchaseCrossing(after: now), forecast: nil)
            return
        }
        self.note(
            crossing: original.nextCrossing(after: now, leewayMilliseconds: leeway),
            forecast: original.forecast(after: now, leewayMilliseconds: leeway))
    }
}
