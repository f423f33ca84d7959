import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

/// A token of a simulation, with its permissions.
struct SimulatedToken {
    let id: String
    /// The text in HELLO and in metadata.
    let authorization: String
    let scope: Scope
    /// Nil for every account.
    let account: String?
    let expires: Instant

    /// Whether the token permits a request. It evaluates the request itself, not the server's table.
    func permits(_ request: Request) -> Bool {
        switch request {
        case .productsTask, .getProducts: true
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked): self.reaches(asked.account)
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked): self.reaches(asked.account)
        case .transactionUpdates(let asked): self.reaches(asked.account)
        case .purchaseIntents(let asked), .messages(let asked): self.reaches(asked.account)
        case .listTransactions(let asked): self.reaches(asked.account)
        case .purchase(let asked): self.scope >= .write && self.reaches(asked.account)
        case .finish(let asked): self.scope >= .write && self.reaches(asked.account)
        case .operate(let asked): self.scope >= .test && self.permits(asked)
        case .getClock: self.scope >= .test
        case .configure, .setClock: self.scope >= .test && self.account == nil
        case .loadCatalog, .revokeToken: self.scope >= .admin && self.account == nil
        default: preconditionFailure("no customer of a simulation asks for \(request)")
        }
    }

    /// An operation without an account counts as one for any account.
    private func permits(_ asked: OperateRequest) -> Bool {
        switch asked.operation {
        case .share(_, let member)?, .stopSharing(_, let member?)?:
            self.reaches(asked.account) && self.reaches(member)
        default: self.reaches(asked.account)
        }
    }

    private func reaches(_ account: String) -> Bool {
        self.account.map { $0.utf8.elementsEqual(account.utf8) } ?? true
    }
}

/// The token of a call, in a life with tokens.
struct SimulatedCaller {
    /// Nil for no token.
    var token: SimulatedToken?
    var mayAsk: Bool
}

/// The tokens of a life: created, revoked, and remembered revocations.
final class SimulatedTokens {
    /// A fixed key, so that a seed creates the same tokens.
    private static let key = TokenKey(id: "simulated", material: .secret([UInt8](repeating: 0x51, count: 32)))

    static let authenticator: Authenticator = {
        do {
            return try Authenticator(keys: [SimulatedTokens.key])
        } catch {
            preconditionFailure("one key is one key: \(error)")
        }
    }()

    private(set) var made: [SimulatedToken] = []
    /// Tokens whose revocation an administrator has confirmed.
    private(set) var acknowledged: [SimulatedToken] = []

    func make(_ scope: Scope, account: String?, expires: Instant) -> SimulatedToken {
        // Tokens end on whole seconds.
        let end = Instant(milliseconds: expires.milliseconds / 1_000 * 1_000)
        let apps: AppReach =
            scope == .admin ? .all : .apps([AppName(bundleID: TestShop.bundleID, environment: .xcode)])
        var claims = TokenClaims(expires: end, apps: apps, scope: scope)
        claims.audience = ["perch"]
        claims.account = account
        claims.id = "\(self.made.count)"
        do throws(KeyFault) {
            let token = SimulatedToken(
                id: claims.id, authorization: "Bearer " + (try claims.signed(by: Self.key)), scope: scope,
                account: account, expires: end)
            self.made.append(token)
            return token
        } catch {
            preconditionFailure("a token cannot be signed: \(error)")
        }
    }

    func acknowledge(_ token: SimulatedToken) { self.acknowledged.append(token) }

    /// Confirmed revocations that a store lacks at an instant. A store may forget a revocation once the token has
    /// ended.
    func forgotten(by known: [RevokedToken], at now: Instant) -> [String] {
        let ids = Set(known.map(\.id))
        return self.acknowledged.filter { $0.expires > now && !ids.contains($0.id) }.map(\.id)
    }
}
