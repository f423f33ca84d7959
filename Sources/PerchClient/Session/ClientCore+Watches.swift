package import PerchBase
package import PerchModel
package import PerchWire

/// The value of any state stream.
package enum WatchValue: Hashable, Sendable {
    case products(Products)
    case statuses(SubscriptionStatuses)
    case entitlement(Verified<Transaction>?)
    case intents([PurchaseIntent])
    case messages([StoreMessage])
    case named([NamedEntitlement])
}

/// One state stream, over all its connections.
struct Watch {
    /// Without token and `at_least`, which are added when it is sent.
    let request: Request
    /// Position that the first value must have reached; nil after the first value.
    var atLeast: Position?
    var stream: UInt32?
    /// Whether its first message arrived on this connection, so that it counts.
    var hasSpoken = false
    /// The token of the last applied value; empty for none.
    var token: [UInt8]
    /// A consumer has kept the token, and the server has not answered it yet.
    var isTokenKept = false
    /// The last applied value.
    var last: WatchValue?
    /// What led to it.
    var cause: Cause
    /// What consumers see.
    var shown: Shown
    /// The newest state since the last applied one; nil for none.
    var held: Held?
    /// Number of times that the server ended it since its last value.
    var refusals = 0
    /// When it is opened again on this connection.
    var retry = TimerHeap.ID.none

    enum Shown: Equatable {
        case loading
        case failure(EntitlementTaskFailure)
        case success
        /// The value is still that of a token kept by a consumer, which has the value.
        case unchanged
    }

    struct Held {
        var state: PerchWire.TaskState<WatchValue>
        /// A good value before the newest failure.
        var passed: (value: WatchValue, info: ValueInfo)?
    }

    /// Its consumers have an old value, shown or kept under a token, so its call resumes.
    var resumes: Bool {
        switch self.shown {
        case .success, .unchanged: true
        case .loading: !self.token.isEmpty
        case .failure: false
        }
    }

    /// Its connection or call has ended. The next call sends unapplied values again.
    mutating func lost() {
        self.stream = nil
        self.hasSpoken = false
        self.held = nil
    }
}

// State streams: a state is held until the end of its group, and shown if it is new.
extension ClientCore {
    /// Opens a watch, which is loading. `last` is the value that its consumers saw last. With `info` the watch resumes
    /// from it, and shows it again if the server says `unchanged`. Otherwise the watch resumes from `token`, whose value
    /// its consumers keep.
    package mutating func watch(
        _ id: ItemID, _ request: Request, atLeast: Position?, last: WatchValue? = nil, info: ValueInfo? = nil,
        token: [UInt8] = []
    ) {
        let failure: PerchError?
        if case .closed = self.link { failure = .clientClosed } else { failure = self.limitReached }
        if let failure {
            self.showFinal(id, failure, last: last)
            return
        }
        self.watches[id] = Watch(
            request: request, atLeast: info == nil ? atLeast : nil, token: info?.token ?? token,
            isTokenKept: info == nil && !token.isEmpty, last: last, cause: info?.cause ?? .unspecified,
            shown: .loading)
        self.connectIfWanted()
        self.openWatch(id)
        self.showAway(id)
    }

    /// Nobody looks any more.
    package mutating func unwatch(_ id: ItemID) {
        guard let watch = self.watches.removeValue(forKey: id) else { return }
        self.deadlines.cancel(watch.retry)
        if let stream = watch.stream { self.abandon(stream, isWatch: true, hasSpoken: watch.hasSpoken) }
        self.stopsResuming(id)
        self.applyGroupIfComplete()
    }

    /// Sends the call of a watch, if there is a connection for it and it does not wait for its time.
    mutating func openWatch(_ id: ItemID) {
        guard self.canOpen, let watch = self.watches[id], watch.stream == nil else { return }
        self.deadlines.cancel(watch.retry)
        do throws(PerchError) {
            let stream = try self.open(
                watch.request.resuming(watch.token, atLeast: watch.atLeast), timeoutMilliseconds: 0, as: .watch(id))
            self.watches[id]?.stream = stream
            if watch.resumes { self.resuming.insert(id) }
        } catch {
            self.stopsResuming(id)
            self.watches[id] = nil
            self.showFinal(id, error, last: watch.last)
        }
    }

    mutating func showFinal(_ id: ItemID, _ error: PerchError, last: WatchValue?) {
        self.actions.append(.show(id, .failure(.final(error), last: last), isNews: true))
        self.actions.append(.endWatch(id))
    }

    /// Opens a refused stream again: its wait is over.
    mutating func reopen(_ id: ItemID) {
        if self.watches[id] != nil {
            self.openWatch(id)
        } else if self.copies[id] != nil {
            self.sendCopy(id)
        } else {
            self.openUpdates(id)
        }
    }

