package import PerchBase
package import PerchModel

/// Something that the App Store is to be told about a purchase. It is stored with the change that asks for it, so a kill forgets none,
/// and dropped once the App Store has taken it. There is one of each kind and transaction at most, so they are bounded by the purchases.
package struct AppStoreUpdate: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The transaction was delivered.
        case finish
        /// The token of the account that has the original transaction from now on.
        case token(String)
    }

    package var kind: Kind
    /// Of a token an original transaction.
    package var transaction: TransactionID
    package var asked: Instant
    /// Why the App Store refuses it for good; empty: it is still to be told.
    package var message = ""

    package init(_ kind: Kind, of transaction: TransactionID, asked: Instant) {
        self.kind = kind
        self.transaction = transaction
        self.asked = asked
    }

    package func key(_ app: AppNumber) -> ItemKey {
        switch self.kind {
        case .finish: Self.finishKey(self.transaction, app: app)
        case .token: Self.tokenKey(self.transaction, app: app)
        }
    }

    static func finishKey(_ transaction: TransactionID, app: AppNumber) -> ItemKey { Self.key(1, transaction, app) }

    /// Of an original transaction.
    static func tokenKey(_ original: TransactionID, app: AppNumber) -> ItemKey { Self.key(2, original, app) }

    private static func key(_ kind: UInt8, _ transaction: TransactionID, _ app: AppNumber) -> ItemKey {
        var key = ByteWriter()
        key.write(byte: kind)
        key.write(fixed: transaction)
        return ItemKey(.appStoreUpdate, group: ItemKey.appGroup(app), key: key.bytes)
    }

    package func item(_ app: AppNumber) -> StoredItem {
        var writer = ByteWriter()
        switch self.kind {
        case .finish: writer.write(byte: 1)
        case .token(let token):
            writer.write(byte: 2)
            writer.write(token)
        }
        writer.write(self.transaction)
        writer.write(self.asked)
        writer.write(self.message)
        return StoredItem(self.key(app), writer.bytes)
    }

    /// Reads an item; nil if it is damaged, which its checksum would have shown before.
    package init?(_ item: StoredItem) {
        var reader = ByteReader(item.value)
        do throws(DecodingFault) {
            let kind: Kind
            switch try reader.byte() {
            case 1: kind = .finish
            case 2: kind = .token(try reader.string())
            default: return nil
            }
            self.init(kind, of: try reader.uint64(), asked: try Instant(from: &reader))
            self.message = try reader.string()
        } catch {
            return nil
        }
    }
}

extension StoreEngine {
    /// Keeps for the App Store which transactions were finished.
    func queueFinishes(_ facts: [Fact], of app: AppState, into stored: inout StoredChange) {
        guard !app.isTestApp else { return }
        for fact in facts {
            guard case .finished(let id) = fact.body else { continue }
            let update = AppStoreUpdate(.finish, of: id, asked: fact.effective)
            var side = stored.side ?? SideWrites()
            side.items.append(update.item(app.number))
            stored.side = side
        }
    }

    /// Keeps for the App Store the tokens of accounts for which purchases were claimed. An account without a token has none to tell, and
    /// of a family member's purchase the App Store takes none.
    func queueTokens(_ work: inout ReportedWork) throws(StorageError) {
        guard work.app.settings.setsTokensAtAppStore else { return }
        var tokens: [AccountNumber: String] = [:]
        for id in Self.claimed(by: work) {
            let (_, state) = try self.original(id, &work)
            guard let claim = state.links.claim,
                !state.registers.values.contains(where: { $0.reported.ownership == .familyShared })
            else { continue }
            if tokens[claim.account] == nil { tokens[claim.account] = try self.token(of: claim.account, work) ?? "" }
            let token = tokens[claim.account] ?? ""
            let update = AppStoreUpdate(.token(token), of: id, asked: work.now)
            let key = update.key(work.app.number)
            guard !token.isEmpty else {
                // The token of the account that had it before must not be told any more.
                work.side.items.removeAll { $0.key == key }
                if try self.storage.item(key) != nil { work.side.removedItems.append(key) }
                continue
            }
            // A first claim may say what the purchase says already. After another claim the App Store may have been told another token.
            let hadClaim = work.before.values.contains { $0.reported?.original(id)?.links.claim != nil }
            if !hadClaim, state.newestToken == token, try self.storage.item(key) == nil { continue }
            work.side.items.removeAll { $0.key == key }
            work.side.items.append(update.item(work.app.number))
        }
    }

    private static func claimed(by work: ReportedWork) -> [TransactionID] {
        var ids: Set<TransactionID> = []
        for case .claimed(let id, _)? in work.touched.lazy.flatMap(\.facts).map(\.reported) { ids.insert(id) }
        return ids.sorted()
    }

    /// The token that names an account: its key, or else the first one that was attached.
    private func token(of account: AccountNumber, _ work: ReportedWork) throws(StorageError) -> String? {
        var names: Set<AccountKey> = []
        for name in try self.storage.names(of: account) where work.names[name] == nil { names.insert(name) }
        for (name, named) in work.names where named == account { names.insert(name) }
        if let token = names.lazy.compactMap(\.customerToken).min() { return token }
        let attached = names.lazy.compactMap { name -> String? in
            guard case .appAccountToken(let token)? = name.attachedAlias else { return nil }
            return token
        }
        return attached.min()
    }

    /// What the App Store said to an update. Another token may be wanted meanwhile: then that one is still to be told.
    func note(
        _ update: AppStoreUpdate, refusing message: String?, _ work: inout ReportedWork
    ) throws(StorageError) {
        let key = update.key(work.app.number)
        guard var known = try self.storage.item(key).flatMap({ AppStoreUpdate($0) }), known == update else { return }
        if let message {
            known.message = message
            work.side.items.append(known.item(work.app.number))
        } else {
            work.side.removedItems.append(key)
        }
    }
}

extension ReportedOriginal {
    /// The token that the App Store said last.
    fileprivate var newestToken: String? {
        self.links.newestFirst.lazy.compactMap { alias in
            if case .appAccountToken(let token) = alias { token } else { nil }
        }.first
    }
}
