import PerchBase
import PerchModel

// Whose the purchases of an App Store app are. A claim decides, then a name of the customer, then another purchase of the same customer,
// whatever came first.
extension StoreEngine {
    // MARK: Accounts

    /// The record of an account as the change leaves it.
    func record(
        _ account: AccountNumber, _ work: inout ReportedWork
    ) throws(StorageError) -> AccountRecord {
        if let record = work.after[account] { return record }
        guard let record = try self.record(account) else {
            preconditionFailure("account \(account) is named, and has no record")
        }
        work.show(record)
        return record
    }

    func original(_ id: TransactionID, _ work: inout ReportedWork) throws(StorageError) -> (
        owner: AccountNumber?, state: ReportedOriginal
    ) {
        guard let owner = try self.account(.original(id, app: work.app.number), work) else {
            return (nil, ReportedOriginal(id: id))
        }
        let record = try self.record(owner, &work)
        if let known = record.reported?.original(id) { return (owner, known) }
        return (owner, try self.archived(id, of: owner, work) ?? ReportedOriginal(id: id))
    }

    /// The account to which a key leads; it is opened if there is none.
    func open(_ key: AccountKey, _ work: inout ReportedWork) throws(StorageError) -> AccountNumber {
        let key = key.canonical
        if let account = try self.account(key, work) {
            _ = try self.record(account, &work)
            return account
        }
        let account = self.openAccount(key, &work)
        // Purchases may have waited for a customer with this very token.
        if let token = key.customerToken { try self.resolve(linkedWith: .appAccountToken(token), &work) }
        return account
    }

    func openAccount(_ key: AccountKey, _ work: inout ReportedWork) -> AccountNumber {
        let account = work.nextAccount
        work.nextAccount += 1
        work.show(AccountRecord(account: account, app: work.app.number))
        work.name(key, account)
        work.add(Fact(.opened(appTransactionID: ""), effective: work.now), to: account)
        return account
    }

    /// Refuses a name that is the key of another account: a key leads to one account, and what that one has stays there.
    @discardableResult
    func attach(
        _ alias: AccountAlias, to account: AccountNumber, _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        let name = AccountKey.attached(alias, app: work.app.number)
        if let key = name.attachedText, let other = try self.account(withOwn: key), other != account {
            return Refusal(
                .ownedByOther,
                "the name is the key of another account, and a key leads to one account; `perch account merge` gives that account's purchases and its key to this one"
            )
        }
        let owner = try self.account(name, work)
        guard owner != account else { return nil }
        if let owner {
            _ = try self.record(owner, &work)
            work.add(Fact(.reported(.unnamed(alias)), effective: work.now), to: owner)
        }
        work.name(name, account)
        // So that the revision is one of the account's: whoever erases it finds the name there.
        _ = try self.record(account, &work)
        work.add(Fact(.reported(.named(alias)), effective: work.now), to: account)
        try self.resolve(linkedWith: alias, &work)
        return nil
    }

    /// Names an account by something that owns no purchase, such as the hash of an e-mail address.
    func attach(_ name: AccountKey, to account: AccountNumber, _ work: inout ReportedWork) throws(StorageError) {
        guard try self.account(name, work) != account else { return }
        work.name(name, account)
        // So that the revision is one of the account's: whoever erases it finds the name there.
        _ = try self.record(account, &work)
        work.add(Fact(.reported(.named(nil)), effective: work.now), to: account)
    }

    /// The account that an alias names by itself: a token as a key does, and Apple's number of the customer where it was attached.
    func named(_ alias: AccountAlias, _ work: ReportedWork) throws(StorageError) -> AccountNumber? {
        if case .appAccountToken(let token) = alias, AccountToken(token) != nil {
            return try self.account(.token(token, app: work.app.number), work)
        }
        return try self.account(.attached(alias, app: work.app.number), work)
    }

    // MARK: Ownership

    /// The account that owns an original, by all that is known of it and of those that it is linked with. Opens an unclaimed account
    /// where no known one does.
    func owner(of original: ReportedOriginal, _ work: inout ReportedWork) throws(StorageError) -> AccountNumber {
        let names = work
        let owner = try original.owner { (alias) throws(StorageError) in
            try self.named(alias, names)
        } linked: { (alias) throws(StorageError) in
            try self.linked(with: alias, names)
        }
        switch owner {
        case .account(let account):
            _ = try self.record(account, &work)
            return account
        case .unclaimed(let name):
            let key = AccountKey.unclaimed(name, app: work.app.number)
            if let account = try self.account(key, work) {
                _ = try self.record(account, &work)
                return account
            }
            let account = self.openAccount(key, &work)
            work.add(Fact(.reported(.openedUnclaimed), effective: work.now), to: account)
            return account
        }
    }

    /// What is known of the purchases that carry a name.
    private func linked(with alias: AccountAlias, _ work: ReportedWork) throws(StorageError) -> [ReportedOriginal] {
        var copy = work
        var originals: [ReportedOriginal] = []
        for id in try self.originals(linkedWith: alias, work).prefix(Limits.linkedOriginalsMax) {
            originals.append(try self.original(id, &copy).state)
        }
        return originals
    }

