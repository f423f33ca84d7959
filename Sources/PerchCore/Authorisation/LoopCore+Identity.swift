import PerchBase
package import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

// Identities of callers: from credentials to an identity, and to its end.
extension LoopCore {
    /// The identity for the credentials of a HELLO; empty for none.
    mutating func identify(_ connection: Int32, _ authorization: String) throws(CallRefusal) -> UInt32 {
        guard let authenticator = self.service.authenticator else { return IdentityTable.nobody }
        if !authorization.isEmpty { return try self.identify(connection, authorization, authenticator) }
        guard let certificate = self.transport.certificates[connection],
            let identity = authenticator.certificates.identity(of: certificate)
        else { return IdentityTable.nobody }
        if let known = self.service.identities.find(.certificate(certificate.fingerprint)) { return known }
        guard self.tables.now.wall < identity.expires else { throw self.refused(.expired(at: identity.expires)) }
        return self.service.identities.insert(identity, .certificate(certificate.fingerprint))
    }

    private mutating func identify(
        _ connection: Int32, _ authorization: String, _ authenticator: Authenticator
    ) throws(CallRefusal) -> UInt32 {
        let hash = ContentHash(of: Array(authorization.utf8))
        let key = IdentityTable.Key.token(hash)
        // An ended identity is not found: its token is verified again, which gives the reason.
        if let known = self.service.identities.find(key) { return known }
        if let fault = self.service.tokens.refused[hash] { throw self.refused(fault) }
        try self.requireVerification(connection)
        self.tables.counters.credentialsVerified += 1
        let identity: Identity
        do throws(CredentialFault) {
            identity = try authenticator.identity(ofAuthorization: authorization, now: self.tables.now.wall)
        } catch {
            if error.isLasting { self.service.tokens.refused.insert(hash, error) }
            throw self.refused(error)
        }
        if case .token(_, let id) = identity.source, self.service.revocations.contains(id) {
            throw self.refused(.revoked(Self.wasTakenBack))
        }
        if case .token(_, let id) = identity.source { self.service.seenTokens.insert(id) }
        return self.service.identities.insert(identity, key)
    }

    /// Counts a verification. Refuses it where unknown tokens have used up this tick's: on HTTP one connection carries many
    /// callers, so none is closed for a bad token. The first token of a connection has its own budget, as HELLO has: beyond it
    /// the connection's input waits for the next tick.
    private mutating func requireVerification(_ connection: Int32) throws(CallRefusal) {
        let isFirst =
            !self.tables.connections[connection].flags.contains(.isIdentified)
            && self.transport.credentialFailures[connection] == nil
        if self.tables.connections[connection].wire.isHTTP, !isFirst {
            guard self.service.tokens.later < Limits.verificationsPerTurn else {
                let wait = 100
                throw CallRefusal(
                    .credentialsRate,
                    "\(Limits.verificationsPerTurn) unknown tokens were verified at once, the limit, and this one was not; try again in \(wait) ms",
                    details: [
                        .limit(Limits.verificationsPerTurn), StatusDetail(key: "retry_after_ms", value: "\(wait)"),
                    ])
            }
            self.service.tokens.later += 1
        } else {
            self.service.tokens.first += 1
        }
        self.transport.work.spend(WorkMeter.verification)
    }

    /// Verifies the token in the head of a request on a connection without valid credentials, before its body has come. Nil:
    /// it is valid, or there is none.
    mutating func identifyByHead(_ connection: Int32, _ head: RequestHead) -> WireStatus? {
        guard self.service.hasAuthenticator, !head.metadata.isEmpty,
            !self.tables.connections[connection].flags.contains(.isIdentified)
        else { return nil }
        do throws(CallRefusal) {
            _ = try self.caller(connection, head.metadata)
            return nil
        } catch {
            _ = self.credentialsFailed(connection)
            return error.status
        }
    }

    private static let wasTakenBack = "an administrator took the token back"
    private static let lostItsKey = "the server no longer takes its key or certificate"

