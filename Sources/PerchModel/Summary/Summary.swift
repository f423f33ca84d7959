package import PerchBase

/// What a text for people is about.
package enum SummaryScope: Hashable, Sendable {
    case all
    case group(String)
    case product(String)
}

/// What an account has at an instant, in the words of one reader.
package struct Summary {
    private let holdings: any Holdings
    private let reader: TextReader
    private let scope: SummaryScope
    private let who: String
    private let whom: String
    /// Whether the customer has no name that can be read out.
    private let isUnnamed: Bool
    private let lines: [TextLine]
    private let owned: [Transaction]
    private let grants: [EntitlementGrant]
    /// The account's newest transactions.
    private let rows: [Transaction]
    /// Purchases that left the account, oldest first.
    private let moved: [Happening]
    /// It is about what has not happened.
    private var isSupposed = false

    private var now: Instant { self.holdings.now }
    private var app: AppState { self.holdings.app }

    /// `account`: the caller's key. A long one, such as a UUID, is not read out. `rows`: the account's newest transactions, newest first.
    /// `happenings`: what happened to the account, oldest first, where that is known.
    package init(
        of record: AccountRecord?, called account: String, about scope: SummaryScope, rows: [Transaction],
        happenings: [Happening] = [], app: AppState, at now: Instant, for reader: TextReader
    ) {
        let holdings = PerchModel.holdings(of: record, in: app, at: now)
        self.holdings = holdings
        self.reader = reader
        self.scope = scope
        self.isUnnamed = account.count > Self.readableCharacters
        self.who = self.isUnnamed ? reader.text(.customer) : TextReader.isolated(account)
        self.whom = self.isUnnamed ? reader.text(.toCustomer) : TextReader.isolated(account)
        self.rows = rows
        self.moved = happenings.filter { if case .wentTo = $0.what { true } else { false } }
        let groups = (record?.groupIDs(in: app.catalogue) ?? []).sorted()
        let lines = groups.flatMap { holdings.textLines(inGroup: $0) }
        let owned = holdings.owned.filter(\.isVerified).map(\.value)
        switch scope {
        case .all:
            (self.lines, self.owned) = (lines, owned)
            self.grants = record?.grants.filter { $0.lasts(at: now) } ?? []
        case .group(let id):
            (self.lines, self.owned) = (lines.filter { $0.groupID == id }, [])
            self.grants = []
        case .product(let id):
            self.lines = lines.filter { $0.transaction.productID == id }
            self.owned = owned.filter { $0.productID == id }
            self.grants = []
        }
    }

    /// Characters of a key that is read out.
    private static let readableCharacters = 24

    /// Whether the account may use anything that the text is about.
    package var isEntitled: Bool {
        !self.owned.isEmpty || !self.grants.isEmpty || self.lines.contains { $0.status.entitles }
    }

    /// What the account has, in sentences.
    package var text: String { self.said.joined(separator: " ") }

    /// The same of an account as it would be. What is so now is told as it is, and the rest as something that has not happened.
    ///
    /// `price`: the price that the event supposes; nil for events without one.
    package func text(supposedBeside present: Summary, price: Money?) -> String {
        let known = present.said
        var told = self.said
        if told == known { return self.say(.supposedSame) + " " + self.text }
        var supposed = self
        supposed.isSupposed = true
        let would = supposed.said
        told = told.count == would.count ? zip(told, would).map { known.contains($0) ? $0 : $1 } : would
        if let price { told.insert(self.say(.supposedPrice, ["price": self.reader.price(price)]), at: 0) }
        return told.joined(separator: " ")
    }

    /// Good news, then bad news; what is over only where there is nothing else.
    private var said: [String] {
        let held = self.lines.filter(\.status.entitles)
        let troubled = self.lines.filter { $0.status.state == .inBillingRetryPeriod && $0.status.isVerified }
        let unverified = self.lines.filter { $0.status.state.isEntitled && !$0.status.isVerified }
        let hasOther = !held.isEmpty || !self.owned.isEmpty || !self.grants.isEmpty
        var said = self.once(held.map { ($0, self.sentences(about: $0, hasOther: hasOther)) })
        let own = self.owned.filter { $0.ownership != .familyShared }
        let shared = self.owned.filter { $0.ownership == .familyShared }
        if !own.isEmpty { said.append(self.say(.owns, ["products": self.names(own)])) }
        if !shared.isEmpty { said.append(self.say(.ownsShared, ["products": self.names(shared)])) }
        said += self.grants.map { self.sentence(about: $0) }
        said += self.once((troubled + unverified).map { ($0, self.sentences(about: $0, hasOther: hasOther)) })
        if self.scope == .all { said += self.waiting }
        if said.isEmpty { said = [self.nothing] }
        if case .frozen = self.app.clock, self.app.isTestApp, !held.isEmpty || !troubled.isEmpty {
            said.append(self.say(.clockStopped))
        }
        return said
    }

    /// Of subscriptions of which the same is said, the sentence stands once, with the number that is charged.
    private func once(_ lines: [(line: TextLine, sentence: String)]) -> [String] {
        var said: [String] = []
        for (_, sentence) in lines where !said.contains(sentence) {
            said.append(sentence)
            let charged = lines.count { other in
                other.sentence == sentence && other.line.transaction.ownership != .familyShared
                    && other.line.info.willAutoRenew
            }
            if charged > 1 { said.append(self.say(.chargedForEach, ["count": "\(charged)"])) }
        }
        return said
    }

    /// What is over, or that there never was anything.
    private var nothing: String {
        let last = self.lines.max { left, right in
            (left.transaction.expirationDate ?? .distantPast) < (right.transaction.expirationDate ?? .distantPast)
        }
        if let last { return self.sentences(about: last, hasOther: false) }
        let rows = self.rows.filter { row in
            switch self.scope {
            case .all: true
            case .group(let id): self.app.catalogue.groupID(of: row) == id
            case .product(let id): row.productID == id
            }
        }
        if let refunded = rows.first(where: { $0.revocation != nil && $0.productType != .consumable }) {
            return self.sentence(aboutRevoked: refunded, hasOther: false)
        }
        let consumed = self.consumed(rows)
        if !consumed.isEmpty { return consumed.joined(separator: " ") }
        let product: String
        switch self.scope {
        case .all where rows.isEmpty && !self.moved.isEmpty: return self.moves
        case .all: return self.say(rows.isEmpty ? .boughtNothing : .hasNothing)
        case .group(let id): product = self.groupName(id)
        case .product(let id): product = self.name(id)
        }
        // Rows are the newest ones: beyond them nobody has looked.
        let isKnown = rows.isEmpty && self.rows.count < Limits.pageSizeMax
        return self.say(isKnown ? .boughtNot : .hasNot, ["product": product])
    }

    /// The account has nothing, and where its purchases went. One that came back and left again is told once.
    private var moves: String {
        let last = self.moved.enumerated().filter { place, each in
            !self.moved[(place + 1)...].contains { $0.transactionID == each.transactionID }
        }
        return ([self.say(.hasNothing)] + last.map { self.sentence(aboutMove: $0.element) }).joined(separator: " ")
    }

    private func sentence(aboutMove move: Happening) -> String {
        guard case .wentTo(let product) = move.what else { preconditionFailure("\(move) is no move") }
        let account =
            move.otherKey.isEmpty ? self.reader.text(.anotherAccount) : TextReader.isolated(move.otherKey)
        return self.say(
            .wasMovedTo, ["product": self.name(product), "account": account, "end": self.day(move.at)])
    }

    /// Consumables, which entitle to nothing: how often each was bought, and how many of these purchases were refunded.
    private func consumed(_ rows: [Transaction]) -> [String] {
        // Beyond the newest rows nobody has looked, so a number would be too small.
        guard self.rows.count < Limits.pageSizeMax, rows.allSatisfy({ $0.productType == .consumable }) else {
            return []
        }
        var products: [String] = []
        for row in rows where !products.contains(row.productID) { products.append(row.productID) }
        return products.map { product in
            let bought = rows.filter { $0.productID == product }
            let refunded = bought.count { $0.revocation != nil }
            let text: TextKey =
                switch (bought.count, refunded) {
                case (1, 0): .boughtOnce
                case (1, _): .boughtAndRefunded
                case (_, 0): .boughtOften
                default: .boughtOftenSomeRefunded
                }
            let last = bought.map(\.purchaseDate).max() ?? self.now
            return self.say(
                text,
                [
                    "product": self.name(product), "count": "\(bought.count)", "refunded": "\(refunded)",
                    "end": self.day(last),
                ])
        }
    }

    private var waiting: [String] {
        (self.holdings.record?.pendingPurchases ?? []).map {
            self.say(
                $0.reason == .askToBuy ? .waits : .waitsOtherwise,
                ["product": self.name($0.order.productID), "end": self.day($0.since)])
        }
    }

    // MARK: A subscription

    private func sentences(about line: TextLine, hasOther: Bool) -> String {
        let transaction = line.transaction
        let product = ["product": self.name(transaction.productID), "end": self.day(line.end)]
        let isShared = transaction.ownership == .familyShared
        if line.status.state.isEntitled, !line.status.isVerified { return self.say(.unverified, product) }
        switch line.status.state {
        case .subscribed where line.end <= self.now:
            if self.app.isTestApp { return self.say(.renewalDue, product) }
            guard let until = line.awaitedUntil else { return self.say(.renewalAwaited, product) }
            return self.say(.renewalAwaitedUntil, product.adding("until", self.day(until)))
        case .subscribed:
            return self.subscribed(line)
        case .inGracePeriod:
            let until = self.day(line.info.gracePeriodExpirationDate ?? self.now)
            return self.say(isShared ? .declinedShared : .declined, product) + " "
                + self.say(.keepsUntil, product.adding("until", until))
        case .inBillingRetryPeriod:
            let declined: TextKey =
                switch (isShared, hasOther) {
                case (false, false): .declinedWithoutAccess
                case (true, false): .declinedSharedWithoutAccess
                case (false, true): .declinedBeside
                case (true, true): .declinedSharedBeside
                }
            return self.say(declined, product) + " " + self.say(.goesOnTrying)
        case .revoked:
            return self.sentence(aboutRevoked: transaction, hasOther: hasOther)
        default:
            return self.ended(line)
        }
    }

    private func subscribed(_ line: TextLine) -> String {
        let (transaction, info) = (line.transaction, line.info)
        let isShared = transaction.ownership == .familyShared
        let isTrial = transaction.offer?.paymentMode == .freeTrial
        // Within a commitment the charges go on: what may not renew is the commitment.
        let end = info.commitment?.expirationDate ?? line.end
        let has = self.say(
            isShared ? .hasShared : isTrial ? .hasTrial : .has,
            ["product": self.name(transaction.productID), "end": self.day(end)])
        if isShared { return has + "." }
        return has + self.continuation(of: line)
    }

    /// What follows "has it until then".
    private func continuation(of line: TextLine) -> String {
        let info = line.info
        if info.isUnreported { return self.say(.renewalUnreported) }
        if let commitment = info.commitment {
            guard commitment.willRenew else { return self.say(.renewsNot) }
            return self.renewal(of: line, price: nil)
        }
        guard info.willAutoRenew else { return self.say(.renewsNot) }
        if info.priceIncreaseStatus == .pending, line.forecast?.kind != .renewal || !self.app.isTestApp {
            guard let price = self.holdings.record?.askedPrice(of: line.transaction.originalID) else {
                return self.say(.renewsIfAgreed)
            }
            return self.say(.renewsIfAgreedTo, ["price": self.reader.price(price)])
        }
        if self.app.isTestApp, let forecast = line.forecast, forecast.at == line.end {
            if forecast.kind == .expiry { return self.say(.renewsNotUnsold) }
            if forecast.state != .subscribed { return self.say(.renewalFails) }
        }
        return self.renewal(of: line, price: info.renewalPrice)
    }

    private func renewal(of line: TextLine, price: Money?) -> String {
        let next = line.info.autoRenewPreference.flatMap { $0 == line.transaction.productID ? nil : $0 }
        var values: [String: String] = [:]
        values["price"] = price.map { self.reader.price($0) }
        values["next"] = next.map { self.name($0) }
        return switch (next, price) {
        case (nil, nil): self.say(.renews)
        case (nil, _): self.say(.renewsFor, values)
        case (_, nil): self.say(.becomes, values)
        default: self.say(.becomesFor, values)
        }
    }

    private func sentence(aboutRevoked transaction: Transaction, hasOther: Bool) -> String {
        let product = self.name(transaction.productID)
        if transaction.revocation?.type == .familyRevoke { return self.say(.unshared, ["product": product]) }
        let end = self.day(transaction.revocation?.date ?? self.now)
        return self.say(hasOther ? .refunded : .refundedWithoutAccess, ["product": product, "end": end])
    }

    private func ended(_ line: TextLine) -> String {
        let values = ["product": self.name(line.transaction.productID), "end": self.day(line.served ?? line.end)]
        if let reason = line.info.expirationReason.flatMap({ TextKey(because: $0) }) {
            return self.say(.hadBecause, values.adding("reason", self.reader.text(reason)))
        }
        // The store said that it ended, and not why.
        if line.info.expirationReason != nil { return self.say(.had, values) }
        // Renewal was on, or nobody knows, and nothing came since.
        if !self.app.isTestApp, line.info.isUnreported || line.info.willAutoRenew {
            return self.say(.hadUnreported, values)
        }
        if !self.app.isTestApp {
            return self.say(.hadBecause, values.adding("reason", self.reader.text(.becauseSwitchedOff)))
        }
        return self.say(.had, values)
    }

    // MARK: Words

    private func say(_ key: TextKey, _ values: [String: String] = [:]) -> String {
        let form = self.isSupposed ? key.supposed : key
        let text = self.reader.text(form, values.adding("who", self.who).adding("whom", self.whom))
        guard self.isUnnamed else { return text }
        // What stands for the name may begin a sentence, also the second of a text.
        let later = text.split(separator: ". ", omittingEmptySubsequences: false).map { sentence in
            sentence.hasPrefix(self.who) ? String(sentence).capitalisedFirst : String(sentence)
        }
        return later.joined(separator: ". ")
    }

    private func day(_ instant: Instant) -> String { self.reader.day(instant, at: self.now) }

    private func name(_ productID: String) -> String { self.reader.name(ofProduct: productID, in: self.app) }

    private func groupName(_ id: String) -> String {
        let texts = self.app.catalogue.group(id)?.localizations ?? []
        let name = localization(texts, for: self.reader.locale, appLocale: self.app.settings.locale)?.displayName ?? ""
        return TextReader.isolated(name.isEmpty ? id : name)
    }

    private func names(_ transactions: [Transaction]) -> String {
        var names: [String] = []
        for transaction in transactions {
            let name = self.name(transaction.productID)
            if !names.contains(name) { names.append(name) }
        }
        return self.reader.list(names)
    }

    private func sentence(about grant: EntitlementGrant) -> String {
        let values = ["product": TextReader.isolated(grant.name), "start": self.day(grant.since)]
        guard let until = grant.until else { return self.say(.givenForever, values) }
        return self.say(.given, values.adding("end", self.day(until)))
    }
}

