import PerchBase
import PerchClient
import PerchLoop
import PerchModel

/// `perch entitlements`: entitlements by their names in the app.
enum EntitlementTable {
    static let entitlements: CommandSpec = {
        var entitlements = CommandSpec("entitlements", "Entitlements by their names in the app, and grants of them.")
        let name = OperandSpec("NAME", .text, .one, "The entitlement.")
        entitlements.commands = [
            CommandTable.leaf(
                "list", "The named entitlements of an account, or those of all.", .entitlementsList,
                [OperandSpec("ACCOUNT", .text, .optional, "The account, by your own key for it.")],
                CommandTable.asking([
                    OptionSpec(flag: "all", "Those of every account that has one now, a line or a document for each.")
                ])),
            CommandTable.leaf(
                "grant", "Grant one. It touches no purchase, and replaces an earlier grant of that name.",
                .entitlementsGrant, [CommandTable.account, name],
                CommandTable.asking([
                    OptionSpec(
                        "for", .duration(1_000...Limits.commandTimeoutMilliseconds * 10), "DURATION",
                        "How long, from now on; without end if not given."),
                    OptionSpec("reason", .text, "TEXT", "For the record."),
                    OptionSpec(
                        "tier", .text, "TIER",
                        "One of the entitlement's tiers in the app's file; without one it adds time only."),
                    OptionSpec("idempotency-key", .text, "KEY", "Makes the call safe to repeat."),
                ])),
            CommandTable.leaf(
                "revoke", "End a grant.", .entitlementsRevoke, [CommandTable.account, name], CommandTable.asking()),
            CommandTable.leaf(
                "pass",
                "Print a signed pass (JWT) that says what the account has. Its keys are at /.well-known/jwks.json.",
                .entitlementsPass, [CommandTable.account], CommandTable.asking()),
        ]
        entitlements.discussion = [
            "The names come from a file beside the catalogue: NAME.entitlements.json of NAME.storekit, or entitlements.json in a "
                + "bundle directory. It maps products, groups and levels to names."
        ]
        entitlements.examples = [
            ("perch entitlements list alice", "What alice has, whatever gives it."),
            ("perch entitlements list --all -o ndjson", "What all have."),
            ("perch entitlements grant alice plus --for 7d --reason sorry", "A week for free."),
        ]
        return entitlements
    }()

    static let copy: CommandSpec = {
        var copy = CommandTable.leaf(
            "copy", "Keep a file with the named entitlements of every account up to date.", .copyKeep,
            [OperandSpec("FILE", .text, .one, "The file. It is replaced as one, and only by a whole copy.")],
            [
                OptionSpec(
                    "every", .duration(10...Limits.commandTimeoutMilliseconds), "DURATION", default: "1s",
                    "How long to wait after a change is written before the next is.")
            ] + CommandTable.client + [CommandTable.answerTimeout])
        copy.discussion = [
            "A line of JSON for each account: its key, its aliases, and its entitlements with their ends. An entitlement follows the one "
                + "before it of the same name; one without a reason is a gap. Ends are on the app's clock, and an end that has passed is not "
                + "taken out.",
            "The command lasts until it is interrupted. The file stays as it is while the server is away. It is its owner's alone at first, because "
                + "it names customers; a mode that you give it stays.",
        ]
        copy.examples = [("perch copy /run/perch/entitlements.ndjson", "For programs that read a file.")]
        return copy
    }()
}

