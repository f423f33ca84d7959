import PerchBase
package import PerchWire

/// A unary call, from its creation to its answer.
///
///     waiting ──sent──▶ under way ──STATUS──▶ over;   under way ──connection lost──▶ waiting again, or over
struct PendingCall {
    let request: Request
    let timeoutMilliseconds: Int64
    /// Sent beside the request.
    var metadata: [Metadata] = []
    /// On the monotonic clock; the time of `timer`.
    let deadline: Int64
    var timer = TimerHeap.ID.none
    /// Nil while it waits for a connection.
    var stream: UInt32?
    /// Number of times that it was sent and may have been executed.
    var attempts = 0
    /// Number of times that it came back without having been executed.
    var returns = 0
    /// It is in the list of calls that wait for a connection.
    var isWaiting = false
    /// For a mutation: a revision from before it was first sent.
    var revisionBefore: UInt64?
    var response: Answer?
    /// Why its last attempt failed.
    var lastLoss: PerchError?

    enum Answer {
        case read(Response)
        /// A newer server answered with an unknown message.
        case unreadable
    }
}

/// How often a call may be sent again after its answer was lost.
enum Repeatability {
    /// It changes nothing, or its repetition changes nothing more.
    case read
    /// It has an idempotency key: repetitions happen once.
    case keyed
    /// It might happen twice.
    case once

    /// By the contract: a method without an effect of its own, an idempotency key, or neither.
    ///
    /// A repeated advance of a clock goes twice as far, and a repeated load of a catalogue may undo a later one of
    /// another client. Neither method has a key, so neither is repeated.
    init(_ request: Request) {
        let method = request.method
        if method.isSafe || method.isIdempotent {
            self = .read
        } else if let key = request.idempotencyKey, !key.isEmpty {
            self = .keyed
        } else {
            self = .once
        }
    }

    var attemptsMax: Int {
        switch self {
        case .read: Limits.clientReadAttemptsMax
        case .keyed: Limits.clientMutationAttemptsMax
        case .once: 1
        }
    }

    var isMutation: Bool { self != .read }
}

// Unary calls.
extension ClientCore {
    /// Starts a call. It always ends with `finish`.
    package mutating func call(
        _ id: ItemID, _ request: Request, timeoutMilliseconds: Int64, metadata: [Metadata] = []
    ) {
        let (deadline, overflow) = self.now.monotonic.addingReportingOverflow(timeoutMilliseconds)
        var call = PendingCall(
            request: request, timeoutMilliseconds: timeoutMilliseconds, metadata: metadata,
            deadline: overflow ? .max : deadline)
        let failure = timeoutMilliseconds > 0 ? self.refusal() : Self.late(call)
        if let failure {
            self.actions.append(.finish(id, .failure(failure)))
            return
        }
        self.tryAgainIfWorthIt()
        call.timer = self.deadlines.schedule(at: call.deadline, payload: id)
        self.calls[id] = call
        self.wait(id)
        self.connectIfWanted()
        self.sendWaitingCalls()
    }

    /// Appends the call to those that wait for a connection.
    private mutating func wait(_ id: ItemID) {
        self.calls[id]?.isWaiting = true
        self.queue.calls.append(id)
    }

    /// The last failure may be out of date, so a new call deserves a new attempt.
    private var isWorthATry: Bool {
        !self.settings.waitsForServer && self.attempts.failure != nil
            && self.now.monotonic - self.attempts.last >= max(self.settings.reconnectBaseMilliseconds, 1)
    }

    private mutating func tryAgainIfWorthIt() {
        if case .waiting = self.link, self.isWorthATry { self.link = .idle }
    }

    /// Why no new call is possible now; nil if it is.
    private func refusal() -> PerchError? {
        switch self.link {
        case .closed:
            return .clientClosed
        case .waiting(let until, _):
            guard !self.settings.waitsForServer, !self.isWorthATry, var failure = self.attempts.failure else { break }
            failure.message += "; the next try is in \(until - self.now.monotonic) ms"
            return failure
        case .idle, .connecting, .greeting, .open:
            break
        }
        return self.limitReached
    }

    /// Set while the limit of calls and streams is reached.
    var limitReached: PerchError? {
        let count = self.calls.count + self.watches.count + self.updates.count + self.copies.count
        guard count >= Limits.clientCallsMax else { return nil }
        return PerchError(
            code: .resourceExhausted, reason: .callsLimit,
            message:
                "this client has \(count) calls and streams, the limit is \(Limits.clientCallsMax); end some, or use another client",
            details: ["found": "\(count)", "limit": "\(Limits.clientCallsMax)"])
    }

    /// The caller no longer waits for the answer.
    package mutating func cancelCall(_ id: ItemID) {
        guard let call = self.calls[id] else { return }
        if let stream = call.stream { self.abandon(stream, isWatch: false, hasSpoken: false) }
        self.finish(id, .failure(self.doubting(call, .cancelledHere)))
    }

    mutating func callIsLate(_ id: ItemID) {
        guard let call = self.calls[id] else { return }
        if let stream = call.stream { self.abandon(stream, isWatch: false, hasSpoken: false) }
        var error = Self.late(call)
        if let loss = call.lastLoss {
            error.message += "; it was sent \(call.attempts) times, and at last: \(loss.message)"
        } else if let failure = self.attempts.failure {
            error.message += "; the last try: \(failure)"
        }
        self.finish(id, .failure(self.doubting(call, error)))
    }

    private static func late(_ call: PendingCall) -> PerchError {
        let missing = call.attempts == 0 ? "no connection" : "no answer"
        return PerchError(
            code: .deadlineExceeded, reason: .deadline,
            message: "\(missing) came within \(call.timeoutMilliseconds) ms; allow more time, or see how the server is")
    }

