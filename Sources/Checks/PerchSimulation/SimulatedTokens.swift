import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

/// A token of a simulation, and what it is for.
struct SimulatedToken {
    let id: String
    /// As HELLO and metadata have it.
    let authorization: String
    let scope: Scope
    /// Nil: every account.
    let account: String?
    let expires: Instant

    /// Whether its holder may ask for that: judged by what is asked, and not by the server's own table.
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
        case .configure, .setClock: self.scope >= .test && self.account == nil
        case .loadCatalog, .revokeToken: self.scope >= .admin && self.account == nil
        default: preconditionFailure("no customer of a simulation asks for \(request)")
        }
    }

    /// An operation that names no account is about any.
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

/// Who made a call, in a life with tokens.
struct SimulatedCaller {
    /// Nil: nobody.
    var token: SimulatedToken?
    var mayAsk: Bool
}

/// The tokens of a life: made, taken back, and what a store may not forget of that.
final class SimulatedTokens {
    /// Known, so that a seed makes the same tokens each time.
    private static let key = TokenKey(id: "simulated", material: .secret([UInt8](repeating: 0x51, count: 32)))

    static let authenticator: Authenticator = {
        do {
            return try Authenticator(keys: [SimulatedTokens.key])
        } catch {
            preconditionFailure("one key is one key: \(error)")
        }
    }()

    private(set) var made: [SimulatedToken] = []
    /// Those that an administrator was told are taken back.
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

    /// What was acknowledged as taken back and is not, in a store at some instant; what has ended since may be forgotten.
    func forgotten(by known: [RevokedToken], at now: Instant) -> [String] {
        let ids = Set(known.map(\.id))
        return self.acknowledged.filter { $0.expires > now && !ids.contains($0.id) }.map(\.id)
    }
}
