import PerchApple
import PerchBase
import PerchJSON
import PerchModel
import PerchStore

// Transaction history and refunds, in pages.
//
// Both are sorted by the event that changed a transaction last. A revision is the place of the last event of a page, so it stays good:
// asked again later, what was bought or changed since follows it.
extension TwinDesk {
    func history(_ text: String, version: Int, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        let filter = try TransactionFilter(call.request, version: version)
        let page = try PageRequest(call.request, kind: "h\(version)", customer: id, isDescending: filter.isDescending)
        return try self.customer(of: id, call, else: .transactionNotFound) { account in
            let key = AccountKey(app: call.app.number, bytes: account.key)
            // The first version leaves out consumables that are finished.
            return self.rows(of: key, includesFinishedConsumables: version > 1) { rows in
                self.page(of: key, rows.map(\.transaction).filter { filter.includes($0) }, page) { page in
                    .answer { writer in
                        writer.member("revision", page.revision)
                        writer.member("hasMore", page.hasMore)
                        self.heading(call.app, &writer)
                        self.write(page.transactions, &writer)
                    }
                }
            }
        }
    }

    func refunds(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        let page = try PageRequest(call.request, kind: "r", customer: id, isDescending: false)
        return try self.customer(of: id, call, else: .transactionNotFound) { account in
            let key = AccountKey(app: call.app.number, bytes: account.key)
            return self.rows(of: key) { rows in
                let refunded = rows.map(\.transaction).filter { transaction in
                    transaction.revocation.map { $0.type != .familyRevoke } ?? false
                }
                return self.page(of: key, refunded, page) { page in
                    .answer { writer in
                        self.write(page.transactions, &writer)
                        writer.member("revision", page.revision)
                        writer.member("hasMore", page.hasMore)
                    }
                }
            }
        }
    }

    private func write(_ transactions: [Transaction], _ writer: inout JSONWriter) {
        writer.key("signedTransactions")
        writer.beginArray()
        for transaction in transactions { writer.string(self.signed(transaction)) }
        writer.endArray()
    }

    private struct Page {
        var transactions: [Transaction]
        var revision: String
        var hasMore: Bool
    }

    /// The page of some transactions that a caller wants, in the order of the events that changed them last.
    private func page(
        of key: AccountKey, _ transactions: [Transaction], _ asked: PageRequest,
        then: @escaping (Page) throws(TwinError) -> TwinStep
    ) -> TwinStep {
        self.lastEvents(of: key) { places throws(TwinError) in
            let start = EventPlace(revision: 0, ordinal: 0)
            var entries = transactions.map { (place: places[$0.id] ?? start, transaction: $0) }
            entries.sort { ($0.place, $0.transaction.id) < ($1.place, $1.transaction.id) }
            if asked.isDescending { entries.reverse() }
            if let after = asked.after {
                entries.removeAll { entry in
                    let place = (entry.place, entry.transaction.id)
                    return asked.isDescending ? place >= (after.place, after.id) : place <= (after.place, after.id)
                }
            }
            let page = entries.prefix(Limits.twinPageSize)
            let last = page.last.map { PageRequest.Place(place: $0.place, id: $0.transaction.id) } ?? asked.after
            return try then(
                Page(
                    transactions: page.map(\.transaction), revision: asked.token(after: last),
                    hasMore: page.count < entries.count))
        }
    }

    /// The place of the last event of each transaction.
    private func lastEvents(
        of key: AccountKey, after: EventPlace = EventPlace(revision: 0, ordinal: 0),
        _ known: [TransactionID: EventPlace] = [:], count: Int = 0,
        then: @escaping ([TransactionID: EventPlace]) throws(TwinError) -> TwinStep
    ) -> TwinStep {
        .ask(.events(key, after: after, limit: Limits.twinEventsAtOnce)) { answer throws(TwinError) in
            switch answer {
            case .events(let events, let through, let isComplete, _):
                var places = known
                for event in events { places[event.transaction.id] = event.place }
                guard !isComplete else { return try then(places) }
                guard count + events.count < Limits.twinEventsMax else { throw .general }
                return self.lastEvents(of: key, after: through, places, count: count + events.count, then: then)
            case .refused(let refusal): throw TwinError(refusal)
            default: preconditionFailure("events were asked for")
            }
        }
    }
}

