import PerchBase
import PerchModel
import PerchWire

// Compares observations with expectations.
extension ScenarioRunner {
    func judge(_ expectation: Expectation, _ line: ScenarioLine) throws(ScenarioFailure) {
        if !self.isFrozen {
            // Time alone may have pushed since.
            try self.lookAtClock()
            try self.settle()
        }
        let looked = try self.look(expectation.subject)
        if expectation.subject == .outcome { try self.judgeOutcome(expectation, looked, line) }
        var judge = Judge(expectation: expectation, looked: looked, line: line)
        if expectation.subject.isList {
            try self.judgeList(&judge)
        } else {
            for item in expectation.items {
                for check in item.checks { try self.judge(check, &judge) }
            }
        }
    }

    /// One expectation under judgement.
    private struct Judge {
        var expectation: Expectation
        var looked: Looked
        var line: ScenarioLine
        var selection: Expectation.Selection?
        /// Set while the runner checks an item of a list.
        var sight: Sight?

        /// The selected part; nil if it does not exist.
        var selected: Sight? {
            if let sight { return sight }
            switch self.selection {
            case nil:
                // Of several lines, the account's own.
                if case .watch(.status) = self.expectation.subject {
                    return self.looked.sights.first { !$0.isShared } ?? self.looked.sights.first
                }
                return self.looked.sights.first
            case .own?: return self.looked.sights.first { !$0.isShared }
            case .shared?: return self.looked.sights.first { $0.isShared }
            case .effective?: return self.looked.effective.map { self.looked.sights[$0] }
            case .first?: return self.looked.sights.first
            case .last?: return self.looked.sights.last
            case .number(let number)?:
                return self.looked.sights.indices.contains(number - 1) ? self.looked.sights[number - 1] : nil
            case .product(let product)?:
                return self.looked.sights.first { $0.fields[.product] == .text(product) }
            }
        }
    }

    private func differ(_ check: Expectation.Check, _ judge: Judge, _ message: String) {
        self.differ(check.place, judge.line, message, expected: check.text, seen: judge.looked.summary)
    }

    // MARK: Lists

    private func judgeList(_ judge: inout Judge) throws(ScenarioFailure) {
        var items: [Expectation.Item] = []
        var isPart = judge.expectation.subject.isUnordered == .part
        for item in judge.expectation.items {
            let rest = item.checks.filter { !$0.kind.isAboutWhole }
            for check in item.checks where check.kind.isAboutWhole {
                if check.kind == .including || check.kind.isCount { isPart = true }
                try self.judge(check, &judge)
            }
            guard !rest.isEmpty else { continue }
            if case .select(let selection) = rest[0].kind {
                judge.selection = selection
                for check in rest.dropFirst() { try self.judge(check, &judge) }
                judge.selection = nil
                isPart = true
            } else {
                items.append(Expectation.Item(place: item.place, text: item.text, checks: rest))
            }
        }
        guard !items.isEmpty, !judge.looked.isLoading, judge.looked.failure == nil else {
            if let item = items.first {
                self.differ(
                    item.place, judge.line, "expected \(item.text), but there is no list", seen: judge.looked.summary)
            }
            return
        }
        if judge.expectation.subject.isUnordered != .no || isPart {
            try self.judgeUnordered(items, judge, isPart: isPart)
        } else {
            try self.judgeOrdered(items, judge)
        }
    }

    private func judgeOrdered(_ items: [Expectation.Item], _ judge: Judge) throws(ScenarioFailure) {
        for (index, item) in items.enumerated() {
            guard index < judge.looked.sights.count else {
                self.differ(
                    item.place, judge.line,
                    "expected \(item.text) as number \(index + 1), but there are only "
                        + "\(judge.looked.sights.count)", expected: item.text, seen: judge.looked.summary)
                return
            }
            var one = judge
            one.sight = judge.looked.sights[index]
            for check in item.checks { try self.judge(check, &one) }
        }
        if judge.looked.sights.count > items.count {
            let more = judge.looked.sights[items.count...].map(\.summary).joined(separator: ", ")
            self.differ(
                items[0].place, judge.line,
                "expected \(items.count), but there \(judge.looked.sights.count == 1 ? "is" : "are") "
                    + "\(judge.looked.sights.count): \(more) was not expected", expected: judge.line.text,
                seen: judge.looked.summary)
        }
    }

