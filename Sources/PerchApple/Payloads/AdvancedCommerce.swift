/// The documented fields of Advanced Commerce data, which Perch keeps and passes through.
enum AdvancedCommerceShapes {
    static let transaction: [String: FieldShape] = [
        "descriptors": .object(Self.descriptors), "estimatedTax": .integer, "items": .objects(Self.transactionItem),
        "period": .text, "requestReferenceId": .text, "taxCode": .text, "taxExclusivePrice": .integer,
        "taxRate": .text,
    ]

    static let renewal: [String: FieldShape] = [
        "consistencyToken": .text, "descriptors": .object(Self.descriptors), "items": .objects(Self.renewalItem),
        "period": .text, "requestReferenceId": .text, "taxCode": .text,
    ]

    private static let descriptors: [String: FieldShape] = ["description": .text, "displayName": .text]

    private static let offer: [String: FieldShape] = [
        "period": .text, "periodCount": .integer, "price": .integer, "reason": .text,
    ]

    private static let transactionItem: [String: FieldShape] = [
        "SKU": .text, "description": .text, "displayName": .text, "offer": .object(Self.offer), "price": .integer,
        "refunds": .objects([
            "refundAmount": .integer, "refundDate": .instant, "refundReason": .text, "refundType": .text,
        ]),
        "revocationDate": .instant,
    ]

    private static let renewalItem: [String: FieldShape] = [
        "SKU": .text, "description": .text, "displayName": .text, "offer": .object(Self.offer), "price": .integer,
        "priceIncreaseInfo": .object(["dependentSKUs": .texts, "price": .integer, "status": .text]),
    ]
}
