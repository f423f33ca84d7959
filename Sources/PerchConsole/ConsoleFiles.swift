import PerchBase

/// One file of the console, as a browser gets it.
package struct ConsoleFile: Sendable {
    package var path: String
    package var contentType: String
    package var bytes: [UInt8]
    /// The entity tag, in its quotes.
    package var tag: String
    /// Its path changes with its content.
    package var isImmutable: Bool

    /// Worth compressing.
    package var isText: Bool { !self.contentType.hasPrefix("image/") }
}

/// The console: pages at fixed paths, and the files that they load, below one path that names the contents of all.
///
/// A page names a file as `/console/~/NAME`. The `~` becomes `~HASH`, so a browser keeps a file for ever, and a page and its
/// modules are always of one version.
package enum ConsoleFiles {
    /// Where a browser begins.
    package static let entrance = "/console/"

    /// The look of Perch, which reports of the bench share.
    package static let style = String(decoding: PackageResources.style_css, as: UTF8.self)

    /// The module that draws the charts of the console and of those reports.
    package static let chart = String(decoding: PackageResources.chart_js, as: UTF8.self)

    /// Every file, in a fixed order.
    package static let all: [ConsoleFile] = Self.made()

    private static let pages: [(path: String, bytes: [UInt8])] = [
        (Self.entrance, PackageResources.index_html),
        ("/console/examples/birds.html", PackageResources.birds_html),
        ("/console/examples/songs.html", PackageResources.songs_html),
        ("/console/examples/movie.html", PackageResources.movie_html),
        ("/console/examples/destination.html", PackageResources.destination_html),
    ]

    private static let assets: [(name: String, bytes: [UInt8])] = [
        ("style.css", PackageResources.style_css),
        ("perch.js", PackageResources.perch_js),
        ("kit.js", PackageResources.kit_js),
        ("chart.js", PackageResources.chart_js),
        ("app.js", PackageResources.app_js),
        ("accounts.js", PackageResources.accounts_js),
        ("account.js", PackageResources.account_js),
        ("operations.js", PackageResources.operations_js),
        ("clock.js", PackageResources.clock_js),
        ("products.js", PackageResources.products_js),
        ("settings.js", PackageResources.settings_js),
        ("live.js", PackageResources.live_js),
        ("record.js", PackageResources.record_js),
        ("incoming.js", PackageResources.incoming_js),
        ("store.js", PackageResources.store_js),
        ("store-subscription.js", PackageResources.store_subscription_js),
        ("console.css", PackageResources.console_css),
        ("example.css", PackageResources.example_css),
        ("example.js", PackageResources.example_js),
        ("birds.js", PackageResources.birds_js),
        ("songs.js", PackageResources.songs_js),
        ("movie.js", PackageResources.movie_js),
        ("destination.js", PackageResources.destination_js),
        ("backyard-birds.storekit", PackageResources.backyard_birds_storekit),
        ("songs.storekit", PackageResources.songs_storekit),
        ("flower-movie.storekit", PackageResources.flower_movie_storekit),
        ("destination-video.storekit", PackageResources.destination_video_storekit),
        ("destination-premium.png", PackageResources.destination_premium_png),
        ("destination-basic.png", PackageResources.destination_basic_png),
        ("icon.svg", PackageResources.icon_svg),
        ("icons.svg", PackageResources.icons_svg),
    ]

    private static func made() -> [ConsoleFile] {
        var everything: [UInt8] = []
        for asset in Self.assets { everything += Array(asset.name.utf8) + [0] + asset.bytes }
        let hash = String(ContentHash(of: everything).description.prefix(12))
        let folder = "/console/~\(hash)/"
        let assets = Self.assets.map { asset in
            ConsoleFile(
                path: folder + asset.name, contentType: Self.contentType(of: asset.name), bytes: asset.bytes,
                tag: "\"\(hash)\"", isImmutable: true)
        }
        return assets
            + Self.pages.map { page in
                let text = String(decoding: page.bytes, as: UTF8.self).split(
                    separator: "/console/~/", omittingEmptySubsequences: false
                ).joined(separator: folder)
                let tag = ContentHash(of: Array(text.utf8)).description.prefix(12)
                return ConsoleFile(
                    path: page.path, contentType: "text/html; charset=utf-8", bytes: Array(text.utf8),
                    tag: "\"\(tag)\"", isImmutable: false)
            }
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        default: "application/json; charset=utf-8"
        }
    }
}