/// A subscription line as texts for people need it.
struct TextLine {
    var groupID: String
    var status: SubscriptionStatus
    var forecast: Forecast?
    /// When a line stops entitling whose renewal is awaited; nil if nothing limits the wait.
    var awaitedUntil: Instant?
    /// The end of the last access, a grace period included, of a line that gives none; nil of others.
    var served: Instant?

    var transaction: Transaction { self.status.transaction.value }
    var info: RenewalInfo { self.status.renewalInfo.value }
    /// The end of the period.
    var end: Instant { self.transaction.expirationDate ?? self.info.renewalDate }
}

extension Holdings {
    /// The lines of a group, the one that counts first.
    func textLines(inGroup groupID: String) -> [TextLine] {
        let counting = self.statuses(inGroup: groupID).value.effective?.transaction.value.originalID
        var lines: [TextLine] = []
        for held in self.lines(inGroup: groupID) {
            guard let status = self.status(of: held, winBacks: []) else { continue }
            var outlook = Outlook()
            self.note(held, in: &outlook)
            let original = status.transaction.value.originalID
            let line = TextLine(
                groupID: groupID, status: status, forecast: outlook.forecast,
                awaitedUntil: self.awaitedUntil(original: original),
                served: status.state.isEntitled ? nil : self.serviceEnd(original: original))
            if original == counting { lines.insert(line, at: 0) } else { lines.append(line) }
        }
        return lines
    }
}

