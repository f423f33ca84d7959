import PerchApple
import PerchBase
import PerchModel
import PerchStore

/// The type of a notification, with its subtype.
struct NoticeType: Hashable {
    let type: String
    let subtype: String?

    init(_ type: String, _ subtype: String? = nil) {
        self.type = type
        self.subtype = subtype
    }
}

/// A notification of the App Store, not signed yet. It follows from a change of the store alone, so its bytes are the same whenever
/// they are made.
struct TwinNotice {
    let type: NoticeType
    let uuid: String
    /// On the app's clock, when it happened: the payload's signedDate.
    let signed: Instant
    /// In the changes of the app. Those of one change share it.
    let place: ChangePlace
    let account: AccountNumber
    let transaction: Transaction
    /// Of auto-renewable subscriptions.
    let status: SubscriptionStatus?
    let consumptionReason: String?

    /// The payload, with the signed values in it.
    func payload(bundleID: String, signer: SharedAppleSigner) -> [UInt8] {
        PayloadWriter.notification(
            OutgoingNotification(
                type: self.type.type, subtype: self.type.subtype, uuid: self.uuid, signedDate: self.signed,
                bundleID: bundleID,
                content: .data(
                    transaction: signer.signAgain(PayloadWriter.transaction(self.transaction)),
                    renewalInfo: self.status.map {
                        signer.signAgain(PayloadWriter.renewalInfo($0.renewalInfo.value, signed: self.signed))
                    },
                    status: self.status.map { Int($0.state.rawValue) }, consumptionReason: self.consumptionReason)))
    }
}

/// Derives the notifications of a change: each fact has its notifications, by an exhaustive switch, and so has each state that time
/// alone begins.
struct NoticeWriter {
    /// Of the store: the identifiers of two stores differ.
    let store: [UInt8]
    private(set) var notices: [TwinNotice] = []

    init(store: [UInt8]) { self.store = store }

    mutating func add(_ entry: ChangeEntry) {
        guard let account = entry.account else { return }
        if account.isCrossing {
            self.addCrossings(of: account, entry)
        } else {
            self.addFacts(of: account, entry)
        }
    }

    // MARK: Time

    private mutating func addCrossings(of account: ChangedAccount, _ entry: ChangeEntry) {
        let scene = Scene(account.after, account.app, at: entry.position.asOf, entry)
        for line in account.after.lines {
            let before = line.state(
                at: scene.instant.advanced(byMilliseconds: -1),
                leewayMilliseconds: scene.app.renewalLeewayMilliseconds)
            guard before != scene.state(of: line) else { continue }
            switch scene.state(of: line) {
            case .inBillingRetryPeriod where before == .inGracePeriod:
                self.append((NoticeType("GRACE_PERIOD_EXPIRED"), line.latest, nil), scene, entry, index: 0)
            case .expired:
                // A grace period that ends with the retries ends first.
                if before == .inGracePeriod {
                    self.append((NoticeType("GRACE_PERIOD_EXPIRED"), line.latest, nil), scene, entry, index: 0)
                }
                self.append((Self.expiry(of: line, scene), line.latest, nil), scene, entry, index: 1)
            default:
                // The fact that set a revocation has its notification.
                continue
            }
        }
    }

    private static func expiry(of line: Line, _ scene: Scene) -> NoticeType {
        switch scene.status(of: line.originalID)?.renewalInfo.value.expirationReason {
        case .autoRenewDisabled?: NoticeType("EXPIRED", "VOLUNTARY")
        case .billingError?: NoticeType("EXPIRED", "BILLING_RETRY")
        case .didNotConsentToPriceIncrease?: NoticeType("EXPIRED", "PRICE_INCREASE")
        case .productUnavailable?: NoticeType("EXPIRED", "PRODUCT_NOT_FOR_SALE")
        default: NoticeType("EXPIRED")
        }
    }

    // MARK: Facts

    private mutating func addFacts(of account: ChangedAccount, _ entry: ChangeEntry) {
        var rest = entry.facts[...]
        var before = account.before
        // Renewals that an advance of the clock has settled stand in one change, each at its own instant.
        while let instant = rest.first?.effective {
            let facts = rest.prefix { $0.effective == instant }
            rest = rest.dropFirst(facts.count)
            var after = before
            for fact in facts { after.apply(fact) }
            let scene = Scene(after, account.app, at: instant, entry)
            var record = before
            for (index, fact) in zip(facts.indices, facts) {
                let held = record
                record.apply(fact)
                let (earlier, following) = (facts[..<index], facts[(index + 1)...])
                for notice in Self.notices(
                    of: fact, before: held, after: record, earlier: earlier, following: following, scene)
                {
                    self.append(notice, scene, entry, index: index)
                }
            }
            before = after
        }
    }

