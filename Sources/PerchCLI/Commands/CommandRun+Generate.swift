import PerchBase
import PerchCatalogue
import PerchLoop
import PerchModel
import PerchSQLite
import PerchServer

extension CommandRun {
    /// `perch store generate`
    func generate() throws {
        guard let catalog = self.settings.text("catalog") else {
            throw UsageError("perch store generate needs --catalog FILE", command: self.invocation.name)
        }
        let loaded: LoadedCatalogue
        do throws(ServerError) {
            loaded = try CatalogueFile.load(catalog)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        let first = loaded.catalogue.products.first { $0.subscription != nil }
        guard let product = self.settings.text("product") ?? first?.id else {
            throw CommandFailure(.failure, "\(printable(catalog)) has no subscription that accounts could hold")
        }
        let count = Int(self.settings.number("accounts") ?? 0)
        let path = StorePath.file(for: self.text("PATH"))
        var generation = StoreGeneration(
            accounts: count, bundleID: self.settings.text("bundle-id") ?? "", catalogue: loaded.catalogue,
            catalogueSource: catalog, productID: product, now: Clocks.wall())
        generation.images = loaded.images
        var told = 0
        try generateStore(generation, at: path) { done in
            // Ten lines, however many accounts.
            guard done > told, done == count || done - told >= count / 10 else { return }
            told = done
            self.console.talk("\(done) of \(count) accounts")
        }
        self.console.talk("\(printable(path)) is ready: perch serve --store \(shellWord(self.text("PATH")))")
    }
}
