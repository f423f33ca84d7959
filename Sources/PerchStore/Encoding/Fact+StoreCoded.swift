import PerchBase
package import PerchModel

/// The first byte of a fact: its kind. Numbers are never reused.
private enum FactKind: UInt8 {
    case opened = 1
    case purchased = 2
    case renewed = 3
    case renewalFailed = 4
    case lapsed = 5
    case upgradedFrom = 6
    case autoRenewSet = 7
    case revoked = 8
    case expiredEarly = 9
    case periodCut = 10
    case finished = 11
    case reinstated = 12
    case priceRaised = 13
    case priceAnswered = 14
    case offerQueued = 15
    case extended = 16
    case purchaseHeld = 17
    case purchaseReleased = 18
    case sharingBegan = 19
    case sharingEnded = 20
    case sharedLineSet = 21
    case shareAwaitsSync = 22
    case synced = 23
    case intentCreated = 24
    case intentEnded = 25
    case storefrontSet = 26
    case chargesSet = 27
    case messagePosted = 28
    case deleted = 29
    case cleared = 30
    case refundRequested = 31
    case reported = 40
    case paymentsSet = 41
    case appTransactionSet = 42
    case codeRedeemed = 43
    case consumptionRequested = 44
    case refundDeclined = 45
    case accountTokenSet = 46

    /// The form that first had the kind, of those that a version before this one does not write.
    var form: UInt8 { self.rawValue > FactKind.reported.rawValue ? 5 : 1 }

    init(of body: Fact.Body) {
        self =
            switch body {
            case .opened: .opened
            case .purchased: .purchased
            case .renewed: .renewed
            case .renewalFailed: .renewalFailed
            case .lapsed: .lapsed
            case .upgradedFrom: .upgradedFrom
            case .autoRenewSet: .autoRenewSet
            case .revoked: .revoked
            case .expiredEarly: .expiredEarly
            case .periodCut: .periodCut
            case .finished: .finished
            case .reinstated: .reinstated
            case .priceRaised: .priceRaised
            case .priceAnswered: .priceAnswered
            case .offerQueued: .offerQueued
            case .extended: .extended
            case .purchaseHeld: .purchaseHeld
            case .purchaseReleased: .purchaseReleased
            case .sharingBegan: .sharingBegan
            case .sharingEnded: .sharingEnded
            case .sharedLineSet: .sharedLineSet
            case .shareAwaitsSync: .shareAwaitsSync
            case .synced: .synced
            case .intentCreated: .intentCreated
            case .intentEnded: .intentEnded
            case .storefrontSet: .storefrontSet
            case .chargesSet: .chargesSet
            case .messagePosted: .messagePosted
            case .paymentsSet: .paymentsSet
            case .appTransactionSet: .appTransactionSet
            case .codeRedeemed: .codeRedeemed
            case .deleted: .deleted
            case .cleared: .cleared
            case .refundRequested: .refundRequested
            case .consumptionRequested: .consumptionRequested
            case .refundDeclined: .refundDeclined
            case .accountTokenSet: .accountTokenSet
            case .reported: .reported
            }
    }
}

