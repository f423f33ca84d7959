public import PerchBase
public import PerchModel
package import PerchWire

/// What became of submitted values of the App Store.
public struct Submission: Hashable, Sendable {
    package let message: SubmissionAnswer

    package init(_ answer: SubmissionAnswer) { self.message = answer }

    /// Where the store stands with them.
    public var position: Position { self.message.position }
    /// Values that changed something.
    public var newsCount: Int { Int(self.message.newsCount) }
    /// Values that are older than what is known. They are kept, because they tell about the past.
    public var staleCount: Int { Int(self.message.staleCount) }
    /// Values that were known.
    public var duplicateCount: Int { Int(self.message.duplicateCount) }
    /// Values that were not taken, in the order in which they were submitted. The others were.
    public var refused: [RefusedSubmission] {
        self.message.refused.map {
            RefusedSubmission(index: Int($0.index), reason: PerchError.Reason(rawValue: $0.reason), message: $0.message)
        }
    }
}

/// A submitted value that was not taken.
public struct RefusedSubmission: Hashable, Sendable {
    /// Its place among the submitted values, from 0.
    public var index: Int
    /// A word of the table of errors.
    public var reason: PerchError.Reason
    /// The reason as a sentence.
    public var message: String

    /// Creates a refusal from its parts, for tests.
    public init(index: Int, reason: PerchError.Reason, message: String) {
        self.index = index
        self.reason = reason
        self.message = message
    }
}

/// A purchase that the App Store reported and that needs somebody.
public struct PurchaseInNeed: Hashable, Sendable {
    package let contract: UnclaimedPurchase

    package init(_ purchase: UnclaimedPurchase) { self.contract = purchase }

    /// The original transaction, in decimal digits.
    public var originalTransactionID: String { self.contract.originalTransactionID }
    /// The product that it is about now.
    public var productID: String { self.contract.productID }
    /// The caller's key of its account; empty where it belongs to no account that is known.
    public var account: String { self.contract.account }
    /// It belongs to no account that is known.
    public var isUnclaimed: Bool { self.contract.isUnclaimed }
    /// Its renewal was awaited for the app's leeway, and nothing was reported.
    public var isOverdue: Bool { self.contract.isOverdue }
    /// The app's own UUIDs for the customer, as reported.
    public var appAccountTokens: [String] { self.contract.appAccountTokens }
    /// Apple's numbers of the customer in this app, as reported.
    public var appTransactionIDs: [String] { self.contract.appTransactionIDs }
    /// When it was bought first.
    public var originalPurchaseDate: Instant { self.contract.originalPurchaseDate }
    /// When the latest period that was reported ends; nil: it has no end.
    public var end: Instant? { self.contract.end }
    /// Of a subscription.
    public var state: RenewalState { self.contract.state }
}

/// A value of the App Store that the server did not take.
public struct DeadLetter: Hashable, Sendable {
    package let contract: DeadLetterSummary

    package init(_ letter: DeadLetterSummary) { self.contract = letter }

    /// For `retryDeadLetter` and `dropDeadLetter`.
    public var id: String { self.contract.id }
    /// When it came.
    public var received: Instant { self.contract.received }
    /// Why it was not taken: a word of the table of errors.
    public var reason: PerchError.Reason { PerchError.Reason(rawValue: self.contract.reason) }
    /// The reason as a sentence.
    public var message: String { self.contract.message }
    /// The bundle identifier that the value names.
    public var bundleID: String { self.contract.bundleID }
    /// Apple's name of the environment that the value names.
    public var environment: String { self.contract.environment }
    /// Apple's type of the notification; empty for another value.
    public var notificationType: String { self.contract.notificationType }
    /// Length of the value.
    public var byteCount: Int { Int(self.contract.byteCount) }
}

/// A name that the App Store or the app gives a customer.
public enum CustomerName: Hashable, Sendable {
    /// The app's own UUID for its customer.
    case appAccountToken(String)
    /// Apple's number of the customer in this app.
    case appTransactionID(String)
    /// The customer's e-mail address, of which only the hash leaves this process, or that hash in hexadecimal digits.
    case email(String)

