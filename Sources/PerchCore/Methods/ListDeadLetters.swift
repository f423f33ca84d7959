import PerchModel
import PerchStore
import PerchWire

struct ListDeadLetters: MethodHandler {
    let asked: ListDeadLettersRequest

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        let place = Self.place(after: self.asked.pageToken)
        guard place != nil || self.asked.pageToken.isEmpty else {
            throw CallRefusal(
                .cursorMalformed, "the page token is none of a list of dead letters; begin without one")
        }
        let groups =
            place?.group == DeadLetter.strange ? [DeadLetter.strange] : [DeadLetter.known, DeadLetter.strange]
        return .ask(
            .items(.deadLetter, groups: groups, after: place?.key ?? [], limit: self.asked.pageSize.pageLimit))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .items(let items, let hasMore) = found else { preconditionFailure("items were asked for") }
        var page = DeadLetterPage()
        page.deadLetters = items.compactMap { item in
            DeadLetter(item).map { DeadLetterSummary($0, id: DeadLetter.id(of: item.key)) }
        }
        if hasMore, let last = items.last { page.nextPageToken = last.key.group + last.key.key }
        return Self.step(page)
    }

    /// A page token is the group and the key of the last one before.
    private static func place(after token: [UInt8]) -> (group: [UInt8], key: [UInt8])? {
        guard let group = token.first, group < 2, token.count == 17 else { return nil }
        return ([group], Array(token[1...]))
    }
}

extension DeadLetterSummary {
    fileprivate init(_ letter: DeadLetter, id: String) {
        self.init(
            id: id, received: letter.received, reason: letter.reason, message: letter.message,
            bundleID: letter.bundleID, environment: letter.environment, notificationType: letter.notificationType,
            byteCount: UInt32(clamping: letter.jws.utf8.count))
    }
}
