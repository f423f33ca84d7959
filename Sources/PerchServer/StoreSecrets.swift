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

    /// New secrets for those that a store needs and does not have.
    static func missing(in engine: StoreEngine, _ settings: ServerSettings) throws(ServerError) -> [StoredItem] {
        let isTesting =
            settings.apps.contains { $0.environment == .xcode } || engine.apps.states.contains { $0.isTestApp }
        var items: [StoredItem] = []
        do throws(StorageError) {
            if isTesting, try engine.secret(.authority) == nil {
                items.append(StoredItem(ItemKey(.authority), try Self.newAuthority()))
            }
            if try engine.secret(.passKey) == nil { items.append(StoredItem(ItemKey(.passKey), try Self.newPassKey())) }
        } catch {
            throw ServerError("\(error)")
        }
        return items
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
        do throws(StorageError) {
            try engine.keep(fresh, wall: wall)
            authority = try engine.secret(.authority)
            passKey = try engine.secret(.passKey)
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
        } catch {
            throw ServerError("the key in the store, which signs passes: \(error); restore a backup")
        }
    }
}
