import PerchModel
import PerchWire

struct GetOfferEligibility: RecordMethod {
    let asked: OfferEligibilityRequest

    func check() throws(CallRefusal) { try Check.present(self.asked.productID + self.asked.groupID, "group_id") }

    func answer(_ read: AccountRead) -> OfferEligibilityAnswer {
        let (group, product) = (self.asked.groupID, self.asked.productID)
        let isKnown =
            product.isEmpty ? read.app.catalogue.group(group) != nil : read.app.catalogue.product(product) != nil
        return OfferEligibilityAnswer(
            value: offerEligibility(of: read.record, inGroup: group, product: product, app: read.app, at: read.now),
            position: read.position, isNotInCatalog: !isKnown)
    }
}
