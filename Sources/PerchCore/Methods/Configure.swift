import PerchModel
import PerchStore
import PerchWire

struct Configure: ChangeMethod {
    let asked: ConfigureRequest

    /// The names of the settings, without their values, which may contain account keys.
    var auditNote: AuditNote { .audited(self.asked.settings.map { nameOfCase($0) }.joined(separator: " ")) }

    func check() throws(CallRefusal) {
        guard self.asked.settings.isEmpty else { return }
        throw CallRefusal(
            .fieldMissing, "settings is empty; name what is to be changed", details: [.field("settings")])
    }

    func mutation(_ context: MethodContext) -> Mutation {
        let settings = self.asked.settings
        return Mutation(.app(context.app.number), needsTestApp: true) { view throws(Refusal) in
            let after = try decideConfiguration(
                settings, settings: view.app.settings, fileSettings: view.fileSettings,
                catalogue: view.app.catalogue)
            var change = AppChange()
            if after.settings != view.app.settings { change.settings = after.settings }
            if let catalogue = after.catalogue {
                change.catalogue = (catalogue, view.app.catalogueSource)
            }
            if change.settings == nil, change.catalogue == nil { return .unchanged(answer: .none) }
            return .commitApp(change, answer: .none)
        }
    }
}
