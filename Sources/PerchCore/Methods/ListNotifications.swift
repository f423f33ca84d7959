import PerchModel
import PerchStore
import PerchWire

struct ListNotifications: MethodHandler {
    let asked: ListNotificationsRequest

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    /// A page token is the key of the last one before.
    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        let token = self.asked.pageToken
        guard token.isEmpty || token.count == 16 else {
            throw CallRefusal(
                .cursorMalformed, "the page token is none of a list of notifications; begin without one")
        }
        return .ask(
            .items(
                .notification, groups: [KeptNotification.group], after: token, limit: self.asked.pageSize.pageLimit))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .items(let items, let hasMore) = found else { preconditionFailure("items were asked for") }
        var page = NotificationPage()
        page.notifications = items.compactMap { item in
            KeptNotification(item, withJWS: false).map { ReceivedNotification($0, id: DeadLetter.id(of: item.key)) }
        }
        if hasMore, let last = items.last { page.nextPageToken = last.key.key }
        return Self.step(page)
    }
}

extension ReceivedNotification {
    fileprivate init(_ kept: KeptNotification, id: String) {
        self.init(
            id: id, received: kept.received, bundleID: kept.bundleID, notificationType: kept.type,
            subtype: kept.subtype, newsCount: kept.outcome.news, staleCount: kept.outcome.stale,
            duplicateCount: kept.outcome.duplicates, revision: kept.revision)
    }
}