    mutating func finish(_ id: ItemID, _ result: Result<Response, PerchError>) {
        guard let call = self.calls.removeValue(forKey: id) else { preconditionFailure("call \(id) ended twice") }
        self.deadlines.cancel(call.timer)
        if call.isWaiting {
            self.queue.endedCount += 1
            if self.queue.endedCount > self.queue.calls.count / 2 {
                self.queue.calls.removeAll { self.calls[$0] == nil }
                self.queue.endedCount = 0
            }
        }
        self.actions.append(.finish(id, result))
        guard let before = call.revisionBefore else { return }
        self.own.ended(sentAfter: before, result)
        self.judgeOwnEvents()
    }

    /// Marks an error after which the outcome of a mutation is unknown.
    func doubting(_ call: PendingCall, _ error: PerchError) -> PerchError {
        var error = error
        error.mayHaveHappened = call.attempts > 0 && Repeatability(call.request).isMutation
        return error
    }

    mutating func sendWaitingCalls() {
        guard self.canOpen, !self.queue.calls.isEmpty else { return }
        for id in self.takeWaiting() {
            guard let call = self.calls[id] else { preconditionFailure("call \(id) waits and is over") }
            let left = max(call.deadline - self.now.monotonic, 1)
            let lead = min(left / 2, Limits.clientDeadlineLeadMilliseconds)
            do throws(PerchError) {
                let stream = try self.open(
                    call.request, timeoutMilliseconds: max(left - lead, 1), metadata: call.metadata, as: .call(id))
                self.calls[id]?.stream = stream
                self.calls[id]?.attempts += 1
                if call.revisionBefore == nil, Repeatability(call.request).isMutation {
                    self.calls[id]?.revisionBefore = self.own.sent()
                }
            } catch {
                self.finish(id, .failure(self.doubting(call, error)))
            }
        }
    }

    /// Removes and returns the calls that wait for a connection.
    private mutating func takeWaiting() -> [ItemID] {
        let waiting = self.queue.calls.filter { self.calls[$0] != nil }
        self.queue.calls.removeAll()
        self.queue.endedCount = 0
        for id in waiting { self.calls[id]?.isWaiting = false }
        return waiting
    }

    mutating func tookCallStatus(_ id: ItemID, _ status: Status) {
        guard let call = self.calls[id] else { preconditionFailure("a STATUS for a call that is over") }
        self.calls[id]?.stream = nil
        guard status.code == StatusCode.ok.rawValue else {
            let error = self.refused(status)
            switch ErrorReason(rawValue: status.reason) {
            case .shuttingDown:
                // The server did not start this call: calls that wait for the store still get their answer.
                self.putBack(id, error)
            case .deadline, .storeFailed, .internal:
                self.finish(id, .failure(self.doubting(call, error)))
            default:
                guard error.code == .unauthenticated, self.settings.canReauthenticate else {
                    self.finish(id, .failure(error))
                    return
                }
                self.putBack(id, error)
                self.leave(error)
            }
            return
        }
        switch call.response {
        case .read(let response):
            self.finish(id, .success(response))
        case .unreadable:
            let error = PerchError(
                code: .unimplemented, reason: .newerServer,
                message: "\(call.request.method.path) was answered with what this version cannot read; use a newer one")
            self.finish(id, .failure(self.doubting(call, error)))
        case nil:
            let message = "STATUS 0 came without the answer of \(call.request.method.path)"
            self.finish(id, .failure(self.doubting(call, .breach(message))))
            self.breach(message)
        }
    }

    /// A call was refused before it was executed: it waits for the next connection, unless that happened too often.
    private mutating func putBack(_ id: ItemID, _ reason: PerchError) {
        guard let call = self.calls[id], call.returns < Limits.clientReadAttemptsMax else {
            self.finish(id, .failure(reason))
            return
        }
        self.calls[id]?.attempts -= 1
        self.calls[id]?.returns += 1
        self.calls[id]?.response = nil
        self.wait(id)
    }

    /// A call's answer was lost: it waits for the next connection, or ends.
    private mutating func lose(_ id: ItemID, _ reason: PerchError) {
        guard let call = self.calls[id] else { return }
        let repeatability = Repeatability(call.request)
        guard call.attempts < repeatability.attemptsMax else {
            var error = reason
            if repeatability.isMutation {
                error.message =
                    "\(reason.message); the call was sent \(call.attempts) times, and whether it happened is unknown: read before repeating it"
                error.details["reason"] = reason.reason.rawValue
                error.reason = .outcomeUnknown
                error.code = .unknown
                error.mayHaveHappened = true
            }
            self.finish(id, .failure(error))
            return
        }
        self.calls[id]?.stream = nil
        self.calls[id]?.response = nil
        self.calls[id]?.lastLoss = reason
        self.wait(id)
    }

    /// The connection is gone. Sent calls are repeated where that is safe. Other calls wait, unless there is no
    /// server and the client does not wait for one.
    mutating func loseCalls(_ reason: PerchError, wasConnecting: Bool) {
        let waited = self.takeWaiting()
        // In the order of their creation.
        for id in self.calls.keys.sorted() where self.calls[id]?.stream != nil { self.lose(id, reason) }
        for id in waited {
            guard let call = self.calls[id] else { continue }
            if wasConnecting, !self.settings.waitsForServer, call.attempts == 0 {
                self.finish(id, .failure(reason))
            } else {
                self.wait(id)
            }
        }
        self.queue.calls.sort()
    }
}
