import PerchBase
import PerchModel
import PerchSQLite
import PerchServer

/// The rows of `perch app`.
enum AppTable {
    static let app: CommandSpec = {
        var app = CommandSpec("app", "Take apps out of a store.")
        app.commands = [Self.remove]
        return app
    }()

    private static let remove: CommandSpec = {
        var remove = CommandTable.leaf(
            "remove", "Take an app without accounts out of a stopped store.", .appRemove,
            [OperandSpec("BUNDLE-ID", .bundleID, .one, "The app's bundle identifier, as `perch get apps` shows it.")],
            [
                OptionSpec(
                    "environment", .environment, "NAME", default: "xcode",
                    "The app's environment."),
                OptionSpec("store", .text, "PATH", "The store: a directory, or a file that ends in .db. Must be given.")
                    .inEnvironment(),
                CommandTable.output,
            ])
        remove.discussion = [
            "It works on the store's file, so the server must be stopped; it refuses while one has the store. An app that has "
                + "an account is refused too: erase its accounts first, with `perch account erase`.",
            "A store gets an app with `perch serve --add-app --bundle-id ID --catalog FILE`.",
        ]
        remove.examples = [
            ("perch app remove com.exmaple.app --store /var/lib/perch", "Take out an app whose name was misspelt.")
        ]
        return remove
    }()
}

extension CommandRun {
    /// `perch app remove`
    func removeApp() throws {
        guard let setting = self.settings.text("store") else {
            throw UsageError("\(self.invocation.name) needs --store PATH", command: self.invocation.name)
        }
        let environment = self.settings.text("environment").flatMap { AppEnvironment(named: $0) } ?? .xcode
        let bundleID = self.text("BUNDLE-ID")
        let path = StorePath.path(for: setting)
        do throws(AppRemovalError) {
            try StoreApps.remove(bundleID, environment, from: path)
        } catch {
            let code: ExitCode =
                switch error {
                case .noApp: .notFound
                case .hasAccounts: .refused
                default: .failure
                }
            throw CommandFailure(code, "\(error)")
        }
        try self.printer.print { json in
            json.text("bundleId", bundleID)
            json.text("environment", "\(environment)")
            json.text("store", path)
        } text: { _ in
            ["\(bundleID), \(environment) is removed from \(printable(path))"]
        }
    }
}
