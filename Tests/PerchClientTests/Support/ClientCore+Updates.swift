import PerchWire

@testable import PerchClient

extension ClientCore {
    /// Opens a stream of transactions after the request's cursor.
    mutating func followUpdates(_ id: ItemID, _ request: TransactionUpdatesRequest, includesOwn: Bool) {
        let events = EventsRequest(.transactionUpdates, after: request.cursor) { cursor in
            var request = request
            request.cursor = cursor
            return .transactionUpdates(request)
        }
        self.followEvents(id, events, includesOwn: includesOwn)
    }
}
