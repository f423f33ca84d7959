import PerchBase
package import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

// Identities of callers: from credentials to an identity, and to its end.
extension Service {
    /// The identity for the credentials of a HELLO; empty for none.
    mutating func identify(
        _ connection: Int32, _ authorization: String, _ tables: inout Tables, _ sink: inout some Sink
    ) throws(CallRefusal) -> UInt32 {
        guard let authenticator = self.authenticator else { return IdentityTable.nobody }
        if !authorization.isEmpty { return try self.identify(connection, authorization, authenticator, &tables, &sink) }
        guard let certificate = sink.certificate(of: connection),
            let identity = authenticator.certificates.identity(of: certificate)
        else { return IdentityTable.nobody }
        if let known = self.identities.find(.certificate(certificate.fingerprint)) { return known }
        guard tables.now.wall < identity.expires else { throw self.refused(.expired(at: identity.expires), &tables) }
        return self.identities.insert(identity, .certificate(certificate.fingerprint))
    }

    mutating func identify(
        _ connection: Int32, _ authorization: String, _ authenticator: Authenticator, _ tables: inout Tables,
        _ sink: inout some Sink
    ) throws(CallRefusal) -> UInt32 {
        let hash = ContentHash(of: Array(authorization.utf8))
        let key = IdentityTable.Key.token(hash)
        // An ended identity is not found: its token is verified again, which gives the reason.
        if let known = self.identities.find(key) { return known }
        if let fault = self.tokens.refused[hash] { throw self.refused(fault, &tables) }
        try self.requireVerification(connection, &tables, &sink)
        tables.counters.credentialsVerified += 1
        let identity: Identity
        do throws(CredentialFault) {
            identity = try authenticator.identity(ofAuthorization: authorization, now: tables.now.wall)
        } catch {
            if error.isLasting { self.tokens.refused.insert(hash, error) }
            throw self.refused(error, &tables)
        }
        if case .token(_, let id) = identity.source, self.revocations.contains(id) {
            throw self.refused(.revoked(Self.wasTakenBack), &tables)
        }
        if case .token(_, let id) = identity.source { self.seenTokens.insert(id) }
        return self.identities.insert(identity, key)
    }

    /// Counts a verification. Refuses it where unknown tokens have used up this tick's: on HTTP one connection carries many
    /// callers, so none is closed for a bad token. The first token of a connection has its own budget, as HELLO has: beyond it
    /// the connection's input waits for the next tick.
    private mutating func requireVerification(
        _ connection: Int32, _ tables: inout Tables, _ sink: inout some Sink
    ) throws(CallRefusal) {
        let isFirst =
            !tables.connections[connection].flags.contains(.isIdentified)
            && self.credentialFailures[connection] == nil
        if tables.connections[connection].wire.isHTTP, !isFirst {
            guard self.tokens.later < Limits.verificationsPerTurn else {
                let wait = 100
                throw CallRefusal(
                    .credentialsRate,
                    "\(Limits.verificationsPerTurn) unknown tokens were verified at once, the limit, and this one was not; try again in \(wait) ms",
                    details: [
                        .limit(Limits.verificationsPerTurn), StatusDetail(key: "retry_after_ms", value: "\(wait)"),
                    ])
            }
            self.tokens.later += 1
        } else {
            self.tokens.first += 1
        }
        sink.spend(WorkMeter.verification)
    }

    /// A tick begins.
    mutating func beginTick() { (self.tokens.first, self.tokens.later) = (0, 0) }

    /// The tokens that come first on their connections have used up this tick's verifications.
    var hasVerifiedEnough: Bool {
        @inline(__always)
        get { self.hasAuthenticator && self.tokens.first >= Limits.firstVerificationsPerTurn }
    }

    /// A connection is gone.
    mutating func forget(_ connection: Int32) { self.credentialFailures[connection] = nil }

    /// Verifies the token in the head of a request on a connection without valid credentials, before its body has come. Nil:
    /// it is valid, or there is none.
    mutating func identifyByHead(
        _ connection: Int32, _ head: RequestHead, _ tables: inout Tables, _ sink: inout some Sink
    ) -> WireStatus? {
        guard self.hasAuthenticator, !head.metadata.isEmpty,
            !tables.connections[connection].flags.contains(.isIdentified)
        else { return nil }
        do throws(CallRefusal) {
            _ = try self.caller(connection, head.metadata, &tables, &sink)
            return nil
        } catch {
            _ = self.credentialsFailed(connection, &tables)
            return error.status
        }
    }

    private static let wasTakenBack = "an administrator took the token back"
    private static let lostItsKey = "the server no longer takes its key or certificate"

    private mutating func refused(_ fault: CredentialFault, _ tables: inout Tables) -> CallRefusal {
        tables.counters.credentialsRefused += 1
        self.lastCredentialRefusal = fault.description
        return CallRefusal(WireStatus(fault))
    }

