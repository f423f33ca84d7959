import PerchBase
package import PerchModel

// A guest is an app that lives in memory beside the apps of a store, such as that of an example of the console. `LoadCatalog`
// makes it, and it is gone with the process. It is in no list of apps, in no report, and it is never the app of a request that
// names none.

/// What a guest begins with.
package struct GuestOpening: Sendable {
    package var bundleID: String
    package var catalogue: Catalogue
    package var images: [ImageContent]
    package var source: String
    package var settings: AppSettings

    package init(
        bundleID: String, catalogue: Catalogue, images: [ImageContent], source: String, settings: AppSettings
    ) {
        self.bundleID = bundleID
        self.catalogue = catalogue
        self.images = images
        self.source = source
        self.settings = settings
    }
}

/// The names of guests, and how many there may be.
package enum GuestApps {
    /// How their bundle IDs begin.
    package static let prefix = "perch.examples."
    /// Those of one process. Each has a catalogue of at most 1 MiB, and its accounts.
    package static let countMax = 16
    package static let nameBytesMax = 64

    package static func isGuest(_ bundleID: String, _ environment: AppEnvironment) -> Bool {
        environment == .xcode && bundleID.hasPrefix(Self.prefix) && bundleID.utf8.count <= Self.nameBytesMax
    }
}

extension AppState {
    package var isGuest: Bool { GuestApps.isGuest(self.bundleID, self.environment) }
}

extension StoreEngine {
    /// Makes a guest, unless another call was first. Its catalogue is then that of the first.
    func open(
        _ opening: GuestOpening, of mutation: Mutation, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        let states = batch.apps.states
        if let known = states.first(where: { $0.isGuest && $0.bundleID == opening.bundleID }) {
            let now = known.clock.now(wall: call.wall)
            return .mutated(.none, Position(revision: known.revision, asOf: now))
        }
        let count = states.count { $0.isGuest }
        guard count < GuestApps.countMax else {
            return .refused(
                Refusal(
                    .appUnknown,
                    "this server has \(count) apps in memory, the limit is \(GuestApps.countMax); restart it, or name one of those",
                    found: Int64(count), limit: Int64(GuestApps.countMax)))
        }
        let app = try self.openApp(
            opening.bundleID, .xcode, catalogue: opening.catalogue, images: opening.images, source: opening.source,
            fileSettings: opening.settings, clock: .running(offsetMilliseconds: 0), audit: mutation.audit,
            wall: call.wall, &batch)
        return .mutated(.none, Position(revision: app.revision, asOf: app.clock.now(wall: call.wall)))
    }
}