/// Which page of a list is wanted. Its token says after what the page begins, and belongs to one customer and one query.
struct PageRequest {
    struct Place {
        var place: EventPlace
        var id: TransactionID
    }

    let isDescending: Bool
    private(set) var after: Place?
    /// Of what was asked.
    private let digest: String

    init(
        _ request: TwinRequest, kind: String, customer: TransactionID, isDescending: Bool
    ) throws(TwinError) {
        self.isDescending = isDescending
        let asked = request.query.filter { $0.name != "revision" }.map { "\($0.name)=\($0.value)" }.sorted()
        let text = ([kind] + asked).joined(separator: "\n")
        self.digest = ContentHash(of: Array(text.utf8)).bytes.prefix(6).map { String($0, radix: 16) }.joined(
            separator: "")
        guard let token = request.value("revision"), !token.isEmpty else { return }
        let parts = token.split(separator: "_", omittingEmptySubsequences: false).map { String($0) }
        guard token.utf8.count <= Limits.twinPageTokenBytesMax, parts.count == 4, parts[0] == self.digest,
            let revision = UInt64(parts[1]), let ordinal = UInt32(parts[2]), let id = TransactionID(parts[3])
        else { throw .invalidRevision }
        self.after = Place(place: EventPlace(revision: revision, ordinal: ordinal), id: id)
    }

    func token(after last: Place?) -> String {
        let last = last ?? Place(place: EventPlace(revision: 0, ordinal: 0), id: 0)
        return "\(self.digest)_\(last.place.revision)_\(last.place.ordinal)_\(last.id)"
    }
}

/// Which transactions a history is to have.
struct TransactionFilter {
    private(set) var isDescending = false
    private var start: Instant?
    private var end: Instant?
    private var products: Set<String> = []
    private var types: Set<ProductType> = []
    private var groups: Set<String> = []
    private var ownership: OwnershipType?
    private var isRevoked: Bool?

    init(_ request: TwinRequest, version: Int) throws(TwinError) {
        switch request.value("sort") {
        case "DESCENDING": self.isDescending = true
        case "ASCENDING", nil: break
        default: throw .invalidSort
        }
        self.start = try Self.instant(request.value("startDate"), else: .invalidStart)
        self.end = try Self.instant(request.value("endDate"), else: .invalidEnd)
        if let start = self.start, let end = self.end, start >= end { throw .startAfterEnd }
        self.products = Set(request.values("productId"))
        guard !self.products.contains("") else { throw .invalidProductID }
        for text in request.values("productType") {
            switch text {
            case "AUTO_RENEWABLE": self.types.insert(.autoRenewable)
            case "NON_RENEWABLE": self.types.insert(.nonRenewable)
            case "CONSUMABLE": self.types.insert(.consumable)
            case "NON_CONSUMABLE": self.types.insert(.nonConsumable)
            default: throw .invalidProductType
            }
        }
        self.groups = Set(request.values("subscriptionGroupIdentifier"))
        guard !self.groups.contains("") else { throw .invalidGroupID }
        switch request.value("inAppOwnershipType") {
        case "PURCHASED": self.ownership = .purchased
        case "FAMILY_SHARED": self.ownership = .familyShared
        case nil: break
        default: throw .invalidOwnership
        }
        switch request.value("revoked")?.lowercased() {
        case "true": self.isRevoked = true
        case "false": self.isRevoked = false
        case nil: break
        default: throw .invalidRevoked
        }
    }

    private static func instant(_ text: String?, else error: TwinError) throws(TwinError) -> Instant? {
        guard let text else { return nil }
        guard let milliseconds = Int64(text), milliseconds >= 0 else { throw error }
        return Instant(milliseconds: milliseconds)
    }

    func includes(_ transaction: Transaction) -> Bool {
        (self.start.map { transaction.purchaseDate >= $0 } ?? true)
            && (self.end.map { transaction.purchaseDate < $0 } ?? true)
            && (self.products.isEmpty || self.products.contains(transaction.productID))
            && (self.types.isEmpty || self.types.contains(transaction.productType))
            && (self.groups.isEmpty || self.groups.contains(transaction.subscriptionGroupID))
            && (self.ownership.map { transaction.ownership == $0 } ?? true)
            && (self.isRevoked.map { (transaction.revocation != nil) == $0 } ?? true)
    }
}
