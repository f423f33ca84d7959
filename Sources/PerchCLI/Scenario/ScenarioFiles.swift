import PerchBase
import PerchCatalogue
import PerchModel
import PerchScenario
import PerchServer

/// Scenarios, and the files that they name.
enum ScenarioFiles {
    /// Throws if the file cannot be read. Mistakes in its text are in the result.
    static func parse(_ path: String) throws(CommandFailure) -> ParsedScenario {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try Files.read(path, limitBytes: Limits.scenarioBytesMax)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.failure, "\(printable(path)) is not UTF-8 text")
        }
        return ScenarioParser.parse(text) { (source) throws(ScenarioParser.CatalogueUnreadable) in
            guard let catalogue = try self.catalogue(source, beside: path) else { return nil }
            return (catalogue.products.map(\.id), catalogue.groups.map(\.id))
        }
    }

    /// Nil for products that the scenario spells out.
    private static func catalogue(
        _ source: CatalogueSource, beside path: String
    ) throws(ScenarioParser.CatalogueUnreadable) -> Catalogue? {
        do {
            switch source {
            case .file(let name): return try CatalogueFile.load(self.resolve(name, beside: path)).catalogue
            case .text(let text): return try StoreKitFile.load(Array(text.utf8)).catalogue
            case .inline, .named: return nil
            }
        } catch {
            throw ScenarioParser.CatalogueUnreadable("\(error)")
        }
    }

    /// Relative to the scenario, not to where the command runs.
    static func resolve(_ name: String, beside path: String) -> String {
        guard !name.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }

    /// Reads the catalogues that the scenario at `path` names.
    static func reader(beside path: String) -> @Sendable (_ name: String) throws(ScenarioFailure) -> [UInt8] {
        { (name) throws(ScenarioFailure) in
            do throws(ServerError) {
                return try CatalogueFile.content(at: self.resolve(name, beside: path)).file
            } catch {
                throw ScenarioFailure("\(error)")
            }
        }
    }
}
