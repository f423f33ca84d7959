import PerchBase
import PerchCatalogue

/// The files of keys and catalogues, which are read at the start and again at SIGHUP, as far as they could not be used when they
/// were read last: what was read before stays in use, and a restart would fail. Those of TLS have a keeper, which knows.
struct ReloadedFiles: Equatable {
    /// By what they are for; in words for people.
    private var faults: [String: String] = [:]

    static let keys = "keys and names of certificates"

    static func catalogue(of bundleID: String) -> String { "the catalogue of \(printable(bundleID))" }

    /// One was read: nil where it is in use.
    mutating func took(_ what: String, fault: String?) { self.faults[what] = fault }

    /// In one order, whatever they were read in.
    var told: [String] { self.faults.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } }

    /// What would go wrong if the files of keys and catalogues were read now.
    static func faultsNow(_ settings: ServerSettings, catalogues: [(bundleID: String, path: String)]) -> [String] {
        var files = ReloadedFiles()
        do throws(ServerError) {
            _ = try KeyFiles.authenticator(settings.authentication)
        } catch {
            files.took(Self.keys, fault: "\(error)")
        }
        for (bundleID, path) in catalogues {
            do throws(ServerError) {
                _ = try CatalogueFile.load(path)
            } catch {
                files.took(Self.catalogue(of: bundleID), fault: "\(error)")
            }
        }
        return files.told
    }
}