    fileprivate var emailHash: String {
        if case .email(let address) = self { EmailHash.hash(of: address)?.description ?? address } else { "" }
    }
    fileprivate var token: String { if case .appAccountToken(let token) = self { token } else { "" } }
    fileprivate var id: String { if case .appTransactionID(let id) = self { id } else { "" } }
}

/// An account that was found.
public struct FoundAccount: Hashable, Sendable {
    /// The caller's key; empty for an unclaimed account, which no caller can name.
    public var account: String
    /// What was reported belongs to no account that is known.
    public var isUnclaimed: Bool
    /// The original transactions of the account that were reported.
    public var originalTransactionIDs: [TransactionID]

    /// Creates a found account from its parts, for tests.
    public init(account: String, isUnclaimed: Bool = false, originalTransactionIDs: [TransactionID] = []) {
        self.account = account
        self.isUnclaimed = isUnclaimed
        self.originalTransactionIDs = originalTransactionIDs
    }
}

/// What went from one account to another.
public struct AccountMove: Hashable, Sendable {
    /// Original transactions that changed their account.
    public var movedCount: Int
    /// The key of the account that had the name or the transaction; nil if no account had it, or the same one.
    public var previousAccount: String?

    /// Creates a move from its parts, for tests.
    public init(movedCount: Int, previousAccount: String? = nil) {
        self.movedCount = movedCount
        self.previousAccount = previousAccount
    }

    init(_ answer: MoveAnswer) {
        self.init(
            movedCount: Int(answer.movedCount),
            previousAccount: answer.previousAccount.isEmpty ? nil : answer.previousAccount)
    }
}

/// A customer who was found by a name.
public struct FoundByName: Hashable, Sendable {
    private let contract: FoundCustomer

    init(_ found: FoundCustomer) { self.contract = found }

    /// The caller's key; empty for an unclaimed account, which no caller can name.
    public var account: String { self.contract.account }
    /// What was reported belongs to no account that is known.
    public var isUnclaimed: Bool { self.contract.isUnclaimed }
    /// The kind of the name that matched.
    public var kind: CustomerNameKind { self.contract.kind }
    /// The whole name that matched.
    public var name: String { self.contract.name }
    /// The purchase that the name leads to, by its first transaction; nil for none.
    public var originalTransactionID: TransactionID? {
        self.contract.originalTransactionID == 0 ? nil : self.contract.originalTransactionID
    }
}

/// An administrative or test change: who asked for what, from where.
public struct AuditedChange: Hashable, Sendable {
    /// The revision that it made.
    public var revision: UInt64
    /// When it was asked for.
    public var at: Instant
    /// Who asked: subject and key of the credentials.
    public var subject: String
    /// The caller's address or network; empty for the server's own machine.
    public var address: String
    /// The method's path.
    public var method: String
    /// The operation within the method, or what it was about.
    public var what: String
    /// Bundle identifier of the app; empty for a change of the store itself.
    public var bundleID: String
    /// Its environment; empty for a change of the store itself.
    public var environment: String
    /// The present key of the account that was changed; empty for none, and once it is erased.
    public var account: String

    /// Creates an audited change from its parts, for tests.
    public init(
        revision: UInt64, at: Instant, subject: String, address: String, method: String, what: String, bundleID: String,
        environment: String, account: String
    ) {
        self.revision = revision
        self.at = at
        self.subject = subject
        self.address = address
        self.method = method
        self.what = what
        self.bundleID = bundleID
        self.environment = environment
        self.account = account
    }
}

