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
    holdings(of: record, in: app, at: now).entitlement(toProduct: productID, noting: &outlook)
}

/// All entitling transactions of an account, by product, own before shared.
package func currentEntitlements(
    of record: AccountRecord?, app: AppState, at now: Instant
) -> [Verified<Transaction>] { holdings(of: record, in: app, at: now).entitlements }
