import PerchBase
import PerchModel
import PerchStore
import Testing

@testable import PerchServer

/// One forgotten setting must not put a test app beside those of customers who pay.
@Suite struct `apps of different environments` {
    private static func engine(_ kept: [AppEnvironment]) throws -> StoreEngine {
        let storage = MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        for environment in kept {
            _ = try engine.openApp(
                "com.example.app", environment, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"),
                source: "test", fileSettings: AppSettings(), wall: Instant(milliseconds: 1_800_000_000_000))
        }
        return engine
    }

    private static func settings(_ environment: AppEnvironment?) -> ServerSettings {
        var settings = ServerSettings()
        if let environment {
            settings.apps = [
                ServerSettings.AppSettings(
                    bundleID: "com.example.app", environment: environment, catalogPath: "shop.storekit")
            ]
        }
        return settings
    }

    @Test(
        arguments: [
            ([.production], .xcode), ([.xcode], .sandbox), ([.production, .xcode], nil),
            ([.xcode, .sandbox], .sandbox),
        ] as [([AppEnvironment], AppEnvironment?)])
    func `apps of different environments are served together only by an explicit setting`(
        _ kept: [AppEnvironment], _ given: AppEnvironment?
    )
        throws
    {
        let engine = try Self.engine(kept)
        var settings = Self.settings(given)
        let error = #expect(throws: ServerError.self) { try Server.checkEnvironments(settings, engine) }
        #expect(error?.description.contains("in the store") == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("--allow-mixed-environments") == true)
        settings.isMixingEnvironmentsAllowed = true
        try Server.checkEnvironments(settings, engine)
    }

    @Test(
        arguments: [
            ([], .xcode), ([], .production), ([.xcode], .xcode), ([.production, .sandbox], .production),
            ([.xcode], nil),
        ] as [([AppEnvironment], AppEnvironment?)])
    func `apps that are all test apps, or none of them, are served together`(
        _ kept: [AppEnvironment], _ given: AppEnvironment?
    )
        throws
    {
        try Server.checkEnvironments(Self.settings(given), try Self.engine(kept))
    }

    /// Variables for other commands may also apply here; a wrong one is refused.
    @Test(
        arguments: [
            ("com.example.app", nil, true), (nil, .xcode, true), ("com.example.app", .xcode, true), (nil, nil, true),
            (nil, .production, false), ("org.shop", nil, false), ("org.shop", .xcode, false),
        ] as [(String?, AppEnvironment?, Bool)])
    func `a stated app is the one served without a catalogue`(
        _ bundleID: String?, _ environment: AppEnvironment?, _ isServed: Bool
    ) throws {
        var settings = ServerSettings()
        if bundleID != nil || environment != nil { settings.statedApp = (bundleID, environment) }
        let engine = try Self.engine([.xcode])
        guard !isServed else { return try Server.checkStatedApp(settings, engine) }
        let error = #expect(throws: ServerError.self) { try Server.checkStatedApp(settings, engine) }
        #expect(error?.isOfSettings == true && error?.description.contains("it has com.example.app, xcode;") == true)
        // A catalogue has its own environment, which `checkNewApps` checks.
        settings.apps = Self.settings(.production).apps
        try Server.checkStatedApp(settings, engine)
    }

    /// An app that is added by a mistyped name stays.
    @Test func `an app of another environment is added to a store only by an explicit setting`() throws {
        let engine = try Self.engine([.xcode])
        var settings = Self.settings(.xcode)
        try Server.checkNewApps(settings, engine)
        settings.apps[0].bundleID = "com.exmaple.app"
        let error = #expect(throws: ServerError.self) { try Server.checkNewApps(settings, engine) }
        #expect(error?.isOfSettings == true)
        #expect(
            error?.description
                == "the store has no app com.exmaple.app, xcode (--bundle-id, --environment); it has com.example.app, xcode; "
                + "name that one, or add the new one with --add-app")
        settings.isAddingApp = true
        try Server.checkNewApps(settings, engine)
        settings.isAddingApp = false
        try Server.checkNewApps(settings, try Self.engine([]))
    }
}
