import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// What a read of an account is answered from: its record now, or as of the requested moment.
struct AccountRead {
    let record: AccountRecord?
    let app: AppState
    let now: Instant
    let position: Position
    /// The account as views and tokens compare it.
    let account: [UInt8]
    /// True for a caller that wants the signed forms.
    let isSigned: Bool
    /// False for a read of another moment.
    private let isOfNow: Bool
    let context: MethodContext

    init(_ record: AccountRecord?, _ app: AppState, of method: some MethodHandler, _ context: MethodContext) {
        let now = method.asOf?.instant ?? context.now
        self.record = context.foreseen(record, app, at: now)
        self.app = app
        self.now = now
        self.position = Position(revision: context.applied, asOf: now)
        self.account = AccountKey(method.account ?? "", of: app.number).canonical(in: app)
        self.isSigned = method.includesJWS
        self.isOfNow = method.asOf?.isBlank ?? true
        self.context = context
    }

    /// What a client gets with a value.
    func info(forecast: Forecast? = nil) -> ValueInfo {
        self.context.info(record: self.record, app: self.app, at: self.now, forecast: forecast)
    }

    /// What a client gets with a view's value. A read of now has the token of a stream of the same view.
    func info(_ key: ViewKey, _ digest: Digest, forecast: Forecast?) -> ValueInfo {
        var info = self.info(forecast: forecast)
        guard self.isOfNow else { return info }
        info.token = self.context.token(key, account: self.account, self.app.number, info.position, digest)
        return info
    }

    /// The armed failure of a part of the store.
    func failure(of api: StoreKitAPI) -> (Failure, ValueInfo)? {
        simulatedFailure(of: api, app: self.app).map { (WireStatus($0).failure, self.info()) }
    }

    /// The server's own app: what is signed and how depends on the app now.
    var signing: Signing { self.context.signing }
}

extension AccountKey {
    /// As views and tokens compare it: in an app of the App Store the case of a UUID makes no difference.
    func canonical(in app: AppState) -> [UInt8] { app.isTestApp ? self.bytes : self.canonical.bytes }
}