    private mutating func refused(_ fault: CredentialFault) -> CallRefusal {
        self.tables.counters.credentialsRefused += 1
        self.service.lastCredentialRefusal = fault.description
        return CallRefusal(WireStatus(fault))
    }

    /// The identity of a call: from its own metadata, else the connection's.
    mutating func caller(_ connection: Int32, _ metadata: [Metadata]) throws(CallRefusal) -> UInt32 {
        guard self.service.hasAuthenticator, let authenticator = self.service.authenticator else {
            return IdentityTable.nobody
        }
        guard let own = metadata.first(where: { $0.key == "authorization" }) else {
            return self.tables.connections[connection].identity
        }
        // Two entries are ambiguous: a proxy may have added its own to its client's.
        guard metadata.count(where: { $0.key == "authorization" }) == 1 else {
            throw self.refused(.malformed("it comes twice"))
        }
        guard let text = String(validating: own.value, as: UTF8.self) else {
            throw self.refused(.malformed("it is not text"))
        }
        if text.isEmpty {
            throw self.refused(.malformed("it is empty; leave the entry out to call as the connection does"))
        }
        let identity = try self.identify(connection, text, authenticator)
        self.transport.identified(connection, &self.tables)
        return identity
    }

    /// Counts a refusal of a call's credentials; true if it was one too many, and the connection is closed.
    mutating func credentialsFailed(_ connection: Int32) -> Bool {
        let count = self.transport.credentialFailures[connection, default: 0] + 1
        self.transport.credentialFailures[connection] = count
        // Behind a proxy one connection of HTTP carries many callers: a call ends, never the others.
        guard count > Limits.credentialFailuresMax, !self.tables.connections[connection].wire.isHTTP else {
            return false
        }
        self.close(
            connection,
            WireStatus(
                .credentialsLimit,
                "\(count) calls of this connection came with credentials that were not taken, the limit is \(Limits.credentialFailuresMax); connect again with good ones",
                details: [.found(count), .limit(Limits.credentialFailuresMax)]))
        return true
    }

    // MARK: Quotas

    /// Counts a connection for its identity. False: the identity has too many, and the connection is being closed.
    mutating func admit(_ connection: Int32, as identity: UInt32) -> Bool {
        guard self.service.hasAuthenticator else { return true }
        let limit = self.tables.settings.connectionsPerIdentityMax
        if case .full(let count) = self.service.quotas.enter(
            principal: self.service.identities[identity].identity.principal, max: limit)
        {
            self.close(
                connection,
                WireStatus(
                    .connectionLimit,
                    "this identity has \(count) connections, the limit is \(limit); close some, or share one among more watches",
                    details: [.found(count), .limit(limit), .setting("connections-per-identity")]))
            return false
        }
        self.service.identities.use(identity)
        self.tables.connections[connection].identity = identity
        self.tables.connections[connection].flags.insert(.isCounted)
        return true
    }

    /// The connection no longer has an identity.
    mutating func letGoIdentity(of connection: Int32) {
        guard self.tables.connections[connection].flags.contains(.isCounted) else { return }
        self.tables.connections[connection].flags.remove(.isCounted)
        let identity = self.tables.connections[connection].identity
        self.tables.connections[connection].identity = IdentityTable.nobody
        self.service.quotas.leave(principal: self.service.identities[identity].identity.principal)
        self.service.identities.letGo(identity)
    }

    // MARK: Permission

