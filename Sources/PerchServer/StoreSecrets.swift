import PerchApple
import PerchBase
import PerchIdentity
import PerchModel
import PerchStore

/// What a store signs with. It lies in the store, so that a backup, a restore and another node have it too.
struct StoreSecrets {
    /// Signs values of test apps; nil in a store without a test app.
    private(set) var authority: AppleAuthority?
    /// Signs passes.
    let passKey: TokenKey
    /// Further keys that verify passes: the one that signed before, and the one that will sign next. Every node shows the next one
    /// long before another node signs with it.
    let otherPassKeys: [TokenKey]

    /// The same where a twin of the App Store signs: a backend that trusts the twin must believe whatever a test app signs.
    func signing(by twin: TwinSetup?) -> StoreSecrets {
        var secrets = self
        if let twin { secrets.authority = twin.values }
        return secrets
    }

    private static let formerKey = ItemKey(.passKey, key: [1])
    /// When the present key began to sign.
    private static let madeKey = ItemKey(.passKey, key: [2])
    private static let nextKey = ItemKey(.passKey, key: [3])

    /// New secrets for those that a store needs and does not have.
    static func missing(
        in engine: StoreEngine, _ settings: ServerSettings, wall: Instant
    ) throws(ServerError) -> [StoredItem] {
        let isTesting =
            settings.apps.contains { $0.environment == .xcode } || engine.apps.states.contains { $0.isTestApp }
        var items: [StoredItem] = []
        do throws(StorageError) {
            if isTesting, try engine.secret(.authority) == nil {
                items.append(StoredItem(ItemKey(.authority), try Self.newAuthority()))
            }
            if try engine.secret(.passKey) == nil {
                items.append(StoredItem(ItemKey(.passKey), try Self.newPassKey()))
                items.append(Self.made(at: wall))
            }
            if try engine.secret(Self.nextKey) == nil { items.append(StoredItem(Self.nextKey, try Self.newPassKey())) }
        } catch {
            throw ServerError("\(error)")
        }
        return items
    }

    /// Where the present key has signed passes for its life, the next one signs. The one before stays, to verify what it signed.
    ///
    /// A store of an earlier version has no next key yet. It gets one now, and changes to it at a later start.
    static func rotate(in engine: StoreEngine, after life: Int64, wall: Instant) throws(ServerError) {
        do throws(StorageError) {
            guard let key = try engine.secret(ItemKey(.passKey)) else { return }
            let made = try engine.secret(Self.madeKey)
            guard let made, made.count == 8 else {
                // Of a store that an earlier version began: the life of its key begins.
                return try engine.replace([Self.made(at: wall)], where: Self.madeKey, was: made, wall: wall)
            }
            let since = Instant(milliseconds: Int64(bitPattern: made.reduce(0) { $0 << 8 | UInt64($1) }))
            guard wall.milliseconds(since: since) >= life, let next = try engine.secret(Self.nextKey) else { return }
            try engine.replace(
                [
                    StoredItem(Self.formerKey, key), StoredItem(ItemKey(.passKey), next),
                    StoredItem(Self.nextKey, try Self.newPassKey()), Self.made(at: wall),
                ], where: Self.madeKey, was: made, wall: wall)
        } catch {
            throw ServerError("\(error)")
        }
    }

    private static func made(at wall: Instant) -> StoredItem {
        var writer = ByteWriter()
        writer.write(fixed: UInt64(bitPattern: wall.milliseconds))
        return StoredItem(Self.madeKey, writer.bytes)
    }

    private static func newAuthority() throws(StorageError) -> [UInt8] {
        do throws(AuthorityFault) {
            return try AppleAuthority.make().stored
        } catch {
            throw .failed("an authority that signs values of test apps: \(error)")
        }
    }

    private static func newPassKey() throws(StorageError) -> [UInt8] {
        guard let key = TokenKey.generate(.es256, id: ""), let shown = key.publicHalf else {
            throw .failed("a key that signs passes: the machine has no randomness")
        }
        let id = String(ContentHash(of: shown.jwk).description.prefix(16))
        return TokenKey(id: id, material: key.material).jwk
    }

    /// Those of a store, which another node may have made.
    init(of engine: StoreEngine, keeping fresh: [StoredItem], wall: Instant) throws(ServerError) {
        let (authority, passKey): ([UInt8]?, [UInt8]?)
        let others: [[UInt8]]
        do throws(StorageError) {
            try engine.keep(fresh, wall: wall)
            authority = try engine.secret(.authority)
            passKey = try engine.secret(.passKey)
            others = try [Self.formerKey, Self.nextKey].map { (key) throws(StorageError) in try engine.secret(key) }
                .compactMap { $0 }
        } catch {
            throw ServerError("\(error)")
        }
        do throws(AuthorityFault) {
            if let authority { self.authority = try AppleAuthority(stored: authority) } else { self.authority = nil }
        } catch {
            throw ServerError("the authority in the store, which signs values of test apps: \(error); restore a backup")
        }
        do throws(KeyFault) {
            guard let key = try TokenKey.read(passKey ?? [], name: "pass").first else { throw KeyFault("it is empty") }
            self.passKey = key
            self.otherPassKeys = try others.map { (bytes) throws(KeyFault) in
                guard let key = try TokenKey.read(bytes, name: "pass").first else { throw KeyFault("one is empty") }
                return key
            }
        } catch {
            throw ServerError("the key in the store, which signs passes: \(error); restore a backup")
        }
    }
}
