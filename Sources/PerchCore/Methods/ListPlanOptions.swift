import PerchModel
import PerchWire

struct ListPlanOptions: RecordMethod {
    let asked: PlanOptionsRequest

    func check() throws(CallRefusal) {
        try Check.locale(self.asked.locale)
        try Check.present(self.asked.groupID, "group_id")
    }

    func answer(_ read: AccountRead) -> PlanOptionList {
        let group = self.asked.groupID
        return PlanOptionList(
            options: planOptions(
                of: read.record, inGroup: group, locale: self.asked.locale, app: read.app, at: read.now),
            position: read.position, isNotInCatalog: read.app.catalogue.group(group) == nil,
            introductoryEligibility: introductoryEligibility(
                of: read.record, inGroup: group, app: read.app, at: read.now))
    }
}