    /// Checks whether a caller may use this method now.
    mutating func permit(_ method: Method, _ caller: UInt32) throws(CallRefusal) {
        guard self.service.hasAuthenticator else { return }
        if let ended = self.service.identities[caller].ended { throw CallRefusal(ended) }
        // A loop that slept reads input before it checks its timers.
        let expires = self.service.identities[caller].identity.expires
        guard self.tables.now.wall < expires else { throw CallRefusal(WireStatus(.expired(at: expires))) }
        if let wait = self.service.identities[caller].meter.take(
            self.tables.settings.callsPerIdentity, nowMilliseconds: self.tables.now.monotonic)
        {
            let rate = self.tables.settings.callsPerIdentity
            throw CallRefusal(
                .callRate,
                "this identity makes more than \(rate.perSecond) calls a second, after \(rate.burst) at once; try again in \(wait) ms",
                details: [
                    .limit(rate.perSecond), StatusDetail(key: "retry_after_ms", value: "\(wait)"),
                    .setting("calls-per-second"),
                ])
        }
        guard let refusal = Permission(for: method).refusal(of: self.service.identities[caller].identity) else {
            return
        }
        throw CallRefusal(WireStatus(refusal, method))
    }

    /// Checks whether a caller may ask for the account.
    func permit(_ call: Int32, _ method: any MethodHandler, of app: AppNumber) throws(CallRefusal) {
        guard self.service.hasAuthenticator, let own = self.identity(ofCall: call).account else { return }
        // By bytes, as keys are compared: texts that Swift treats as equal may be different accounts.
        let ownKey = self.tables.canonical(Array(own.utf8), app)
        for name in method.accountsNamed where self.tables.canonical(Array(name.utf8), app) != ownKey {
            throw CallRefusal(
                .permissionDenied,
                "the credentials are for one account, and the request does not name that one; name it, or ask with credentials for another",
                details: [StatusDetail(key: "needed", value: "account")])
        }
    }

    /// Whoever made a call.
    func identity(ofCall call: Int32) -> Identity {
        let index =
            self.service.callIdentities[call] ?? self.tables.connections[self.tables.calls[call].connection].identity
        return self.service.identities[index].identity
    }

    // MARK: The end

    /// Identities whose time is over.
    mutating func endExpiredIdentities() {
        while let index = self.service.identities.popEnded(at: self.tables.now.wall) {
            let identity = self.service.identities[index].identity
            self.endIdentity(index, WireStatus(.expired(at: identity.expires)))
        }
    }

    /// Tokens were taken back, durably.
    mutating func revoke(_ revoked: [RevokedToken]) {
        for revocation in revoked { self.service.revocations.insert(revocation.id) }
        for index in self.service.identities.live {
            guard case .token(_, let id) = self.service.identities[index].identity.source,
                revoked.contains(where: { $0.id == id })
            else { continue }
            self.endIdentity(index, WireStatus(.revoked(Self.wasTakenBack)))
        }
    }

    /// Replaces the authenticator. Identities of removed keys and names end.
    package mutating func trust(_ authenticator: Authenticator) {
        guard self.service.hasAuthenticator else {
            preconditionFailure("a server without an authenticator was given one")
        }
        self.service.authenticator = authenticator
        self.service.tokens.refused.removeAll()
        for index in self.service.identities.live
        where !authenticator.stillTrusts(self.service.identities[index].identity) {
            self.endIdentity(index, WireStatus(.revoked(Self.lostItsKey)))
        }
    }

    /// Ends an identity for all its users: streams end now, and connections soon.
    private mutating func endIdentity(_ index: UInt32, _ status: WireStatus) {
        self.tables.counters.identitiesEnded += 1
        self.service.identities.end(index, status, at: self.tables.now.monotonic)
        for call in self.service.callIdentities.keys.sorted() where self.service.callIdentities[call] == index {
            if self.isUnanswered(call) { self.end(call, status) }
        }
        var connection: Int32 = 0
        while connection < self.tables.connections.extent {
            if self.tables.connections.isTaken(connection), self.tables.connections[connection].identity == index,
                self.tables.connections[connection].phase == .open
            {
                self.endStreams(of: connection, status)
            }
            connection += 1
        }
    }

