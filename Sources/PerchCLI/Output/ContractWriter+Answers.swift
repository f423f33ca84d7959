import PerchBase
import PerchCatalogue
import PerchClient
import PerchJSON
import PerchModel

import struct PerchWire.PurchaseResult

// MARK: stream.proto, and the states of the three streams

extension ContractWriter {
    mutating func info(_ value: ValueInfo) {
        self.message("info") { json in
            json.position("position", value.position)
            json.instant("commit_time_ms", value.committed)
            json.choice("cause", value.cause, "CAUSE")
            json.forecast("next_change", value.forecast)
            json.bytes("resume_token", value.token)
        }
    }

    private mutating func forecast(_ name: String, _ value: Forecast?) {
        self.message(name, value) { json, value in
            json.instant("at_ms", value.at)
            json.choice("kind", value.kind, "FORECAST_KIND")
            json.long("original_transaction_id", value.originalTransactionID)
            json.choice("state", value.state, "RENEWAL_STATE")
            json.flag("entitled", value.state.isEntitled)
        }
    }

    /// `ExplainResponse`.
    mutating func explanations(_ value: Positioned<Explanations>) {
        self.text("message", value.value.message)
        self.flag("entitled", value.value.isEntitled)
        self.messages("explanations", value.value.explanations) { json, value in
            json.text("rule", value.rule)
            json.text("message", value.message)
            json.long("original_transaction_id", ifAny: value.originalTransactionID)
            json.choice("state", value.state, "RENEWAL_STATE")
            json.flag("entitled", value.isEntitled)
            json.messages("facts", value.facts) { json, value in
                json.long("transaction_id", value.transactionID)
                json.text("field", value.field)
                json.text("value", value.value)
            }
            json.forecast("next_change", value.nextChange)
            json.text("next_message", value.nextMessage)
        }
        self.position("position", value.position)
    }

    /// `ProductsTaskResponse` and its sisters.
    mutating func state<Value>(
        _ state: EntitlementTaskState<Value>, _ write: (inout ContractWriter, Value) -> Void
    ) {
        switch state {
        case .loading:
            self.message("loading") { _ in }
        case .failure(let failure, _):
            self.message("failure") { json in
                json.text("reason", failure.reason)
                json.text("message", failure.message)
            }
        case .success(let value, let info):
            self.message("success") { write(&$0, value) }
            self.info(info)
        case .unchanged(let info):
            self.message("unchanged") { _ in }
            self.info(info)
        }
    }

    /// `GetProductsResponse` and its sisters.
    mutating func snapshot<Value>(_ snapshot: Snapshot<Value>, _ write: (inout ContractWriter, Value) -> Void) {
        self.message("success") { write(&$0, snapshot.value) }
        self.info(snapshot.info)
    }

    /// `CurrentEntitlement`.
    mutating func entitlement(_ value: Verified<Transaction>?) {
        self.message("transaction", value) { $0.transactionResult($1) }
    }

    /// `GetImageResponse`.
    mutating func image(_ value: PromotionalImage, withContent: Bool = true) {
        self.bytes("content_hash", value.contentHash)
        self.text("content_type", value.contentType)
        self.flag("unchanged", value.content == nil)
        if withContent { self.bytes("content", value.content ?? []) }
    }

    /// `ListCurrentEntitlementsResponse`.
    mutating func entitlements(_ snapshot: Snapshot<[Verified<Transaction>]>) {
        self.transactions(snapshot.value)
        self.info(snapshot.info)
    }
}

// MARK: transaction_service.proto, test_store_service.proto

extension ContractWriter {
    mutating func transactions(_ values: [Verified<Transaction>]) {
        self.messages("transactions", values) { $0.transactionResult($1) }
    }

    /// `TransactionUpdatesResponse`.
    mutating func update(_ value: TransactionUpdate) {
        self.message("transaction") { $0.transactionResult(value.transaction) }
        self.choice("kind", value.kind, "TRANSACTION_EVENT_KIND")
        self.bytes("cursor", value.cursor?.bytes ?? [])
        self.long("revision", value.revision)
        self.instant("commit_time_ms", value.committed)
        self.bytes("origin_client_id", value.originClientID)
    }

    /// `GetLatestTransactionResponse`.
    mutating func latest(_ value: Positioned<Verified<Transaction>?>) {
        self.message("transaction", value.value) { $0.transactionResult($1) }
        self.position("position", value.position)
    }

