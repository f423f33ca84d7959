import PerchModel
import PerchWire

struct GetSettings: AppMethod {
    let asked: SettingsRequest

    func answer(_ context: MethodContext) throws(CallRefusal) -> SettingsList {
        try context.requireTestApp()
        return SettingsList(settings: changes(making: context.app.settings))
    }
}
