package import PerchBase
package import PerchWire

/// The decisions of one client about its connection, calls and streams, as a value that is stepped.
///
/// It has no socket, clock, thread or source of randomness. A driver feeds it bytes, commands and the time, sends
/// `output`, and performs `actions`. Tests do the same with virtual time. The connection's states are
///
/// idle ──wanted──▶ connecting ──connected──▶ greeting ──WELCOME──▶ open; any of them ──lost──▶ waiting ──time──▶
/// connecting
///
/// Input of a connection that was not asked for is a bug of the driver and traps. Faults of the server (`breach`) close the
/// connection, and the client connects again. Legitimate races are ignored: a cancelled call that has ended, messages on a
/// cancelled stream, and bytes after the connection was closed.
package struct ClientCore: ~Copyable {
    package let settings: ClientSettings
    /// Actions for the driver, in order; the driver empties the list.
    package var actions: [ClientAction] = []
    /// Bytes to send; the driver removes those that the socket accepted.
    package var output: [UInt8] = []

    var link = Link.idle
    var now: ClientTime
    let codec: MessageCodec
    var decoder = FrameDecoder()
    var random: SplitMix64
    /// When the last byte came.
    var lastHeard: Int64 = 0
    var attempts = Attempts()
    /// The store of the last connection: its tokens are valid there.
    var store: StoreName?
    /// The credentials of the current connection.
    var authorization = ""

    var streams: [UInt32: StreamUse] = [:]
    var nextStream: UInt32 = 1
    /// Streams whose first message arrived on this connection, and whose STATUS did not.
    var spokenCount = 0
    /// Watches that resume and have not had their first answer on this connection. They count from their CALL: a value of
    /// another watch must not be shown beside their old one.
    var resuming: Set<ItemID> = []
    var group = Group()

    var calls: [ItemID: PendingCall] = [:]
    var queue = CallQueue()
    var own = OwnMutations()
    /// Streams of events that wait for a call to end. May contain ended ones.
    var undecidedUpdates: Set<ItemID> = []
    var watches: [ItemID: Watch] = [:]
    var updates: [ItemID: Updates] = [:]
    var copies: [ItemID: CopyStream] = [:]
    var deadlines = TimerHeap()

    package init(settings: ClientSettings, codec: MessageCodec, seed: UInt64, now: ClientTime) {
        self.settings = settings
        self.codec = codec
        self.random = SplitMix64(seed: seed)
        self.now = now
    }

    /// A time without a connection that somebody needs.
    package struct Away: Equatable {
        package var since: ClientTime
        /// Why there is none: the end of the last connection, or of the last attempt; nil during the first attempt.
        var reason: PerchError?
        /// Consumers of values see a failure, because it has lasted for `failureAfterMilliseconds`.
        var isShown = false
    }

    /// Attempts to connect.
    struct Attempts {
        /// Number of pauses since a connection was stable.
        var failedCount = 0
        /// Why the last one failed; nil after a success.
        var failure: PerchError?
        /// When the last one began.
        var last: Int64 = .min / 2
        /// The last credentials that the server refused, and until when they are not sent again.
        var refused: RefusedCredentials?
        /// Since when there is no connection although somebody needs one; nil otherwise.
        var away: Away?
    }

    /// The states between two BEATs.
    struct Group {
        /// Watches whose newest state waits for the end of its group, in the order of arrival.
        var held: [ItemID] = []
        /// A state of an open group arrived since the last BEAT.
        var isOpen = false
    }

    /// Calls that wait for a connection.
    struct CallQueue {
        /// In the order of their creation. May contain ended ones.
        var calls: [ItemID] = []
        /// Number of ended calls in that list.
        var endedCount = 0
    }

    enum Link {
        case idle
        case connecting(deadline: Int64)
        case greeting(deadline: Int64)
        case open(Open)
        case waiting(until: Int64, reason: PerchError)
        case closed
    }

    struct Open {
        var since: Int64
        var silenceMilliseconds: Int64
        var frameBytesMax: Int
        var serverVersion: String
        /// The server stops: sent calls continue until their STATUS, new ones wait for the next connection.
        var drain: Drain?
        /// The credentials have ended: sent calls continue, new ones wait. After the last call, the next connection
        /// uses other credentials.
        var leaving: PerchError?
    }

    struct StoreName: Equatable {
        var id: [UInt8]
        var epoch: UInt32
    }

    struct RefusedCredentials {
        var authorization: String
        var until: Int64
        var error: PerchError
    }

    /// The use of a stream number on this connection.
    enum StreamUse {
        case call(ItemID)
        case watch(ItemID)
        case updates(ItemID)
        case copy(ItemID)
        /// Cancelled; its STATUS has not arrived yet.
        case abandoned(isWatch: Bool, hasSpoken: Bool)
    }

    // MARK: Time

    /// When `tick` is to be called next, in milliseconds of the monotonic clock; nil for "when something comes".
    package var nextWake: Int64? {
        var next = self.deadlines.nextTime
        func consider(_ time: Int64) { next = min(next ?? .max, time) }
        switch self.link {
        case .idle, .closed: break
        case .connecting(let deadline), .greeting(let deadline): consider(deadline)
        case .open(let open): consider(self.lastHeard + open.silenceMilliseconds)
        case .waiting(let until, _): consider(until)
        }
        if let away = self.attempts.away, !away.isShown, let limit = self.settings.failureAfterMilliseconds {
            consider(away.since.monotonic + limit)
        }
        return next
    }

    /// Advances the time to `now` and runs due timers. Must be called before any other input of a tick.
    package mutating func tick(_ now: ClientTime) {
        self.advance(to: now)
        while let due = self.deadlines.popDue(at: now.monotonic) { self.isDue(due.payload) }
        switch self.link {
        case .connecting(let deadline) where deadline <= now.monotonic:
            self.lost(
                self.notWelcomed(
                    "nothing let itself be connected to", "is the address right, and does the network lead there?"))
        case .greeting(let deadline) where deadline <= now.monotonic:
            self.lost(self.notWelcomed("the server did not answer", "is it a Perch server?"))
        case .open(let open) where self.lastHeard + open.silenceMilliseconds <= now.monotonic:
            self.lost(
                PerchError(
                    code: .unavailable, reason: .connectionSilent,
                    message:
                        "nothing came for \(now.monotonic - self.lastHeard) ms, the limit is \(open.silenceMilliseconds), two and a half heartbeats"
                ))
        case .waiting(let until, _) where until <= now.monotonic:
            self.link = .idle
            if !self.isWanted { self.attempts.away = nil }
            self.connectIfWanted()
        default:
            break
        }
        self.showAwayIfDue()
    }

    private func notWelcomed(_ what: String, _ question: String) -> PerchError {
        PerchError(
            code: .unavailable, reason: .welcomeTimeout,
            message: "\(what) within \(self.settings.connectTimeoutMilliseconds) ms; \(question)")
    }

    /// Advances the time within a tick, without running timers.
    package mutating func advance(to now: ClientTime) {
        assert(now.monotonic >= self.now.monotonic, "the clock ran backwards")
        self.now = now
    }

    private mutating func isDue(_ payload: UInt64) {
        if self.calls[payload] != nil {
            self.callIsLate(payload)
        } else {
            self.reopen(payload)
        }
    }

    // MARK: The connection

    /// Whether anybody needs a connection.
    var isWanted: Bool {
        !self.calls.isEmpty || !self.watches.isEmpty || !self.updates.isEmpty || !self.copies.isEmpty
    }

    mutating func connectIfWanted() {
        guard case .idle = self.link, self.isWanted else { return }
        self.link = .connecting(deadline: self.now.monotonic + self.settings.connectTimeoutMilliseconds)
        self.attempts.last = self.now.monotonic
        if self.attempts.away == nil { self.attempts.away = Away(since: self.now) }
        self.actions.append(.connect)
        self.report(.connecting)
    }

    /// The requested connection is established: sends HELLO.
    package mutating func connected(authorization: String) {
        guard case .connecting(let deadline) = self.link else {
            preconditionFailure("a connection came that was not asked for")
        }
        self.decoder = FrameDecoder()
        self.output.removeAll()
        self.lastHeard = self.now.monotonic
        self.authorization = authorization
        let hello = Hello(
            protocolVersion: 1, authorization: authorization, clientName: self.settings.name,
            accepts: self.settings.acceptsCompression ? [.zlib] : [],
            heartbeatSeconds: self.settings.heartbeatSeconds, clientID: self.settings.clientID)
        do throws(MessageError) {
            let encoded = try self.codec.encode(hello)
            self.output.append(contentsOf: encoded.frame(.hello, stream: 0))
        } catch {
            preconditionFailure("HELLO cannot be written: \(error)")
        }
        self.link = .greeting(deadline: deadline)
    }

    /// Why a connection with these credentials need not be made now: the server has refused them, and its time is not over.
    package func refusal(of authorization: String) -> PerchError? {
        guard let refused = self.attempts.refused, refused.authorization == authorization,
            self.now.monotonic < refused.until
        else { return nil }
        return refused.error
    }

    /// The requested connection failed.
    package mutating func connectFailed(_ error: PerchError) {
        guard case .connecting = self.link else {
            preconditionFailure("a connection failed that was not asked for")
        }
        self.lost(error)
    }

    /// The connection has ended.
    package mutating func ended(_ message: String) {
        var message = message
        switch self.link {
        case .greeting: message += " before it answered; is it a Perch server, with TLS exactly if this client has it?"
        case .open: break
        // The attempt was given up within this tick.
        case .idle, .waiting, .closed, .connecting: return
        }
        self.lost(PerchError(code: .unavailable, reason: .connectionLost, message: message))
    }

    /// The connection ended for a known reason.
    package mutating func ended(_ error: PerchError) {
        switch self.link {
        case .connecting, .greeting, .open: break
        case .idle, .waiting, .closed: return
        }
        self.lost(error)
    }

    /// The server violated perch/1.
    mutating func breach(_ message: String) {
        self.lost(.breach(message))
    }

    /// The connection has ended or is given up, for `reason`: calls and streams wait for the next one, or end. `drain`
    /// is the final DRAIN of the server.
    mutating func lost(_ reason: PerchError, drain: Drain? = nil) {
        self.actions.append(.disconnect)
        let isFinal =
            [.protocolBreach, .tlsRequired].contains(reason.reason) || drain != nil && self.isFinal(reason)
        var drain = drain
        var wasConnecting = false
        var comesBackAtOnce = false
        switch self.link {
        case .open(let open):
            // The final DRAIN holds. If it has no times, those of the first DRAIN apply.
            if drain?.isPaced != true { drain = open.drain ?? drain }
            if self.now.monotonic - open.since >= Limits.clientStableMilliseconds {
                self.attempts.failedCount = 0
                comesBackAtOnce = open.leaving != nil
            }
        case .connecting, .greeting:
            wasConnecting = true
        case .idle, .waiting, .closed:
            preconditionFailure("a connection was lost that did not exist")
        }
        self.attempts.failure = wasConnecting ? reason : nil
        if self.attempts.away == nil { self.attempts.away = Away(since: self.now) }
        self.attempts.away?.reason = reason
        self.output.removeAll()
        self.decoder = FrameDecoder()
        self.streams.removeAll()
        self.spokenCount = 0
        self.resuming.removeAll()
        self.group.held.removeAll()
        self.group.isOpen = false
        self.loseCalls(reason, wasConnecting: wasConnecting)
        for (id, watch) in self.watches {
            self.deadlines.cancel(watch.retry)
            self.watches[id]?.lost()
        }
        for (id, updates) in self.updates {
            self.deadlines.cancel(updates.retry)
            self.updates[id]?.lost()
        }
        for (id, copy) in self.copies {
            self.deadlines.cancel(copy.retry)
            self.actions.append(.copyLost(id, reason))
            self.copies[id]?.lost()
        }
        if isFinal {
            self.endAll(reason)
            self.link = .idle
            self.attempts.away = nil
            self.report(.refused(reason))
            return
        }
        if wasConnecting { self.showFailure(reason) }
        var pause = self.pause(after: drain, reason)
        if comesBackAtOnce { pause = 0 }
        guard self.isWanted else {
            self.link = .idle
            self.attempts.away = nil
            self.report(.idle)
            return
        }
        self.link = .waiting(until: self.now.monotonic + pause, reason: reason)
        self.report(.waiting(until: self.now.wall.advanced(byMilliseconds: pause), reason: reason))
    }

    /// Whether a DRAIN of this reason answers every further connection of this client, too.
    private func isFinal(_ reason: PerchError) -> Bool {
        switch ErrorReason(reason.reason)?.retry {
        case .no: true
        case .newCredentials: !self.settings.canReauthenticate
        case .yes, .whenTold, .whenDrainSays, .withoutToken, nil: false
        }
    }

    /// How long to stay away: as long as the server has asked, plus a random time up to a doubling bound. The bound
    /// slows down a client that is sent away repeatedly.
    private mutating func pause(after drain: Drain?, _ reason: PerchError) -> Int64 {
        defer { self.attempts.failedCount += 1 }
        let backedOff = self.jitter(doublings: self.attempts.failedCount)
        guard let drain, drain.isPaced else { return backedOff }
        let jitter = Int64.random(in: 0...Int64(drain.jitterMilliseconds), using: &self.random)
        let asked = min(Int64(drain.reconnectAfterMilliseconds) + jitter, Limits.clientAwayMillisecondsMax)
        if self.refuse(for: asked, reason) { return min(asked, backedOff) }
        return self.attempts.failedCount == 0 ? asked : max(asked, backedOff)
    }

    /// Notes that the server does not accept these credentials, if that is the reason. The client sends others
    /// as soon as the file has them. It sends these again after the time, because the server's keys may have changed.
    @discardableResult
    private mutating func refuse(for milliseconds: Int64, _ reason: PerchError) -> Bool {
        guard ErrorReason(reason.reason)?.retry == .newCredentials, !self.authorization.isEmpty else {
            return false
        }
        self.attempts.refused = RefusedCredentials(
            authorization: self.authorization, until: self.now.monotonic + milliseconds, error: reason)
        return true
    }

    /// A random time up to the base, doubled `doublings` times, and at most the cap.
    mutating func jitter(doublings: Int) -> Int64 {
        let base = max(self.settings.reconnectBaseMilliseconds, 1)
        let cap = max(self.settings.reconnectCapMilliseconds, 1)
        let doubled = base.multipliedReportingOverflow(by: 1 << Int64(min(doublings, 30)))
        let bound = doubled.overflow ? cap : min(doubled.partialValue, cap)
        return Int64.random(in: 0...bound, using: &self.random)
    }

    /// No connection is possible, and waiting alone does not change that, so consumers of values see the reason. They
    /// see the next connection if it comes after all, because files of credentials and certificates are read for each
    /// one.
    private mutating func showFailure(_ reason: PerchError) {
        guard !reason.isTransient else { return }
        for id in self.watches.keys.sorted() {
            guard var watch = self.watches[id] else { continue }
            self.show(
                EntitlementTaskFailure(reason: reason.reason, message: reason.message, error: reason), in: &watch, id)
            self.watches[id] = watch
        }
    }

    /// Consumers of values are shown that there has been no connection for as long as the options allow.
    private mutating func showAwayIfDue() {
        guard let away = self.attempts.away, !away.isShown, let limit = self.settings.failureAfterMilliseconds,
            away.since.monotonic + limit <= self.now.monotonic
        else { return }
        self.attempts.away?.isShown = true
        for id in self.watches.keys.sorted() { self.showAway(id) }
    }

    /// Shows one watch's consumers that there is no connection, if its time has come.
    mutating func showAway(_ id: ItemID) {
        guard let away = self.attempts.away, away.isShown, var watch = self.watches[id] else { return }
        var error =
            away.reason
            ?? PerchError(
                code: .unavailable, reason: .connectFailed, message: "the first attempt to connect is under way")
        let lasted = self.now.monotonic - away.since.monotonic
        error.message = "no connection for \(lasted) ms; the last reason: \(error.message)"
        self.show(EntitlementTaskFailure(reason: error.reason, message: error.message, error: error), in: &watch, id)
        self.watches[id] = watch
    }

    /// Since when there is no connection although somebody needs one; nil otherwise.
    package var away: Away? { self.attempts.away }

    /// The server refuses this client for good: every stream and every call ends with the reason.
    private mutating func endAll(_ reason: PerchError) {
        for (id, call) in self.calls.sorted(by: { $0.key < $1.key }) {
            self.finish(id, .failure(self.doubting(call, reason)))
        }
        for (id, watch) in self.watches.sorted(by: { $0.key < $1.key }) { self.showFinal(id, reason, last: watch.last) }
        self.watches.removeAll()
        for id in self.updates.keys.sorted() { self.actions.append(.endUpdates(id, reason)) }
        self.updates.removeAll()
        for id in self.copies.keys.sorted() { self.actions.append(.endCopy(id, reason)) }
        self.copies.removeAll()
    }

    /// The credentials of this connection have ended, and the next one may bring others. Pending calls
    /// get their STATUS first, because breaking off would leave their outcome unknown.
    mutating func leave(_ reason: PerchError) {
        guard case .open(var open) = self.link else { return }
        if open.leaving == nil { open.leaving = reason }
        self.link = .open(open)
    }

    /// Closes a connection with ended credentials when no call waits for an answer on it.
    mutating func closeIfLeft() {
        guard case .open(let open) = self.link, let reason = open.leaving,
            !self.calls.values.contains(where: { $0.stream != nil })
        else { return }
        self.refuse(for: Int64(Limits.drainFinalMilliseconds), reason)
        self.lost(reason)
    }

    mutating func report(_ state: ConnectionState) {
        self.actions.append(.connection(state))
    }

    /// Closes the client: all calls and streams end.
    package mutating func close() {
        if case .closed = self.link { return }
        switch self.link {
        case .connecting, .greeting, .open: self.actions.append(.disconnect)
        case .idle, .waiting, .closed: break
        }
        self.link = .closed
        self.output.removeAll()
        self.streams.removeAll()
        for (id, call) in self.calls.sorted(by: { $0.key < $1.key }) {
            self.finish(id, .failure(self.doubting(call, .clientClosed)))
        }
        for (id, watch) in self.watches.sorted(by: { $0.key < $1.key }) {
            self.showFinal(id, .clientClosed, last: watch.last)
        }
        for id in self.updates.keys.sorted() { self.actions.append(.endUpdates(id, .clientClosed)) }
        for id in self.copies.keys.sorted() { self.actions.append(.endCopy(id, .clientClosed)) }
        self.copies.removeAll()
        self.watches.removeAll()
        self.updates.removeAll()
        self.attempts.away = nil
        self.report(.closed)
    }
}

