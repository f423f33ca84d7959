import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Tokens and positions that callers bring back.
extension Service {
    /// The token that a call resumes from; nil: the call starts fresh. With `forgives` a token that is refused counts as none.
    func token(
        of request: Request, _ method: any MethodHandler, of app: AppNumber, forgives: Bool, _ tables: borrowing Tables
    ) throws(CallRefusal) -> ResumeToken? {
        // Only a view has such a token. Copies have tokens of their own.
        guard method.watchedView != nil, let bytes = request.resumeToken, !bytes.isEmpty else { return nil }
        do throws(CallRefusal) {
            return try self.token(bytes, of: method, app: app, tables)
        } catch {
            if forgives { return nil }
            throw error
        }
    }

    func token(_ bytes: [UInt8], of method: any MethodHandler, app: AppNumber, _ tables: borrowing Tables)
        throws(CallRefusal)
        -> ResumeToken
    {
        let token = try CallRefusal.reading { () throws(TokenError) in try ResumeToken(bytes) }
        try tables.requireOwn(token.origin, ResumeToken.name)
        let account = method.account.map { tables.canonical(Array($0.utf8), app) } ?? []
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