    private func judgeUnordered(
        _ items: [Expectation.Item], _ judge: Judge, isPart: Bool
    ) throws(ScenarioFailure) {
        var left = judge.looked.sights
        for item in items {
            var best: (index: Int, matches: Int)?
            for (index, sight) in left.enumerated() {
                var one = judge
                one.sight = sight
                var matches = 0
                for check in item.checks where try self.reason(against: check, one) == nil {
                    matches += check.kind.names ? 100 : 1
                }
                if matches > best?.matches ?? -1 { best = (index, matches) }
            }
            guard let best else {
                self.differ(
                    item.place, judge.line, "expected \(item.text), but there is none left", expected: item.text,
                    seen: judge.looked.summary)
                continue
            }
            var one = judge
            one.sight = left.remove(at: best.index)
            for check in item.checks { try self.judge(check, &one) }
        }
        guard !isPart, !left.isEmpty else { return }
        self.differ(
            items[0].place, judge.line,
            "expected \(items.count), but there are \(judge.looked.sights.count): "
                + left.map(\.summary).joined(separator: ", ") + " was not expected", expected: judge.line.text,
            seen: judge.looked.summary)
    }

    // MARK: One check

    private func judge(_ check: Expectation.Check, _ judge: inout Judge) throws(ScenarioFailure) {
        switch check.kind {
        case .select(let selection):
            judge.selection = selection
        case .capture(let name):
            guard let transaction = judge.selected?.transaction else {
                if case .refused? = self.outcome?.result, judge.expectation.subject == .outcome { return }
                return self.differ(check, judge, "there is no transaction to be called \(name)")
            }
            self.transactions[name] = Named(
                transaction: transaction, account: judge.expectation.subject.account ?? self.outcome?.account ?? "")
        default:
            if let reason = try self.reason(against: check, judge) { self.differ(check, judge, reason) }
        }
    }

    /// Why a check fails; nil if it holds.
    private func reason(against check: Expectation.Check, _ judge: Judge) throws(ScenarioFailure) -> String? {
        let looked = judge.looked
        switch check.kind {
        case .pushes(let rule): return Self.reason(against: rule, looked.pushes ?? 0)
        case .loading: return looked.isLoading ? nil : "expected loading, but there is a value"
        case .failure(let reason):
            guard let failure = looked.failure else { return "expected a failure, but there is a value" }
            guard let reason, !Self.isSame(reason: reason, failure.reason) else { return nil }
            return "expected failure \(reason), but it is \(failure.reason)"
        case .none:
            if looked.isLoading { return "expected none, but it is loading" }
            if let failure = looked.failure { return "expected none, but it is failure \(failure.reason)" }
            if judge.selection != nil { return judge.selected == nil ? nil : "expected none, but there is one" }
            let count = looked.sights.count { $0.fields[.available] != .flag(false) }
            return count == 0 ? nil : "expected none, but there \(count == 1 ? "is one" : "are \(count)")"
        case .some:
            return judge.selected == nil ? "expected one, but there is none" : nil
        case .count(let count):
            if looked.isLoading || looked.failure != nil { return "expected \(count), but there is no value" }
            return looked.sights.count == count ? nil : "expected \(count), but there are \(looked.sights.count)"
        case .field(let field, let expected, let isNegated):
            return try self.reason(against: field, expected, isNegated: isNegated, judge)
        case .setting(let setting):
            let isThere = looked.settings.contains { Self.isSame($0, setting) }
            return isThere ? nil : "this setting is not in force"
        case .result(let rule): return self.reason(against: rule)
        case .select, .capture, .including: return nil
        }
    }

    private static func reason(against rule: Expectation.PushRule, _ count: Int) -> String? {
        let seen =
            count == 0 ? "nothing was pushed" : count == 1 ? "one value was pushed" : "\(count) values were pushed"
        switch rule {
        case .never: return count == 0 ? nil : "expected no push, but \(seen)"
        case .atLeast(let least):
            return count >= least ? nil : "expected \(least == 1 ? "a push" : "at least \(least) pushes"), but \(seen)"
        case .exactly(let exact):
            return count == exact ? nil : "expected exactly \(exact) push\(exact == 1 ? "" : "es"), but \(seen)"
        }
    }

    /// Armed and disarmed failures are listed only while they are armed.
    private static func isSame(_ left: AppSettingChange, _ right: AppSettingChange) -> Bool { left == right }