extension AccountRecord {
    /// The price that a customer of a test app was asked to agree to, and has not. The App Store does not report it.
    func askedPrice(of original: TransactionID) -> Money? {
        let increase = self.lines.first { $0.originalID == original }?.increase
        return increase?.status == .pending ? increase?.price : nil
    }
}

extension TextReader {
    /// What the catalogue calls a product, within a sentence.
    func name(ofProduct id: String, in app: AppState) -> String {
        let texts = app.catalogue.product(id)?.localizations ?? []
        let locale = self.locale.isEmpty ? app.settings.locale : self.locale
        let name = localization(texts, for: locale, appLocale: app.settings.locale)?.displayName ?? ""
        return Self.isolated(name.isEmpty ? id : name)
    }

    /// What was granted, with who did and why. `by`: the granters that are known, by the grants' names. A customer is not shown who
    /// granted, nor the words for the record.
    package func grants(
        of record: AccountRecord?, by granters: [String: String], at now: Instant, forCustomer: Bool
    ) -> [ExplainedGrant] {
        (record?.grants ?? []).map { grant in
            let by = forCustomer ? "" : granters[grant.name] ?? ""
            let reason = forCustomer ? "" : grant.reason
            let start = self.day(grant.since, at: now, withTime: true)
            var message =
                by.isEmpty
                ? self.text(.grantedOn, ["start": start])
                : self.text(.grantedBy, ["start": start, "by": Self.isolated(by)])
            message += self.grantTail(until: grant.until, because: reason, at: now)
            return ExplainedGrant(
                name: grant.name, grantedBy: by, reason: reason, since: grant.since, until: grant.until,
                tier: grant.tier, message: message)
        }
    }
}

extension TextReader {
    /// The end of a grant, then the administrator's words in quotes: they may have commas of their own.
    func grantTail(until: Instant?, because reason: String, at now: Instant) -> String {
        let end = until.map { self.text(.grantUntil, ["end": self.day($0, at: now)]) } ?? self.text(.grantForever)
        return reason.isEmpty ? end : end + self.text(.grantBecause, ["reason": Self.isolated(reason)])
    }
}

extension [String: String] {
    func adding(_ name: String, _ value: String) -> [String: String] {
        self.merging([name: value]) { $1 }
    }
}
