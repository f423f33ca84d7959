import PerchBase
import PerchCatalogue
import PerchClient
import PerchServer

extension CommandRun {
    /// `perch catalog check`
    func checkCatalogue() throws {
        let path = self.text("FILE")
        let bytes = try self.catalogueBytes(path)
        let loaded: LoadedCatalogue
        do throws(CatalogueError) {
            loaded = try StoreKitFile.load(bytes)
        } catch {
            throw CommandFailure(.failure, "\(self.shown(path)): \(error)")
        }
        try self.printer.print {
            $0.summary(loaded.summary, loaded.warnings)
        } text: { _ in
            ["\(self.shown(path)): \(loaded.summary)"]
                + loaded.warnings.map {
                    "\(self.shown(path)):\($0.place.line):\($0.place.column): warning: "
                        + ($0.productID.isEmpty ? "" : "product \(quoted($0.productID)): ") + printable($0.message)
                }
        }
    }

    /// `perch catalog load`
    func loadCatalogue() async throws {
        let path = self.text("FILE")
        let bytes = try self.catalogueBytes(path)
        try await self.withClient { client in
            let answer = try await client.loadCatalog(bytes, source: path == "-" ? "perch catalog load" : path)
            try self.printer.print { json in
                json.position("position", answer.position)
                json.summary(answer.summary)
            } text: { _ in
                let summary = answer.summary
                let count =
                    summary.consumableCount + summary.nonConsumableCount + summary.nonRenewingCount
                    + summary.subscriptionCount
                return ["loaded \(self.shown(path)) at revision \(answer.position.revision): \(count) products"]
                    + summary.warnings.map {
                        "\(self.shown(path)):\($0.line):\($0.column): warning: "
                            + ($0.productID.isEmpty ? "" : "product \(quoted($0.productID)): ") + printable($0.message)
                    }
            }
        }
    }

    /// `perch catalog show`
    func showCatalogue() async throws {
        try await self.withClient { client in
            let contents = try await client.catalog()
            try self.printer.print {
                $0.catalogContents(contents)
            } text: { _ in
                ["from \(printable(contents.source)), loaded at revision \(contents.revision)"]
                    + contents.groupIDs.map { "group    \(printable($0))" }
                    + contents.productIDs.map { "product  \(printable($0))" }
            }
        }
    }

    private func shown(_ path: String) -> String { path == "-" ? "standard input" : printable(path) }

    private func catalogueBytes(_ path: String) throws(CommandFailure) -> [UInt8] {
        guard path != "-" else {
            do throws(FileFault) {
                return try Files.read("-", limitBytes: Limits.catalogRequestBytesMax)
            } catch {
                throw CommandFailure(.failure, "\(error)")
            }
        }
        do throws(ServerError) {
            return try CatalogueFile.bytes(at: path)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }
}
