import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

extension ReportedStore {
    fileprivate func history(_ name: String, _ known: KnownAs? = nil) throws -> AccountHistory {
        let question = StoreRequest.Body.history(self.key(name), known, withGranters: true, withHappenings: true)
        guard case .history(let history) = try self.ask(question) else { throw Unexpected() }
        return history
    }

    /// What happened to an account, in English, each with who did it and the other account.
    fileprivate func told(_ name: String, _ known: KnownAs? = nil) throws -> [String] {
        let history = try self.history(name, known)
        return TextReader(locale: "", offsetMinutes: 0).history(
            history.happenings, in: history.app, at: self.wall, forCustomer: false
        ).map(\.message)
    }

    /// What an account has, in English.
    fileprivate func summary(_ name: String, forCustomer: Bool = false) throws -> String {
        let history = try self.history(name)
        return Summary(
            of: history.record, called: name, about: .all, rows: history.rows,
            happenings: forCustomer ? history.happenings.map(\.forCustomer) : history.happenings, app: history.app,
            at: self.wall, for: TextReader(locale: "", offsetMinutes: 0)
        ).text
    }

    /// An administrator's request, with its line of the audit trail.
    fileprivate func administer(_ request: ReportedRequest, as method: String, by subject: String = "\"ada\" by main")
        throws
    {
        var mutation = Mutation.reported(request, app: 1)
        mutation.audit = AuditEntry(
            at: self.wall, subject: subject, address: "", method: "/perch.v1.AdminService/\(method)", what: "",
            bundleID: "com.example.app", environment: "production")
        guard case .mutated = try self.ask(.mutate(mutation)) else { throw Unexpected() }
    }
}

@Suite struct `What happened to accounts` {
    @Test(arguments: all)
    func `is told to both accounts of a move, with who moved it`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.reports(ReportedLine.transaction(100), by: store.key("ivy")))
        let bought = try store.told("ivy")
        #expect(bought.count == 1 && bought[0].hasPrefix("Bought pro, until "))
        try store.administer(
            .grant(EntitlementGrant(name: "plus", until: nil, reason: "", since: store.wall), to: store.key("ines")),
            as: "GrantEntitlement", by: "everyone")
        try store.administer(.claim(100, for: store.key("ines")), as: "MoveTransaction")
        #expect(try store.told("ivy") == bought + ["pro (transaction 100) was moved from here to ines (by ada)"])
        #expect(
            try store.told("ines") == [
                bought[0] + ", by ivy", "plus was given, without an end",
                "pro (transaction 100) was moved here from ivy (by ada)",
            ])
        let moved = "ivy has nothing at the moment. pro was moved to "
        #expect(try store.summary("ivy").hasPrefix(moved + "ines on "))
        #expect(try store.summary("ivy", forCustomer: true).hasPrefix(moved + "another account on "))
        #expect(try store.summary("ines").hasPrefix("ines has pro until "))
        // As it was known before.
        #expect(try store.told("ivy", KnownAs(revision: store.engine.header.revision - 1, instant: nil)) == bought)
        // Nobody reads the name of an account that was erased.
        try store.administer(.erase(store.key("ines")), as: "EraseAccount")
        #expect(try store.told("ines") == [])
        #expect(
            try store.told("ivy") == bought + ["pro (transaction 100) was moved from here to another account (by ada)"])
    }

    /// A notification that is read again says what others did, and a merger gives grants anew.
    @Test(arguments: all)
    func `names nobody for what he did not do`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.administer(
            .reports(ReportedLine.transaction(100), by: store.key("ivy")), as: "RetryDeadLetter")
        try store.administer(
            .grant(EntitlementGrant(name: "plus", until: nil, reason: "", since: store.wall), to: store.key("ivy")),
            as: "GrantEntitlement")
        try store.administer(
            .merge(store.key("ivy"), into: store.key("ines")), as: "MergeAccounts", by: "\"bob\" by main")
        let told = try store.history("ines").happenings
        #expect(!told.isEmpty)
        for each in told {
            if case .granted = each.what { #expect(each.by != "bob", "\(each)") }
            if case .bought = each.what { #expect(each.by != "ada", "\(each)") }
        }
        #expect(told.contains { if case .granted = $0.what { true } else { false } })
    }

    @Test(arguments: all)
    func `has no move of a purchase that nobody had claimed`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.reports(ReportedLine.transaction(100)))
        try store.tell(.claim(100, for: store.key("alice")))
        let told = try store.told("alice")
        #expect(told.count == 1 && told[0].hasPrefix("Bought pro, until ") && !told[0].contains(", by "))
        #expect(try store.history("nobody").happenings.isEmpty)
    }

    @Test(arguments: all)
    func `is the newest, and nothing of an account with too many facts`(_ implementation: StorageImplementation) throws
    {
        let store = try ReportedStore(on: try implementation.make().storage)
        for _ in 0...Limits.historyEntriesMax {
            let grant = EntitlementGrant(name: "plus", until: nil, reason: "", since: store.wall)
            try store.administer(.grant(grant, to: store.key("alice")), as: "GrantEntitlement")
            store.wall = store.wall.advanced(byMilliseconds: 1)
        }
        let history = try store.history("alice")
        #expect(history.isCut && history.happenings.count == Limits.historyEntriesMax)
        #expect(history.happenings.allSatisfy { $0.by == "ada" })
        #expect(history.happenings.last?.at == store.wall.advanced(byMilliseconds: -1))
        store.engine.factsPerReadMax = 100
        let none = try store.history("alice")
        #expect(none.isCut && none.happenings.isEmpty)
        let question = StoreRequest.Body.history(store.key("alice"), nil)
        guard case .history(let unasked) = try store.ask(question) else { throw ReportedStore.Unexpected() }
        #expect(unasked.happenings.isEmpty && !unasked.isCut)
    }
}
