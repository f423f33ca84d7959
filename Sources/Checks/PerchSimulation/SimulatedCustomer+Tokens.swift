import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchTesting
import PerchWire

// Tokens of simulated customers, and checks of the promise `permission`.
extension SimulatedCustomer {
    /// The credentials of HELLO: mostly those of the last connection, another token if that one has ended.
    func showToken() -> String {
        guard let tokens = self.simulation.tokens else { return "" }
        if let token = self.token, token.expires <= self.simulation.latestWall { self.isTokenOver = true }
        let wantsAnother = self.isTokenOver ? self.random.below(8) != 0 : self.random.below(4) == 0
        if self.token == nil || wantsAnother {
            // Some customers send no token with HELLO and a token with each call.
            self.token = self.random.below(10) == 0 ? nil : self.makeToken(tokens)
            self.isTokenOver = false
        }
        self.cameWithEnded = self.token.map { $0.expires <= self.world.wall } ?? false
        return self.token?.authorization ?? ""
    }

    private func makeToken(_ tokens: SimulatedTokens) -> SimulatedToken {
        let scope = self.random.element([Scope.read, .write, .test, .test, .admin, .admin])
        let lifetime = self.random.element([1_500, 20_000, 300_000, 3_600_000, 86_400_000])
        return tokens.make(
            scope, account: scope != .admin && self.random.bool() ? self.random.element(Self.accounts) : nil,
            expires: self.world.wall.advanced(byMilliseconds: Int64(lifetime)))
    }

    /// Sends a call, sometimes with its own token.
    func ask(_ client: WireClient, _ request: Request, timeoutMilliseconds: UInt64) -> UInt32 {
        guard let tokens = self.simulation.tokens else {
            return client.call(request, timeoutMilliseconds: timeoutMilliseconds)
        }
        let bringsOwn = self.token == nil ? self.random.below(4) != 0 : self.random.below(12) == 0
        let own = bringsOwn ? self.makeToken(tokens) : nil
        let stream = client.call(
            request, timeoutMilliseconds: timeoutMilliseconds, authorization: own?.authorization)
        let caller = own ?? self.token
        self.callers[stream] = SimulatedCaller(token: caller, mayAsk: caller?.permits(request) ?? false)
        return stream
    }

    /// Revokes a token.
    func revokeSomething() {
        guard let tokens = self.simulation.tokens, !tokens.made.isEmpty else { return }
        let taken = self.random.element(tokens.made.suffix(8))
        // An end that has passed when the request arrives is refused.
        let isFarAway = taken.expires.milliseconds(since: self.simulation.latestWall) > 600_000
        self.send(
            .revokeToken(RevokeTokenRequest(tokenID: taken.id, expires: isFarAway ? taken.expires : nil)),
            .revocation(taken))
    }

    /// A random account. Customers with a token for one account mostly ask for that one.
    func someAccount() -> String {
        if let own = self.token?.account, self.random.below(4) != 0 { return own }
        return self.random.element(Self.accounts)
    }

    private func isOver(_ token: SimulatedToken) -> Bool {
        token.expires <= self.simulation.latestWall || self.world.revokedSince[token.id] != nil
    }

    /// At rest no stream and no connection is open whose token has ended.
    func checkCallersAtRest(endedBefore begin: Instant) {
        guard self.isConnected else { return }
        for watch in self.watches {
            guard let stream = watch.stream, let token = self.callers[stream]?.token, self.isOver(token) else {
                continue
            }
            self.simulation.promises.breach("permission", "\(watch.subject) goes on, and its token \(token.id) is over")
        }
        let isOthers = self.callers.values.contains { $0.token?.id != self.token?.id }
        if let token = self.token, token.expires <= begin || self.world.revokedSince[token.id] != nil, !isOthers {
            self.simulation.promises.breach("permission", "a connection stays, and its token \(token.id) is over")
        }
    }

    // MARK: Judging

    static let refusalsOfCallers: Set = [
        "CREDENTIALS_EXPIRED", "CREDENTIALS_REVOKED", "PERMISSION_DENIED", "UNAUTHENTICATED",
    ]

    /// A refusal because of a token has the right reason, and a call without permission is refused.
    func heardEnd(_ status: Status, of caller: SimulatedCaller?) {
        guard let caller else { return }
        switch status.reason {
        case "CREDENTIALS_EXPIRED", "CREDENTIALS_REVOKED":
            if status.reason == "CREDENTIALS_EXPIRED" {
                self.simulation.callers.expired += 1
            } else {
                self.simulation.callers.revoked += 1
            }
            self.checkEnd(status.reason, caller.token)
        case "PERMISSION_DENIED", "UNAUTHENTICATED":
            self.simulation.callers.denied += 1
            let isNobody = caller.token == nil
            if caller.mayAsk || isNobody != (status.reason == "UNAUTHENTICATED") {
                self.simulation.promises.breach("permission", "\(caller) was refused: \(status.message)")
            }
        default:
            if status.code == 0, !caller.mayAsk {
                self.simulation.promises.breach("permission", "\(caller) was answered")
            }
        }
    }

    func checkEnd(_ reason: String, _ token: SimulatedToken?) {
        let isSo: Bool =
            switch reason {
            case "CREDENTIALS_EXPIRED": token.map { $0.expires <= self.simulation.latestWall } ?? false
            case "CREDENTIALS_REVOKED": token.map { self.world.revokedSince[$0.id] != nil } ?? false
            default: false
            }
        if !isSo { self.simulation.promises.breach("permission", "\(reason) was told of \(token as Any)") }
    }

    /// No stream sends data that its token does not permit, or data committed after the end of the token. A unary call
    /// in progress still gets its answer.
    func checkMay(_ caller: SimulatedCaller, committed: Instant?, revision: UInt64?) {
        guard let token = caller.token, caller.mayAsk else {
            self.simulation.promises.breach("permission", "\(caller) was told something")
            return
        }
        if let committed, committed >= token.expires {
            self.simulation.promises.breach(
                "permission", "what was committed \(committed) was sent under a token that ended \(token.expires)")
        }
        if let revision, let since = self.world.revokedSince[token.id], revision > since {
            self.simulation.promises.breach(
                "permission", "revision \(revision) was sent under token \(token.id), which was revoked at \(since)")
        }
    }
}

extension Response {
    /// Instant and revision of the commit that a message reports; nil for messages without data.
    var streamedInfo: (committed: Instant, revision: UInt64)? {
        let info: ValueInfo? =
            switch self {
            case .productsTask(let state): state.info
            case .subscriptionStatusTask(let state): state.info
            case .currentEntitlementTask(let state): state.info
            case .purchaseIntents(let state): state.info
            case .messages(let state): state.info
            case .transactionUpdates(let event):
                // The list of unfinished transactions and the marker are about the past.
                event.kind == .unfinished || event.transaction == nil
                    ? nil
                    : ValueInfo(
                        position: Position(revision: event.revision, asOf: event.committed), committed: event.committed)
            default: nil
            }
        return info.map { ($0.committed, $0.position.revision) }
    }
}
