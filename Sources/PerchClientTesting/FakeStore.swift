import PerchBase
import PerchClient
import PerchLoop
import PerchModel
import PerchWire
import Synchronization

import struct PerchClient.ValueInfo

/// What a fake has, and who looks. Sendable without a claim: all of it is behind `inside`. No lock is held while a stream is shown
/// something.
final class FakeStore: ClientDouble {
    typealias Show = @Sendable (EntitlementTaskState<WatchValue>) -> Void
    /// What a stream is to be shown.
    typealias News = (Show, EntitlementTaskState<WatchValue>)
    typealias Deliver = @Sendable ([UpdateItem], PerchError?) -> Void
    typealias DeliverPart = @Sendable (Result<CopyPart, PerchError>) -> Void

    struct Contents {
        var named: [String: [NamedEntitlement]] = [:]
        var transactions: [String: [String: Verified<Transaction>]] = [:]
        var statuses: [String: [String: SubscriptionStatuses]] = [:]
        var products: [Product] = []
        var failure: PerchError?
        var revision: UInt64 = 1

        mutating func give(_ entitlement: NamedEntitlement, to account: String) {
            var all = self.named[account] ?? []
            all.removeAll { $0.name == entitlement.name }
            all.append(entitlement)
            self.named[account] = all.sorted { $0.name < $1.name }
        }

        var position: Position { Position(revision: self.revision, asOf: Instant(milliseconds: 0), epoch: 1) }
    }

    private struct Stream {
        let request: Request
        let show: Show
        var shown: EntitlementTaskState<WatchValue>?
    }

    private struct Inside {
        var contents = Contents()
        var asked: [String] = []
        var streams: [ItemID: Stream] = [:]
        var followers: [ItemID: (request: Request, deliver: Deliver)] = [:]
        var whenClosed: (@Sendable () -> Void)?
        var copies: [ItemID: (request: AppEntitlementsRequest, deliver: DeliverPart)] = [:]
        var isClosed = false

        mutating func note(_ request: Request) {
            let path = request.method.path
            self.asked.append(path.split(separator: ".").last.map { String($0) } ?? path)
        }

        /// What each stream is shown now, in the order in which they were opened.
        mutating func news() -> [News] {
            var news: [News] = []
            for (id, stream) in self.streams.sorted(by: { $0.key < $1.key }) {
                let state = self.contents.state(of: stream.request, last: stream.shown?.value)
                if case .success(let value, _) = state, case .success(value, _)? = stream.shown { continue }
                guard state != stream.shown else { continue }
                self.streams[id]?.shown = state
                if case .failure(let failure, _) = state, failure.isFinal { self.streams[id] = nil }
                news.append((stream.show, state))
            }
            return news
        }

        /// What each copy is sent. While calls fail none is, and afterwards each is begun anew.
        mutating func parts(since before: Contents) -> [(DeliverPart, Result<CopyPart, PerchError>)] {
            if let failure = self.contents.failure {
                guard !failure.isTransient else { return [] }
                defer { self.copies.removeAll() }
                return self.copies.values.map { ($0.deliver, .failure(failure)) }
            }
            return self.copies.values.flatMap { request, deliver in
                let parts =
                    before.failure == nil
                    ? [self.contents.change(since: before.named, for: request)] : self.contents.copy(for: request)
                return parts.map { (deliver, Result<CopyPart, PerchError>.success($0)) }
            }
        }
    }

    private let inside = Mutex(Inside())

    var asked: [String] { self.inside.withLock { $0.asked } }

    func change(_ body: (inout Contents) -> Void) {
        let (news, parts) = self.inside.withLock { inside in
            let before = inside.contents
            inside.contents.revision += 1
            body(&inside.contents)
            return (inside.news(), inside.parts(since: before))
        }
        for (show, state) in news { show(state) }
        for (deliver, part) in parts { deliver(part) }
    }

    func deliver(_ item: UpdateItem, where isWanted: (Request) -> Bool) {
        let followers = self.inside.withLock { inside -> [(request: Request, deliver: Deliver)] in
            inside.followers.sorted { $0.key < $1.key }.map(\.value).filter { isWanted($0.request) }
        }
        for follower in followers { follower.deliver([item], nil) }
    }

    // MARK: As a server

    func answer(_ request: Request) -> Result<Response, PerchError> {
        let refusal = self.inside.withLock { inside -> PerchError? in
            inside.note(request)
            return inside.isClosed ? .closedDouble : inside.contents.failure
        }
        if let refusal { return .failure(refusal) }
        var answer: Result<Response, PerchError>?
        self.change { answer = $0.answer(request) }
        return answer ?? .failure(.closedDouble)
    }