    /// Whether a call has no answer in progress: a stream, or a read that waits for a position and has not begun. A watch that
    /// another call carries ends with that call.
    @inline(__always)
    func isUnanswered(_ call: Int32) -> Bool {
        guard self.tables.part(call) == nil else { return false }
        return self.tables.calls[call].method.isStreaming || self.service.waiting[call] != nil
    }

    /// A unary call in progress was permitted when it began, and still gets its answer. A call that waits for a
    /// position would see data from after the end, so it ends.
    private mutating func endStreams(of connection: Int32, _ status: WireStatus) {
        var call = self.tables.connections[connection].firstCall
        while call >= 0 {
            let next = self.tables.calls[call].nextInConnection
            if self.service.callIdentities[call] == nil, self.isUnanswered(call) { self.end(call, status) }
            call = next
        }
        self.scheduleIdentityClose(connection)
    }

    private mutating func scheduleIdentityClose(_ connection: Int32) {
        // Spread by connection number, so that the connections of one token do not all close in one tick.
        let wait = Limits.endedIdentityMilliseconds / 5
        let spread = Int64(truncatingIfNeeded: UInt32(bitPattern: connection) &* 2_654_435_761 >> 8) % wait
        self.tables.scheduleDeadline(
            .identityEnded(connection, self.tables.connections.generation(connection)),
            at: self.tables.now.monotonic + wait + spread)
    }

    /// Closes a connection whose identity has ended, after its pending answers are sent or its time has passed. It
    /// stays while calls are in progress: those with their own credentials, or with an answer on its way.
    mutating func identityCloseDue(_ connection: Int32) {
        let entry = self.service.identities[self.tables.connections[connection].identity]
        guard self.tables.connections[connection].phase == .open, let ended = entry.ended else { return }
        let mayTake = self.tables.now.monotonic < entry.endedAt + Limits.endedIdentityMilliseconds
        if self.hasCallUnderWay(connection) || (mayTake && self.tables.connections[connection].firstOwed >= 0) {
            self.scheduleIdentityClose(connection)
        } else {
            self.close(connection, ended)
        }
    }

    private func hasCallUnderWay(_ connection: Int32) -> Bool {
        var call = self.tables.connections[connection].firstCall
        while call >= 0 {
            if !self.tables.calls[call].isEnding { return true }
            call = self.tables.calls[call].nextInConnection
        }
        return false
    }
}

extension WireStatus {
    package init(_ fault: CredentialFault) {
        let reason: ErrorReason =
            switch fault {
            case .malformed, .tooLong, .livesTooLong: .credentialsMalformed
            case .untrusted: .credentialsUntrusted
            case .misdirected: .credentialsMisdirected
            case .notYetValid: .credentialsNotYetValid
            case .expired: .credentialsExpired
            case .revoked: .credentialsRevoked
            }
        var details: [StatusDetail] = []
        switch fault {
        case .tooLong(let bytes, let limit):
            details = [.found(bytes), .limit(limit)]
        case .livesTooLong(let until, let now, let limit):
            details = [.found(until.milliseconds(since: now)), .limit(limit), .setting("token-life")]
        default: break
        }
        self.init(reason, fault.description, details: details)
    }

    fileprivate init(_ refusal: Permission.Refusal, _ method: Method) {
        switch refusal {
        case .noCredentials:
            self.init(
                .unauthenticated,
                "\(method.path) needs credentials, and none came with HELLO or with the call; `perch token create` makes some",
                details: [StatusDetail(key: "needed", value: Permission(for: method).scope?.name ?? "none")])
        case .scope(let needed, let held):
            self.init(
                .permissionDenied,
                "\(method.path) needs the scope \(needed.name), the credentials have \(held.name); ask with others",
                details: [
                    StatusDetail(key: "needed", value: needed.name), StatusDetail(key: "found", value: held.name),
                ])
        case .tooNarrow(let needed, _):
            self.init(
                .permissionDenied,
                "\(method.path) is about \(needed), and the credentials are for less; ask with others",
                details: [StatusDetail(key: "needed", value: needed)])
        }
    }
}
