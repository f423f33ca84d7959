import PerchApple
import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

/// A call as its handler knows it, beside the request: the caller, the app, the present moment, and the makers of answers.
struct MethodContext {
    /// Nil for a call about the server.
    let named: AppState?
    let apps: AppTable
    /// By the app's clock.
    let now: Instant
    let wall: Instant
    let monotonic: Int64
    /// The revision up to which every change is applied.
    let applied: UInt64
    let origin: TokenOrigin
    let caller: MethodCaller
    let access: ServerAccess
    /// What an earlier step kept.
    var kept = ""
    /// Values of a submission that were not taken.
    var refusedValues: [RefusedValue] = []

    let codec: MessageCodec
    let signing: Signing

    /// The app of the call, found when it began. Apps of open calls are never removed.
    var app: AppState {
        guard let app = self.named else { preconditionFailure("a call of an app that is gone") }
        return app
    }

    var position: Position { Position(revision: self.applied, asOf: self.now) }

    func key(ofAccount account: String) -> AccountKey { AccountKey(account, of: self.app.number) }

    /// The name of the caller, without the key of the credentials.
    var author: String { AuditEntry.author(of: self.caller.identity.label) }

    /// The audit entry of a call; nil where nothing is audited.
    func entry(_ note: AuditNote, _ method: Method) -> AuditEntry? {
        guard case .audited(let what) = note else { return nil }
        return AuditEntry(
            at: self.wall, subject: self.caller.identity.label, address: self.caller.address.text, method: method.path,
            what: what,
            bundleID: self.named?.bundleID ?? "", environment: self.named.map { "\($0.environment)" } ?? "")
    }

    // MARK: Refusals

    func requireTestApp() throws(CallRefusal) {
        guard !self.app.isTestApp else { return }
        throw CallRefusal(
            .notATestApp,
            "\(self.app.bundleID) is an app of the \(self.app.environment) store, which alone knows its accounts; use an xcode app to rehearse"
        )
    }

    func requireReportedApp() throws(CallRefusal) {
        guard self.app.isTestApp else { return }
        throw CallRefusal(
            .notToldApp,
            "\(self.app.bundleID) is a test app, whose purchases stay with the account that made them; use its sandbox or production app"
        )
    }

    /// `what`: the kind of token.
    func requireOwn(_ origin: TokenOrigin, _ what: String) throws(CallRefusal) {
        guard origin == self.origin else { throw CallRefusal(tokenOf: origin, what, at: self.origin) }
    }

    // MARK: Reads

    /// The past moment of a read; nil for the present and the future.
    func known(_ asOf: AsOf) -> KnownAs? {
        let past = asOf.instant.flatMap { $0 < self.now ? $0 : nil }
        return asOf.revision == 0 && past == nil ? nil : KnownAs(revision: asOf.revision, instant: past)
    }

    /// The record as a read of the future sees it. Reads of the present leave the attempts to the store.
    func foreseen(_ record: AccountRecord?, _ app: AppState, at instant: Instant) -> AccountRecord? {
        guard let record, instant > self.now else { return record }
        return PerchModel.foreseen(record, app: app, at: instant)
    }

    func info(record: AccountRecord?, app: AppState, at now: Instant, forecast: Forecast?) -> ValueInfo {
        var info = ValueInfo()
        let isRecordNewer = record.map { $0.revision >= app.revision } ?? false
        info.position = Position(revision: isRecordNewer ? record?.revision ?? 0 : app.revision, asOf: now)
        info.committed = isRecordNewer ? record?.committed ?? app.committed : app.committed
        info.cause = .snapshot
        info.forecast = forecast
        return info
    }

    /// The resume token of a view's value in a read.
    func token(_ view: ViewKey, account: [UInt8], _ app: AppNumber, _ position: Position, _ digest: Digest) -> [UInt8] {
        ResumeToken(
            store: self.origin.store, epoch: self.origin.epoch, app: app, view: view.digest(app: app, account: account),
            position: position, digest: digest
        ).bytes
    }
}

/// Who made a call.
struct MethodCaller {
    let identity: Identity
    let address: PeerAddress
    /// What the client says it is.
    let clientID: [UInt8]
    /// The App Store, which has no credentials: the signature says who sent it.
    let isIntake: Bool
}

/// How the server keeps callers apart, for methods about tokens.
struct ServerAccess {
    let tokenLifeMilliseconds: Int64
    let seenTokens: SeenTokens
    /// Nil: the server asks for no token, so none can be offered.
    let consoleCodes: ConsoleCodes?
    let sharesStore: Bool
    let passKey: TokenKey?
}

extension AccountKey {
    init(_ account: String, of app: AppNumber) {
        let text = account.utf8Span.span
        self.init(app: app, bytes: text.withUnsafeBytes { [UInt8]($0) })
    }
}

extension CallRefusal {
    init(tokenOf origin: TokenOrigin, _ what: String, at own: TokenOrigin) {
        self.init(.tokenOtherStore, "the \(what) is of \(origin), this is \(own); begin without one")
    }
}
