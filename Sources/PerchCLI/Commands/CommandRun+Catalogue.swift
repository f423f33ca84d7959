import PerchBase
import PerchCatalogue
import PerchClient
import PerchJSON
import PerchModel
import PerchServer
import PerchWire

import struct PerchClient.CatalogImage
import struct PerchClient.CatalogSummary

extension CommandRun {
    /// `perch catalog check`
    func checkCatalogue() throws {
        let path = self.text("FILE")
        let content = try self.catalogueContent(path)
        let loaded: LoadedCatalogue
        do throws(ServerError) {
            loaded = try content.load()
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        let summary = PerchWire.CatalogSummary(loaded.summary, loaded.warnings)
        try self.printer.print(.checkCatalog(CheckCatalogResponse(summary: summary))) { _ in
            ["\(self.shown(path)): \(loaded.summary)"]
                + loaded.warnings.map {
                    self.warning(
                        path, line: Int($0.place.line), column: Int($0.place.column), $0.productID, $0.message)
                }
        }
    }

    /// `perch catalog load`
    func loadCatalogue() async throws {
        let path = self.text("FILE")
        let content = try self.catalogueContent(path)
        // The server would refuse it too, but only after the whole upload, and it would close the connection.
        guard content.byteCount <= Limits.catalogRequestBytesMax else {
            throw CommandFailure(
                .failure,
                "\(self.shown(path)) has \(content.byteCount) bytes with its \(content.images.count) images, a request "
                    + "can have \(Limits.catalogRequestBytesMax); let the server read it (perch serve --catalog), or make "
                    + "the images smaller")
        }
        let images = content.images.map { CatalogImage(id: $0.id, content: $0.bytes) }
        try await self.withClient { client in
            let answer = try await client.loadCatalog(
                content.file, images: images, entitlements: content.entitlements ?? [],
                source: path == "-" ? "perch catalog load" : path)
            let loaded = LoadCatalogResponse(position: answer.position, summary: answer.summary.message)
            try self.printer.print(.loadCatalog(loaded)) { _ in
                let summary = answer.summary
                let count =
                    summary.consumableCount + summary.nonConsumableCount + summary.nonRenewingCount
                    + summary.subscriptionCount
                let images =
                    summary.imageCount == 0 ? "" : ", \(counted(summary.imageCount, "image"))"
                let names = content.entitlements == nil ? "" : ", and the named entitlements beside it"
                return [
                    "loaded \(self.shown(path)) at revision \(answer.position.revision): \(count) products\(images)\(names)"
                ]
                    + summary.warnings.map {
                        self.warning(path, line: $0.line, column: $0.column, $0.productID, $0.message)
                    }
            }
        }
    }

    /// `perch catalog show`
    func showCatalogue() async throws {
        try await self.withClient { client in
            let contents = try await client.catalog()
            let products = self.printer.format == .text ? try await self.products(contents.productIDs, client) : nil
            try self.printer.print(.getCatalog(contents.message)) { writer in
                ["from \(printable(contents.source)), loaded at revision \(contents.revision)"]
                    + [printable(CatalogueSummary(contents.summary).description)]
                    + writer.catalogue(products?.products ?? [], groups: contents.groupIDs)
                    + (products?.unavailableIDs ?? []).map { "not sold now: \(printable($0))" }
                    + contents.images.map { "image \(printable($0.id))  \($0.byteCount) bytes" }
            }
        }
    }

    /// Asks in parts, because one answer has a limit.
    private func products(_ ids: [String], _ client: PerchClient) async throws(PerchError) -> Products {
        var all = Products(products: [], unavailableIDs: [])
        for start in stride(from: 0, to: ids.count, by: Limits.catalogShowProductsPerRequest) {
            let part = try await client.products(
                Array(ids[start..<min(ids.count, start + Limits.catalogShowProductsPerRequest)]))
            all.products += part.value.products
            all.unavailableIDs += part.value.unavailableIDs
        }
        return all
    }

    private func warning(_ path: String, line: Int, column: Int, _ productID: String, _ message: String) -> String {
        let product = productID.isEmpty ? "" : "product \(quoted(productID)): "
        return "\(self.shown(path)):\(line):\(column): warning: \(product)\(printable(message))"
    }

    private func shown(_ path: String) -> String { path == "-" ? "standard input" : printable(path) }

    private func catalogueContent(_ path: String) throws(CommandFailure) -> CatalogueFile.Content {
        guard path != "-" else {
            do throws(FileFault) {
                return CatalogueFile.Content(
                    file: try Files.read("-", limitBytes: Limits.catalogueFileBytes), at: self.shown(path))
            } catch {
                throw CommandFailure(.failure, "\(error)")
            }
        }
        do throws(ServerError) {
            return try CatalogueFile.content(at: path)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }
}

extension CatalogueSummary {
    /// A server's summary, in the form of one of a local file.
    fileprivate init(_ summary: CatalogSummary) {
        self.init()
        self.schemaVersion = summary.schemaVersion
        self.consumableCount = summary.consumableCount
        self.nonConsumableCount = summary.nonConsumableCount
        self.nonRenewingCount = summary.nonRenewingCount
        self.subscriptionCount = summary.subscriptionCount
        self.groupCount = summary.groupCount
        self.introductoryOfferCount = summary.introductoryOfferCount
        self.promotionalOfferCount = summary.promotionalOfferCount
        self.codeOfferCount = summary.codeOfferCount
        self.winBackOfferCount = summary.winBackOfferCount
        self.imageCount = summary.imageCount
    }
}