    /// Lets what an original says of its customer's names count for other purchases. `before`: what it was before a report or a claim.
    func spread(
        _ next: ReportedOriginal, since before: ReportedOriginal, _ work: inout ReportedWork
    ) throws(StorageError) {
        let names = work
        var unnamed: [AccountAlias] = []
        for alias in next.links.newestFirst where try self.named(alias, names) == nil { unnamed.append(alias) }
        guard !unnamed.isEmpty, next.links != before.links else { return }
        let owner = try next.direct { (alias) throws(StorageError) in try self.named(alias, names) }
        if let owner {
            for alias in unnamed {
                let others = try ownerOfOthers(named: [alias], except: next.id) { (alias) throws(StorageError) in
                    try self.named(alias, names)
                } linked: { (alias) throws(StorageError) in
                    try self.linked(with: alias, names)
                }
                if others != owner { try self.resolve(linkedWith: alias, &work) }
            }
        } else if next.links.aliases.count > max(1, before.links.aliases.count) {
            // It joins names that were apart.
            for alias in unnamed { try self.resolve(linkedWith: alias, &work) }
        }
    }

    /// The originals that carry a name.
    private func originals(linkedWith alias: AccountAlias, _ work: ReportedWork) throws(StorageError) -> [TransactionID]
    {
        let group = ItemKey.linkGroup(alias, app: work.app.number)
        var originals = try self.originals(inGroup: group)
        for item in work.side.items where item.key.kind == .link && item.key.group == group {
            let id = item.key.linkedOriginal
            if !originals.contains(id) { originals.append(id) }
        }
        return originals
    }

    func originals(inGroup group: [UInt8]) throws(StorageError) -> [TransactionID] {
        var originals: [TransactionID] = []
        var after: [UInt8] = []
        while true {
            let page = try self.storage.items(.link, group: group, after: after, limit: Limits.pageSizeMax)
            originals += page.map(\.key.linkedOriginal)
            guard page.count == Limits.pageSizeMax, let last = page.last else { break }
            after = last.key.key
        }
        return originals
    }

    /// Gives an original to the account that owns it now. Both accounts change in this revision.
    func settleOwner(of id: TransactionID, _ work: inout ReportedWork) throws(StorageError) {
        let (found, state) = try self.original(id, &work)
        guard let current = found else { return }
        let owner = try self.owner(of: state, &work)
        guard owner != current else { return }
        let rows = state.shownTransactions.map(\.id)
        try self.unarchive(state, of: current, &work)
        work.add(Fact(.reported(.lost(id, rows: rows)), effective: work.now), to: current)
        work.add(Fact(.reported(.gained(state, from: current)), effective: work.now), to: owner)
        self.name(state, owner, &work)
        work.outcome.moved += 1
    }

    /// Every ID of an original leads to its account.
    func name(_ original: ReportedOriginal, _ account: AccountNumber, _ work: inout ReportedWork) {
        let app = work.app.number
        work.name(.original(original.id, app: app), account)
        for register in original.registers.values.sorted(by: TransactionRegister.precedes) {
            for id in register.ids.dropFirst() { work.name(.otherTransaction(id, app: app), account) }
        }
    }

    /// Gives all purchases of a name to the accounts that own them now, and so those of names that these carry.
    func resolve(linkedWith alias: AccountAlias, _ work: inout ReportedWork) throws(StorageError) {
        var aliases: Set<AccountAlias> = []
        var originals: Set<TransactionID> = []
        var next = [alias]
        while let alias = next.popLast() {
            guard aliases.count <= Limits.linkedOriginalsMax, aliases.insert(alias).inserted else { continue }
            for id in try self.originals(linkedWith: alias, work) where originals.insert(id).inserted {
                next += try self.original(id, &work).state.links.newestFirst
            }
        }
        for id in originals.sorted() { try self.settleOwner(of: id, &work) }
    }

    func claim(
        _ id: TransactionID, for account: AccountNumber, _ work: inout ReportedWork
    ) throws(StorageError) {
        let (owner, state) = try self.original(id, &work)
        guard let owner, state.links.claim?.account != account else { return }
        let claim = AccountClaim(account: account, revision: work.revision)
        try self.unarchive(state, of: owner, &work)
        work.add(Fact(.reported(.claimed(id, claim)), effective: work.now), to: owner)
        try self.settleOwner(of: id, &work)
        try self.spread(try self.original(id, &work).state, since: state, &work)
    }