    /// The identity of a call: from its own metadata, else the connection's.
    mutating func caller(
        _ connection: Int32, _ metadata: [Metadata], _ tables: inout Tables, _ sink: inout some Sink
    ) throws(CallRefusal) -> UInt32 {
        guard self.hasAuthenticator, let authenticator = self.authenticator else { return IdentityTable.nobody }
        guard let own = metadata.first(where: { $0.key == "authorization" }) else {
            return tables.connections[connection].identity
        }
        // Two entries are ambiguous: a proxy may have added its own to its client's.
        guard metadata.count(where: { $0.key == "authorization" }) == 1 else {
            throw self.refused(.malformed("it comes twice"), &tables)
        }
        guard let text = String(validating: own.value, as: UTF8.self) else {
            throw self.refused(.malformed("it is not text"), &tables)
        }
        if text.isEmpty {
            throw self.refused(.malformed("it is empty; leave the entry out to call as the connection does"), &tables)
        }
        let identity = try self.identify(connection, text, authenticator, &tables, &sink)
        sink.identified(connection, &tables)
        return identity
    }

    /// Counts a refusal of a call's credentials. Returns why the connection is to be closed, if it was one too many.
    mutating func credentialsFailed(_ connection: Int32, _ tables: inout Tables) -> WireStatus? {
        let count = self.credentialFailures[connection, default: 0] + 1
        self.credentialFailures[connection] = count
        // Behind a proxy one connection of HTTP carries many callers: a call ends, never the others.
        guard count > Limits.credentialFailuresMax, !tables.connections[connection].wire.isHTTP else { return nil }
        return WireStatus(
            .credentialsLimit,
            "\(count) calls of this connection came with credentials that were not taken, the limit is \(Limits.credentialFailuresMax); connect again with good ones",
            details: [.found(count), .limit(Limits.credentialFailuresMax)])
    }

    // MARK: Quotas

    /// Counts a connection for its identity. Returns why it is to be closed, if the identity has too many.
    mutating func admit(_ connection: Int32, as identity: UInt32, _ tables: inout Tables) -> WireStatus? {
        guard self.hasAuthenticator else { return nil }
        let limit = tables.settings.connectionsPerIdentityMax
        if case .full(let count) = tables.quotas.enter(
            principal: self.identities[identity].identity.principal, max: limit)
        {
            return WireStatus(
                .connectionLimit,
                "this identity has \(count) connections, the limit is \(limit); close some, or share one among more watches",
                details: [.found(count), .limit(limit), .setting("connections-per-identity")])
        }
        self.identities.use(identity)
        tables.connections[connection].identity = identity
        tables.connections[connection].flags.insert(.isCounted)
        return nil
    }

    /// The connection no longer has an identity.
    mutating func letGoIdentity(of connection: Int32, _ tables: inout Tables) {
        guard tables.connections[connection].flags.contains(.isCounted) else { return }
        tables.connections[connection].flags.remove(.isCounted)
        let identity = tables.connections[connection].identity
        tables.connections[connection].identity = IdentityTable.nobody
        tables.quotas.leave(principal: self.identities[identity].identity.principal)
        self.identities.letGo(identity)
    }

    // MARK: Permission

    /// Checks whether a caller may use this method now.
    mutating func permit(_ method: Method, _ caller: UInt32, _ tables: inout Tables) throws(CallRefusal) {
        guard self.hasAuthenticator else { return }
        if let ended = self.identities[caller].ended { throw CallRefusal(ended) }
        // A loop that slept reads input before it checks its timers.
        let expires = self.identities[caller].identity.expires
        guard tables.now.wall < expires else { throw CallRefusal(WireStatus(.expired(at: expires))) }
        if let wait = self.identities[caller].meter.take(
            tables.settings.callsPerIdentity, nowMilliseconds: tables.now.monotonic)
        {
            let rate = tables.settings.callsPerIdentity
            throw CallRefusal(
                .callRate,
                "this identity makes more than \(rate.perSecond) calls a second, after \(rate.burst) at once; try again in \(wait) ms",
                details: [
                    .limit(rate.perSecond), StatusDetail(key: "retry_after_ms", value: "\(wait)"),
                    .setting("calls-per-second"),
                ])
        }
        guard let refusal = Permission(for: method).refusal(of: self.identities[caller].identity) else { return }
        throw CallRefusal(WireStatus(refusal, method))
    }

    /// Checks whether a caller may ask for the account.
    func permit(_ call: Int32, _ method: any MethodHandler, of app: AppNumber, _ tables: inout Tables)
        throws(CallRefusal)
    {
        guard self.hasAuthenticator, let own = self.identity(ofCall: call, tables).account else { return }
        // By bytes, as keys are compared: texts that Swift treats as equal may be different accounts.
        let ownKey = tables.canonical(Array(own.utf8), app)
        for name in method.accountsNamed where tables.canonical(Array(name.utf8), app) != ownKey {
            throw CallRefusal(
                .permissionDenied,
                "the credentials are for one account, and the request does not name that one; name it, or ask with credentials for another",
                details: [StatusDetail(key: "needed", value: "account")])
        }
    }

