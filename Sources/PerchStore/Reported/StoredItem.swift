package import PerchBase
package import PerchModel

/// What an item is. Numbers are never reused.
package enum ItemKind: UInt8, Hashable, Sendable, CaseIterable {
    /// An original transaction that a report linked with a name of a customer. Group: app and name. Key: the original.
    case link = 1
    /// A report that changed no register, so that its repetition is known. Group: app and original. Key: its stamp.
    case seenReport = 2
    /// A value of the App Store that was not taken: see `DeadLetter`.
    case deadLetter = 3
    /// An administrative or test change: see `AuditEntry`. Group: empty. Key: its revision.
    case audit = 4
    /// The private authority that signs values of test apps. Group and key: empty.
    case authority = 5
    /// An original transaction of an erased account: its reports are not kept until somebody claims it. Group: the app. Key: the
    /// original.
    case erased = 6
    /// Keys of passes. Group: empty. Key: empty for the one that signs, else as `StoreSecrets` has it.
    case passKey = 7
    /// A consumable that left the record of its account. Group: app and account. Key: the original.
    case archivedOriginal = 8
    /// How often a code of an offer was redeemed. Group: the app. Key: the product and the code.
    case redemption = 9
    /// A notification of a sandbox app that was taken: see `KeptNotification`.
    case notification = 10
    /// How far the App Store was asked for what it did not deliver. Group: the app. Key: empty.
    case reconciled = 11
    /// An original transaction that an order of the App Store is of. Group: app and order. Key: the original.
    case order = 12
    /// A note beside a customer: see `CustomerNote`. Group: app and account. Key: the revision that wrote it.
    case note = 13
    /// A question of the App Store about a purchase: see `ConsumptionCase`. Group: the app. Key: the transaction.
    case consumption = 14
    /// Something that the App Store is to be told about a purchase: see `AppStoreUpdate`. Group: the app. Key: its kind and its
    /// transaction.
    case appStoreUpdate = 15

    /// Those whose group begins with the number of an app: see `ItemKey.appGroup`.
    package static let ofApps: [ItemKind] = [
        .link, .seenReport, .erased, .archivedOriginal, .redemption, .reconciled, .order, .note,
        .consumption, .appStoreUpdate,
    ]
}

/// The place of an item. Items of one group are listed together, in bytewise order of their keys.
package struct ItemKey: Hashable, Sendable {
    package var kind: ItemKind
    package var group: [UInt8]
    package var key: [UInt8]

    package init(_ kind: ItemKind, group: [UInt8] = [], key: [UInt8] = []) {
        self.kind = kind
        self.group = group
        self.key = key
    }
}

/// A value that no record and no fact holds.
package struct StoredItem: Hashable, Sendable {
    package var key: ItemKey
    package var value: [UInt8]

    package init(_ key: ItemKey, _ value: [UInt8]) {
        self.key = key
        self.value = value
    }
}

/// What a change writes beside facts, records and aliases. It is not part of the feed: each node reads it when it needs it.
package struct SideWrites: Hashable, Sendable {
    /// New or replaced items.
    package var items: [StoredItem] = []
    package var removedItems: [ItemKey] = []
    package var removedAliases: [AccountKey] = []
    /// Accounts that are erased; nil for most.
    package var erasure: Erasure?

    package init() {}
}

/// What is taken out of storage with some accounts: all rows of theirs but those that the change itself writes.
package struct Erasure: Hashable, Sendable {
    package var accounts: [AccountNumber]
    /// Kept answers to requests about them.
    package var answers: [MutationKey] = []
    /// Earlier revisions whose commits named keys of theirs, and what their rows keep.
    package var commits: [CommitDetailEdit] = []

    package init(_ accounts: [AccountNumber]) { self.accounts = accounts }
}

/// What the commit row of an earlier revision keeps from now on; nil for nothing.
package struct CommitDetailEdit: Hashable, Sendable {
    package var revision: UInt64
    package var detail: CommitDetail?

    package init(revision: UInt64, detail: CommitDetail?) {
        self.revision = revision
        self.detail = detail
    }
}

extension BlobKey {
    package static func item(_ key: ItemKey) -> BlobKey {
        BlobKey(.item, UInt64(key.kind.rawValue), UInt64(key.group.count), name: key.group + key.key)
    }
}

extension StoredItem {
    package func sealed() -> [UInt8] { SealedBlob.seal(.item(self.key)) { $0.write(self.value) } }

    package init(unsealing bytes: [UInt8], _ key: ItemKey) throws(DecodingFault) {
        self.init(key, try SealedBlob.open(bytes, .item(key)) { (reader) throws(DecodingFault) in try reader.blob() })
    }
}

extension AccountKey {
    // Names that no client can use, because a client's key has no NUL: the store's own index of App Store apps. Each begins with
    // NUL and a letter.