extension CommandRun {
    /// `perch entitlements`
    func entitlements() async throws {
        if case .entitlementsList = self.invocation.action {
            let isNamed = !self.texts("ACCOUNT").isEmpty
            guard isNamed != self.settings.flag("all") else {
                throw UsageError(
                    isNamed
                        ? "give an ACCOUNT or --all, not both" : "give an ACCOUNT, or --all for every account",
                    command: self.invocation.name)
            }
            if !isNamed { return try await self.listAllEntitlements() }
        }
        try await self.withClient { client in
            let account = self.text("ACCOUNT")
            switch self.invocation.action {
            case .entitlementsList:
                let list = try await client.namedEntitlements(account: account)
                try self.printer.print { json in
                    json.messages("entitlements", list) { json, one in
                        json.text("name", one.name)
                        json.flag("active", one.isActive)
                        json.instant("untilMs", ifAny: one.until)
                        json.flag("lifetime", one.isLifetime)
                        json.flag("willRenew", one.willRenew)
                        if one.isRenewalUnknown { json.flag("renewalUnknown", true) }
                        json.choice("state", one.state, "RENEWAL_STATE")
                        json.instant("sinceMs", ifAny: one.since)
                        json.choice("origin", one.origin, "ENTITLEMENT_ORIGIN")
                        json.text("productId", one.productID)
                        json.text("tier", one.tier)
                        json.choice("ownershipType", one.ownership, "OWNERSHIP_TYPE")
                        json.flag("sandbox", one.isSandbox)
                        json.text("reason", one.reason)
                    }
                } text: { _ in
                    list.isEmpty ? ["No entitlement has a name here."] : list.map { Self.line(of: $0) }
                }
            case .entitlementsPass:
                let (pass, expires) = try await client.pass(account: account)
                try self.printer.print { json in
                    json.text("pass", pass)
                    json.instant("expiresAtMs", ifAny: expires)
                } text: { _ in
                    [pass]
                }
            case .entitlementsGrant:
                var until: Instant?
                if let length = self.settings.number("for") {
                    until = try await self.now(client).advanced(byMilliseconds: length)
                }
                let granted = try await client.grantEntitlement(
                    self.text("NAME"), to: account, until: until, reason: self.settings.text("reason") ?? "",
                    tier: self.settings.text("tier") ?? "", idempotencyKey: self.idempotencyKey)
                try self.tellGrant(
                    granted.position, "granted" + (until.map { ", until \($0)" } ?? ", without end"),
                    beside: granted.knownNames)
            default:
                let position = try await client.revokeGrant(self.text("NAME"), of: account)
                try self.tellGrant(position, "not granted")
            }
        }
    }

    /// `known`: the names of the app's file, where the granted one is none of them.
    private func tellGrant(_ position: Position, _ what: String, beside known: [String] = []) throws {
        let name = self.text("NAME")
        try self.printer.print { json in
            json.text("name", name)
            json.long("revision", position.revision)
            if !known.isEmpty { json.texts("knownNames", known) }
        } text: { _ in
            ["\(printable(name)) is \(what), at revision \(position.revision)"] + Self.warning(of: name, beside: known)
        }
    }

    /// A granted name that the app's file lacks may be meant, or misspelt.
    static func warning(of name: String, beside known: [String]) -> [String] {
        guard !known.isEmpty else { return [] }
        let meant = nearest(to: name, in: known).map { " Did you mean \(printable($0))?" } ?? ""
        let names = known.prefix(8).map { printable($0) } + (known.count > 8 ? ["\(known.count - 8) more"] : [])
        return [
            "warning: the app's file of entitlements does not have \(printable(name)); it has "
                + names.joined(separator: ", ") + ".\(meant) `perch entitlements revoke` ends the grant."
        ]
    }

    /// An entitlement as text, without its time.
    static func line(of one: NamedEntitlement) -> String {
        var text = "\(printable(one.name))  \(one.isActive ? "active" : "not active")"
        if !one.tier.isEmpty { text += "  \(printable(one.tier))" }
        if one.isLifetime {
            text += "  without end"
        } else if let until = one.until {
            text += "  until \(until)"
            if one.isRenewalUnknown {
                text += "; whether it renews is unknown"
            } else if one.willRenew {
                text += ", then it renews"
            }
        }
        let source = one.productID.isEmpty ? "" : " (\(printable(one.productID)))"
        return text + "  \(one.reason)\(source)"
    }
}
