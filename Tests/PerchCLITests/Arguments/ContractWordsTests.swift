import PerchTesting
import Testing

@testable import PerchCLI

/// The names in JSON of the contract's enumerations and of AppSetting, as proto/ has them.
private let contractNames: Set<String> = {
    let folder = "\(Repository.path)/proto/perch/v1"
    let text = TemporaryDirectory.names(in: folder).filter { $0.hasSuffix(".proto") }
        .map { Repository.text("proto/perch/v1/\($0)") }.joined()
    return Set(text.matches(of: /\n  ([A-Z][A-Z0-9_]+) = [0-9]+;/).map { String($0.output.1) })
}()

/// Every choice of the table that has words of JSON, with the command that has it.
private func choices(_ path: [CommandSpec] = [CommandTable.root]) -> [(
    name: String, json: [String: String], words: [String]
)] {
    let command = path[path.count - 1]
    let kinds = command.options.map { ("--\($0.name)", $0.kind) } + command.operands.map { ($0.name, $0.kind) }
    let own = kinds.compactMap { name, kind -> (String, [String: String], [String])? in
        guard case .choice(let words, let json) = kind, !json.isEmpty else { return nil }
        return ("\(Invocation.name(of: path)) \(name)", json, words)
    }
    return own + command.commands.flatMap { choices(path + [$0]) }
}

@Suite struct `the words of JSON` {
    @Test(arguments: [
        ("store buy a b --offer-type OFFER_TYPE_WIN_BACK", "offer-type", "winBack"),
        ("store refund a 7 --reason REVOCATION_REASON_DEVELOPER_ISSUE", "reason", "developer-issue"),
        ("store buy a b --plan BILLING_PLAN_TYPE_UP_FRONT", "plan", "upFront"),
        ("store buy a b --then RENEWAL_BEHAVIOUR_RENEW_UNTIL_NOW", "then", "renewUntilNow"),
        ("store buy a b --introductory INTRODUCTORY_ELIGIBILITY_DENIED", "introductory", "denied"),
        ("get apps --environment ENVIRONMENT_XCODE", "environment", "xcode"),
        ("store raise-price a b 12 --consent PRICE_CONSENT_NOT_NEEDED", "consent", "not-needed"),
        ("store product p --withdrawn true", "withdrawn", "on"),
    ])
    func `the words of JSON are values of options`(_ line: String, _ option: String, _ word: String) throws {
        #expect(try parsed(line).written[option] == .text(word))
    }

    @Test(arguments: [
        ("store charges a CHARGE_OUTCOME_UNSPECIFIED", "as-app"), ("store charges a CHARGE_OUTCOME_FAIL", "fail"),
        ("store fail STORE_KIT_API_LOAD_PRODUCTS off", "off"),
        ("store fail loadProducts STORE_KIT_ERROR_NETWORK_ERROR", "networkError"),
        ("store auto-renew a 7 false", "off"), ("store manage-subscriptions a b true", "on"),
    ])
    func `the words of JSON are values of arguments`(_ line: String, _ word: String) throws {
        #expect(try parsed(line).operands.last == [.text(word)])
    }

    @Test func `name settings and states`() throws {
        #expect(try parsed("store set billingRetryOnRenewal true").operands.first == [.text("billing-retry")])
        #expect(
            try parsed("store watch --state RENEWAL_STATE_IN_GRACE_PERIOD").written["state"]
                == .list([.text("inGracePeriod")]))
    }

    @Test func `the words of JSON are those of the contract, and stand for a word of the command line`() {
        let all = choices()
        #expect(all.count > 10)
        for (name, json, words) in all {
            for (word, meaning) in json {
                #expect(words.contains(meaning), "\(name): \(meaning)")
                guard word.first?.isUppercase == true else { continue }
                #expect(contractNames.contains(word), "\(name): \(word) is not in proto/")
            }
        }
    }

    /// A new value of one of these enumerations has to become a word of the command line.
    @Test(arguments: [
        "STORE_KIT_API", "STORE_KIT_ERROR", "ENVIRONMENT", "RENEWAL_STATE", "CHARGE_OUTCOME", "BILLING_PLAN_TYPE",
    ])
    func `the words of JSON are all values of an enumeration`(_ prefix: String) {
        let known = Set(choices().flatMap(\.json.keys))
        for name in contractNames where name.hasPrefix(prefix + "_") && !name.hasSuffix("_UNSPECIFIED") {
            #expect(known.contains(name), "\(name)")
        }
    }

    @Test func `of settings are the fields of AppSetting`() {
        let text = Repository.text("proto/perch/v1/store_operation.proto")
        for setting in SettingName.allCases {
            let field = setting.jsonName.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
            #expect(text.contains(" \(field) = "), "\(setting.jsonName)")
        }
    }
}