    /// `product unavailable` is `PURCHASE_PRODUCT_UNAVAILABLE`, and every name of StoreKit's is understood.
    private static func isSame(reason said: String, _ reason: String) -> Bool {
        var wanted = Token.normalise(said)
        // The one that our word does not end with.
        if wanted == Token.normalise("invalidOfferIdentifier") { wanted = Token.normalise("invalidOffer") }
        guard Token.normalise(reason) != wanted else { return true }
        let parts = reason.split(separator: "_")
        return parts.indices.contains { Token.normalise(parts[$0...].joined()) == wanted }
    }

    // MARK: Fields

    private func reason(
        against field: Field, _ expected: Expected, isNegated: Bool, _ judge: Judge
    ) throws(ScenarioFailure) -> String? {
        let title = FieldTable.title(field)
        let account = judge.expectation.subject.account ?? self.outcome?.account ?? ""
        let wanted = try self.describe(expected, account)
        if judge.looked.isLoading { return "expected \(title) \(wanted), but it is loading" }
        if let failure = judge.looked.failure {
            return "expected \(title) \(wanted), but it is failure \(failure.reason)"
        }
        let found: Observed
        if let own = judge.selected?.fields[field] ?? judge.looked.fields[field] {
            found = own
        } else if judge.selected == nil {
            // A missing value never matches.
            guard !isNegated else { return nil }
            return
                "expected \(title) \(wanted), but there is \(judge.selection.map { "no such line (\($0))" } ?? "none")"
        } else {
            found = .none
        }
        let holds = try self.matches(expected, found, field, account)
        guard holds == isNegated else { return nil }
        return "expected \(title) \(isNegated ? "not " : "")\(wanted), but it is \(self.describe(found))"
    }

    private func matches(
        _ expected: Expected, _ found: Observed, _ field: Field, _ account: String
    ) throws(ScenarioFailure) -> Bool {
        switch (expected, found) {
        case (.none, _): return found == .none
        case (.some, _): return found != .none
        case (.text(let wanted), .text(let text)):
            if field == .sentence { return text.lowercased().contains(wanted.lowercased()) }
            if field == .reason || field == .rule { return Self.isSame(reason: wanted, text) }
            if field == .timeRate { return Token.normalise(wanted) == Token.normalise(text) }
            return Self.plain(wanted) == Self.plain(text)
        case (.instant(let expression), .instant(let instant)):
            return try self.resolve(expression, account: account) == instant
        case (.flag(let wanted), .flag(let flag)): return wanted == flag
        case (.flag(let wanted), .none): return !wanted
        case (.money(let milliunits, let currency), .money(let money)):
            return milliunits == money.milliunits && (currency == nil || currency == money.currency)
        case (.number(let wanted), .number(let number)): return wanted == number
        case (.offer(let type, let mode, let id), .offer(let offer)):
            return (type == nil || type == offer.type) && (mode == nil || mode == offer.paymentMode)
                && (id == nil || id == offer.id)
        case (.reference(let reference), .id(let number)):
            if case .number(let wanted) = reference { return wanted == number }
            return try self.find(reference, account: account)?.id == number
        case (.list(let wanted), .list(let list)): return wanted == list
        case (.period(let wanted), .period(let period)): return Self.length(wanted) == Self.length(period)
        default: return false
        }
    }

    /// Amounts contain no-break spaces, which look like other spaces in a text file.
    private static func plain(_ text: String) -> String {
        String(text.map { $0 == "\u{A0}" || $0 == "\u{202F}" ? " " : $0 })
    }

    private static func length(_ period: Period) -> [Int32] {
        switch period.unit {
        case .week: [7 * period.value, 0]
        case .year: [0, 12 * period.value]
        case .month: [0, period.value]
        default: [period.value, 0]
        }
    }

    private func describe(_ expected: Expected, _ account: String) throws(ScenarioFailure) -> String {
        switch expected {
        case .text(let text): return text.isEmpty ? "empty" : printable(text)
        case .instant(let expression):
            return try self.resolve(expression, account: account).map { self.unshifted($0).description }
                ?? "an instant that there is not"
        case .flag(let flag): return flag ? "on" : "off"
        case .money(let milliunits, let currency):
            return Money(milliunits: milliunits, currency: "").decimal() + (currency.map { " \($0)" } ?? "")
        case .number(let number): return String(number)
        case .offer(let type, let mode, let id):
            return [type?.description, mode?.description, id].compactMap { $0 }.joined(separator: " ")
        case .reference(let reference):
            guard case .named(let name) = reference, let named = self.transactions[name] else {
                return reference.description
            }
            return "\(name) (transaction \(named.transaction.id))"
        case .list(let list): return list.joined(separator: " ")
        case .period(let period): return period.description
        case .none: return "none"
        case .some: return "any"
        }
    }

