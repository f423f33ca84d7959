import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

/// The apps that the caller may reach, by name.
struct ListApps: AppMethod {
    func answer(_ context: MethodContext) -> AppList {
        let reach = context.caller.identity.apps
        let apps = context.apps.listed.filter { reach.includes($0.name) }.sorted {
            ($0.bundleID, $0.environment.rawValue) < ($1.bundleID, $1.environment.rawValue)
        }
        return AppList(
            apps: apps.map {
                AppSummary(
                    bundleID: $0.bundleID, environment: $0.environment,
                    productCount: UInt32($0.catalogue.products.count), catalogSource: $0.catalogueSource)
            })
    }
}
