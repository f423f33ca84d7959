import PerchBase
import PerchClient
import PerchJSON
import PerchModel
import PerchWire

extension CommandRun {
    /// `perch apple-root show`
    func showAppleRoot() async throws {
        try await self.withClient { client in
            let root = try await client.serverStatus().appleRootPEM
            if root.isEmpty {
                throw CommandFailure(.notFound, "the server has no test app, so nothing that it signs")
            }
            if self.printer.format == .text { return try self.console.data(root) }
            try self.printer.print {
                $0.text("appleRootPem", root)
            } text: { _ in
                []
            }
        }
    }

    // MARK: perch ingest

    /// `perch ingest`
    func ingest() async throws {
        var values: [IngestValue] = []
        for path in self.texts("FILE") { values += try Self.values(at: path) }
        guard !values.isEmpty else { throw CommandFailure(.failure, "there is no value in what was named") }
        let account = self.settings.text("account")
        let goesOn = self.settings.flag("keep-going")
        try await self.withClient { client in
            var progress = IngestProgress(total: values.count)
            var rest = values[...]
            while let first = rest.first {
                // A submission is for one account.
                let part = Array(rest.prefix(Limits.appleSubmissionValuesMax).prefix { $0.account == first.account })
                rest = rest.dropFirst(part.count)
                var refusal: String?
                do throws(PerchError) {
                    let taken = try await client.submit(part.map(\.text), account: first.account ?? account)
                    progress.took(taken, part)
                    refusal = taken.refused.first.map { "\(part[$0.index].place): \($0.reason): \($0.message)" }
                } catch {
                    guard goesOn else { throw error }
                    // One by one, to find those that are refused.
                    for value in part {
                        do throws(PerchError) {
                            progress.took(
                                try await client.submit([value.text], account: value.account ?? account), [value])
                        } catch {
                            progress.refused(value, "\(error)")
                        }
                    }
                }
                if let refusal, !goesOn {
                    throw CommandFailure(.refused, "\(refusal); --keep-going takes those that follow")
                }
                if let line = progress.line(isLast: rest.isEmpty) { self.console.talk(line) }
            }
            let end = progress
            try self.printer.print { json in
                json.long("valueCount", UInt64(end.done))
                json.long("newsCount", UInt64(end.news))
                json.long("staleCount", UInt64(end.stale))
                json.long("duplicateCount", UInt64(end.duplicates))
                json.long("refusedCount", UInt64(end.refusals.count))
            } text: { _ in
                end.refusals.map { "refused: \($0)" } + [
                    "\(end.done) values: \(end.news) new, \(end.stale) older than what is known, \(end.duplicates) known, "
                        + "\(end.refusals.count) refused"
                ]
            }
            if !end.refusals.isEmpty {
                throw CommandFailure(.refused, "\(end.refusals.count) of \(end.done) values were refused")
            }
        }
    }