    var isInternal: Bool { self.bytes.first == 0 }

    private init(app: AppNumber, internal letter: Character, _ name: String) {
        self.init(app: app, bytes: [0] + Array(String(letter).utf8) + Array(name.utf8))
    }

    /// The account that an alias names, attached by an administrator.
    package static func attached(_ alias: AccountAlias, app: AppNumber) -> AccountKey {
        switch alias {
        case .appAccountToken(let token): AccountKey(app: app, internal: "k", token)
        case .appTransactionID(let id): AccountKey(app: app, internal: "n", id)
        }
    }

    /// The alias of such a key; nil for any other.
    var attachedAlias: AccountAlias? {
        guard self.bytes.count > 2, self.bytes[0] == 0 else { return nil }
        let name = String(decoding: self.bytes[2...], as: UTF8.self)
        switch self.bytes[1] {
        case UInt8(ascii: "k"): return .appAccountToken(name)
        case UInt8(ascii: "n"): return .appTransactionID(name)
        default: return nil
        }
    }

    /// The account of a customer with an e-mail address, by its hash.
    package static func email(_ hash: ContentHash, app: AppNumber) -> AccountKey {
        AccountKey(app: app, internal: "e", hash.description)
    }

    /// The hash of such a key, in hexadecimal digits; nil for any other.
    var emailHash: String? {
        guard self.bytes.count > 2, self.bytes[0] == 0, self.bytes[1] == UInt8(ascii: "e") else { return nil }
        return String(decoding: self.bytes[2...], as: UTF8.self)
    }

    /// The account that has an original transaction.
    package static func original(_ id: TransactionID, app: AppNumber) -> AccountKey {
        AccountKey(app: app, internal: "o", String(id))
    }

    /// The account of a transaction ID under which a purchase was reported, but which lists do not show.
    package static func otherTransaction(_ id: TransactionID, app: AppNumber) -> AccountKey {
        AccountKey(app: app, internal: "p", String(id))
    }

    /// The account of originals whose owner is not known.
    package static func unclaimed(_ name: UnclaimedName, app: AppNumber) -> AccountKey {
        switch name {
        case .alias(.appAccountToken(let token)): AccountKey(app: app, internal: "u", "k" + token)
        case .alias(.appTransactionID(let id)): AccountKey(app: app, internal: "u", "n" + id)
        case .original(let id): AccountKey(app: app, internal: "u", "o" + String(id))
        }
    }

    /// The key that callers use for the customer of a token, where the app names its customers so.
    package static func token(_ token: String, app: AppNumber) -> AccountKey {
        AccountKey(app: app, bytes: Array(token.utf8))
    }

    /// The customer's token, if callers name the account by it: in lower case, as all names of customers are.
    var customerToken: String? {
        guard self.bytes.count == AccountToken.textBytes, !self.isInternal else { return nil }
        return self.bytes.span.withUnsafeBytes { AccountToken(parsing: $0) }?.text
    }

    /// The same key of an App Store app where it is a UUID in lower case, else itself: UUIDs are the same in any case.
    package var canonical: AccountKey { self.customerToken.map { .token($0, app: self.app) } ?? self }

    /// The name of a customer that is written like the key.
    fileprivate var asAlias: AccountAlias {
        self.customerToken.map { .appAccountToken($0) }
            ?? .appTransactionID(String(decoding: self.bytes, as: UTF8.self))
    }

    /// The key as callers write it, where it is an attached name.
    package var attachedText: AccountKey? {
        self.attachedAlias.map { alias in
            switch alias {
            case .appAccountToken(let text), .appTransactionID(let text):
                AccountKey(app: self.app, bytes: Array(text.utf8))
            }
        }
    }

    /// The key as earlier versions may have kept it: a UUID in upper case, as Swift writes one.
    fileprivate var upperCased: AccountKey? {
        self.customerToken.map { AccountKey(app: self.app, bytes: Array($0.uppercased().utf8)) }
    }

    /// A place before the keys that callers use, and after all others.
    package static let beforeNamed: [UInt8] = [0, 0xFF]
    /// A place before unclaimed accounts, which come right before the keys that callers use.
    package static let beforeUnclaimed: [UInt8] = [0, UInt8(ascii: "u")]
}

extension ItemKey {
    static func link(_ alias: AccountAlias, app: AppNumber, original: TransactionID) -> ItemKey {
        var writer = ByteWriter()
        writer.write(fixed: original)
        return ItemKey(.link, group: Self.linkGroup(alias, app: app), key: writer.bytes)
    }

    static func linkGroup(_ alias: AccountAlias, app: AppNumber) -> [UInt8] {
        Self.appGroup(app) + AccountKey.attached(alias, app: app).bytes
    }

