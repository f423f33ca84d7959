import PerchBase
import PerchClient
import PerchModel

// MARK: store_operation.proto, and what the test store knows of an account

extension ContractWriter {
    private mutating func order(_ value: PurchaseOrder) {
        self.text("product_id", value.productID)
        self.number("quantity", value.quantity)
        self.text("app_account_token", value.appAccountToken)
        self.message("offer", value.offer) { $0.orderedOffer($1) }
        self.choice("introductory_eligibility", value.introductoryEligibility, "INTRODUCTORY_ELIGIBILITY")
        self.text("introductory_eligibility_jws", value.introductoryEligibilitySignature)
        self.billingPlan("billing_plan", value.billingPlan)
        self.instant("purchase_date_ms", ifAny: value.date)
        self.choice("renewal_behaviour", value.renewalBehaviour, "RENEWAL_BEHAVIOUR")
        self.flag("simulates_ask_to_buy", value.simulatesAskToBuy)
        self.text("seen_storefront", value.seenStorefront)
        self.flag("continues_in_new_storefront", value.continuesInNewStorefront)
    }

    private mutating func orderedOffer(_ value: OrderedOffer) {
        self.choice("type", value.type, "OFFER_TYPE")
        self.text("id", value.id)
        self.text("jws", value.signature)
    }

    mutating func intent(_ value: PurchaseIntent) {
        self.long("number", value.id)
        self.text("product_id", value.productID)
        self.message("offer", value.offer) { $0.orderedOffer($1) }
        self.instant("since_ms", value.since)
    }

    /// `PurchaseIntentList`.
    mutating func intents(_ values: [PurchaseIntent]) {
        self.messages("intents", values) { $0.intent($1) }
    }

    /// `StoreMessages`.
    mutating func storeMessages(_ values: [StoreMessage]) {
        self.messages("messages", values) { json, value in
            json.choice("reason", value.reason, "MESSAGE_REASON")
            json.instant("since_ms", value.since)
            json.long("original_transaction_id", ifAny: value.originalTransactionID)
            json.text("product_id", value.productID)
            json.text("offer_id", value.offerID)
        }
    }

    /// `InspectAccountResponse`.
    mutating func inspection(_ found: Positioned<AccountDetails>) {
        let value = found.value
        self.position("position", found.position)
        self.messages("groups", value.groups) { json, group in
            json.text("group_id", group.id)
            json.message("statuses") { $0.statuses(group.statuses) }
        }
        self.messages("owned", value.owned) { $0.transactionResult($1) }
        self.messages("pending_purchases", value.pendingPurchases) { json, pending in
            json.long("number", pending.id)
            json.choice("reason", pending.reason, "PENDING_REASON")
            json.message("order") { $0.order(pending.order) }
            json.instant("since_ms", pending.since)
        }
        self.messages("purchase_intents", value.purchaseIntents) { $0.intent($1) }
        self.messages("shares", value.shares) { json, share in
            json.long("original_transaction_id", share.originalTransactionID)
            json.long("member_original_transaction_id", share.memberOriginalTransactionID)
        }
        self.text("storefront", value.storefront)
        self.choice("charges", value.charges, "CHARGE_OUTCOME")
        self.text("app_transaction_id", value.appTransactionID)
        self.messages("awaiting_sync", value.awaitingSync) { $0.transactionResult($1) }
    }
}

extension TextWriter {
    /// What the store knows of an account, a line for each thing.
    func inspection(_ value: AccountDetails, now: Instant) -> [String] {
        var lines = ["app transaction \(printable(value.appTransactionID))"]
        if !value.storefront.isEmpty { lines.append("storefront \(printable(value.storefront))") }
        if value.charges != .asTheApp { lines.append("charges \(value.charges)") }
        for group in value.groups {
            // As `perch store watch` has it, less what only a stream forecasts.
            let rows = BoardRow.rows(of: group.statuses, account: "", group: group.id, forecast: nil)
            for (status, row) in zip(group.statuses.statuses, rows) {
                lines.append(
                    "group \(printable(group.id))  \(status.state)  \(self.transaction(status.transaction.value))")
                lines.append("  " + self.boardBadges(row, now: now))
            }
        }
        lines += value.owned.map { "owned  " + self.transaction($0.value) }
        lines += value.pendingPurchases.map {
            "purchase \($0.id) of \(printable($0.order.productID)) waits since \($0.since): \($0.reason)"
        }
        lines += value.purchaseIntents.map { self.intent($0) }
        lines += value.shares.map {
            "shares \($0.originalTransactionID) as \($0.memberOriginalTransactionID)"
        }
        lines += value.awaitingSync.map { "comes with sync  " + self.transaction($0.value) }
        return lines
    }

    func intent(_ value: PurchaseIntent) -> String {
        "intent \(value.id) to buy \(printable(value.productID)) since \(value.since)"
            + (value.offer.map { " with the \($0.type) offer \(printable($0.id))" } ?? "")
    }

    func intents(_ values: [PurchaseIntent], _ info: ValueInfo) -> [String] {
        guard !values.isEmpty else { return ["\(info.position.asOf)  no purchase intents"] }
        return values.map { "\(info.position.asOf)  " + self.intent($0) }
    }

    func storeMessages(_ values: [StoreMessage], _ info: ValueInfo) -> [String] {
        guard !values.isEmpty else { return ["\(info.position.asOf)  no messages"] }
        return values.map { message in
            "\(info.position.asOf)  \(message.reason) since \(message.since)"
                + (message.productID.isEmpty ? "" : "  \(printable(message.productID))")
                + (message.offerID.isEmpty ? "" : "  offer \(printable(message.offerID))")
        }
    }
}