    /// The values of a file, of the files of a directory in the order of their names, or of standard input.
    private static func values(at path: String) throws -> [IngestValue] {
        let isDirectory = Files.isDirectory(path)
        let files: [String]
        let bytes: [UInt8]
        do throws(FileFault) {
            files = isDirectory ? try Files.paths(in: path) : []
            bytes = isDirectory ? [] : try Files.read(path, limitBytes: Limits.ingestFileBytesMax)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        if isDirectory { return try files.flatMap { try Self.values(at: $0) } }
        let name = path == "-" ? "standard input" : path
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated()
        return try lines.flatMap { number, line in
            try Self.value(String(decoding: line, as: UTF8.self), "\(printable(name)):\(number + 1)")
        }
    }

    /// The values of a line: a compact JWS, or the body of a notification, perhaps with an account.
    private static func value(_ line: String, _ place: String) throws -> [IngestValue] {
        let text = line.filter { !$0.isWhitespace }
        guard text.hasPrefix("{") else { return text.isEmpty ? [] : [IngestValue(text: text, place: place)] }
        guard let value = try? JSONReader.read(Array(line.utf8)), let payload = value["signedPayload"]?.string else {
            throw CommandFailure(
                .failure,
                "\(place): the line is no JSON object with a text named signedPayload; write one, or the compact JWS alone"
            )
        }
        guard let account = value["account"] else { return [IngestValue(text: payload, place: place)] }
        guard let key = account.string, !key.isEmpty else {
            throw CommandFailure(
                .failure, "\(place): the account is no text, or an empty one; leave it out where the line has none")
        }
        return [IngestValue(text: payload, place: place, account: key)]
    }

    // MARK: perch audit

    /// `perch audit`
    func audit() async throws {
        try await self.withClient { client in
            let after = UInt64(self.settings.number("after") ?? 0)
            let limit = self.settings.number("limit").map { Int($0) } ?? .max
            let changes = try await client.audit(after: after, limit: limit)
            try self.printer.print { json in
                json.messages("entries", changes) { json, change in
                    json.long("revision", change.revision)
                    json.instant("atMs", change.at)
                    json.text("subject", change.subject)
                    json.text("address", change.address)
                    json.text("method", change.method)
                    json.text("what", change.what)
                    json.text("bundleId", change.bundleID)
                    json.text("environment", change.environment)
                    json.text("account", change.account)
                }
            } text: { _ in
                changes.isEmpty
                    ? ["No administrator and no test has changed anything."]
                    : changes.map { change in
                        let app =
                            change.bundleID.isEmpty ? "" : "  \(printable(change.bundleID)) (\(change.environment))"
                        let account = change.account.isEmpty ? "" : "  account \(printable(change.account))"
                        let address = change.address.isEmpty ? "this machine" : change.address
                        return "\(change.revision)  \(change.at)  \(change.subject) from \(address)  \(change.method) "
                            + "\(printable(change.what))\(app)\(account)"
                    }
            }
        }
    }

    // MARK: perch dead-letters

    func deadLetters() async throws {
        try await self.withClient { client in
            switch self.invocation.action {
            case .deadLettersList:
                let letters = try await client.deadLetters()
                try self.printer.print { json in
                    json.messages("deadLetters", letters) { json, letter in
                        json.text("id", letter.id)
                        json.instant("receivedAtMs", letter.received)
                        json.text("reason", letter.reason.rawValue)
                        json.text("message", letter.message)
                        json.text("bundleId", letter.bundleID)
                        json.text("environment", letter.environment)
                        json.text("notificationType", letter.notificationType)
                        json.number("byteCount", letter.byteCount)
                    }
                } text: { _ in
                    letters.map { letter in
                        "\(letter.id)  \(letter.received)  \(letter.notificationType)  \(printable(letter.bundleID)) "
                            + "(\(printable(letter.environment)))  \(letter.reason): \(letter.message)"
                    } + (letters.isEmpty ? ["There is no dead letter."] : [])
                }
            case .deadLettersRetry:
                var ids = self.texts("ID")
                let isOne = !ids.isEmpty
                if !isOne { ids = try await client.deadLetters().map(\.id) }
                var taken = 0
                for id in ids {
                    do throws(PerchError) {
                        _ = try await client.retryDeadLetter(id)
                        taken += 1
                    } catch {
                        if isOne { throw error }
                        self.console.talk("perch: \(id): \(error)")
                    }
                }
                let count = taken
                try self.printer.print { json in
                    json.number("takenCount", count)
                    json.number("leftCount", ids.count - count)
                } text: { _ in
                    ["\(count) of \(ids.count) dead letters were taken."]
                }
            default:
                let id = self.text("ID")
                _ = try await client.dropDeadLetter(id)
                try self.printer.print { json in
                    json.text("id", id)
                } text: { _ in
                    ["\(id) is deleted."]
                }
            }
        }
    }

    // MARK: perch account

    func account() async throws {
        try await self.withClient { client in
            guard self.invocation.action != .accountFind else { return try await self.find(client) }
            let count: Int
            var previous: String?
            switch self.invocation.action {
            case .accountMerge: count = try await client.merge(self.text("ACCOUNT"), into: self.text("INTO"))
            default:
                let moved =
                    switch self.invocation.action {
                    case .accountAttach: try await client.attach(try self.customerName(), to: self.text("ACCOUNT"))
                    case .accountDetach: try await client.detach(try self.customerName())
                    default: try await client.move(original: self.transactionID("ID"), to: self.text("ACCOUNT"))
                    }
                (count, previous) = (moved.movedCount, moved.previousAccount)
            }
            try self.printer.print { [previous] json in
                json.number("movedCount", count)
                if let previous { json.text("previousAccount", previous) }
            } text: { [previous] _ in
                let moved = "\(counted(count, "original transaction")) changed the account."
                return switch self.invocation.action {
                case .accountAttach:
                    ["The name is attached\(previous.map { "; it was a name of \(printable($0))" } ?? ""). " + moved]
                case .accountDetach:
                    ["The name is detached\(previous.map { "; it was a name of \(printable($0))" } ?? ""). " + moved]
                default: [moved + (previous.map { " It was one of \(printable($0))." } ?? "")]
                }
            }
        }
    }

    func eraseAccount() async throws {
        guard self.settings.flag("yes") else {
            throw UsageError(
                "erasing an account cannot be undone; perch account export prints it, --yes erases it",
                command: self.invocation.name)
        }
        try await self.withClient { client in
            let erased = try await client.erase(self.text("ACCOUNT"))
            try self.printer.print { json in
                json.number("factCount", erased.value)
                json.long("revision", erased.position.revision)
            } text: { _ in
                ["The account is erased, with \(erased.value) facts, at revision \(erased.position.revision)."]
            }
        }
    }

    /// Prints JSON in any format: it is for machines, or for the customer.
    func exportAccount() async throws {
        try await self.withClient { client in
            let export = try await client.export(self.text("ACCOUNT"))
            let layout = self.printer.format == .text ? OutputFormat.json.layout : self.printer.format.layout
            try self.console.data(DocumentWriter.document(layout) { $0.message(.exportAccount(export.message)) })
        }
    }

    /// `perch account unclaimed`
    func unclaimedPurchases() async throws {
        try await self.withClient { client in
            let purchases = try await client.purchasesInNeed()
            try self.printer.print { json in
                json.messages("purchases", purchases) { json, purchase in
                    json.text("originalTransactionId", purchase.originalTransactionID)
                    json.text("productId", purchase.productID)
                    json.text("account", purchase.account)
                    json.flag("unclaimed", purchase.isUnclaimed)
                    json.flag("overdue", purchase.isOverdue)
                    json.texts("appAccountTokens", purchase.appAccountTokens)
                    json.texts("appTransactionIds", purchase.appTransactionIDs)
                    json.instant("originalPurchaseDateMs", purchase.originalPurchaseDate)
                    json.instant("expirationDateMs", ifAny: purchase.end)
                    json.choice("state", purchase.state, "RENEWAL_STATE")
                }
            } text: { _ in
                purchases.isEmpty
                    ? ["Every purchase belongs to an account, and no renewal is overdue."]
                    : purchases.map { Self.line(of: $0) }
            }
        }
    }

    private static func line(of purchase: PurchaseInNeed) -> String {
        let names =
            purchase.appAccountTokens.map { "token \(printable($0))" }
            + purchase.appTransactionIDs.map { "app transaction \(printable($0))" }
        let whose =
            purchase.isUnclaimed
            ? "of no known account (\(names.isEmpty ? "no name was reported" : names.joined(separator: ", ")))"
            : "of \(printable(purchase.account))"
        let end = purchase.end.map { ", until \($0)" } ?? ""
        let overdue = purchase.isOverdue ? "; its renewal was never reported" : ""
        return
            "\(purchase.originalTransactionID)  \(printable(purchase.productID)) \(whose), bought \(purchase.originalPurchaseDate)"
            + "\(end)\(overdue)"
    }

    private func customerName() throws -> CustomerName {
        let takesEmail = self.invocation.action != .accountFind
        switch (
            self.settings.text("token"), self.settings.text("app-transaction"),
            takesEmail ? self.settings.text("email") : nil
        ) {
        case (let token?, nil, nil): return .appAccountToken(token)
        case (nil, let id?, nil): return .appTransactionID(id)
        case (nil, nil, let address?): return .email(address)
        default:
            throw UsageError(
                "name the customer by --token or by --app-transaction" + (takesEmail ? " or by --email" : ""),
                command: self.invocation.name)
        }
    }

    /// `perch account note`, `notes` and `delete-note`
    func notes() async throws {
        try await self.withClient { client in
            let account = self.text("ACCOUNT")
            switch self.invocation.action {
            case .accountNote:
                let added = try await client.addNote(self.text("TEXT"), to: account)
                try self.printer.print { json in
                    json.long("noteId", added.value)
                    json.long("revision", added.position.revision)
                } text: { _ in
                    ["Note \(added.value) is written."]
                }
            case .accountNotes:
                let notes = try await client.notes(on: account)
                try self.printer.print { json in
                    json.messages("notes", notes) { json, note in
                        json.long("id", note.id)
                        json.instant("atMs", note.at)
                        json.text("author", note.author)
                        json.text("text", note.text)
                    }
                } text: { _ in
                    notes.isEmpty
                        ? ["There is no note."]
                        : notes.flatMap { Self.lines(of: $0) }
                }
            default:
                let id = self.transactionID("ID")
                guard try await client.notes(on: account).contains(where: { $0.id == id }) else {
                    throw CommandFailure(
                        .notFound,
                        "\(printable(account)) has no note \(id); `perch account notes` lists those that there are")
                }
                _ = try await client.deleteNote(id, of: account)
                try self.printer.print { json in
                    json.long("noteId", id)
                } text: { _ in
                    ["Note \(id) is deleted."]
                }
            }
        }
    }

    /// A note's lines, each further one below the first.
    static func lines(of note: CustomerNote) -> [String] {
        let head = "\(note.id)  \(note.at)  \(printable(note.author)): "
        return note.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().map {
            ($0 == 0 ? head : "    ") + printable(String($1))
        }
    }

    /// Customers by any name.
    private func find(by text: String, _ client: PerchClient) async throws {
        let found = try await client.customers(by: text, limit: self.settings.number("limit").map { Int($0) } ?? 20)
        try self.printer.print { json in
            json.messages("customers", found.customers) { json, customer in
                json.text("account", customer.account)
                json.flag("unclaimed", customer.isUnclaimed)
                json.choice("kind", customer.kind, "CUSTOMER_NAME_KIND")
                json.text("name", customer.name)
                if let id = customer.originalTransactionID { json.long("originalTransactionId", id) }
            }
            json.flag("hasMore", found.hasMore)
        } text: { _ in
            found.customers.map { customer in
                let whose = customer.isUnclaimed ? "no account that is known" : printable(customer.account)
                let purchase = customer.originalTransactionID.map { ", purchase \($0)" } ?? ""
                return "\(whose)  \(customer.kind) \(printable(customer.name))\(purchase)"
            } + (found.hasMore ? ["There may be more: write more of the name."] : [])
        }
        guard found.customers.isEmpty, !found.hasMore else { return }
        throw CommandFailure(
            .notFound,
            "nobody is known by \(printable(text)); try an order, a transaction, a token or an e-mail address, written whole"
        )
    }

    private func find(_ client: PerchClient) async throws {
        if let text = self.texts("NAME").first { return try await self.find(by: text, client) }
        let found: FoundAccount
        if let text = self.settings.text("transaction") {
            guard let id = TransactionID(text) else {
                throw UsageError(
                    "--transaction is \(printable(text)), which is no number", command: self.invocation.name)
            }
            found = try await client.account(ofTransaction: id)
        } else {
            found = try await client.account(named: try self.customerName())
        }
        try self.printer.print { json in
            json.text("account", found.account)
            json.flag("unclaimed", found.isUnclaimed)
            json.texts("originalTransactionIds", found.originalTransactionIDs.map { "\($0)" })
        } text: { _ in
            let ids = found.originalTransactionIDs.map { "\($0)" }.joined(separator: ", ")
            return [
                (found.isUnclaimed
                    ? "No account that is known has it" : "The account \(printable(found.account)) has it")
                    + (ids.isEmpty ? "." : "; original transactions: \(ids)")
            ]
        }
    }
}

/// A value that `perch ingest` submits.
private struct IngestValue {
    var text: String
    /// Its file and line.
    var place: String
    /// The account of its line; nil: the line names none.
    var account: String?
}

/// The counts of a run of `perch ingest`.
private struct IngestProgress {
    let total: Int
    var done = 0
    var news = 0
    var stale = 0
    var duplicates = 0
    var refusals: [String] = []
    private var told = 0

    init(total: Int) { self.total = total }

    mutating func took(_ submission: Submission, _ part: [IngestValue]) {
        self.done += part.count
        for refused in submission.refused {
            self.refusals.append("\(part[refused.index].place): \(refused.reason): \(refused.message)")
        }
        self.news += submission.newsCount
        self.stale += submission.staleCount
        self.duplicates += submission.duplicateCount
    }

    mutating func refused(_ value: IngestValue, _ why: String) {
        self.done += 1
        self.refusals.append("\(value.place): \(why)")
    }

    /// A line of progress, for each thousandth value; nil between them.
    mutating func line(isLast: Bool) -> String? {
        guard self.total > 1_000, self.done - self.told >= 1_000 || isLast else { return nil }
        self.told = self.done
        return "perch: \(self.done) of \(self.total) values"
    }
}