    func open(_ id: ItemID, _ request: Request, show: @escaping Show) {
        let news = self.inside.withLock { inside -> [News] in
            inside.note(request)
            if inside.isClosed { return [(show, Self.closed)] }
            inside.streams[id] = Stream(request: request, show: show)
            return inside.news()
        }
        for (show, state) in news { show(state) }
    }

    func follow(_ id: ItemID, _ request: Request, deliver: @escaping Deliver) {
        let isClosed = self.inside.withLock { inside -> Bool in
            inside.note(request)
            if !inside.isClosed { inside.followers[id] = (request, deliver) }
            return inside.isClosed
        }
        if isClosed { deliver([], .closedDouble) }
    }

    func copy(_ id: ItemID, _ request: AppEntitlementsRequest, deliver: @escaping DeliverPart) {
        let parts = self.inside.withLock { inside -> [Result<CopyPart, PerchError>] in
            inside.note(.appEntitlements(request))
            if inside.isClosed { return [.failure(.closedDouble)] }
            if let failure = inside.contents.failure, !failure.isTransient { return [.failure(failure)] }
            inside.copies[id] = (request, deliver)
            return inside.contents.failure == nil ? inside.contents.copy(for: request).map { .success($0) } : []
        }
        for part in parts { deliver(part) }
    }

    func end(_ id: ItemID) {
        self.inside.withLock { inside in
            inside.copies[id] = nil
            inside.streams[id] = nil
            inside.followers[id] = nil
        }
    }

    func begin(whenClosed: @escaping @Sendable () -> Void) {
        self.inside.withLock { $0.whenClosed = whenClosed }
    }

    func close() {
        let whenClosed = self.inside.withLock { inside in
            defer { inside.whenClosed = nil }
            return inside.whenClosed
        }
        let (streams, followers, copies) = self.inside.withLock {
            inside -> ([Stream], [Deliver], [DeliverPart]) in
            inside.isClosed = true
            defer {
                inside.streams.removeAll()
                inside.followers.removeAll()
                inside.copies.removeAll()
            }
            return (
                Array(inside.streams.values), inside.followers.values.map(\.deliver),
                inside.copies.values.map(\.deliver)
            )
        }
        for stream in streams { stream.show(Self.closed(after: stream.shown?.value)) }
        for deliver in followers { deliver([], .closedDouble) }
        for deliver in copies { deliver(.failure(.closedDouble)) }
        whenClosed?()
    }

    private static let closed = FakeStore.closed(after: nil)

    private static func closed(after last: WatchValue?) -> EntitlementTaskState<WatchValue> {
        let error = PerchError.closedDouble
        return .failure(
            EntitlementTaskFailure(reason: error.reason, message: error.message, error: error, isFinal: true),
            last: last)
    }
}

extension PerchError {
    fileprivate static let closedDouble = PerchError(
        code: .cancelled, reason: .closed, message: "the client was closed; make another one")
}

extension FakeStore.Contents {
    private var info: PerchWire.ValueInfo { PerchWire.ValueInfo(position: self.position, cause: .snapshot) }

    /// A whole copy.
    func copy(for request: AppEntitlementsRequest) -> [CopyPart] {
        let names = Set(self.named.values.joined().map(\.name)).sorted()
        let begin = CopyBegin(names: names, clock: CopyClock(appTime: Clocks.wall(), serverTime: Clocks.wall()))
        return [
            CopyPart(begin: begin), CopyPart(accounts: self.batch(of: self.named.keys.sorted(), for: request)),
            CopyPart(end: CopyEnd(position: self.position, resumeToken: [1])),
        ]
    }

    /// The accounts whose entitlements are others now.
    func change(since before: [String: [NamedEntitlement]], for request: AppEntitlementsRequest) -> CopyPart {
        let keys = Set(before.keys).union(self.named.keys).filter { before[$0] != self.named[$0] }
        var batch = self.batch(of: keys.sorted(), for: request)
        batch.position = self.position
        batch.resumeToken = [1]
        return CopyPart(accounts: batch)
    }