    // MARK: What comes

    /// A state came. With a single watch it is applied at once, otherwise at the end of its group.
    mutating func tookState(_ id: ItemID, _ response: Response?) {
        guard var watch = self.watches[id] else { preconditionFailure("a state of a watch that is gone") }
        if !watch.hasSpoken {
            watch.hasSpoken = true
            self.spokenCount += 1
        }
        // A state that only a newer client knows is left out.
        if let state = response.flatMap({ $0.watchState }) {
            if case .unchanged = state, watch.token.isEmpty {
                return self.breach("a watch without a token was answered by `unchanged`")
            }
            let before = watch.held
            watch.held = Watch.Held(state: state, passed: before?.passed)
            if case .failure = state {
                if case .success(let value, let info) = before?.state {
                    watch.held?.passed = (value, ValueInfo(info))
                }
            } else {
                watch.held?.passed = nil
            }
            if before == nil { self.group.held.append(id) }
        }
        self.watches[id] = watch
        self.group.isOpen = true
        if case .loading? = watch.held?.state {} else { self.resuming.remove(id) }
        self.applyGroupIfComplete()
    }

    /// No group waits for the first answer of this watch any more: it is not wanted, or its consumers see a failure.
    private mutating func stopsResuming(_ id: ItemID) {
        self.resuming.remove(id)
    }

    /// The server ended the calls of this connection, and the next one opens this watch again. Nothing is shown beside its
    /// old value until then.
    private mutating func resumesElsewhere(_ id: ItemID) {
        if self.watches[id]?.resumes == true, !self.canOpen { self.resuming.insert(id) }
    }

    /// Shows everything that is held, together, if the group is complete: every watch that resumes has its first answer, and
    /// a BEAT came after the last state. With one watch no BEAT is needed.
    mutating func applyGroupIfComplete() {
        guard !self.group.held.isEmpty, self.resuming.isEmpty, !self.group.isOpen || self.spokenCount < 2 else {
            return
        }
        let held = self.group.held
        self.group.held.removeAll()
        for id in held { self.applyState(id) }
    }

    private mutating func applyState(_ id: ItemID) {
        // The watch is no longer wanted, or its call has ended.
        guard var watch = self.watches[id], let held = watch.held else { return }
        watch.held = nil
        if let passed = held.passed {
            watch.last = passed.value
            watch.token = passed.info.token
            watch.cause = passed.info.cause
        }
        switch held.state {
        case .loading:
            // Consumers have seen `loading` or an old value so far, and keep it.
            break
        case .failure(let failure, _):
            self.show(
                EntitlementTaskFailure(
                    reason: PerchError.Reason(rawValue: failure.reason), message: failure.message), in: &watch, id)
        case .success(let value, let info):
            self.show(value, ValueInfo(info), in: &watch, id)
        case .unchanged(let info):
            var known = ValueInfo(info)
            if known.token.isEmpty { known.token = watch.token }
            guard let last = watch.last else {
                self.showUnchanged(known, in: &watch, id)
                break
            }
            // The cause of the value is that of its first arrival.
            known.cause = watch.cause
            self.show(last, known, in: &watch, id)
        }
        self.watches[id] = watch
    }

    private mutating func show(_ value: WatchValue, _ info: ValueInfo, in watch: inout Watch, _ id: ItemID) {
        let isNews = watch.shown != .success || watch.last != value
        watch.last = value
        watch.cause = info.cause
        watch.shown = .success
        self.applied(info, in: &watch)
        self.actions.append(.show(id, .success(value, info: info), isNews: isNews))
    }

    /// The token's value is current, and only its consumers have it.
    private mutating func showUnchanged(_ info: ValueInfo, in watch: inout Watch, _ id: ItemID) {
        let isNews = watch.shown != .unchanged
        watch.shown = .unchanged
        self.applied(info, in: &watch)
        self.actions.append(.show(id, .unchanged(info: info), isNews: isNews))
    }

    private func applied(_ info: ValueInfo, in watch: inout Watch) {
        watch.token = info.token
        watch.isTokenKept = false
        watch.atLeast = nil
        watch.refusals = 0
    }

    mutating func show(_ failure: EntitlementTaskFailure, in watch: inout Watch, _ id: ItemID) {
        guard watch.shown != .failure(failure) else { return }
        watch.shown = .failure(failure)
        self.actions.append(.show(id, .failure(failure, last: watch.last), isNews: true))
    }

    // MARK: Its end

