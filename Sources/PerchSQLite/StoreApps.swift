import Glibc
import PerchBase
package import PerchModel
import PerchStore

/// Why an app was not removed from a store. Nothing was changed.
package enum AppRemovalError: Error, Equatable, CustomStringConvertible {
    case noStore(path: String)
    /// A server has the store.
    case inUse(path: String)
    case unusable(StoreOpenError)
    case noApp(name: String, apps: [String])
    case hasAccounts(name: String, count: Int64)
    case failed(path: String, what: String)

    package var description: String {
        switch self {
        case .noStore(let path): "there is no store at \(path); name its directory, or a file that ends in .db"
        case .inUse(let path): "\(path) is held by a running server; stop it, then remove the app"
        case .unusable(let error): "\(error)"
        case .noApp(let name, let apps):
            "the store has no app \(name); it has " + (apps.isEmpty ? "none" : apps.joined(separator: "; "))
        case .hasAccounts(let name, let count):
            "\(name) has \(counted(count, "account")), and only an app without accounts can be removed; erase them first: perch account erase"
        case .failed(let path, let what): "nothing was removed from \(path): \(what)"
        }
    }
}

/// Changes of a stopped store's apps.
package enum StoreApps {
    /// Takes out an app that has no account, with its catalogues, images and kept answers. Holds the store's lock meanwhile.
    package static func remove(
        _ bundleID: String, _ environment: AppEnvironment, from path: String
    ) throws(AppRemovalError) {
        guard !StoreFile.isVacant(path) || StoreFile.hasLogAlone(path) else { throw .noStore(path: path) }
        let storage: SQLiteStorage
        do throws(StoreOpenError) {
            storage = try SQLiteStorage(path: path)
        } catch .inUse(let path) {
            throw .inUse(path: path)
        } catch {
            throw .unusable(error)
        }
        defer { storage.close() }
        try storage.removeApp(bundleID, environment)
    }
}

extension SQLiteStorage {
    fileprivate func removeApp(_ bundleID: String, _ environment: AppEnvironment) throws(AppRemovalError) {
        let name = "\(bundleID), \(environment)"
        let states: [StoredAppState]
        do throws(StorageError) {
            states = try self.appStates()
        } catch {
            throw .failed(path: self.path, what: "\(error)")
        }
        guard let app = states.first(where: { $0.state.bundleID == bundleID && $0.state.environment == environment })
        else {
            throw .noApp(name: name, apps: states.map { "\($0.state.bundleID), \($0.state.environment)" })
        }
        let number = app.state.number
        var accounts: Int64 = 0
        do throws(SQLiteError) {
            accounts = try self.connection.number("SELECT count(*) FROM aliases WHERE app = \(number)") ?? 0
            if accounts == 0 {
                let tables = ["apps", "app_states", "catalogues", "images", "answers", "due", "crossings"]
                let deletes = tables.map { "DELETE FROM \($0) WHERE app = \(number); " }
                // The number is another app's later. Its revisions are the store's own then, and its items go.
                let group = ItemKey.appGroup(number).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                let kinds = ItemKind.ofApps.map { String($0.rawValue) }.joined(separator: ", ")
                try self.connection.execute(
                    """
                    BEGIN IMMEDIATE; \(deletes.joined())
                    DELETE FROM items WHERE kind IN (\(kinds)) AND substr(grp, 1, \(group.count)) = x'\(group.joined())';
                    UPDATE commits SET app = 0 WHERE app = \(number); COMMIT
                    """)
            }
        } catch {
            if !self.connection.isAutocommit { try? self.connection.execute("ROLLBACK") }
            throw .failed(path: self.path, what: "\(error)")
        }
        guard accounts == 0 else { throw .hasAccounts(name: name, count: accounts) }
    }
}
