import PerchIdentity
import PerchStore
import PerchWire
import Synchronization

/// Checks of tokens that callers sent.
struct TokenChecks {
    var refused = RefusedTokens()
    /// Tokens that were verified in this tick: the first ones of connections, and those behind them on HTTP.
    var first = 0
    var later = 0
}

/// Bytes of long requests, by call and in all, on this loop and on the others.
struct RequestRoom {
    var requests: [Int32: Int32] = [:]
    var bytes = 0
    var bytesElsewhere = 0
}

/// The service: who calls, and what each call does. Here is what is not in the slots of calls.
struct Service: ~Copyable {
    /// Makes the struct immovable, as that of `LoopCore` does.
    private let anchor = Atomic<Bool>(false)

    // Authenticates callers. Nil: every caller may do everything.
    var authenticator: Authenticator? {
        didSet { self.hasAuthenticator = self.authenticator != nil }
    }
    /// Each call asks; a look into the optional itself is a call of the runtime.
    private(set) var hasAuthenticator: Bool
    var identities: IdentityTable
    /// Identifiers of revoked tokens.
    var revocations: Set<String>
    let seenTokens: SeenTokens
    /// Nil: none can be offered.
    let consoleCodes: ConsoleCodes?
    var tokens = TokenChecks()
    var lastCredentialRefusal = ""
    /// Number of refused credentials of calls, by connection.
    var credentialFailures: [Int32: Int] = [:]
    /// Identities of calls with their own credentials.
    var callIdentities: [Int32: UInt32] = [:]

    // Calls under way.
    var pending: [PendingCall?] = []
    var freePending: [Int32] = []
    var waiting = WaitingCalls()
    var appSearch = AppSearch()
    var room = RequestRoom()
    /// The products that orders name.
    var orderProducts = OrderProducts()

    init(
        authenticator: Authenticator?, revocations: [RevokedToken], seenTokens: SeenTokens, consoleCodes: ConsoleCodes?,
        identitiesKeptMax: Int
    ) {
        self.authenticator = authenticator
        self.hasAuthenticator = authenticator != nil
        self.identities = IdentityTable(
            nobody: authenticator == nil ? .everyone : .anonymous, keptMax: identitiesKeptMax)
        self.revocations = Set(revocations.map(\.id))
        self.seenTokens = seenTokens
        self.consoleCodes = consoleCodes
    }
}