    /// The server has ended a watch.
    mutating func watchEnded(_ id: ItemID, _ status: Status) {
        guard var watch = self.watches[id] else { preconditionFailure("a STATUS for a watch that is gone") }
        let error = self.refused(status)
        switch StreamRefusal(status, canReauthenticate: self.settings.canReauthenticate) {
        case .comeBack:
            // DRAIN arrived or will; without one the watch is opened again after a pause. The others do not wait for
            // that.
            self.stopsResuming(id)
            self.retry(id, error, &watch.refusals, &watch.retry)
            self.watches[id] = watch
            self.resumesElsewhere(id)
        case .withoutToken where !watch.token.isEmpty && !watch.isTokenKept:
            watch.token = []
            self.watches[id] = watch
            self.openWatch(id)
        case .later:
            self.stopsResuming(id)
            self.show(
                EntitlementTaskFailure(reason: error.reason, message: error.message, error: error), in: &watch, id)
            self.retry(id, error, &watch.refusals, &watch.retry)
            self.watches[id] = watch
        case .reauthenticate:
            // Consumers need not know, unless the next connection brings nothing better.
            self.leave(error)
            self.resumesElsewhere(id)
        case .final, .withoutToken:
            self.stopsResuming(id)
            self.watches[id] = nil
            self.showFinal(id, error, last: watch.last)
        }
    }

    /// Schedules a stream to be opened again on this connection, with full jitter, and no sooner than the server has said.
    /// If the connection is about to end, the next one opens it.
    mutating func retry(_ id: ItemID, _ error: PerchError, _ refusals: inout Int, _ timer: inout TimerHeap.ID) {
        guard self.canOpen else { return }
        self.deadlines.cancel(timer)
        let asked = error.details["retry_after_ms"].flatMap { Int64($0) } ?? 0
        let pause = self.jitter(doublings: refusals) + min(max(asked, 0), Limits.clientAwayMillisecondsMax)
        refusals += 1
        timer = self.deadlines.schedule(at: self.now.monotonic + pause, payload: id)
    }
}

/// The reaction of the client to a STATUS that ends a stream.
enum StreamRefusal: Equatable {
    /// The server goes away: consumers need not know.
    case comeBack
    /// The server refuses the resume token.
    case withoutToken
    /// It may work later.
    case later
    /// Other credentials, which the next connection may bring, may be accepted.
    case reauthenticate
    /// Asking again would be answered the same.
    case final

    init(_ status: Status, canReauthenticate: Bool) {
        let reason = ErrorReason(rawValue: status.reason)
        switch reason {
        case .shuttingDown, .cancelled, .deadline:
            self = .comeBack
            return
        default: break
        }
        switch reason?.retry {
        case .withoutToken:
            self = .withoutToken
        case .newCredentials, nil:
            // Also for accepted credentials that have ended.
            if status.code == StatusCode.unauthenticated.rawValue, canReauthenticate {
                self = .reauthenticate
            } else {
                self = PerchError(status).isTransient || status.code == StatusCode.ok.rawValue ? .later : .final
            }
        case .yes, .whenTold, .whenDrainSays:
            self = .later
        case .no:
            self = .final
        }
    }
}

extension Request {
    /// The request of a state stream, with its resume token and position.
    func resuming(_ token: [UInt8], atLeast: Position?) -> Request {
        switch self {
        case .productsTask(var request):
            request.resumeToken = token
            request.atLeast = atLeast
            return .productsTask(request)
        case .subscriptionStatusTask(var request):
            request.resumeToken = token
            request.atLeast = atLeast
            return .subscriptionStatusTask(request)
        case .currentEntitlementTask(var request):
            request.resumeToken = token
            request.atLeast = atLeast
            return .currentEntitlementTask(request)
        case .purchaseIntents(var request):
            request.resumeToken = token
            request.atLeast = atLeast
            return .purchaseIntents(request)
        case .messages(var request):
            request.resumeToken = token
            request.atLeast = atLeast
            return .messages(request)
        case .entitlementsTask(var request):
            request.resumeToken = token
            request.atLeast = atLeast
            return .entitlementsTask(request)
        default:
            preconditionFailure("\(self.method.path) is not a state stream")
        }
    }
}

extension Response {
    /// The state in a message of a state stream.
    var watchState: PerchWire.TaskState<WatchValue>? {
        switch self {
        case .productsTask(let state): state.map { .products($0) }
        case .subscriptionStatusTask(let state): state.map { .statuses($0) }
        case .currentEntitlementTask(let state): state.map { .entitlement($0) }
        case .purchaseIntents(let state): state.map { .intents($0) }
        case .messages(let state): state.map { .messages($0) }
        case .entitlementsTask(let state): state.map { .named($0) }
        default: nil
        }
    }
}

extension PerchWire.TaskState {
    func map<Other>(_ convert: (Value) -> Other) -> PerchWire.TaskState<Other> {
        switch self {
        case .loading: .loading
        case .failure(let failure, let info): .failure(failure, info)
        case .success(let value, let info): .success(convert(value), info)
        case .unchanged(let info): .unchanged(info)
        }
    }
}
