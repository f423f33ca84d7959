import PerchBase
import PerchClient
import PerchModel
import PerchWire

// The commands of `perch store` that a customer's requests have: their rows, and what they do.

extension OperationTable {
    /// Requests that a customer makes in StoreKit's sheets.
    static let customers = [
        Self.leaf("sync", "Restore, as a customer does.", .storeSync, [CommandTable.account], heading: "Buying"),
        Self.leaf(
            "request-refund", "Ask for a refund, as a customer does.", .storeRequestRefund,
            [CommandTable.account, CommandTable.transaction],
            [
                StoreTable.refundReason,
                OptionSpec("text", .text, "TEXT", "What the customer writes; REJECT under `other` is declined."),
            ], heading: "Refunds"),
        Self.leaf(
            "redeem", "Redeem an offer code, as a customer does.", .storeRedeem,
            [CommandTable.account, OperandSpec("CODE", .text, .one, "The code's reference name.")],
            [OptionSpec("product", .text, "PRODUCT", "Where several products have a code of that name.")],
            heading: "Buying"),
        Self.leaf(
            "manage-subscriptions", "Switch renewal on or off, as a customer does in the sheet of subscriptions.",
            .storeManageSubscriptions, [CommandTable.account, CommandTable.product, Self.renewal],
            heading: "Subscriptions"),
    ]
}

extension CommandRun {
    /// `perch store sync`, `request-refund`, `redeem`, `manage-subscriptions`.
    func askAsCustomer() async throws {
        try await self.withClient { client in
            let (account, key) = (self.text("ACCOUNT"), self.idempotencyKey)
            switch self.invocation.action {
            case .storeSync:
                try self.tell(try await client.sync(account: account, idempotencyKey: key), "everything is restored")
            case .storeRequestRefund:
                let answer = try await client.requestRefund(
                    of: self.transactionID("ID"), account: account, reason: self.refundReason,
                    text: self.settings.text("text") ?? "", idempotencyKey: key)
                let refund = RefundAnswer(
                    position: answer.position, isApproved: answer.isApproved, transaction: answer.transaction)
                try self.printer.print(.requestRefund(refund)) { writer in
                    [
                        (answer.isApproved ? "approved" : "declined")
                            + (answer.transaction.map { "  " + writer.transaction($0) } ?? "")
                    ]
                }
            case .storeManageSubscriptions:
                let (product, isOn) = (self.text("PRODUCT"), self.text("SWITCH") == "on")
                try self.tell(
                    try await client.manageSubscriptions(
                        account: account, product: product, autoRenew: isOn, idempotencyKey: key),
                    "\(printable(product)) \(isOn ? "renews" : "does not renew")")
            case .storeRedeem:
                let answer = try await client.redeemOfferCode(
                    self.text("CODE"), account: account, product: self.settings.text("product") ?? "",
                    idempotencyKey: key)
                let redeemed = RedeemedCode(
                    position: answer.position, transaction: answer.transaction,
                    appliesAtRenewal: answer.appliesAtRenewal)
                try self.printer.print(.redeemOfferCode(redeemed)) { writer in
                    [
                        writer.transaction(answer.transaction.value)
                            + (answer.appliesAtRenewal ? "  the offer applies from the next period" : "")
                    ]
                }
            default:
                preconditionFailure("\(self.invocation.action) is nothing that a customer asks for")
            }
        }
    }
}
