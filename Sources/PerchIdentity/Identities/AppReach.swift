import PerchBase
package import PerchModel

/// An app in an identity: a bundle identifier with one environment.
package struct AppName: Hashable, Sendable, CustomStringConvertible {
    package var bundleID: String
    package var environment: AppEnvironment

    package init(bundleID: String, environment: AppEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }

    package var description: String { "\(printable(self.bundleID)) (\(self.environment))" }
}

/// The apps that an identity is for.
package enum AppReach: Hashable, Sendable, CustomStringConvertible {
    /// Every app of the server, and the server itself.
    case all
    case apps([AppName])

    /// Reads the claims `app` and `environment`.
    package init(_ names: [String], environment: String?) throws(CredentialFault) {
        if names == ["*"] {
            guard environment == nil else {
                throw .malformed("its app is * and it names an environment; * is every app of the server")
            }
            self = .all
            return
        }
        guard let environment, let known = AppEnvironment(named: environment) else {
            throw .malformed(
                "its environment is \(environment.map { quoted($0) } ?? "missing"); it is production, sandbox or xcode")
        }
        guard !names.isEmpty, !names.contains("*") else {
            throw .malformed("its app names nothing, or * among others; * stands alone")
        }
        self = .apps(names.map { AppName(bundleID: $0, environment: known) })
    }

    package func includes(_ app: AppName) -> Bool {
        switch self {
        case .all: true
        case .apps(let apps): apps.contains(app)
        }
    }

    package var description: String {
        switch self {
        case .all: "every app"
        case .apps(let apps): apps.map(\.description).joined(separator: ", ")
        }
    }
}