/// Identifies a call or a stream within a process; later ones are higher.
package typealias ItemID = UInt64

/// A point in time on both clocks.
package struct ClientTime: Hashable, Sendable {
    /// Milliseconds of a monotonic clock that includes suspend.
    package var monotonic: Int64
    /// For people.
    package var wall: Instant

    package init(monotonic: Int64, wall: Instant) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

extension Drain {
    /// Whether it says when to reconnect.
    fileprivate var isPaced: Bool { self.reconnectAfterMilliseconds > 0 || self.jitterMilliseconds > 0 }
}

/// The settings of a client's core.
package struct ClientSettings: Sendable {
    package var name: String
    package var clientID: [UInt8]
    package var acceptsCompression = true
    package var heartbeatSeconds = Limits.heartbeatSecondsDefault
    package var connectTimeoutMilliseconds: Int64 = 10_000
    package var reconnectBaseMilliseconds: Int64 = 1_000
    package var reconnectCapMilliseconds: Int64 = 60_000
    package var waitsForServer = false
    /// The next connection may have other credentials.
    package var canReauthenticate = false
    /// Time without a connection after which consumers of values see a failure; nil: they keep what they have.
    package var failureAfterMilliseconds: Int64?

    package init(name: String, clientID: [UInt8]) {
        self.name = name
        self.clientID = clientID
    }
}

/// An action that the driver performs for a core.
package enum ClientAction: Equatable, Sendable {
    /// Answered by `connected` or `connectFailed`.
    case connect
    /// The connection, or the attempt, is over: the driver drops its state.
    case disconnect
    case connection(ConnectionState)
    /// A call is over.
    case finish(ItemID, Result<Response, PerchError>)
    /// A watch has this state now. `isNews` is false if only the position of the value has changed,
    /// so that consumers are not woken.
    case show(ItemID, EntitlementTaskState<WatchValue>, isNews: Bool)
    case endWatch(ItemID)
    case events(ItemID, [UpdateItem])
    case endUpdates(ItemID, PerchError)
    /// A part of a copy came.
    case copyPart(ItemID, CopyPart)
    /// Everything up to a revision was said to a copy, when the server's clock showed an instant.
    case copyHeard(ItemID, UInt64, Instant)
    /// A copy's stream has ended, or cannot be made: what it was filling is void.
    case copyLost(ItemID, PerchError)
    case endCopy(ItemID, PerchError)
}
