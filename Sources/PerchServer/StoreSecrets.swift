import PerchApple
import PerchBase
import PerchIdentity
import PerchModel
import PerchStore

/// What a store signs with. It lies in the store, so that a backup, a restore and another node have it too.
struct StoreSecrets {
    /// Signs values of test apps; nil in a store without a test app.
    let authority: AppleAuthority?
    /// Signs passes.
    let passKey: TokenKey
    /// Signed passes before, some of which may still be valid; nil for none.
    let formerPassKey: TokenKey?

    private static let formerKey = ItemKey(.passKey, key: [1])
    /// When the present key was made.
    private static let madeKey = ItemKey(.passKey, key: [2])

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
        } catch {
            throw ServerError("\(error)")
        }
        return items
    }

    /// A new key for passes where the present one has signed for its life. The one before stays, to verify what it signed.
    static func rotate(in engine: StoreEngine, after life: Int64, wall: Instant) throws(ServerError) {
        do throws(StorageError) {
            guard let key = try engine.secret(ItemKey(.passKey)) else { return }
            let made = try engine.secret(Self.madeKey)
            guard let made, made.count == 8 else {
                // Of a store that an earlier version began: the life of its key begins.
                return try engine.replace([Self.made(at: wall)], where: Self.madeKey, was: made, wall: wall)
            }
            let since = Instant(milliseconds: Int64(bitPattern: made.reduce(0) { $0 << 8 | UInt64($1) }))
            guard wall.milliseconds(since: since) >= life else { return }
            try engine.replace(
                [
                    StoredItem(Self.formerKey, key), StoredItem(ItemKey(.passKey), try Self.newPassKey()),
                    Self.made(at: wall),
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
        let (authority, passKey, former): ([UInt8]?, [UInt8]?, [UInt8]?)
        do throws(StorageError) {
            try engine.keep(fresh, wall: wall)
            authority = try engine.secret(.authority)
            passKey = try engine.secret(.passKey)
            former = try engine.secret(Self.formerKey)
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
            self.formerPassKey =
                try former.map { (bytes) throws(KeyFault) in
                    try TokenKey.read(bytes, name: "former pass").first
                } ?? nil
        } catch {
            throw ServerError("the key in the store, which signs passes: \(error); restore a backup")
        }
    }
}