    /// `OperateResponse`.
    mutating func change(_ value: OperationResult) {
        self.position("position", value.position)
        self.message("transaction", value.transaction) { $0.transactionResult($1) }
        if let result = value.purchase {
            let number: Int32 =
                switch result {
                case .success: 1
                case .userCancelled: 2
                case .pending: 3
                case .unknown(let rawValue): rawValue
                }
            self.choice("purchase_result", PurchaseResult(rawValue: number), "PURCHASE_RESULT")
        }
        self.flag("already_held", value.wasHeld)
        self.long("number", value.number ?? 0)
    }

    /// `GetClockResponse`.
    mutating func clock(_ value: AppClockState) {
        self.message("clock") { json in
            json.instant("now_ms", value.now)
            json.flag("frozen", value.isFrozen)
            json.long("offset_ms", milliseconds(of: value.offset))
            json.number("time_rate", value.timeRate)
        }
    }

    /// `SetClockResponse`.
    mutating func clockChange(_ value: ClockChange) {
        self.position("position", value.position)
        self.clock(value.clock)
        self.long("settled_count", value.settledCount)
    }
}

// MARK: admin_service.proto

extension ContractWriter {
    mutating func app(_ value: AppSummary) {
        self.text("bundle_id", value.bundleID)
        self.environment(value.environment)
        self.number("product_count", value.productCount)
        self.text("catalog_source", value.catalogSource)
    }

    mutating func catalogContents(_ value: CatalogContents) {
        self.texts("product_ids", value.productIDs)
        self.texts("group_ids", value.groupIDs)
        self.text("source", value.source)
        self.long("revision", value.revision)
        self.summary(value.summary)
        self.messages("images", value.images) { json, value in
            json.text("id", value.id)
            json.bytes("content_hash", value.contentHash)
            json.number("byte_count", value.byteCount)
        }
    }

    /// `CatalogSummary`, as a server answers it.
    mutating func summary(_ value: CatalogSummary) {
        self.message("summary") { json in
            json.text("schema_version", value.schemaVersion)
            json.number("consumable_count", value.consumableCount)
            json.number("non_consumable_count", value.nonConsumableCount)
            json.number("non_renewing_count", value.nonRenewingCount)
            json.number("subscription_count", value.subscriptionCount)
            json.number("group_count", value.groupCount)
            json.number("introductory_offer_count", value.introductoryOfferCount)
            json.number("promotional_offer_count", value.promotionalOfferCount)
            json.number("code_offer_count", value.codeOfferCount)
            json.number("win_back_offer_count", value.winBackOfferCount)
            json.number("image_count", value.imageCount)
            json.messages("warnings", value.warnings) { json, value in
                json.warning(line: value.line, column: value.column, product: value.productID, value.message)
            }
        }
    }

    /// `CatalogSummary`, of a file that was read here.
    mutating func summary(_ value: CatalogueSummary, _ warnings: [CatalogueWarning]) {
        self.message("summary") { json in
            json.text("schema_version", value.schemaVersion)
            json.number("consumable_count", value.consumableCount)
            json.number("non_consumable_count", value.nonConsumableCount)
            json.number("non_renewing_count", value.nonRenewingCount)
            json.number("subscription_count", value.subscriptionCount)
            json.number("group_count", value.groupCount)
            json.number("introductory_offer_count", value.introductoryOfferCount)
            json.number("promotional_offer_count", value.promotionalOfferCount)
            json.number("code_offer_count", value.codeOfferCount)
            json.number("win_back_offer_count", value.winBackOfferCount)
            json.number("image_count", value.imageCount)
            json.messages("warnings", warnings) { json, value in
                json.warning(
                    line: value.place.line, column: value.place.column, product: value.productID, value.message)
            }
        }
    }

    private mutating func warning(
        line: some FixedWidthInteger, column: some FixedWidthInteger, product: String, _ message: String
    ) {
        self.number("line", line)
        self.number("column", column)
        self.text("product_id", product)
        self.text("message", message)
    }

    /// `Finding`.
    mutating func finding(_ value: DoctorFinding) {
        self.text("level", value.level.rawValue)
        self.text("subject", value.subject)
        self.text("message", value.message)
        self.text("remedy", value.remedy)
    }

    /// `Metric`.
    mutating func metric(_ value: Metric) {
        self.text("name", value.name)
        self.text("labels", value.labels)
        self.double("value", value.value)
        self.text("help", value.help)
    }
}

func milliseconds(of duration: Duration) -> Int64 {
    duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
}
