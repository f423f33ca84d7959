import PerchJSON
import PerchModel
import PerchTesting
import PerchWire
import Testing

@testable import PerchCLI
@testable import PerchClient

/// A vector of `proto/vectors`: bytes of a response, and the same as JSON.
struct AnswerVector: CustomTestStringConvertible {
    let method: PerchWire.Method
    let name: String
    let bytes: [UInt8]
    /// Sorted by keys, on one line.
    let json: String

    var testDescription: String { "\(self.method): \(self.name)" }

    private static let messages: [String: PerchWire.Method] = [
        "ProductsTaskResponse": .productsTask, "SubscriptionStatusTaskResponse": .subscriptionStatusTask,
        "CurrentEntitlementTaskResponse": .currentEntitlementTask, "GetProductsResponse": .getProducts,
        "GetImageResponse": .getImage,
        "GetSubscriptionStatusResponse": .getSubscriptionStatus,
        "GetCurrentEntitlementResponse": .getCurrentEntitlement,
        "ListCurrentEntitlementsResponse": .listCurrentEntitlements, "TransactionUpdatesResponse": .transactionUpdates,
        "GetLatestTransactionResponse": .getLatestTransaction, "OperateResponse": .operate,
        "GetClockResponse": .getClock, "SetClockResponse": .setClock, "ListAppsResponse": .listApps,
        "CheckCatalogResponse": .checkCatalog, "GetCatalogResponse": .getCatalog,
        "PurchaseIntentsResponse": .purchaseIntents, "MessagesResponse": .messages,
        "InspectAccountResponse": .inspectAccount, "ListPlanOptionsResponse": .listPlanOptions,
        "GetOfferEligibilityResponse": .getOfferEligibility, "GetAppPoliciesResponse": .getAppPolicies,
        "GetAppTransactionResponse": .getAppTransaction, "GetSettingsResponse": .getSettings,
    ]

    static let all: [AnswerVector] = {
        let files = ["entitlement_service", "transaction_service", "test_store_service", "admin_service"]
        return files.flatMap { Self.read("proto/vectors/messages-\($0).json") }
    }()

