import PerchApple
import PerchBase
import PerchJSON
import PerchModel
import PerchStore

/// The notifications of an app so far, oldest first. They follow from the changes of the store, which are read when somebody asks.
struct NoticeBook {
    private(set) var notices: [TwinNotice] = []
    /// The changes up to which they are known; nil: none yet.
    private(set) var through: ChangePlace?

    /// Adds a page of changes that was asked for after `place`. Another request may have read on meanwhile.
    mutating func add(_ page: ChangePage, askedAfter place: ChangePlace?, store: [UInt8]) {
        guard place == self.through else { return }
        var writer = NoticeWriter(store: store)
        for entry in page.entries { writer.add(entry) }
        self.notices += writer.notices
        if self.notices.count > Limits.twinNoticesKept {
            self.notices.removeFirst(self.notices.count - Limits.twinNoticesKept)
        }
        self.through = page.through
    }
}

// What the App Store has sent, or tried to.
extension TwinDesk {
    func notificationHistory(_ call: Call) throws(TwinError) -> TwinStep {
        let filter = try NoticeFilter(call.request)
        guard call.request.host != .production else { return self.answer([], token: nil, hasMore: false) }
        guard let customer = filter.customer else {
            return self.upToDate(call.app) { () throws(TwinError) in try self.page(filter, account: nil, call) }
        }
        return try self.customer(of: customer, call, else: .transactionNotFound) { account in
            self.upToDate(call.app) { () throws(TwinError) in
                try self.page(filter, account: account.record.account, call)
            }
        }
    }

    private func page(_ filter: NoticeFilter, account: AccountNumber?, _ call: Call) throws(TwinError) -> TwinStep {
        let attempts = self.deliveries[call.app.number]?.outbox.attempts ?? [:]
        var found = (self.books[call.app.number]?.notices ?? []).filter { notice in
            filter.includes(notice, attempts[notice.uuid] ?? []) && (account.map { notice.account == $0 } ?? true)
        }[...]
        if let after = filter.after {
            // The book has forgotten it.
            guard let place = found.firstIndex(where: { $0.uuid == after }) else { throw .expiredPaginationToken }
            found = found[(place + 1)...]
        }
        let page = found.prefix(Limits.twinPageSize)
        let items = page.map { notice in
            (
                self.signer.signAgain(notice.payload(bundleID: call.app.bundleID, signer: self.signer)),
                attempts[notice.uuid] ?? []
            )
        }
        let hasMore = page.count < found.count
        return self.answer(items, token: hasMore ? page.last.map { filter.token(after: $0) } : nil, hasMore: hasMore)
    }

    private func answer(_ items: [(payload: String, attempts: [SendAttempt])], token: String?, hasMore: Bool)
        -> TwinStep
    {
        .answer { writer in
            if let token { writer.member("paginationToken", token) }
            writer.member("hasMore", hasMore)
            writer.key("notificationHistory")
            writer.beginArray()
            for item in items {
                writer.beginObject()
                writer.member("signedPayload", item.payload)
                self.write(item.attempts, &writer)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    /// Goes on once the app's book has every change of the store.
    func upToDate(_ app: TwinApp, then: @escaping () throws(TwinError) -> TwinStep) -> TwinStep {
        let place = self.books[app.number]?.through
        let asked = ChangesAsked(app: app.number, start: place.map { .after($0) } ?? .oldest)
        return .ask(.changes(asked)) { answer throws(TwinError) in
            switch answer {
            case .changes(let page):
                self.books[app.number, default: NoticeBook()].add(page, askedAfter: place, store: self.store)
                return page.isComplete ? try then() : self.upToDate(app, then: then)
            case .refused(let refusal) where refusal.reason == .cursorTooOld && place != nil:
                // Nobody has asked for long: what happened meanwhile is known as far as the changes reach back.
                self.books[app.number] = nil
                return self.upToDate(app, then: then)
            case .refused(let refusal): throw TwinError(refusal)
            default: preconditionFailure("changes were asked for")
            }
        }
    }
}

/// Which notifications a caller wants.
struct NoticeFilter {
    let customer: TransactionID?
    /// The identifier of the notification after which the page begins.
    private(set) var after: String?
    private let start: Instant
    private let end: Instant
    private let type: String?
    private let subtype: String?
    private let onlyFailures: Bool
    private let digest: String

    private static let types: Set = [
        "SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_PREF",
        "OFFER_REDEEMED", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED", "PRICE_INCREASE", "REFUND",
        "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REVOKE", "RENEWAL_EXTENDED",
        "RENEWAL_EXTENSION", "EXTERNAL_PURCHASE_TOKEN", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION",
        "PRICE_CHANGE", "TEST",
    ]

    init(_ request: TwinRequest) throws(TwinError) {
        let fields = try request.fields()
        guard let start = fields["startDate"]?.integer, start >= 0 else { throw .invalidStart }
        guard let end = fields["endDate"]?.integer, end >= 0 else { throw .invalidEnd }
        guard start < end else { throw .startAfterEnd }
        self.start = Instant(milliseconds: start)
        self.end = Instant(milliseconds: end)
        self.type = fields["notificationType"]?.string
        self.subtype = fields["notificationSubtype"]?.string
        guard self.type.map({ Self.types.contains($0) }) ?? (self.subtype == nil) else {
            throw .invalidNotificationType
        }
        if let text = fields["transactionId"]?.string {
            guard self.type == nil else { throw .severalFilters }
            self.customer = try TwinDesk.number(text, else: .invalidTransactionID)
        } else {
            self.customer = nil
        }
        self.onlyFailures = fields["onlyFailures"]?.boolean ?? false
        let asked = [
            "\(start)", "\(end)", self.type ?? "", self.subtype ?? "", "\(self.customer ?? 0)", "\(self.onlyFailures)",
        ]
        self.digest = ContentHash(of: Array(asked.joined(separator: "\n").utf8)).bytes.prefix(6).map {
            String($0, radix: 16)
        }.joined(separator: "")
        guard let token = request.value("paginationToken"), !token.isEmpty else { return }
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == self.digest, parts[1].utf8.count == 36,
            token.utf8.count <= Limits.twinPageTokenBytesMax
        else {
            throw .invalidPaginationToken
        }
        self.after = String(parts[1])
    }

    func token(after notice: TwinNotice) -> String { "\(self.digest)_\(notice.uuid)" }

    /// A failure was tried, and never delivered.
    func includes(_ notice: TwinNotice, _ attempts: [SendAttempt]) -> Bool {
        let hasFailed = !attempts.isEmpty && !attempts.contains { $0.result == .success }
        return (hasFailed || !self.onlyFailures) && notice.signed >= self.start && notice.signed < self.end
            && (self.type.map { notice.type.type == $0 } ?? true)
            && (self.subtype.map { notice.type.subtype == $0 } ?? true)
    }
}
