import Glibc
import PerchBase
import PerchModel
package import PerchServer

/// `perch serve`.
///
/// Must run on the main thread before the process has another one: the server blocks the signals that it reads, and an
/// earlier thread would still be killed by them. So no function here is `async`.
package enum Serve {
    package static func run(_ settings: ServerSettings, console: any Console) -> Int32 {
        var settings = settings
        settings.supervision = Supervision(environment: Process.environment, processID: getpid())
        do throws(ServerError) {
            return try Server.run(settings) { ready in
                for line in Self.greeting(ready, settings, program: CommandLine.arguments.first ?? "perch") {
                    console.talk(line)
                }
            }
        } catch {
            console.talk("perch: \(error)")
            return (error.isOfSettings ? ExitCode.usage : ExitCode.failure).rawValue
        }
    }

    /// The app, the addresses, and two lines to paste into other terminals.
    ///
    /// `program` is the path by which this one was called, so that the pasted lines find it.
    package static func greeting(
        _ ready: Server.Ready, _ settings: ServerSettings, program: String = "perch"
    ) -> [String] {
        let guarded = Self.guarded(settings)
        var lines = ["perch: serving on \(ready.address) (version \(settings.version), \(guarded))"]
        for app in ready.apps {
            let count = app.catalogue.products.count
            lines.append(
                "  app \(printable(app.bundleID)) (\(app.environment)): \(counted(count, "product")) of "
                    + printable(app.catalogueSource) + (app.isTestApp ? ", time rate \(app.settings.timeRate)" : ""))
            if app.isTestApp { lines.append("    " + Self.dialogs(app.settings)) }
        }
        switch settings.store {
        case .memory: lines.append("  store: in memory, forgotten when this process ends (--store PATH keeps it)")
        case .database(let url): lines.append("  store: \(printable(url)), at revision \(ready.revision)")
        case .file(let path): lines.append("  store: \(printable(path)), at revision \(ready.revision)")
        }
        if let apple = ready.apple { lines.append("  App Store notifications: POST \(apple)/apple/notifications") }
        if let twin = ready.twin, let directory = settings.twinDirectory {
            lines.append(
                "  twin of the App Store: \(twin) (`perch twin \(printable(directory))` shows a backend's settings)")
        }
        if let http = ready.http { lines.append("  http: \(http) (/metrics, /healthz, /readyz, /status)") }
        if let console = ready.console { lines.append("  console: \(console)") }
        return lines + Self.invitation(ready, settings, program: program)
    }

    /// Whether purchases wait for a decision, and how to change that.
    static func dialogs(_ settings: AppSettings) -> String {
        settings.asksBeforePurchases
            ? "dialogs: on, each purchase of the app waits for `perch store approve` (`perch store set dialogs off` sells at once)"
            : "dialogs: off, purchases happen at once (`perch store set dialogs on` makes them wait)"
    }

    /// The access rules, in few words.
    private static func guarded(_ settings: ServerSettings) -> String {
        let place = settings.isUnauthenticatedAllowed ? "" : ", on loopback only"
        let callers =
            if settings.hasAuthenticator {
                "for callers with credentials"
            } else if settings.requiresClientCertificates {
                "for clients with certificates"
            } else {
                "without credentials\(place)"
            }
        switch settings.tls.mode {
        case .off: return callers
        case .allowed: return "TLS and plaintext, \(callers)"
        case .required: return "TLS, \(callers)"
        }
    }

    private static func invitation(
        _ ready: Server.Ready, _ settings: ServerSettings, program: String
    ) -> [String] {
        guard ready.apps.count == 1, let app = ready.apps.first, app.isTestApp else { return [] }
        let address = ready.address == "127.0.0.1:7447" ? "" : " --server \(ready.address)"
        let server =
            address + (settings.tls.mode == .required ? " --tls-ca FILE" : "")
            + (settings.hasAuthenticator ? " --credentials-file FILE" : "")
        // A trial soon causes a push by time, after the push of the purchase.
        let trial = app.catalogue.products.first { product in
            product.subscription?.introductoryOffers.contains { $0.paymentMode == .freeTrial } ?? false
        }
        let subscription = trial ?? app.catalogue.products.first { $0.subscription != nil }
        guard let product = subscription ?? app.catalogue.products.first else { return [] }
        let watch =
            product.subscription.map { "watch status alice \(shellWord($0.groupID))" }
            ?? "watch entitlement alice \(shellWord(product.id))"
        return [
            "See a push, in two other terminals:",
            "  \(shellWord(program)) \(watch)\(server)",
            "  \(shellWord(program)) store buy alice \(shellWord(product.id))\(server)",
        ]
    }
}

/// A word that needs no further quoting in a shell.
func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }
    guard !isPlain || text.isEmpty else { return text }
    return "'" + printable(text).split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
        + "'"
}
