import PerchBase
import PerchJSON
import PerchModel
import PerchTesting
import PerchWire
import Testing

import struct PerchClient.AppSummary
import struct PerchClient.CatalogContents
import struct PerchClient.ClockChange

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

/// Sorted by keys on one line. `entitled` of a forecast follows from its state, and vectors have any of both. Bookmarks are
/// messages of their own, which no value has.
private func canonical(_ value: JSONValue) -> String {
    var writer = JSONWriter(keys: .sorted)
    writer.value(value, hiding: ["bookmark", "entitled"])
    guard let bytes = try? writer.finish() else { preconditionFailure("a vector is longer than the writer's limit") }
    return String(decoding: bytes, as: UTF8.self)
}

/// The message that a command prints for an answer: the client's value, made a message again. Nil for what no command
/// prints.
private func printed(_ response: Response) -> Response? {
    func state<Value>(_ state: TaskState<Value>, _ wrap: (TaskState<Value>) -> Response) -> Response? {
        switch state {
        case .loading: wrap(EntitlementTaskState<Value>.loading.message)
        case .failure(let failure, _):
            wrap(
                EntitlementTaskState<Value>.failure(
                    .init(reason: .init(rawValue: failure.reason), message: failure.message), last: nil
                ).message)
        case .success(let value, let info): wrap(Snapshot(value, info: .init(info)).message)
        case .unchanged(let info): wrap(EntitlementTaskState<Value>.unchanged(info: .init(info)).message)
        }
    }
    switch response {
    case .productsTask(let value): return state(value) { .productsTask($0) }
    case .subscriptionStatusTask(let value): return state(value) { .subscriptionStatusTask($0) }
    case .currentEntitlementTask(let value): return state(value) { .currentEntitlementTask($0) }
    case .purchaseIntents(let value): return state(value) { .purchaseIntents($0) }
    case .messages(let value): return state(value) { .messages($0) }
    case .transactionUpdates(let event): return TransactionUpdate(event).map { .transactionUpdates($0.message) }
    case .operate(let value):
        guard let position = value.position else { return nil }
        let purchase = Purchase.Result(value.purchaseResult, transaction: value.transaction, number: value.number)
        let result = OperationResult(
            position: position, transaction: value.transaction,
            purchase: value.purchaseResult == .unspecified ? nil : purchase, wasHeld: value.wasHeld,
            number: value.number == 0 ? nil : value.number)
        return .operate(result.message)
    case .inspectAccount(let value):
        return .inspectAccount(Positioned(AccountDetails(value), position: value.position).message)
    case .getAppPolicies(let value):
        var policies = ShownPolicies(licenceAgreement: value.licenceAgreement)
        policies.privacyPolicyText = value.privacyPolicyText
        policies.privacyPolicyURL = value.privacyPolicyURL
        policies.privacyPolicyLocale = value.privacyPolicyLocale
        policies.showsDialogs = value.showsDialogs
        return .getAppPolicies(policies.message)
    case .getClock(let value): return .getClock(ClockResponse(clock: AppClockState(value.clock).message))
    case .setClock(let value):
        guard let position = value.position else { return nil }
        let change = ClockChange(
            position: position, clock: .init(value.clock), settledCount: value.settledCount,
            renewedCount: value.renewedCount, failedCount: value.failedCount)
        return .setClock(change.message)
    case .listApps(let list):
        return .listApps(AppList(apps: list.apps.map { AppSummary($0).message }))
    case .getCatalog(let value): return .getCatalog(CatalogContents(value).message)
    default:
        return nil
    }
}

@Suite struct `JSON` {
    @Test(arguments: AnswerVector.all)
    func `the JSON equals protobuf's mapping of the same bytes`(_ vector: AnswerVector) throws {
        let response = try MessageCodec().decodeResponse(vector.method, vector.bytes.span.bytes)
        guard let answer = printed(response) else { return }
        let document = DocumentWriter.document(.compact) { $0.message(answer) }
        #expect(canonical(try JSONReader.read(Array(document.utf8))) == vector.json)
    }

    @Test func `the JSON is compared for every value that the client has in a form of its own`() throws {
        var methods: Set<PerchWire.Method> = []
        for vector in AnswerVector.all {
            let response = try MessageCodec().decodeResponse(vector.method, vector.bytes.span.bytes)
            if printed(response) != nil { methods.insert(vector.method) }
        }
        #expect(methods.count == 13)
    }

    @Test func `the JSON of a list has each element on a line of its own`() {
        let settings = Response.getSettings(
            SettingsList(settings: [
                .askToBuy(false), .gracePeriodDays(16), .timeRate(0), .storefront("USA"),
                .simulatedError(.purchase, .networkError),
            ]))
        #expect(
            DocumentWriter.elements("settings", of: settings) == [
                "{\"askToBuy\":false}\n", "{\"gracePeriodDays\":16}\n", "{\"timeRate\":0}\n",
                "{\"storefront\":\"USA\"}\n",
                "{\"simulatedError\":{\"api\":\"STORE_KIT_API_PURCHASE\",\"error\":\"STORE_KIT_ERROR_NETWORK_ERROR\"}}\n",
            ])
    }

    @Test func `the JSON of a list within a message has its elements too`() {
        let warning = PerchWire.CatalogWarning(line: 3, message: "odd")
        let answer = CheckCatalogResponse(summary: PerchWire.CatalogSummary(warnings: [warning]))
        #expect(
            DocumentWriter.elements("summary.warnings", of: .checkCatalog(answer)) == [
                "{\"line\":3,\"message\":\"odd\"}\n"
            ])
        #expect(DocumentWriter.elements("success.products", of: .productsTask(.loading)) == [])
    }

    @Test func `the JSON has unknown enumeration values as numbers, and long numbers as strings`() {
        let document = DocumentWriter.document(.compact) { json in
            json.choice("state", RenewalState(rawValue: 77), "RENEWAL_STATE")
            json.choice("negative", RenewalState(rawValue: -1), "RENEWAL_STATE")
            json.choice("known", RenewalState.inGracePeriod, "RENEWAL_STATE")
            json.choice("absent", RenewalState.unspecified, "RENEWAL_STATE")
            json.long("id", UInt64.max)
            json.long("atMs", Int64.min)
            json.number("count", UInt32.max)
            json.long("effectiveIndex", ifAny: UInt64(0))
        }
        #expect(
            document == "{\"state\":77,\"negative\":-1,\"known\":\"RENEWAL_STATE_IN_GRACE_PERIOD\","
                + "\"id\":\"18446744073709551615\",\"atMs\":\"-9223372036854775808\",\"count\":4294967295,"
                + "\"effectiveIndex\":\"0\"}\n")
    }

    @Test func `the JSON is one line, unless it is indented`() {
        let accounts = Response.listAccounts(AccountPage(accounts: ["a\nb"]))
        #expect(DocumentWriter.document(.compact) { $0.message(accounts) } == "{\"accounts\":[\"a\\nb\"]}\n")
        let indented = DocumentWriter.document(.indented) { $0.texts("productIds", ["a"]) }
        #expect(indented == "{\n  \"productIds\": [\n    \"a\"\n  ]\n}\n")
    }
}