    private func batch(of accounts: [String], for request: AppEntitlementsRequest) -> CopyBatch {
        var batch = CopyBatch()
        let count = Int(max(request.shardCount, 1))
        for account in accounts where CopyShard.number(of: account, count: count) == Int(request.shard) {
            batch.keys += Array(account.utf8)
            batch.keyEnds.append(UInt32(batch.keys.count))
            for entitlement in (self.named[account] ?? []).sorted(by: { $0.name < $1.name })
            where request.names.isEmpty || request.names.contains(entitlement.name) {
                let grade = EntitlementGrade(name: entitlement.name, tier: entitlement.tier)
                if !batch.moreGrades.contains(grade) { batch.moreGrades.append(grade) }
                guard entitlement.isActive else { continue }
                batch.grades.append(UInt32(batch.moreGrades.firstIndex(of: grade) ?? 0))
                batch.untils.append(entitlement.until?.milliseconds ?? .max)
                batch.reasons.append(UInt8(EntitlementReason.granted.rawValue))
            }
            batch.segmentEnds.append(UInt32(batch.grades.count))
        }
        return batch
    }

    func state(of request: Request, last: WatchValue?) -> EntitlementTaskState<WatchValue> {
        if let failure = self.failure {
            return .failure(
                EntitlementTaskFailure(
                    reason: failure.reason, message: failure.message, error: failure, isFinal: !failure.isTransient),
                last: last)
        }
        guard let value = self.value(of: request) else {
            let missing = Self.unimplemented(request)
            return .failure(
                EntitlementTaskFailure(reason: missing.reason, message: missing.message, error: missing, isFinal: true),
                last: nil)
        }
        let info = ValueInfo(
            position: self.position, committed: Instant(milliseconds: 0), cause: .snapshot,
            token: [UInt8(truncatingIfNeeded: self.revision)])
        return .success(value, info: info)
    }

    private func value(of request: Request) -> WatchValue? {
        switch request {
        case .entitlementsTask(let asked): .named(self.named[asked.account] ?? [])
        case .currentEntitlementTask(let asked): .entitlement(self.transactions[asked.account]?[asked.productID])
        case .subscriptionStatusTask(let asked): .statuses(self.statuses(asked))
        case .productsTask(let asked): .products(self.products(asked.productIDs))
        case .purchaseIntents: .intents([])
        case .messages: .messages([])
        default: nil
        }
    }

    private func statuses(_ asked: SubscriptionStatusRequest) -> SubscriptionStatuses {
        let groups = self.statuses[asked.account] ?? [:]
        guard asked.allGroups else { return groups[asked.groupID] ?? SubscriptionStatuses(statuses: []) }
        return SubscriptionStatuses(statuses: groups.sorted { $0.key < $1.key }.flatMap(\.value.statuses))
    }

    private func products(_ ids: [String]) -> Products {
        let known = self.products.filter { ids.isEmpty || ids.contains($0.id) }
        let names = Set(known.map(\.id))
        return Products(products: known, unavailableIDs: ids.filter { !names.contains($0) })
    }

    mutating func answer(_ request: Request) -> Result<Response, PerchError> {
        switch request {
        case .getEntitlements(let asked):
            return .success(.getEntitlements(.success(self.named[asked.account] ?? [], self.info)))
        case .getCurrentEntitlement(let asked):
            let transaction = self.transactions[asked.account]?[asked.productID]
            return .success(.getCurrentEntitlement(.success(transaction, self.info)))
        case .listCurrentEntitlements(let asked):
            let all = (self.transactions[asked.account] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
            return .success(.listCurrentEntitlements(EntitlementList(transactions: all, info: self.info)))
        case .getSubscriptionStatus(let asked):
            return .success(.getSubscriptionStatus(.success(self.statuses(asked), self.info)))
        case .getProducts(let asked):
            return .success(.getProducts(.success(self.products(asked.productIDs), self.info)))
        case .grantEntitlement(let asked):
            var entitlement = NamedEntitlement(name: asked.name)
            entitlement.isActive = true
            entitlement.tier = asked.tier
            entitlement.until = asked.until
            entitlement.isLifetime = asked.until == nil
            entitlement.origin = .grant
            entitlement.reason = "granted"
            self.revision += 1
            self.give(entitlement, to: asked.account)
            return .success(.grantEntitlement(GrantEntitlementResponse(position: self.position)))
        case .revokeGrant(let asked):
            self.revision += 1
            self.give(NamedEntitlement(name: asked.name), to: asked.account)
            return .success(.revokeGrant(Acknowledgement(position: self.position)))
        default:
            return .failure(Self.unimplemented(request))
        }
    }

    private static func unimplemented(_ request: Request) -> PerchError {
        PerchError(
            code: .unimplemented, reason: .unknownMethod,
            message: "a double does not answer \(request.method.path); test that with a server")
    }
}
