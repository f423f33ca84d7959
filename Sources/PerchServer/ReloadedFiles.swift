import PerchBase
import PerchCatalogue

/// Faults of key and catalogue files, which are read at the start and again at SIGHUP. The previous contents stay in
/// use, but a restart would fail. `TLSKeeper` has the faults of TLS files.
struct ReloadedFiles: Equatable {
    /// Fault texts, by purpose of the file.
    private var faults: [String: String] = [:]

    static let keys = "keys and names of certificates"

    static let appleApps = "the apps of the App Store"
    static let entitlementsAreGone =
        "their file is gone; put it back, or write {\"entitlements\": []} into it to have none"

    static func entitlements(of bundleID: String) -> String { "the named entitlements of \(printable(bundleID))" }

    static func catalogue(of bundleID: String) -> String { "the catalogue of \(printable(bundleID))" }

    /// Records a read of a file: nil if it is in use.
    mutating func took(_ what: String, fault: String?) { self.faults[what] = fault }

    /// The faults in a fixed order.
    var told: [String] { self.faults.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } }

    /// The catalogue of an app, and its file.
    struct HeldCatalogue {
        var bundleID: String
        var path: String
        /// Whether the catalogue in use has named entitlements.
        var namesEntitlements = false
    }

    /// The faults if the files of keys and catalogues were read now.
    static func faultsNow(_ settings: ServerSettings, catalogues: [HeldCatalogue]) -> [String] {
        var files = ReloadedFiles()
        do throws(ServerError) {
            _ = try KeyFiles.authenticator(settings.authentication)
        } catch {
            files.took(Self.keys, fault: "\(error)")
        }
        if let path = settings.appleAppsPath {
            do throws(ServerError) {
                _ = try AppleAppsFile(path: path)
            } catch {
                files.took(Self.appleApps, fault: "\(error)")
            }
        }
        for held in catalogues {
            do throws(ServerError) {
                let loaded = try CatalogueFile.load(held.path)
                if held.namesEntitlements, !loaded.hasEntitlements {
                    files.took(Self.entitlements(of: held.bundleID), fault: Self.entitlementsAreGone)
                }
            } catch {
                files.took(Self.catalogue(of: held.bundleID), fault: "\(error)")
            }
        }
        return files.told
    }
}