    /// Whoever made a call.
    func identity(ofCall call: Int32, _ tables: borrowing Tables) -> Identity {
        let index = self.callIdentities[call] ?? tables.connections[tables.calls[call].connection].identity
        return self.identities[index].identity
    }

    // MARK: The end

    /// Identities whose time is over.
    mutating func endExpiredIdentities(_ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink) {
        while let index = self.identities.popEnded(at: tables.now.wall) {
            let identity = self.identities[index].identity
            self.endIdentity(index, WireStatus(.expired(at: identity.expires)), &tables, &views, &sink)
        }
    }

    /// Tokens were taken back, durably.
    mutating func revoke(
        _ revoked: [RevokedToken], _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        for revocation in revoked { self.revocations.insert(revocation.id) }
        for index in self.identities.live {
            guard case .token(_, let id) = self.identities[index].identity.source,
                revoked.contains(where: { $0.id == id })
            else { continue }
            self.endIdentity(index, WireStatus(.revoked(Self.wasTakenBack)), &tables, &views, &sink)
        }
    }

    /// Replaces the authenticator. Identities of removed keys and names end.
    mutating func trust(
        _ authenticator: Authenticator, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        guard self.hasAuthenticator else { preconditionFailure("a server without an authenticator was given one") }
        self.authenticator = authenticator
        self.tokens.refused.removeAll()
        for index in self.identities.live
        where !authenticator.stillTrusts(self.identities[index].identity) {
            self.endIdentity(index, WireStatus(.revoked(Self.lostItsKey)), &tables, &views, &sink)
        }
    }

    /// Ends an identity for all its users: streams end now, and connections soon.
    private mutating func endIdentity(
        _ index: UInt32, _ status: WireStatus, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        tables.counters.identitiesEnded += 1
        self.identities.end(index, status, at: tables.now.monotonic)
        for call in self.callIdentities.keys.sorted() where self.callIdentities[call] == index {
            if self.isUnanswered(call, tables) { self.end(call, status, &tables, &views, &sink) }
        }
        var connection: Int32 = 0
        while connection < tables.connections.extent {
            if tables.connections.isTaken(connection), tables.connections[connection].identity == index,
                tables.connections[connection].phase == .open
            {
                self.endStreams(of: connection, status, &tables, &views, &sink)
            }
            connection += 1
        }
    }

    /// Whether a call has no answer in progress: a stream, or a read that waits for a position and has not begun. A watch that
    /// another call carries ends with that call.
    @inline(__always)
    func isUnanswered(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        guard tables.part(call) == nil else { return false }
        return tables.calls[call].method.isStreaming || self.waiting[call] != nil
    }

    /// A unary call in progress was permitted when it began, and still gets its answer. A call that waits for a
    /// position would see data from after the end, so it ends.
    private mutating func endStreams(
        of connection: Int32, _ status: WireStatus, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        var call = tables.connections[connection].firstCall
        while call >= 0 {
            let next = tables.calls[call].nextInConnection
            if self.callIdentities[call] == nil, self.isUnanswered(call, tables) {
                self.end(call, status, &tables, &views, &sink)
            }
            call = next
        }
        self.scheduleIdentityClose(connection, &tables)
    }

    private mutating func scheduleIdentityClose(_ connection: Int32, _ tables: inout Tables) {
        // Spread by connection number, so that the connections of one token do not all close in one tick.
        let wait = Limits.endedIdentityMilliseconds / 5
        let spread = Int64(truncatingIfNeeded: UInt32(bitPattern: connection) &* 2_654_435_761 >> 8) % wait
        tables.scheduleDeadline(
            .identityEnded(connection, tables.connections.generation(connection)),
            at: tables.now.monotonic + wait + spread)
    }

    /// Returns why a connection is to be closed whose identity has ended, after its pending answers are sent or its time has
    /// passed. It stays while calls are in progress: those with their own credentials, or with an answer on its way.
    mutating func identityCloseDue(
        _ connection: Int32, _ tables: inout Tables, _ sink: borrowing some Sink
    ) -> WireStatus? {
        let entry = self.identities[tables.connections[connection].identity]
        guard tables.connections[connection].phase == .open, let ended = entry.ended else { return nil }
        let mayTake = tables.now.monotonic < entry.endedAt + Limits.endedIdentityMilliseconds
        if self.hasCallUnderWay(connection, tables) || (mayTake && sink.hasOutput(connection, tables)) {
            self.scheduleIdentityClose(connection, &tables)
            return nil
        }
        return ended
    }

    private func hasCallUnderWay(_ connection: Int32, _ tables: borrowing Tables) -> Bool {
        var call = tables.connections[connection].firstCall
        while call >= 0 {
            if !tables.calls[call].isEnding { return true }
            call = tables.calls[call].nextInConnection
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