    /// An account at an instant of its app's clock, after the facts of that instant.
    private struct Scene {
        let record: AccountRecord
        let app: AppState
        let instant: Instant
        /// Milliseconds that signed dates are later than the instant. While a clock stands still, changes follow each other at one
        /// instant, and receivers go by the dates: so each revision since it stopped counts as one.
        let shift: Int64

        init(_ record: AccountRecord, _ app: AppState, at instant: Instant, _ entry: ChangeEntry) {
            self.record = record
            self.app = app
            self.instant = instant
            let isFrozen = app.clock == .frozen(at: instant) && entry.account?.isCrossing == false
            let revision = entry.position.revision
            self.shift = isFrozen && revision > app.revision ? Int64(clamping: revision - app.revision) : 0
        }

        var signed: Instant { self.instant.advanced(byMilliseconds: self.shift) }

        func status(of original: TransactionID) -> SubscriptionStatus? {
            statusesOfAllGroups(of: self.record, app: self.app, at: self.instant).value.statuses.first {
                $0.renewalInfo.value.originalTransactionID == original
            }
        }

        func state(of line: Line) -> RenewalState {
            line.state(at: self.instant, leewayMilliseconds: self.app.renewalLeewayMilliseconds)
        }
    }

    private typealias Notice = (type: NoticeType, transaction: Transaction, consumptionReason: String?)
    private typealias Notices = [Notice]

    private static func notices(
        of fact: Fact, before: AccountRecord, after: AccountRecord, earlier: ArraySlice<Fact>,
        following: ArraySlice<Fact>, _ scene: Scene
    ) -> Notices {
        func line(_ original: TransactionID, in record: AccountRecord) -> Line? {
            record.lineIndex(original: original).map { record.lines[$0] }
        }
        func about(_ original: TransactionID, _ type: NoticeType) -> Notices {
            line(original, in: after).map { [(type, $0.latest, nil)] } ?? []
        }
        func expired(_ original: TransactionID) -> Notices {
            guard let line = line(original, in: scene.record), scene.state(of: line) == .expired else { return [] }
            return [(Self.expiry(of: line, scene), line.latest, nil)]
        }
        switch fact.body {
        case .purchased(let transaction, let terms):
            guard terms != nil else { return [(NoticeType("ONE_TIME_CHARGE"), transaction, nil)] }
            return [(Self.purchase(of: transaction, before, earlier), transaction, nil)]
        case .renewed(let transaction, _):
            let recovers = line(transaction.originalID, in: before)?.retry != nil
            return [(NoticeType("DID_RENEW", recovers ? "BILLING_RECOVERY" : nil), transaction, nil)]
        case .renewalFailed(let original, let retry):
            return about(original, NoticeType("DID_FAIL_TO_RENEW", retry.graceUntil == nil ? nil : "GRACE_PERIOD"))
        case .lapsed(let original, _): return expired(original)
        case .expiredEarly(let transaction): return expired(transaction.originalID)
        case .autoRenewSet(let original, _, _, _):
            guard let held = line(original, in: before), let line = line(original, in: after) else { return [] }
            return Self.switched(from: held, to: line)
                + (held.retry != nil && line.retry == nil ? expired(original) : [])
        case .revoked(let transaction, _):
            let isOfFamily = transaction.revocation?.type == .familyRevoke
            return [(NoticeType(isOfFamily ? "REVOKE" : "REFUND"), transaction, nil)]
        case .reinstated(let transaction): return [(NoticeType("REFUND_REVERSED"), transaction, nil)]
        case .priceRaised(let original, let increase):
            return about(original, NoticeType("PRICE_INCREASE", increase.status == .agreed ? "ACCEPTED" : "PENDING"))
        case .priceAnswered(let original, let agrees):
            // Whoever declines has renewal switched off.
            return about(
                original,
                agrees
                    ? NoticeType("PRICE_INCREASE", "ACCEPTED")
                    : NoticeType("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"))
        case .offerQueued(let original, _): return about(original, NoticeType("OFFER_REDEEMED"))
        case .extended(let transaction): return [(NoticeType("RENEWAL_EXTENDED"), transaction, nil)]
        case .sharedLineSet(let shared, let isNew): return Self.shared(shared, isNew: isNew, before)
        case .refundRequested(let id):
            // The store decides at once. Approved, the facts that follow have the refund.
            guard let revoked = Self.refund(of: id, in: following) else { return [] }
            return [(NoticeType("CONSUMPTION_REQUEST"), revoked, "OTHER")]
        case .consumptionRequested(let transaction):
            return [(NoticeType("CONSUMPTION_REQUEST"), transaction, "OTHER")]
        case .refundDeclined(let transaction): return [(NoticeType("REFUND_DECLINED"), transaction, nil)]
        // Each of these stands beside a fact above, or the App Store has no notification for it.
        case .opened, .upgradedFrom, .periodCut, .finished, .purchaseHeld, .purchaseReleased, .sharingBegan,
            .sharingEnded, .shareAwaitsSync, .synced, .intentCreated, .intentEnded, .storefrontSet, .chargesSet,
            .messagePosted, .paymentsSet, .appTransactionSet, .codeRedeemed, .deleted, .cleared,
            .accountTokenSet, .reported:
            return []
        }
    }