    /// The claim of an app's backend. The policy of the app decides where another account has the original.
    func claim(
        _ id: TransactionID, forClaimant account: AccountNumber, _ work: inout ReportedWork
    ) throws(StorageError) {
        let (owner, state) = try self.original(id, &work)
        guard let owner, owner != account else { return }
        let isUnclaimed = try self.record(owner, &work).reported?.isUnclaimed ?? false
        let policy = work.app.settings.claimPolicy
        if !isUnclaimed, policy != .transfer {
            let leeway = work.app.renewalLeewayMilliseconds ?? 0
            let entitles = !state.entitling(at: work.now, leewayMilliseconds: leeway).isEmpty
            var namesAnother = false
            for alias in state.links.newestFirst where !namesAnother {
                if let named = try self.named(alias, work) { namesAnother = named != owner && named != account }
            }
            if policy == .keep || entitles || namesAnother {
                work.refusal = Refusal(
                    .ownedByOther,
                    "the original transaction \(id) belongs to another account, and this app's claims are \(policy); an administrator can move it"
                )
                return
            }
        }
        try self.claim(id, for: account, &work)
    }

    func merge(
        _ key: AccountKey, into other: AccountKey, _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        guard let source = try self.account(key, work) else {
            return Refusal(.accountUnknown, "there is no account to merge from")
        }
        let target = try self.open(other, &work)
        guard source != target else { return nil }
        if let refusal = try self.moveNotes(of: source, to: target, &work) { return refusal }
        let record = try self.record(source, &work)
        let archived = try self.archivedOriginals(of: source, work.app.number)
        let own = (record.reported?.originals ?? []) + archived
        for original in own { try self.claim(original.id, for: target, &work) }
        for name in try self.storage.names(of: source)
        where name.attachedAlias != nil || name.emailHash != nil || !name.isInternal {
            work.name(name, target)
            guard let alias = name.attachedAlias else { continue }
            work.add(Fact(.reported(.unnamed(alias)), effective: work.now), to: source)
            work.add(Fact(.reported(.named(alias)), effective: work.now), to: target)
        }
        work.name(key.canonical, target)
        for grant in record.grants {
            let held = work.after[target]?.grants.first { $0.name == grant.name }
            work.add(
                Fact(.reported(.grantEnded(name: grant.name)), effective: work.now, source: .grant, stamp: work.now),
                to: source)
            if let held, held.until.map({ end in grant.until.map { $0 <= end } ?? false }) ?? true { continue }
            work.add(Fact(.reported(.granted(grant)), effective: work.now, source: .grant, stamp: work.now), to: target)
        }
        // Watchers of the merged key see the target's record from this change on.
        work.add(Fact(.reported(.merged), effective: work.now), to: target)
        if let token = key.customerToken { try self.resolve(linkedWith: .appAccountToken(token), &work) }
        return nil
    }

    // MARK: Grants

    /// Grants a named entitlement. It may open the account, whose purchases may be known already.
    func grant(
        _ grant: EntitlementGrant, to key: AccountKey, _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        var grant = grant
        grant.since = work.now
        let known = try self.account(key, work)
        let held = try known.map { (account) throws(StorageError) in try self.record(account, &work).grants } ?? []
        if let refusal = grant.refusal(beside: held, app: work.app, at: work.now) { return refusal }
        let account = try self.open(key, &work)
        work.add(Fact(.reported(.granted(grant)), effective: work.now, source: .grant, stamp: work.now), to: account)
        return nil
    }

    // MARK: The archive of consumables

    /// Moves consumables beyond the newest out of the records that the change touches.
    func archive(_ work: inout ReportedWork) throws(StorageError) {
        for account in work.touched.map(\.account) {
            for original in work.after[account]?.reported?.archivable ?? [] {
                work.add(Fact(.reported(.archived(original.id)), effective: work.now), to: account)
                let key = ItemKey.archived(original.id, of: account, app: work.app.number)
                work.side.removedItems.removeAll { $0 == key }
                work.side.items.append(.archived(original, of: account, app: work.app.number))
            }
        }
    }

    private func archived(
        _ id: TransactionID, of account: AccountNumber, _ work: ReportedWork
    ) throws(StorageError) -> ReportedOriginal? {
        let key = ItemKey.archived(id, of: account, app: work.app.number)
        if let item = work.side.items.last(where: { $0.key == key }) { return item.archivedOriginal }
        if work.side.removedItems.contains(key) { return nil }
        return try self.storage.item(key)?.archivedOriginal
    }

    /// Takes an original back from the archive before something changes it.
    func unarchive(
        _ state: ReportedOriginal, of account: AccountNumber, _ work: inout ReportedWork
    ) throws(StorageError) {
        guard work.after[account]?.reported?.original(state.id) == nil,
            let original = try self.archived(state.id, of: account, work)
        else { return }
        let key = ItemKey.archived(state.id, of: account, app: work.app.number)
        work.side.items.removeAll { $0.key == key }
        work.side.removedItems.append(key)
        work.add(Fact(.reported(.unarchived(original)), effective: work.now), to: account)
    }

    func archivedOriginals(of account: AccountNumber, _ app: AppNumber) throws(StorageError) -> [ReportedOriginal] {
        try self.allItems(.archivedOriginal, group: ItemKey.archiveGroup(account, app: app)).compactMap(
            \.archivedOriginal)
    }
}