    private func describe(_ observed: Observed) -> String {
        switch observed {
        case .text(let text): return text.isEmpty ? "empty" : printable(text)
        case .instant(let instant): return self.unshifted(instant).description
        case .flag(let flag): return flag ? "on" : "off"
        case .money(let money): return "\(money.decimal()) \(money.currency)"
        case .number(let number): return String(number)
        case .offer(let offer):
            return [offer.type.description, offer.paymentMode.description, offer.id].filter { !$0.isEmpty }
                .joined(separator: " ")
        case .id(let id):
            let name = self.transactions.filter { $0.value.transaction.id == id }.keys.sorted().first
            return name.map { "\($0) (transaction \(id))" } ?? "transaction \(id)"
        case .list(let list): return list.joined(separator: " ")
        case .period(let period): return period.description
        case .none: return "none"
        }
    }

    // MARK: Outcomes

    private func judgeOutcome(
        _ expectation: Expectation, _ looked: Looked, _ line: ScenarioLine
    ) throws(ScenarioFailure) {
        guard self.outcome != nil else {
            self.differ(line.place, line, "an outcome is expected, but no step above it has one")
            return
        }
        let names = expectation.items.allSatisfy {
            $0.checks.allSatisfy { if case .capture = $0.kind { true } else { false } }
        }
        if !names { self.outcome?.isJudged = true }
    }

    private func reason(against rule: Expectation.ResultRule) -> String? {
        guard let outcome = self.outcome else { return "no step above has an outcome" }
        let seen = self.describe(outcome)
        let isDone = if case .done = outcome.result { true } else { false }
        let holds: Bool
        switch rule {
        case .success: holds = isDone
        case .new: holds = isDone && !outcome.wasHeld && outcome.transaction != nil
        case .held: holds = isDone && outcome.wasHeld
        case .pending: if case .pending = outcome.result { holds = true } else { holds = false }
        case .cancelled: if case .cancelled = outcome.result { holds = true } else { holds = false }
        case .approved: holds = outcome.isApproved == true
        case .declined: holds = outcome.isApproved == false
        case .appliesAtRenewal: holds = isDone && outcome.appliesAtRenewal
        case .settled(let count): holds = outcome.settledCount == UInt64(count)
        case .refused(let reason):
            guard case .refused(let refusal) = outcome.result else {
                return "expected a refusal, but the step came to \(seen)"
            }
            guard let reason, !Self.isSame(reason: reason, refusal.reason) else { return nil }
            return "expected the refusal \(reason), but it is \(refusal.reason)"
        }
        return holds ? nil : "expected \(rule), but the step came to \(seen)"
    }
}

extension Expectation.Kind {
    /// About a list, not about one of its entries.
    fileprivate var isAboutWhole: Bool {
        switch self {
        case .pushes, .loading, .failure, .none, .count, .including, .setting: true
        default: false
        }
    }

    fileprivate var isCount: Bool { if case .count = self { true } else { false } }

    /// Whether the check selects an entry, rather than describing it.
    fileprivate var names: Bool {
        if case .field(let field, _, false) = self {
            return [.product, .transaction, .offerType, .offerID].contains(field)
        }
        return false
    }
}

extension Expectation.Subject {
    fileprivate enum Order { case no, whole, part }

    fileprivate var isList: Bool {
        switch self {
        case .watch(.updates), .watch(.intents), .watch(.messages), .history, .unfinished, .entitlements, .eligibility,
            .plans, .pending:
            true
        default: false
        }
    }

    fileprivate var isUnordered: Order {
        switch self {
        case .entitlements: .whole
        case .eligibility, .plans: .part
        default: .no
        }
    }

    var account: String? {
        switch self {
        case .watch(let key), .asOf(let key, _), .explanation(let key, _): key.account
        case .history(let account, _, _), .unfinished(let account), .transaction(let account, _),
            .entitlements(let account), .eligibility(let account, _, _), .plans(let account, _), .pending(let account),
            .appTransaction(let account):
            account
        default: nil
        }
    }
}
