import Glibc
import PerchBase
import PerchCatalogue
import PerchModel
import PerchSQLite
import PerchStore
import PerchTesting
import Testing

@testable import PerchServer

/// The file of named entitlements at a start and at a reload.
@Suite struct `A file of named entitlements` {
    private static let now = Instant(milliseconds: 1_800_000_000_000)
    private static let sample =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/deploy/sample.storekit"

    private final class Shop {
        let directory = TemporaryDirectory()
        let storage: SQLiteStorage
        let engine: StoreEngine
        let path: String

        init() throws {
            self.path = self.directory.file("shop.storekit")
            TemporaryDirectory.write(TemporaryDirectory.read(sample), to: self.path)
            self.storage = try SQLiteStorage(path: self.directory.file("store"))
            self.engine = try StoreEngine(storage: self.storage, loops: 1, cacheBytesMax: 1 << 20)
            let loaded = try CatalogueFile.load(self.path)
            _ = try self.engine.openApp(
                "app.perch.sample", .sandbox, catalogue: loaded.catalogue, source: self.path,
                fileSettings: loaded.settings, wall: now)
        }

        deinit { self.storage.close() }

        func write(_ entitlements: String?) {
            let file = self.directory.file("shop.entitlements.json")
            if let entitlements {
                TemporaryDirectory.write(Array(entitlements.utf8), to: file)
            } else {
                unlink(file)
            }
        }

        /// Reads the files as a SIGHUP does. The result says whether names were kept although their file is gone.
        func reload() throws -> Bool {
            let mutation = ControlLoop.mutation(1, try CatalogueFile.load(self.path), source: self.path, timeRate: nil)
            var outbox = StoreEngine.Outbox(loops: 1)
            _ = self.engine.run(
                [StoreRequest(loop: 0, ticket: 1, .mutate(mutation))], wall: now, into: &outbox)
            for case .answer(1, .mutated(let result, _)) in outbox.events[0] { return result == .number(1) }
            Issue.record("the mutation was not answered")
            return false
        }

        var names: [String] { self.engine.apps[1]?.state.catalogue.entitlements.map(\.name) ?? [] }
    }

    @Test func `that is gone leaves the names as they were, and an empty list in it takes them away`() throws {
        let shop = try Shop()
        #expect(try shop.reload() == false && shop.names == [], "there were none")
        shop.write(#"{"entitlements":[{"name":"plus","from":[{"group":"plus"}]}]}"#)
        #expect(try shop.reload() == false)
        #expect(shop.names == ["plus"])
        shop.write(nil)
        #expect(try shop.reload(), "it is reported")
        #expect(shop.names == ["plus"])
        #expect(try shop.reload(), "at each reload until it is back")
        shop.write(#"{"entitlements":[]}"#)
        #expect(try shop.reload() == false)
        #expect(shop.names == [])
    }

    @Test func `that is refused leaves the names as they were`() throws {
        let shop = try Shop()
        shop.write(#"{"entitlements":[{"name":"plus","from":[{"group":"plus","level":1}]}]}"#)
        _ = try shop.reload()
        shop.write(#"{"entitlements":[{"name":"plus","from":[{"group":"plus","level":9}]}]}"#)
        let error = #expect(throws: ServerError.self) { try shop.reload() }
        let message = try #require(error).description
        #expect(message.contains("level 9"))
        let place = shop.directory.file("shop.entitlements.json") + ": line 1, column 65: "
        #expect(message.hasPrefix(place), "\(message)")
        #expect(shop.names == ["plus"])
    }
}