    package static func reconciled(_ app: AppNumber) -> ItemKey { ItemKey(.reconciled, group: Self.appGroup(app)) }

    /// How the groups of an app's items begin.
    package static func appGroup(_ app: AppNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(fixed: app)
        return writer.bytes
    }

    /// The original of a link, or of an order.
    var linkedOriginal: TransactionID {
        self.key.reduce(0) { $0 << 8 | TransactionID($1) }
    }

    static func erased(_ original: TransactionID, app: AppNumber) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: original)
        return ItemKey(.erased, group: Self.appGroup(app), key: key.bytes)
    }

    static func archiveGroup(_ account: AccountNumber, app: AppNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(fixed: account)
        return Self.appGroup(app) + writer.bytes
    }

    static func archived(_ original: TransactionID, of account: AccountNumber, app: AppNumber) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: original)
        return ItemKey(.archivedOriginal, group: Self.archiveGroup(account, app: app), key: key.bytes)
    }

    /// A submitted transaction, so that its repetition is known.
    static func submitted(_ id: TransactionID, app: AppNumber, original: TransactionID) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: id)
        return ItemKey(.seenReport, group: Self.seenGroup(original, app: app), key: key.bytes)
    }

    static func redemptions(of name: OfferCodeName, app: AppNumber) -> ItemKey {
        ItemKey(.redemption, group: Self.appGroup(app), key: Array(name.productID.utf8) + [0] + Array(name.code.utf8))
    }

    static func order(_ order: String, app: AppNumber, original: TransactionID) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: original)
        return ItemKey(.order, group: Self.orderGroup(order, app: app), key: key.bytes)
    }

    static func orderGroup(_ order: String, app: AppNumber) -> [UInt8] { Self.appGroup(app) + Array(order.utf8) }

    static func note(_ id: UInt64, of account: AccountNumber, app: AppNumber) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: id)
        return ItemKey(.note, group: Self.noteGroup(of: account, app: app), key: key.bytes)
    }

    static func noteGroup(of account: AccountNumber, app: AppNumber) -> [UInt8] {
        Self.archiveGroup(account, app: app)
    }

    /// The group of all reports of an original that changed no register.
    static func seenGroup(_ original: TransactionID, app: AppNumber) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(fixed: original)
        return Self.appGroup(app) + writer.bytes
    }

    static func seen(_ stamp: ReportStamp, app: AppNumber, original: TransactionID) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: UInt64(bitPattern: stamp.signed.milliseconds))
        key.write(fixed: stamp.content.high)
        key.write(fixed: stamp.content.low)
        return ItemKey(.seenReport, group: Self.seenGroup(original, app: app), key: key.bytes)
    }
}

extension StoredItem {
    static func archived(_ original: ReportedOriginal, of account: AccountNumber, app: AppNumber) -> StoredItem {
        var writer = ByteWriter()
        writer.write(byte: BlobKey.Kind.record.version)
        writer.write(original)
        return StoredItem(.archived(original.id, of: account, app: app), writer.bytes)
    }

    /// Nil if it is damaged, which its checksum would have shown before.
    var archivedOriginal: ReportedOriginal? {
        guard let form = self.value.first else { return nil }
        var reader = ByteReader(self.value, from: 1, to: self.value.count, form: form)
        return try? ReportedOriginal(from: &reader)
    }
}

extension StoreEngine {
    /// The account to which a key leads, for readers and for changes. In an App Store app an attached name of the customer is another
    /// key of its account. A key that an account has of its own goes before such a name, which only older versions could give to another
    /// account.
    func account(of key: AccountKey) throws(StorageError) -> AccountNumber? {
        if let account = try self.account(withOwn: key) { return account }
        guard !key.isInternal, self.apps[key.app]?.state.isTestApp == false else { return nil }
        return try self.storage.account(.attached(key.asAlias, app: key.app))
    }

    /// The account that has a key of its own. In an App Store app the case of a UUID makes no difference.
    func account(withOwn key: AccountKey) throws(StorageError) -> AccountNumber? {
        if let account = try self.storage.account(key) { return account }
        guard self.apps[key.app]?.state.isTestApp == false else { return nil }
        if let canonical = Optional(key.canonical), canonical != key,
            let account = try self.storage.account(canonical)
        {
            return account
        }
        guard let upper = key.upperCased, upper != key else { return nil }
        return try self.storage.account(upper)
    }

    /// The account to which a key leads as the change leaves it.
    func account(_ key: AccountKey, _ work: ReportedWork) throws(StorageError) -> AccountNumber? {
        if let known = work.names[key] { return known }
        if let account = try self.account(withOwn: key) { return account }
        guard !key.isInternal, !work.app.isTestApp else { return nil }
        let name = AccountKey.attached(key.asAlias, app: key.app)
        if let known = work.names[name] { return known }
        return try self.storage.account(name)
    }
}
