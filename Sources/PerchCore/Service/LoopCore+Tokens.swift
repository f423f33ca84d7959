import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Tokens and positions that callers bring back.
extension Tables {
    /// A key as views and tokens compare it.
    func canonical(_ account: [UInt8], _ app: AppNumber) -> [UInt8] {
        guard account.count == AccountToken.textBytes, let state = self.apps[app] else { return account }
        return AccountKey(app: app, bytes: account).canonical(in: state)
    }

    var origin: TokenOrigin { TokenOrigin(store: self.identity, epoch: self.epoch) }

    /// `what`: the kind of token.
    func requireOwn(_ origin: TokenOrigin, _ what: String) throws(CallRefusal) {
        guard origin == self.origin else { throw CallRefusal(tokenOf: origin, what, at: self.origin) }
    }

    /// A position of lost history must not count as reached, because this one came to the same revision with other changes.
    func requireOwn(_ position: Position) throws(CallRefusal) {
        guard position.epoch == 0 || position.epoch == self.epoch else {
            throw CallRefusal(
                .tokenOtherStore,
                "at_least is a position of epoch \(position.epoch), this store has epoch \(self.epoch) since a restore or a "
                    + "failover lost changes; ask without at_least, and make the change again if its result is missing",
                details: [.field("at_least"), .found(Int64(position.epoch))])
        }
    }
}

extension LoopCore {
    /// The token that a call resumes from; nil: the call starts fresh. With `forgives` a token that is refused counts as none.
    func token(
        of request: Request, _ method: any MethodHandler, of app: AppNumber, forgives: Bool
    ) throws(CallRefusal) -> ResumeToken? {
        guard let bytes = request.resumeToken, !bytes.isEmpty else { return nil }
        do throws(CallRefusal) {
            return try self.token(bytes, of: method, app: app)
        } catch {
            if forgives { return nil }
            throw error
        }
    }

    private func token(_ bytes: [UInt8], of method: any MethodHandler, app: AppNumber) throws(CallRefusal)
        -> ResumeToken
    {
        let token = try CallRefusal.reading { () throws(TokenError) in try ResumeToken(bytes) }
        try self.tables.requireOwn(token.origin, ResumeToken.name)
        let account = method.account.map { self.tables.canonical(Array($0.utf8), app) } ?? []
        guard token.app == app, token.view == method.watchedView?.digest(app: app, account: account) else {
            throw CallRefusal(
                .tokenOtherView, "the token belongs to a call with other parameters; begin without a token")
        }
        return token
    }
}

extension CallRefusal {
    /// Reads a token that a caller brings back, or refuses the call.
    static func reading<Token>(_ read: () throws(TokenError) -> Token) throws(CallRefusal) -> Token {
        do throws(TokenError) {
            return try read()
        } catch {
            throw CallRefusal(WireStatus(error))
        }
    }
}
