import PerchBase
import PerchCore
import PerchIdentity
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// What people who answer customers ask for, with the tokens that they have.
@Suite(.onChosenStorage) struct `Answering customers` {
    private static let app = AppReference(bundleID: TestShop.bundleID, environment: .xcode)

    private static func explain(
        _ world: World, _ client: WireClient, _ change: (inout ExplainRequest) -> Void = { _ in }
    ) throws -> ExplainAnswer {
        var asked = ExplainRequest(app: Self.app, account: "anna")
        change(&asked)
        guard case .explain(let answer) = try world.require(.explain(asked), from: client) else {
            throw NoAnswer(status: nil)
        }
        return answer
    }

    private static func refusal(_ request: Request, _ world: World, _ client: WireClient) throws -> Status {
        try #require(world.answer(to: request, from: client).1)
    }

    @Test func `a token that may only read gets the sentence, the changes, and who granted`() throws {
        let world = Gate.world()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "ada"))
        let support = world.welcomedClient(authorization: Gate.token(.read, subject: "ann"))
        let none = try Self.explain(world, support)
        #expect(
            none.value.summary == "No account has this name yet: anna. Its first purchase creates it.")
        #expect(none.value.message == "No account has this name." && !none.value.isEntitled)
        let noGroup = try Self.explain(world, support) { change in
            change.about = .group("plans")
            change.locale = "de"
        }
        #expect(
            noGroup.value.summary == "Noch hat kein Konto diesen Namen: anna. Der erste Kauf legt es an.")
        // Of an earlier revision, and to the customer, nothing is said about accounts.
        let customer = world.welcomedClient(authorization: Gate.token(.read, account: "anna"))
        let unsaid = "anna has bought nothing yet."
        #expect(try Self.explain(world, customer).value.summary == unsaid)
        #expect(try Self.explain(world, support) { $0.asOf = AsOf(revision: 1) }.value.summary == unsaid)
        try world.buy("gold", from: admin)
        try world.require(
            .grantEntitlement(
                GrantEntitlementRequest(app: Self.app, account: "anna", name: "plus", reason: "outage")), from: admin)
        let told = try Self.explain(world, support)
        #expect(told.value.summary.hasPrefix("anna has "), "\(told.value.summary)")
        #expect(told.value.summary.hasSuffix(", without an end."), "\(told.value.summary)")
        #expect(told.value.changes.count == 3 && told.value.changes.allSatisfy { $0.kind == .renewal })
        #expect(told.value.grants.map(\.grantedBy) == ["ada"] && told.value.grants.map(\.reason) == ["outage"])
        #expect(told.value.isEntitled && told.value.explanations.first?.isEntitled == true)
        #expect(!told.isNotInCatalog)
        // In words of another language, and about a part of it.
        let german = try Self.explain(world, support) { $0.locale = "de_DE" }
        #expect(german.value.summary.hasPrefix("anna hat "), "\(german.value.summary)")
        let group = try Self.explain(world, support) { $0.about = .group("plans") }
        #expect(!group.value.summary.contains("plus") && group.value.grants.isEmpty)
        // The customer itself is not told who granted, and why.
        let anna = world.welcomedClient(authorization: Gate.token(.read, account: "anna"))
        let own = try Self.explain(world, anna)
        #expect(own.value.summary == told.value.summary)
        #expect(own.value.grants.map(\.grantedBy) == [""] && own.value.grants.map(\.reason) == [""])
        #expect(own.value.grants.first?.message.contains("outage") == false)
    }

    @Test func `a grant of a name that the app's file lacks says the names that it has`() throws {
        func known(_ name: String, _ rules: [EntitlementRule]) throws -> [String] {
            var setup = World.Setup()
            setup.catalogue = setup.catalogue.replacing(entitlements: rules)
            let world = World(setup)
            let request = GrantEntitlementRequest(app: Self.app, account: "anna", name: name)
            guard
                case .grantEntitlement(let answer) = try world.require(
                    .grantEntitlement(request), from: world.welcomedClient())
            else { throw NoAnswer(status: nil) }
            #expect(answer.position != nil)
            return answer.knownNames
        }
        let rules = [
            EntitlementRule(name: "plus", groupID: "plans", level: 1, tier: "gold"),
            EntitlementRule(name: "plus", productID: "lifetime"), EntitlementRule(name: "news", groupID: "news"),
        ]
        #expect(try known("plsu", rules) == ["plus", "news"])
        #expect(try known("news", rules) == [])
        #expect(try known("plsu", []) == [], "a file that is not there lacks nothing")
    }

    @Test func `a file of entitlements has a limit in a request`() throws {
        let world = World()
        let client = world.welcomedClient()
        let long = [UInt8](repeating: 32, count: Limits.entitlementFileBytesMax + 1)
        for request in [
            Request.loadCatalog(LoadCatalogRequest(app: Self.app, file: [1], entitlements: long)),
            .checkCatalog(CheckCatalogRequest(file: [1], entitlements: long)),
        ] {
            let status = try Self.refusal(request, world, client)
            #expect(status.reason == "CATALOG_TOO_LONG" && status.message.contains("\(long.count) bytes"))
        }
    }

    @Test func `what happened is told to those who ask for it, and the customer is not told who did it`() throws {
        let world = Gate.world()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "ada"))
        let support = world.welcomedClient(authorization: Gate.token(.read, subject: "ann"))
        try world.buy("gold", from: admin)
        try world.require(
            .grantEntitlement(
                GrantEntitlementRequest(app: Self.app, account: "anna", name: "plus", reason: "outage")), from: admin)
        #expect(try Self.explain(world, support).value.history.isEmpty)
        let told = try Self.explain(world, support) { $0.withHistory = true }
        #expect(told.value.history.map(\.kind) == [.grant, .purchase] && !told.value.historyIsCut)
        #expect(
            told.value.history.first?.message == "plus was given, without an end, because: “outage” (by ada)",
            "\(told.value.history)")
        #expect(told.value.history.first?.by == "ada" && told.value.history.last?.transactionID != 0)
        let german = try Self.explain(world, support) { asked in
            (asked.withHistory, asked.locale) = (true, "de")
        }
        #expect(german.value.history.last?.message.hasPrefix("Gekauft: ") == true)
        let anna = world.welcomedClient(authorization: Gate.token(.read, account: "anna"))
        let own = try Self.explain(world, anna) { $0.withHistory = true }
        #expect(own.value.history.first?.message == "plus was given, without an end")
        #expect(own.value.history.allSatisfy { $0.by.isEmpty })
        let request = ExplainRequest(app: Self.app, account: "anna", about: .group("plans"), withHistory: true)
        #expect(try Self.refusal(.explain(request), world, support).reason == "FIELD_INVALID")
    }

    @Test func `a supposed event changes nothing, and says what would be`() throws {
        let world = Gate.world()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "ada"))
        let support = world.welcomedClient(authorization: Gate.token(.read, subject: "ann"))
        try world.buy("gold", from: admin)
        let before = try Self.explain(world, support)
        #expect(before.value.supposed == nil)
        for event in [
            SupposedEvent.chargeFails, .refund, .cancelled, .priceAgreed, .priceNotAgreed,
        ] {
            let answer = try Self.explain(world, support) { $0.suppose = Supposition(event: event) }
            let supposed = try #require(answer.value.supposed)
            #expect(supposed.summary != before.value.summary, "\(event)")
            #expect(supposed.isEntitled == (event != .chargeFails && event != .refund), "\(event): \(supposed)")
            #expect(answer.value.summary == before.value.summary)
        }
        #expect(try Self.explain(world, support) == before)
        func refused(_ supposition: Supposition) throws -> Status {
            try Self.refusal(
                .explain(ExplainRequest(app: Self.app, account: "anna", suppose: supposition)), world, support)
        }
        #expect(try refused(Supposition(event: .unspecified)).reason == "FIELD_MISSING")
        #expect(try refused(Supposition(event: SupposedEvent(rawValue: 99))).reason == "FIELD_INVALID")
        #expect(try refused(Supposition(event: .planChange)).reason == "FIELD_MISSING")
        #expect(try refused(Supposition(event: .planChange, productID: "none")).reason != "")
        #expect(try refused(Supposition(event: .priceAgreed, priceMilliunits: -1)).reason == "FIELD_INVALID")
        #expect(try refused(Supposition(event: .refund, originalTransactionID: 99)).reason == "TRANSACTION_UNKNOWN")
        for offset: Int32 in [1_081, -1_081, .min] {
            let request = ExplainRequest(app: Self.app, account: "anna", utcOffsetMinutes: offset)
            #expect(try Self.refusal(.explain(request), world, support).reason == "FIELD_INVALID")
        }
        let request = ExplainRequest(app: Self.app, account: "anna", locale: "not a locale")
        #expect(try Self.refusal(.explain(request), world, support).reason == "FIELD_INVALID")
    }

    @Test func `notes are written and deleted by a token that may only read`() throws {
        let world = Gate.world()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "ada"))
        let ann = world.welcomedClient(authorization: Gate.token(.read, subject: "ann"))
        let ben = world.welcomedClient(authorization: Gate.token(.read, subject: "ben"))
        try world.buy("gold", from: admin)
        guard case .setClock(let moved) = try world.require(.clock(.advanceBy(milliseconds: 86_400_000)), from: admin)
        else { throw NoAnswer(status: nil) }
        let later = moved.clock.now
        func add(_ text: String, _ client: WireClient) throws -> UInt64 {
            let request = AddNoteRequest(app: Self.app, account: "anna", text: text)
            guard case .addNote(let added) = try world.require(.addNote(request), from: client) else {
                throw NoAnswer(status: nil)
            }
            return added.noteID
        }
        func notes() throws -> [CustomerNote] {
            let request = ListNotesRequest(app: Self.app, account: "anna")
            guard case .listNotes(let list) = try world.require(.listNotes(request), from: ben) else {
                throw NoAnswer(status: nil)
            }
            return list.notes
        }
        func delete(_ id: UInt64, _ client: WireClient) -> String {
            let request = DeleteNoteRequest(app: Self.app, account: "anna", noteID: id)
            return world.answer(to: .deleteNote(request), from: client).1?.reason ?? ""
        }
        let (first, second) = (try add("called", ann), try add("called again", ann))
        #expect(try notes().map(\.author) == ["ann", "ann"] && notes().map(\.text) == ["called", "called again"])
        // On the clock of a test app, which is ahead.
        let instants = try notes().map(\.at)
        #expect(instants.allSatisfy { $0 == later }, "\(instants), not \(later)")
        #expect(delete(first, ben) == "PERMISSION_DENIED")
        #expect(delete(first, ann) == "" && delete(first, ann) == "")
        #expect(delete(second, admin) == "")
        #expect(try notes() == [])
        for text in ["", String(repeating: "a", count: Limits.noteBytesMax + 1)] {
            let request = AddNoteRequest(app: Self.app, account: "anna", text: text)
            let reason = try Self.refusal(.addNote(request), world, ann).reason
            #expect(reason == (text.isEmpty ? "FIELD_MISSING" : "FIELD_INVALID"))
        }
        let nobody = AddNoteRequest(app: Self.app, account: "nobody", text: "hello")
        #expect(try Self.refusal(.addNote(nobody), world, ann).reason == "ACCOUNT_UNKNOWN")
    }

    @Test func `the account of a transaction of a test app has its original transactions`() throws {
        let world = Gate.world()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "ada"))
        let bought = try world.buy("gold", from: admin).id
        let request = FindAccountRequest(app: Self.app, transactionID: bought)
        guard case .findAccount(let found) = try world.require(.findAccount(request), from: admin) else {
            throw NoAnswer(status: nil)
        }
        #expect(found.account == "anna" && found.originalTransactionIDs == ["\(bought)"])
    }

    @Test func `a search finds by the beginning of a key, and by a whole name`() throws {
        let world = Gate.world()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "ada"))
        let support = world.welcomedClient(authorization: Gate.token(.read, subject: "ann"))
        let bought = try world.buy("gold", from: admin).id
        try world.buy("coins", "annabel", from: admin)
        func find(_ text: String, _ kinds: [CustomerNameKind] = []) throws -> [String] {
            let request = FindCustomersRequest(app: Self.app, text: text, kinds: kinds)
            guard case .findCustomers(let found) = try world.require(.findCustomers(request), from: support) else {
                throw NoAnswer(status: nil)
            }
            return found.customers.map { "\($0.account) \($0.kind)" }
        }
        #expect(try find("ann") == ["anna account", "annabel account"])
        #expect(try find("anna") == ["anna account", "annabel account"])
        #expect(try find("\(bought)") == ["anna originalTransaction"])
        #expect(try find("\(bought)", [.order]) == ["anna order"])
        #expect(try find("zed") == [])
        func refused(_ text: String, _ size: UInt32 = 0, _ kinds: [CustomerNameKind] = []) throws -> String {
            let request = FindCustomersRequest(app: Self.app, text: text, kinds: kinds, pageSize: size)
            return try Self.refusal(.findCustomers(request), world, support).reason
        }
        #expect(try refused("") == "FIELD_MISSING")
        #expect(try refused(String(repeating: "a", count: 256)) == "FIELD_INVALID")
        #expect(try refused("a", 101) == "FIELD_INVALID")
        #expect(try refused("a", 0, [.unspecified]) == "FIELD_INVALID")
    }
}
