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
    /// Pages of other origins load it too.
    package var isShared = false

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

    /// Every file of the console, in a fixed order.
    package static let all: [ConsoleFile] = Self.made()

    /// The store views for any page: one address that stays, and the modules behind it at addresses that name their contents.
    package static let views: [ConsoleFile] = Self.madeViews()

    /// The module that a page of another site loads.
    package static let viewsEntrance = "/views/v1/perch-views.js"

    private static let pages: [(path: String, bytes: [UInt8])] = [
        (Self.entrance, PackageResources.index_html),
        ("/console/examples/birds.html", PackageResources.birds_html),
        ("/console/examples/songs.html", PackageResources.songs_html),
        ("/console/examples/movie.html", PackageResources.movie_html),
        ("/console/examples/destination.html", PackageResources.destination_html),
        ("/console/examples/states.html", PackageResources.states_html),
    ]

    private static let assets: [(name: String, bytes: [UInt8])] = [
        ("style.css", PackageResources.style_css),
        ("perch.js", PackageResources.perch_js),
        ("press.js", PackageResources.press_js),
        ("kit.js", PackageResources.kit_js),
        ("chart.js", PackageResources.chart_js),
        ("app.js", PackageResources.app_js),
        ("streams.js", PackageResources.streams_js),
        ("find.js", PackageResources.find_js),
        ("accounts.js", PackageResources.accounts_js),
        ("account.js", PackageResources.account_js),
        ("operations.js", PackageResources.operations_js),
        ("clock.js", PackageResources.clock_js),
        ("products.js", PackageResources.products_js),
        ("settings.js", PackageResources.settings_js),
        ("live.js", PackageResources.live_js),
        ("record.js", PackageResources.record_js),
        ("incoming.js", PackageResources.incoming_js),
        ("audit.js", PackageResources.audit_js),
        ("store.js", PackageResources.store_js),
        ("store-subscription.js", PackageResources.store_subscription_js),
        ("store-sheets.js", PackageResources.store_sheets_js),
        ("store-texts.js", PackageResources.store_texts_js),
        ("perch-views.js", PackageResources.perch_views_js),
        ("states.js", PackageResources.states_js),
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
        let hash = Self.hash(of: Self.assets)
        let folder = "/console/~\(hash)/"
        let assets = Self.assets.map { asset in
            ConsoleFile(
                path: folder + asset.name, contentType: Self.contentType(of: asset.name), bytes: Self.served(asset),
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

    private static let viewNames: Set<String> = [
        "perch-views.js", "perch.js", "press.js", "store.js", "store-subscription.js", "store-sheets.js",
        "store-texts.js",
    ]

    private static func madeViews() -> [ConsoleFile] {
        let modules = Self.assets.filter { Self.viewNames.contains($0.name) }
        precondition(modules.count == Self.viewNames.count, "a module of the views is no file of the console")
        let hash = Self.hash(of: modules)
        let files = modules.map { module in
            ConsoleFile(
                path: "/views/~\(hash)/\(module.name)", contentType: Self.contentType(of: module.name),
                bytes: Self.served(module), tag: "\"\(hash)\"", isImmutable: true, isShared: true)
        }
        // Relative, so that a proxy may put the server below a path of its own.
        let entrance = Array("export * from '../~\(hash)/perch-views.js';\n".utf8)
        let types = PackageResources.perch_views_d_ts
        return files + [
            ConsoleFile(
                path: Self.viewsEntrance, contentType: Self.contentType(of: "perch-views.js"), bytes: entrance,
                tag: "\"\(hash)\"", isImmutable: false, isShared: true),
            ConsoleFile(
                path: "/views/v1/perch-views.d.ts", contentType: "text/plain; charset=utf-8", bytes: types,
                tag: "\"\(ContentHash(of: types).description.prefix(12))\"", isImmutable: false, isShared: true),
        ]
    }

    /// A module without its lines of comments and without white space before lines, a fifth of it. No text of a module goes over
    /// several lines but styles, in which neither matters. Other files as they are.
    private static func served(_ file: (name: String, bytes: [UInt8])) -> [UInt8] {
        guard file.name.hasSuffix(".js") else { return file.bytes }
        let lines = String(decoding: file.bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: true)
        let code = lines.map { $0.drop { $0 == " " } }.filter { line in
            !["//", "/**", "* ", "*/"].contains { line.hasPrefix($0) } && line != "*"
        }
        return Array((code.joined(separator: "\n") + "\n").utf8)
    }

    private static func hash(of files: [(name: String, bytes: [UInt8])]) -> String {
        var everything: [UInt8] = []
        for file in files { everything += Array(file.name.utf8) + [0] + file.bytes }
        return String(ContentHash(of: everything).description.prefix(12))
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
