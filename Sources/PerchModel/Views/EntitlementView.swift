package import PerchBase

/// The transaction that entitles an account to a product, or nil. A consumable never entitles.
///
/// | Type | Entitles |
/// |---|---|
/// | non-consumable | the latest transaction that is not revoked |
/// | auto-renewable | the latest transaction of that product while its line is subscribed or in its grace period |
/// | non-renewing | the latest transaction that is not refunded, for ever |
///
/// Prefers own over shared, then the later end.
package func currentEntitlement(
    of record: AccountRecord?, toProduct productID: String, app: AppState, at now: Instant
) -> Viewed<Verified<Transaction>?> {
    var outlook = Outlook()
    let shown = entitlement(of: record, toProduct: productID, app: app, at: now, noting: &outlook)
    return Viewed(value: shown, outlook: outlook)
}

/// The transaction that entitles an account to a product. Adds to `outlook` instead of returning it, because taking a
/// value out of a result copies it.
package func entitlement(
    of record: AccountRecord?, toProduct productID: String, app: AppState, at now: Instant,
    noting outlook: inout Outlook
) -> Verified<Transaction>? {
    guard let record else { return nil }
    let leeway = app.renewalLeewayMilliseconds
    if let told = record.told {
        let viewed = toldEntitlement(of: told, toProduct: productID, leewayMilliseconds: leeway ?? 0, at: now)
        outlook = viewed.outlook
        return viewed.value
    }
    var best: Transaction?
    /// The line of `best`, by its place.
    var bestLine: Int?
    func consider(_ transaction: Transaction, line: Int?) {
        if best.map({ precedes(transaction, $0) }) ?? true { (best, bestLine) = (transaction, line) }
    }
    for transaction in record.owned where transaction.productID == productID { consider(transaction, line: nil) }
    for index in record.lines.indices where record.lines[index].latest.productID == productID {
        outlook.noteCrossing(of: record.lines[index], after: now, leewayMilliseconds: leeway)
        if record.lines[index].state(at: now, leewayMilliseconds: leeway).isEntitled {
            consider(record.lines[index].latest, line: index)
        }
    }
    // Only the line that entitles: the end of another's billing retry changes nothing here.
    if let bestLine {
        outlook.noteForecast(of: record.lines[bestLine], of: record, app, after: now, leewayMilliseconds: leeway)
    }
    return best.map { verified($0, app: app) }
}

/// All entitling transactions of an account, by product, own before shared.
package func currentEntitlements(
    of record: AccountRecord?, app: AppState, at now: Instant
) -> [Verified<Transaction>] {
    guard let record else { return [] }
    let leeway = app.renewalLeewayMilliseconds
    if let told = record.told { return toldEntitlements(of: told, leewayMilliseconds: leeway ?? 0, at: now) }
    let subscribed = record.lines.filter { $0.state(at: now, leewayMilliseconds: leeway).isEntitled }.map(\.latest)
    return (record.owned + subscribed)
        .sorted { $0.productID == $1.productID ? precedes($0, $1) : $0.productID < $1.productID }
        .map { verified($0, app: app) }
}

private func precedes(_ left: Transaction, _ right: Transaction) -> Bool {
    let leftIsOwn = left.ownership != .familyShared
    let rightIsOwn = right.ownership != .familyShared
    if leftIsOwn != rightIsOwn { return leftIsOwn }
    let leftEnd = left.expirationDate ?? .distantFuture
    let rightEnd = right.expirationDate ?? .distantFuture
    return leftEnd == rightEnd ? left.id > right.id : leftEnd > rightEnd
}
