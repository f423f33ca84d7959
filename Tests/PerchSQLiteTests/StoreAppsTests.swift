import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import Testing

@testable import PerchSQLite

/// `perch app remove`: a name that was misspelt does not stay in the store for good.
@Suite struct `Removing an app` {
    private let directory = TemporaryDirectory()
    private var path: String { self.directory.file("perch.db") }
    private let wall = Instant(milliseconds: 1_800_000_000_000)

    /// A store of these apps, the first with an account.
    private func makeStore(_ apps: [String], buys: Bool) throws {
        let storage = try SQLiteStorage(path: self.path)
        defer { storage.close() }
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        for app in apps {
            let number = try engine.openApp(
                app, .xcode, catalogue: TestShop.catalogue(), source: "test", fileSettings: TestShop.settings(),
                wall: self.wall)
            guard buys, app == apps[0] else { continue }
            let key = AccountKey(app: number, bytes: Array("anna".utf8))
            let order = PurchaseOrder(productID: "gold")
            let done = try engine.mutateAtStart(
                .operation(.buy(order), account: key, app: number), wall: self.wall, machine: self.wall)
            #expect(done)
        }
    }

    private func names() throws -> [String] {
        let storage = try SQLiteStorage(path: self.path)
        defer { storage.close() }
        return try storage.appStates().map(\.state.bundleID)
    }

    @Test func `a removal takes out the named app, and nothing else`() throws {
        try self.makeStore(["com.example.app", "com.exmaple.app"], buys: true)
        try StoreApps.remove("com.exmaple.app", .xcode, from: self.path)
        #expect(try self.names() == ["com.example.app"])
        let storage = try SQLiteStorage(path: self.path)
        defer { storage.close() }
        // A server starts on it, and gives the number to another app.
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        #expect(engine.apps.states.map(\.bundleID) == ["com.example.app"])
    }

    @Test func `a removal is refused for an app with an account`() throws {
        try self.makeStore(["com.example.app", "org.shop"], buys: true)
        #expect(throws: AppRemovalError.hasAccounts(name: "com.example.app, xcode", count: 1)) {
            try StoreApps.remove("com.example.app", .xcode, from: self.path)
        }
        #expect(try self.names() == ["com.example.app", "org.shop"])
    }

    @Test func `an app whose accounts were erased is removed, and its number is another app's later`() throws {
        try self.makeStore(["com.example.app"], buys: true)
        do {
            let storage = try SQLiteStorage(path: self.path)
            defer { storage.close() }
            let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
            let anna = AccountKey(app: 1, bytes: Array("anna".utf8))
            let done = try engine.mutateAtStart(.reported(.erase(anna), app: 1), wall: self.wall, machine: self.wall)
            #expect(done)
        }
        try StoreApps.remove("com.example.app", .xcode, from: self.path)
        try self.makeStore(["org.shop"], buys: true)
        let storage = try SQLiteStorage(path: self.path)
        defer { storage.close() }
        #expect(try storage.findings() == [])
        let account = try #require(try storage.account(AccountKey(app: 1, bytes: Array("anna".utf8))))
        #expect(try storage.record(account)?.lines.count == 1)
    }

    @Test func `a removal is refused for an unknown app, with the known ones`() throws {
        try self.makeStore(["com.example.app"], buys: false)
        let error = #expect(throws: AppRemovalError.self) {
            try StoreApps.remove("com.example.app", .production, from: self.path)
        }
        #expect(
            error?.description
                == "the store has no app com.example.app, production; it has com.example.app, xcode")
    }

    @Test func `a removal creates no store`() {
        let missing = self.directory.file("missing.db")
        #expect(throws: AppRemovalError.noStore(path: missing)) {
            try StoreApps.remove("com.example.app", .xcode, from: missing)
        }
        #expect(TemporaryDirectory.names(in: self.directory.path).isEmpty)
    }

    @Test func `an error about a read-only directory names it`() {
        let error = #expect(throws: StoreOpenError.self) { _ = try SQLiteStorage(path: "/proc/perch.db") }
        #expect(error == .takesNoFiles(path: "/proc/perch.db", directory: "/proc"))
    }
}
