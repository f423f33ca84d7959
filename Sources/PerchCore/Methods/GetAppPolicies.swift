import PerchModel
import PerchWire

struct GetAppPolicies: AppMethod {
    let asked: AppPoliciesRequest

    func check() throws(CallRefusal) { try Check.locale(self.asked.locale) }

    func answer(_ context: MethodContext) -> AppPoliciesAnswer {
        let app = context.app
        let shown = appPolicies(locale: self.asked.locale, app: app)
        return AppPoliciesAnswer(
            licenceAgreement: shown.licenceAgreement, privacyPolicyText: shown.privacyPolicyText,
            privacyPolicyURL: shown.privacyPolicyURL, privacyPolicyLocale: shown.privacyPolicyLocale,
            showsDialogs: app.isTestApp && app.settings.asksBeforePurchases)
    }
}