extension Fact: StoreCoded {
    func write(to writer: inout ByteWriter) {
        let kind = FactKind(of: self.body)
        writer.write(byte: kind.rawValue, since: kind.form)
        writer.write(self.effective)
        switch self.body {
        case .opened(let appTransactionID):
            writer.write(appTransactionID)
        case .purchased(let transaction, let terms):
            writer.write(transaction)
            writer.write(terms?.value)
        case .renewed(let transaction, let terms):
            writer.write(transaction)
            writer.write(terms)
        case .renewalFailed(let original, let retry):
            writer.write(original)
            writer.write(retry)
        case .lapsed(let original, let reason):
            writer.write(original)
            reason.write(to: &writer)
        case .autoRenewSet(let original, let isOn, let preference, let billingPlan):
            writer.write(original)
            writer.write(isOn)
            writer.write(preference)
            billingPlan.write(to: &writer)
        case .revoked(let transaction, let fallback):
            writer.write(transaction)
            writer.write(fallback)
        case .finished(let id), .refundRequested(let id), .intentEnded(let id):
            writer.write(id)
        case .upgradedFrom(let transaction), .expiredEarly(let transaction), .periodCut(let transaction),
            .reinstated(let transaction), .extended(let transaction), .shareAwaitsSync(let transaction),
            .consumptionRequested(let transaction), .refundDeclined(let transaction),
            .accountTokenSet(let transaction):
            writer.write(transaction)
        case .priceRaised(let original, let increase):
            writer.write(original)
            writer.write(increase)
        case .priceAnswered(let original, let agrees):
            writer.write(original)
            writer.write(agrees)
        case .offerQueued(let original, let offer):
            writer.write(original)
            writer.write(offer)
        case .purchaseHeld(let pending):
            writer.write(pending)
        case .purchaseReleased(let id, let isApproved):
            writer.write(id)
            writer.write(isApproved)
        case .sharingBegan(let share):
            writer.write(share)
        case .sharingEnded(let original, let member):
            writer.write(original)
            writer.write(member)
        case .sharedLineSet(let line, let isNew):
            writer.write(line)
            writer.write(isNew)
        case .intentCreated(let intent):
            writer.write(intent)
        case .storefrontSet(let storefront):
            writer.write(storefront)
        case .chargesSet(let fail):
            writer.write(fail)
        case .paymentsSet(let isAllowed):
            writer.write(isAllowed)
        case .appTransactionSet(let terms):
            writer.write(terms)
        case .codeRedeemed(let redeemed):
            writer.write(redeemed)
        case .deleted(let id, let remainder):
            writer.write(id)
            writer.write(remainder)
        case .synced, .messagePosted, .cleared:
            break
        case .reported(let fact):
            writer.write(fact)
        }
        self.source.write(to: &writer)
        if self.source != .decision { writer.write(self.stamp) }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        guard let kind = FactKind(rawValue: try reader.byte()) else {
            throw .invalid("kind of fact", atOffset: start)
        }
        let effective = try Instant(from: &reader)
        let body: Body =
            switch kind {
            case .opened: .opened(appTransactionID: try reader.string())
            case .purchased: .purchased(try reader.value(), terms: try reader.optional().map { Boxed($0) })
            case .renewed: .renewed(try reader.value(), terms: try reader.value())
            case .renewalFailed: .renewalFailed(original: try reader.uint64(), retry: try reader.value())
            case .lapsed: .lapsed(original: try reader.uint64(), reason: try reader.value())
            case .upgradedFrom: .upgradedFrom(try reader.value())
            case .autoRenewSet:
                .autoRenewSet(
                    original: try reader.uint64(), isOn: try reader.bool(), preference: try reader.string(),
                    billingPlan: try BillingPlanType(ofNextPeriodFrom: &reader))
            case .revoked: .revoked(try reader.value(), fallback: try reader.optional())
            case .expiredEarly: .expiredEarly(try reader.value())
            case .periodCut: .periodCut(try reader.value())
            case .finished: .finished(try reader.uint64())
            case .reinstated: .reinstated(try reader.value())
            case .priceRaised: .priceRaised(original: try reader.uint64(), try reader.value())
            case .priceAnswered: .priceAnswered(original: try reader.uint64(), agrees: try reader.bool())
            case .offerQueued: .offerQueued(original: try reader.uint64(), try reader.value())
            case .extended: .extended(try reader.value())
            case .purchaseHeld: .purchaseHeld(try reader.value())
            case .purchaseReleased: .purchaseReleased(id: try reader.uint64(), isApproved: try reader.bool())
            case .sharingBegan: .sharingBegan(try reader.value())
            case .sharingEnded: .sharingEnded(original: try reader.uint64(), member: try reader.uint64())
            case .sharedLineSet: .sharedLineSet(try reader.value(), isNew: try reader.bool())
            case .shareAwaitsSync: .shareAwaitsSync(try reader.value())
            case .synced: .synced
            case .intentCreated: .intentCreated(try reader.value())
            case .intentEnded: .intentEnded(id: try reader.uint64())
            case .storefrontSet: .storefrontSet(try reader.string())
            case .chargesSet: .chargesSet(fail: try reader.optional())
            case .messagePosted: .messagePosted
            case .paymentsSet: .paymentsSet(isAllowed: try reader.bool())
            case .appTransactionSet: .appTransactionSet(try reader.value())
            case .codeRedeemed: .codeRedeemed(try reader.value())
            case .deleted: .deleted(try reader.uint64(), remainder: try reader.value())
            case .cleared: .cleared
            case .refundRequested: .refundRequested(try reader.uint64())
            case .consumptionRequested: .consumptionRequested(try reader.value())
            case .refundDeclined: .refundDeclined(try reader.value())
            case .accountTokenSet: .accountTokenSet(try reader.value())
            case .reported: .reported(try reader.value())
            }
        // Before form 3 every fact was a decision of the store itself.
        let source = reader.form < 3 ? FactSource.decision : try FactSource(from: &reader)
        let stamp = source == .decision ? nil : try reader.optional(Instant.self)
        self.init(body, effective: effective, source: source, stamp: stamp)
    }
}

extension StoredFact {
    package func sealed(at place: EventPlace) -> [UInt8] {
        SealedBlob.seal(.fact(place, account: self.account)) { writer in
            writer.write(self.fact)
            writer.write(self.origin)
        }
    }

    package init(
        unsealing bytes: [UInt8], at place: EventPlace, account: AccountNumber
    ) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .fact(place, account: account)) { (reader) throws(DecodingFault) in
            let fact = try Fact(from: &reader)
            return StoredFact(account: account, fact: fact, origin: try reader.blob())
        }
    }
}