// Values of the App Store, and whose they are.
extension PerchClient {
    /// Submits signed transactions, renewal information, app transactions or notifications for the app: up to 50.
    ///
    /// `account` is the account that bought; nil: the names in the values decide. A repetition changes nothing.
    public func submit(
        _ values: [String], account: String? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> Submission {
        let request = SubmitTransactionRequest(app: self.app, signedValues: values, account: account ?? "")
        return try await self.call(Calls.submitTransaction, request, timeout: timeout) { answer in
            Submission(answer)
        }
    }

    /// Submits an App Store Server Notification: the text of `signedPayload`.
    public func submitNotification(
        _ text: String, timeout: Duration? = nil
    ) async throws(PerchError) -> Submission {
        let request = SubmitNotificationRequest(signedPayload: text)
        return try await self.call(Calls.submitNotification, request, timeout: timeout) { answer in
            Submission(answer)
        }
    }

    /// The values that were not taken, oldest first.
    public func deadLetters(timeout: Duration? = nil) async throws(PerchError) -> [DeadLetter] {
        var letters: [DeadLetter] = []
        var token: [UInt8] = []
        repeat {
            let request = ListDeadLettersRequest(pageToken: token)
            let page = try await self.call(Calls.listDeadLetters, request, timeout: timeout)
            letters += page.deadLetters.map { DeadLetter($0) }
            token = page.nextPageToken
        } while !token.isEmpty
        return letters
    }

    /// Lets the server take a dead letter now. It is gone when that succeeds. Returns what changed.
    public func retryDeadLetter(_ id: String, timeout: Duration? = nil) async throws(PerchError) -> Int {
        try await self.call(Calls.retryDeadLetter, RetryDeadLetterRequest(id: id), timeout: timeout) { answer in
            Int(answer.newsCount)
        }
    }

    /// Deletes a dead letter.
    public func dropDeadLetter(_ id: String, timeout: Duration? = nil) async throws(PerchError) -> Position {
        try await self.call(Calls.dropDeadLetter, DropDeadLetterRequest(id: id), timeout: timeout) { $0.position }
    }

    /// Purchases of no account that is known, and subscriptions whose renewal was awaited and never reported.
    public func purchasesInNeed(timeout: Duration? = nil) async throws(PerchError) -> [PurchaseInNeed] {
        var purchases: [PurchaseInNeed] = []
        var token: [UInt8] = []
        repeat {
            let request = ListUnclaimedRequest(app: self.app, pageSize: UInt32(Limits.pageSizeMax), pageToken: token)
            let page = try await self.call(Calls.listUnclaimed, request, timeout: timeout)
            purchases += page.purchases.map { PurchaseInNeed($0) }
            token = page.nextPageToken
        } while !token.isEmpty
        return purchases
    }

    /// The account that has a transaction.
    public func account(
        ofTransaction id: TransactionID, timeout: Duration? = nil
    ) async throws(PerchError) -> FoundAccount {
        try await self.find(FindAccountRequest(app: self.app, transactionID: id), timeout)
    }

    /// Customers by any name: the beginning of their key, or a whole name of another kind. `hasMore`: more keys begin so.
    public func customers(
        by text: String, kinds: [CustomerNameKind] = [], limit: Int = 20, timeout: Duration? = nil
    ) async throws(PerchError) -> (customers: [FoundByName], hasMore: Bool) {
        let request = FindCustomersRequest(
            app: self.app, text: text, kinds: kinds, pageSize: UInt32(clamping: limit))
        return try await self.call(Calls.findCustomers, request, timeout: timeout) { found in
            (found.customers.map { FoundByName($0) }, found.hasMore)
        }
    }

    /// Writes a note beside a customer. Returns its number.
    public func addNote(
        _ text: String, to account: String, timeout: Duration? = nil
    ) async throws(PerchError) -> Positioned<UInt64> {
        let request = AddNoteRequest(app: self.app, account: account, text: text)
        return try await self.call(Calls.addNote, request, timeout: timeout) { added in
            Positioned(added.noteID, position: added.position)
        }
    }

    /// The notes beside a customer, oldest first.
    public func notes(on account: String, timeout: Duration? = nil) async throws(PerchError) -> [CustomerNote] {
        try await self.call(
            Calls.listNotes, ListNotesRequest(app: self.app, account: account), timeout: timeout
        ) { $0.notes }
    }

    /// Deletes a note, if there is one.
    public func deleteNote(
        _ id: UInt64, of account: String, timeout: Duration? = nil
    ) async throws(PerchError) -> Position? {
        let request = DeleteNoteRequest(app: self.app, account: account, noteID: id)
        return try await self.call(Calls.deleteNote, request, timeout: timeout) { $0.position }
    }

    /// The account of a customer's name.
    public func account(
        named name: CustomerName, timeout: Duration? = nil
    ) async throws(PerchError) -> FoundAccount {
        try await self.find(
            FindAccountRequest(app: self.app, appAccountToken: name.token, appTransactionID: name.id), timeout)
    }

    private func find(
        _ request: FindAccountRequest, _ timeout: Duration?
    ) async throws(PerchError) -> FoundAccount {
        try await self.call(Calls.findAccount, request, timeout: timeout) { found in
            return FoundAccount(
                account: found.account, isUnclaimed: found.isUnclaimed,
                originalTransactionIDs: found.originalTransactionIDs.compactMap { TransactionID($0) })
        }
    }

    /// A customer's name belongs to an account from now on, with the purchases that carry it.
    public func attach(
        _ name: CustomerName, to account: String, timeout: Duration? = nil
    ) async throws(PerchError) -> AccountMove {
        let request = AttachAliasRequest(
            app: self.app, account: account, appAccountToken: name.token, appTransactionID: name.id,
            emailSha256: name.emailHash)
        return try await self.call(Calls.attachAlias, request, timeout: timeout) { AccountMove($0) }
    }

    /// A customer's name belongs to no account from now on.
    public func detach(_ name: CustomerName, timeout: Duration? = nil) async throws(PerchError) -> AccountMove {
        let request = DetachAliasRequest(
            app: self.app, appAccountToken: name.token, appTransactionID: name.id, emailSha256: name.emailHash)
        return try await self.call(Calls.detachAlias, request, timeout: timeout) { AccountMove($0) }
    }

    /// Gives an original transaction to an account, whatever the app's claim policy says.
    public func move(
        original id: TransactionID, to account: String, timeout: Duration? = nil
    ) async throws(PerchError) -> AccountMove {
        let request = MoveTransactionRequest(app: self.app, originalTransactionID: id, account: account)
        return try await self.call(Calls.moveTransaction, request, timeout: timeout) { AccountMove($0) }
    }

    /// Gives everything that an account has to another, and its key too. The client never repeats this call.
    public func merge(
        _ account: String, into other: String, timeout: Duration? = nil
    ) async throws(PerchError) -> Int {
        let request = MergeAccountsRequest(app: self.app, account: account, intoAccount: other)
        return try await self.call(Calls.mergeAccounts, request, timeout: timeout) { answer in
            Int(answer.movedCount)
        }
    }

    /// Erases an account, and answers how many facts it had. The client never repeats this call.
    public func erase(_ account: String, timeout: Duration? = nil) async throws(PerchError) -> Positioned<Int> {
        try await self.call(Calls.eraseAccount, EraseAccountRequest(app: self.app, account: account), timeout: timeout)
        { answer in
            Positioned(Int(clamping: answer.factCount), position: answer.position)
        }
    }

    /// Everything that the store knows of an account, with all its transactions.
    public func export(_ account: String, timeout: Duration? = nil) async throws(PerchError) -> ExportedAccount {
        let request = ExportAccountRequest(app: self.app, account: account)
        var export = try await self.call(Calls.exportAccount, request, timeout: timeout)
        while !export.nextPageToken.isEmpty {
            let rest = ListTransactionsRequest(
                app: self.app, account: account, includesFinishedConsumables: true, pageToken: export.nextPageToken)
            let page = try await self.call(Calls.listTransactions, rest, timeout: timeout)
            export.transactions += page.transactions
            export.nextPageToken = page.nextPageToken
        }
        return ExportedAccount(export)
    }

    /// Administrative and test changes after a revision, oldest first, at most `limit` of them.
    public func audit(
        after revision: UInt64 = 0, limit: Int = .max, timeout: Duration? = nil
    ) async throws(PerchError) -> [AuditedChange] {
        var changes: [AuditedChange] = []
        var after = revision
        while changes.count < limit {
            let request = ListAuditRequest(afterRevision: after)
            let page = try await self.call(Calls.listAudit, request, timeout: timeout)
            changes += page.entries.map {
                AuditedChange(
                    revision: $0.revision, at: $0.at, subject: $0.subject, address: $0.address, method: $0.method,
                    what: $0.what, bundleID: $0.bundleID, environment: $0.environment, account: $0.account)
            }
            guard page.hasMore, let last = page.entries.last else { break }
            after = last.revision
        }
        return Array(changes.prefix(limit))
    }
}
