package import PerchBase

/// A view's value, and when it changes if nothing happens.
package struct Viewed<Value: Sendable>: Sendable {
    package var value: Value
    package var outlook = Outlook()

    package var nextCrossing: Instant? { self.outlook.nextCrossing }
    package var forecast: Forecast? { self.outlook.forecast }
}

/// When a view changes automatically. Collected while its value is computed.
package struct Outlook: Sendable {
    /// The next instant at which the value has to be recomputed; nil if only facts can change it.
    package private(set) var nextCrossing: Instant?
    /// The forecast shown to readers.
    package private(set) var forecast: Forecast?

    package init() {}
}

/// The statuses of an account in a group: one for each line, own lines first.
package func subscriptionStatuses(
    of record: AccountRecord?, inGroup groupID: String, app: AppState, at now: Instant
) -> Viewed<SubscriptionStatuses> {
    holdings(of: record, in: app, at: now).statuses(inGroup: groupID)
}

/// The statuses of an account in all groups, one group after another, by group ID.
package func statusesOfAllGroups(
    of record: AccountRecord?, app: AppState, at now: Instant
) -> Viewed<SubscriptionStatuses> {
    var all = Viewed(value: SubscriptionStatuses(statuses: []))
    let groups = record?.groupIDs(in: app.catalogue) ?? []
    let holdings = holdings(of: record, in: app, at: now)
    for group in groups.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        let viewed = holdings.statuses(inGroup: group)
        if let index = viewed.value.effectiveIndex {
            all.value.effectiveInGroups.append(
                GroupEffective(
                    groupID: group, index: UInt32(all.value.statuses.count + index),
                    reason: viewed.value.effectiveReason))
        }
        all.value.statuses += viewed.value.statuses
        all.outlook.note(crossing: viewed.nextCrossing, forecast: viewed.forecast)
    }
    return all
}

extension Outlook {
    /// Notes when a value must be computed again, and what readers are told to expect.
    mutating func note(crossing: Instant?, forecast: Forecast?) {
        if let crossing { self.nextCrossing = min(self.nextCrossing ?? .distantFuture, crossing) }
        guard let forecast, self.forecast.map({ forecast.at < $0.at }) ?? true else { return }
        self.forecast = forecast
    }

    /// Adds a change that does not concern a line's state.
    mutating func note(_ forecast: Forecast) { self.note(crossing: forecast.at, forecast: forecast) }
}

/// The status that counts: the highest entitling level of service, own before shared, then the later end. An unverified one
/// gives nothing, so it never counts.
func effectiveStatus(
    among statuses: [SubscriptionStatus], levels: [Int32]
) -> (index: Int?, reason: EffectiveReason) {
    func isOwn(_ status: SubscriptionStatus) -> Bool { status.transaction.value.ownership != .familyShared }
    func end(_ status: SubscriptionStatus) -> Instant { status.transaction.value.expirationDate ?? .distantFuture }

    func precedes(_ first: Int, _ second: Int) -> Bool {
        if levels[first] != levels[second] { return levels[first] < levels[second] }
        let (left, right) = (statuses[first], statuses[second])
        if isOwn(left) != isOwn(right) { return isOwn(left) }
        return end(left) > end(right)
    }
    let entitled = statuses.indices.filter { statuses[$0].entitles }
    guard let best = entitled.min(by: precedes) else { return (nil, .unspecified) }
    // The reason is the criterion by which the closest rival lost.
    let rivals = entitled.filter { $0 != best && levels[$0] == levels[best] }
    if entitled.count == 1 { return (best, .onlyEntitled) }
    if rivals.isEmpty { return (best, .highestLevel) }
    if rivals.contains(where: { isOwn(statuses[$0]) == isOwn(statuses[best]) }) { return (best, .latestExpiration) }
    return (best, .ownBeforeShared)
}