    private static func read(_ file: String) -> [AnswerVector] {
        let bytes = TemporaryDirectory.read("\(Repository.path)/\(file)")
        guard let list = try? JSONReader.read(bytes).array else {
            preconditionFailure("\(file) is no list of vectors")
        }
        return list.compactMap { vector in
            guard let message = vector["message"]?.string, let name = vector["name"]?.string,
                let hex = vector["hex"]?.string, let json = vector["json"],
                let method = Self.messages[String(message.dropFirst("perch.v1.".count))],
                // `loading` and `failure` of the vectors carry an info, which no server sends, and other vectors messages
                // that are there and empty, which the model does not tell from absent ones.
                name == "every field" || name == "every field, success"
            else { return nil }
            return AnswerVector(method: method, name: name, bytes: Self.bytes(hex), json: canonical(json))
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap { $0.hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// Sorted by keys on one line. `entitled` of a forecast follows from its state, and vectors have any of both.
private func canonical(_ value: JSONValue) -> String {
    var writer = JSONWriter(keys: .sorted)
    writer.value(value, hiding: ["entitled"])
    guard let bytes = try? writer.finish() else { preconditionFailure("a vector is longer than the writer's limit") }
    return String(decoding: bytes, as: UTF8.self)
}

/// The output of a command for an answer; nil for answers without a command.
private func printed(_ response: Response) -> ((inout ContractWriter) -> Void)? {
    func state<Value>(
        _ state: PerchWire.TaskState<Value>, _ write: @escaping (inout ContractWriter, Value) -> Void
    ) -> ((inout ContractWriter) -> Void)? {
        switch state {
        case .loading:
            return { $0.state(EntitlementTaskState<Value>.loading, write) }
        case .failure(let failure, _):
            return {
                $0.state(
                    EntitlementTaskState<Value>.failure(
                        .init(reason: failure.reason, message: failure.message), last: nil), write)
            }
        case .success(let value, let info):
            return { $0.state(.success(value, info: .init(info)), write) }
        case .unchanged:
            return nil
        }
    }
    switch response {
    case .productsTask(let value), .getProducts(let value): return state(value) { $0.products($1) }
    case .subscriptionStatusTask(let value), .getSubscriptionStatus(let value): return state(value) { $0.statuses($1) }
    case .currentEntitlementTask(let value), .getCurrentEntitlement(let value):
        return state(value) { $0.entitlement($1) }
    case .listCurrentEntitlements(let list):
        return { $0.entitlements(Snapshot(list.transactions, info: .init(list.info))) }
    case .transactionUpdates(let event):
        return TransactionUpdate(event).map { update in { $0.update(update) } }
    case .getLatestTransaction(let value):
        return { $0.latest(Positioned(value.transaction, position: value.position)) }
    case .operate(let value):
        guard let position = value.position else { return nil }
        let purchase = Purchase.Result(
            value.purchaseResult, transaction: value.transaction, number: value.number)
        return {
            $0.change(
                OperationResult(
                    position: position, transaction: value.transaction,
                    purchase: value.purchaseResult == .unspecified ? nil : purchase, wasHeld: value.wasHeld,
                    number: value.number == 0 ? nil : value.number))
        }
    case .purchaseIntents(let value): return state(value) { $0.intents($1) }
    case .messages(let value): return state(value) { $0.storeMessages($1) }
    case .inspectAccount(let value):
        return { $0.inspection(Positioned(AccountDetails(value), position: value.position)) }
    case .listPlanOptions(let value):
        return { $0.planOptions(Positioned(value.options, position: value.position)) }
    case .getOfferEligibility(let value):
        return { $0.eligibilities(Positioned(value.value, position: value.position)) }
    case .getAppPolicies(let value):
        var policies = ShownPolicies(licenceAgreement: value.licenceAgreement)
        policies.privacyPolicyText = value.privacyPolicyText
        policies.privacyPolicyURL = value.privacyPolicyURL
        policies.privacyPolicyLocale = value.privacyPolicyLocale
        return { $0.policies(policies) }
    case .getAppTransaction(let value):
        let transaction = AppTransaction(
            id: value.appTransactionID, bundleID: value.bundleID, environment: value.environment)
        return {
            $0.appTransaction(Positioned(Verified(transaction, failure: value.failure), position: value.position))
        }
    case .getSettings(let value): return { $0.settings(value.settings) }
    case .getClock(let value):
        return { $0.clock(AppClockState(value.clock)) }
    case .setClock(let value):
        guard let position = value.position else { return nil }
        return {
            $0.clockChange(.init(position: position, clock: .init(value.clock), settledCount: value.settledCount))
        }
    case .listApps(let list):
        return { json in json.messages("apps", list.apps) { $0.app(.init($1)) } }
    case .checkCatalog(let value):
        return { $0.summary(.init(value.summary)) }
    case .getImage(let value):
        // The sample has both: that it is unchanged, and content.
        var value = value
        value.isUnchanged = false
        return { json in
            json.image(.init(value))
            json.flag("unchanged", true)
        }
    case .getCatalog(let value):
        return { $0.catalogContents(.init(value)) }
    default:
        return nil
    }
}

@Suite struct `JSON` {
    @Test(arguments: AnswerVector.all)
    func `is what protobuf's mapping makes of the same bytes`(_ vector: AnswerVector) throws {
        let response = try MessageCodec().decodeResponse(vector.method, vector.bytes.span.bytes)
        guard let write = printed(response) else { return }
        let document = ContractWriter.document(.compact, write)
        #expect(canonical(try JSONReader.read(Array(document.utf8))) == vector.json)
    }

    @Test func `is compared for every kind of answer`() throws {
        var methods: Set<PerchWire.Method> = []
        for vector in AnswerVector.all where vector.name.hasPrefix("every field") {
            let response = try MessageCodec().decodeResponse(vector.method, vector.bytes.span.bytes)
            if printed(response) != nil { methods.insert(vector.method) }
        }
        #expect(methods.count == 24)
    }

    @Test func `the JSON of a state without a value has only its name`() {
        typealias State = EntitlementTaskState<Products>
        let failure = EntitlementTaskFailure(reason: "LOAD_FAILED", message: "told to fail")
        func document(_ state: State) -> String {
            ContractWriter.document(.compact) { $0.state(state) { $0.products($1) } }
        }
        #expect(document(.loading) == "{\"loading\":{}}\n")
        #expect(
            document(.failure(failure, last: nil))
                == "{\"failure\":{\"reason\":\"LOAD_FAILED\",\"message\":\"told to fail\"}}\n")
    }

    @Test func `the JSON of settings has each of them, also those that are off`() {
        let settings: [AppSettingChange] = [
            .askToBuy(false), .interruptedPurchases(true), .billingRetryOnRenewal(false), .gracePeriod(true),
            .gracePeriodDays(16), .gracePeriodForAllRenewals(false), .dialogs(false), .timeRate(0),
            .storefront("USA"), .locale("en_US"), .simulatedError(.purchase, .networkError),
        ]
        let document = ContractWriter.document(.compact) { $0.settings(settings) }
        #expect(
            document == "{\"settings\":[{\"ask_to_buy\":false},{\"interrupted_purchases\":true},"
                + "{\"billing_retry_on_renewal\":false},{\"grace_period\":true},{\"grace_period_days\":16},"
                + "{\"grace_period_for_all_renewals\":false},{\"dialogs\":false},{\"time_rate\":0},"
                + "{\"storefront\":\"USA\"},{\"locale\":\"en_US\"},{\"simulated_error\":"
                + "{\"api\":\"STORE_KIT_API_PURCHASE\",\"error\":\"STORE_KIT_ERROR_NETWORK_ERROR\"}}]}\n")
    }

    @Test func `has newer enumeration values as numbers, and long numbers as strings`() {
        let document = ContractWriter.document(.compact) { json in
            json.choice("state", RenewalState(rawValue: 77), "RENEWAL_STATE")
            json.choice("negative", RenewalState(rawValue: -1), "RENEWAL_STATE")
            json.choice("known", RenewalState.inGracePeriod, "RENEWAL_STATE")
            json.choice("absent", RenewalState.unspecified, "RENEWAL_STATE")
            json.long("id", UInt64.max)
            json.long("at_ms", Int64.min)
            json.number("count", UInt32.max)
            json.number("effective_index", ifAny: 0)
        }
        #expect(
            document == "{\"state\":77,\"negative\":-1,\"known\":\"RENEWAL_STATE_IN_GRACE_PERIOD\","
                + "\"id\":\"18446744073709551615\",\"at_ms\":\"-9223372036854775808\",\"count\":4294967295,"
                + "\"effective_index\":0}\n")
    }

    @Test func `is one line, unless it is for reading`() {
        let one = ContractWriter.document(.compact) { $0.products(Products(products: [], unavailableIDs: ["a\nb"])) }
        #expect(one == "{\"unavailable_ids\":[\"a\\nb\"]}\n")
        let indented = ContractWriter.document(.indented) { $0.texts("product_ids", ["a"]) }
        #expect(indented == "{\n  \"product_ids\": [\n    \"a\"\n  ]\n}\n")
    }

    @Test func `the JSON of nothing is an empty document`() {
        #expect(ContractWriter.document(.compact) { $0.entitlement(nil) } == "{}\n")
    }
}

@Suite struct `Base64` {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `is that of RFC 4648`(_ text: String, _ encoded: String) {
        #expect(PerchCLI.Base64.encode(Array(text.utf8)) == encoded)
        #expect(PerchCLI.Base64.decode(encoded) == Array(text.utf8))
    }

    @Test func `knows all 256 bytes`() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(PerchCLI.Base64.decode(PerchCLI.Base64.encode(bytes)) == bytes)
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "=Zg=", "Z===", "Zm9v\n", "Zm 9", "Zm9-", "Zg==Zg=="])
    func `refuses what it would not have written`(_ text: String) {
        #expect(PerchCLI.Base64.decode(text) == nil)
    }
}