    /// A purchase of a subscription: the first of its group, one after a lapse, or an upgrade.
    private static func purchase(
        of transaction: Transaction, _ before: AccountRecord, _ earlier: ArraySlice<Fact>
    ) -> NoticeType {
        let redeems = transaction.offer.map { $0.type != .introductory } ?? false
        let isUpgrade = earlier.contains { fact in
            if case .upgradedFrom(let left) = fact.body { return left.originalID == transaction.originalID }
            return false
        }
        if isUpgrade {
            return redeems
                ? NoticeType("OFFER_REDEEMED", "UPGRADE") : NoticeType("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
        }
        let isKnown = before.lines.contains { $0.isOwn && $0.groupID == transaction.subscriptionGroupID }
        return NoticeType("SUBSCRIBED", isKnown ? "RESUBSCRIBE" : "INITIAL_BUY")
    }

    /// The customer switched renewal, or chose another product for the next period.
    private static func switched(from held: Line, to line: Line) -> Notices {
        var notices: Notices = []
        if held.willAutoRenew != line.willAutoRenew {
            let subtype = line.willAutoRenew ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED"
            notices.append((NoticeType("DID_CHANGE_RENEWAL_STATUS", subtype), line.latest, nil))
        }
        if held.preference != line.preference {
            // The choice of what is held already takes a change back.
            let isBack = line.preference == line.latest.productID
            notices.append((NoticeType("DID_CHANGE_RENEWAL_PREF", isBack ? nil : "DOWNGRADE"), line.latest, nil))
        }
        return notices
    }

    /// A subscription of the purchaser, as a family member has it.
    private static func shared(_ line: Line, isNew: Bool, _ before: AccountRecord) -> Notices {
        guard isNew else { return [] }
        let isKnown = before.lineIndex(original: line.originalID) != nil
        let type =
            isKnown && line.latest.reason == .renewal
            ? NoticeType("DID_RENEW") : NoticeType("SUBSCRIBED", isKnown ? "RESUBSCRIBE" : "INITIAL_BUY")
        return [(type, line.latest, nil)]
    }

    private static func refund(of id: TransactionID, in facts: ArraySlice<Fact>) -> Transaction? {
        for fact in facts {
            if case .revoked(let transaction, _) = fact.body, transaction.id == id {
                // As it was signed before: the newest value of a transaction counts.
                var asked = transaction
                asked.revocation = nil
                asked.signedDate = transaction.signedDate.advanced(byMilliseconds: -1)
                return asked
            }
        }
        return nil
    }

    // MARK: Parts

    private mutating func append(_ notice: Notice, _ scene: Scene, _ entry: ChangeEntry, index: Int) {
        let place = entry.place
        var transaction = notice.transaction
        let crossed = entry.account?.isCrossing == true ? scene.instant.milliseconds : 0
        let name =
            "\(place.revision) \(place.ordinal) \(crossed) \(scene.record.account) \(transaction.id) \(index) "
            + "\(notice.type.type) \(notice.type.subtype ?? "")"
        let status =
            transaction.productType == .autoRenewable ? scene.status(of: transaction.originalID) : nil
        if transaction.signedDate == scene.instant { transaction.signedDate = scene.signed }
        self.notices.append(
            TwinNotice(
                type: notice.type, uuid: UUIDText.of(ContentHash(of: self.store + Array(name.utf8)).bytes),
                signed: scene.signed, place: place, account: scene.record.account, transaction: transaction,
                status: status, consumptionReason: notice.consumptionReason))
    }
}
