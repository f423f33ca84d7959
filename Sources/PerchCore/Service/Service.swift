import PerchIdentity
import PerchStore
import PerchWire

/// What the service keeps of callers and of calls under way beside their slots.
struct Service: ~Copyable {
    // Who calls.
    /// Nil: every caller may do everything.
    var authenticator: Authenticator?
    var identities: IdentityTable
    /// Identifiers of revoked tokens.
    var revocations: Set<String>
    let quotas: SharedQuotas
    var lastCredentialRefusal = ""
    var clientIDs: [Int32: [UInt8]] = [:]
    /// Of calls that brought credentials of their own.
    var callIdentities: [Int32: UInt32] = [:]

    // Calls under way.
    var tickets = Slab<Ticket>()
    var pending: [PendingCall?] = []
    var freePending: [Int32] = []
    var waiting = WaitingCalls()
    var callTokens: [Int32: ResumeToken] = [:]
    /// Bytes of the requests of calls that keep a long one.
    var longRequests: [Int32: Int32] = [:]
    var requestBytes = 0
    var callsBytesElsewhere = 0
    /// The end of a call that went well: the same bytes for all.
    let okStatus: PayloadHandle

    // What was asked of the store.
    var askedCount: UInt64 = 0
    var answeredCount: UInt64 = 0
    var heldBarriers: [(number: UInt64, asked: UInt64)] = []
    var storeFailure: String?

    init(
        authenticator: Authenticator?, revocations: [RevokedToken], quotas: SharedQuotas, okStatus: PayloadHandle,
        identitiesKeptMax: Int
    ) {
        self.authenticator = authenticator
        self.identities = IdentityTable(
            nobody: authenticator == nil ? .everyone : .anonymous, keptMax: identitiesKeptMax)
        self.revocations = Set(revocations.map(\.id))
        self.quotas = quotas
        self.okStatus = okStatus
    }
}
