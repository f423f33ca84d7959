import PerchBase
import PerchModel

extension ReportStamp: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.signed)
        writer.write(self.content)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(signed: try reader.value(), content: try reader.value())
    }
}

extension AccountAlias: StoreCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .appAccountToken(let token):
            writer.write(byte: 1)
            writer.write(token)
        case .appTransactionID(let id):
            writer.write(byte: 2)
            writer.write(id)
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        switch try reader.byte() {
        case 1: self = .appAccountToken(try reader.string())
        case 2: self = .appTransactionID(try reader.string())
        default: throw .invalid("kind of alias", atOffset: start)
        }
    }
}

extension AccountClaim: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.account)
        writer.write(self.revision)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(account: try reader.uint64(), revision: try reader.uint64())
    }
}

extension ReportedPeriod: StoreCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .period(let id):
            writer.write(byte: 1)
            writer.write(id)
        case .transaction(let id):
            writer.write(byte: 2)
            writer.write(id)
        case .purchase: writer.write(byte: 3)
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        switch try reader.byte() {
        case 1: self = .period(try reader.string())
        case 2: self = .transaction(try reader.uint64())
        case 3: self = .purchase
        default: throw .invalid("kind of period", atOffset: start)
        }
    }
}

extension RenewalInfo: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.originalTransactionID)
        writer.write(self.currentProductID)
        writer.write(self.willAutoRenew)
        writer.write(self.renewalDate)
        writer.write(self.recentSubscriptionStartDate)
        self.environment.write(to: &writer)
        writer.write(self.signedDate)
        writer.write(self.autoRenewPreference)
        writer.write(self.expirationReason)
        writer.write(self.isInBillingRetry)
        writer.write(self.gracePeriodExpirationDate)
        self.priceIncreaseStatus.write(to: &writer)
        writer.write(self.renewalPrice)
        writer.write(self.offer)
        writer.write(self.eligibleWinBackOfferIDs)
        writer.write(self.appAccountToken)
        writer.write(self.appTransactionID)
        self.renewalBillingPlan.write(to: &writer)
        writer.write(self.commitment)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let id = try reader.uint64()
        let product = try reader.string()
        let willAutoRenew = try reader.bool()
        let renewalDate = try Instant(from: &reader)
        let start = try Instant(from: &reader)
        let environment = try AppEnvironment(from: &reader)
        self.init(
            originalTransactionID: id, currentProductID: product, willAutoRenew: willAutoRenew,
            renewalDate: renewalDate, recentSubscriptionStartDate: start, environment: environment,
            signedDate: try reader.value())
        self.autoRenewPreference = try reader.optional()
        self.expirationReason = try reader.optional()
        self.isInBillingRetry = try reader.bool()
        self.gracePeriodExpirationDate = try reader.optional()
        self.priceIncreaseStatus = try PriceIncreaseStatus(from: &reader)
        self.renewalPrice = try reader.optional()
        self.offer = try reader.optional()
        self.eligibleWinBackOfferIDs = try reader.array()
        self.appAccountToken = try reader.string()
        self.appTransactionID = try reader.string()
        self.renewalBillingPlan = try BillingPlanType(from: &reader)
        self.commitment = try reader.optional()
    }
}

extension ReportedOriginal: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        writer.write(UInt64(self.registers.count))
        for (period, register) in self.registers.sorted(by: { $0.key < $1.key }) {
            writer.write(period)
            writer.write(register.reported)
            writer.write(register.stamp)
            writer.write(register.ids)
        }
        writer.write(self.renewal != nil)
        if let renewal = self.renewal {
            writer.write(renewal.info)
            writer.write(renewal.renewalDate)
            writer.write(renewal.stamp)
        }
        writer.write(UInt64(self.links.aliases.count))
        for (alias, stamp) in self.links.aliases.sorted(by: { $0.key < $1.key }) {
            writer.write(alias)
            writer.write(stamp)
        }
        writer.write(self.links.claim)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let id = try reader.uint64()
        var registers: [ReportedPeriod: TransactionRegister] = [:]
        for _ in 0..<(try reader.uint64()) {
            let period = try ReportedPeriod(from: &reader)
            let reported = try Transaction(from: &reader)
            let stamp = try ReportStamp(from: &reader)
            registers[period] = TransactionRegister(reported, stamp: stamp, ids: try reader.array())
        }
        var renewal: RenewalRegister?
        if try reader.bool() {
            let info = try RenewalInfo(from: &reader)
            let renewalDate = try reader.optional(Instant.self)
            renewal = RenewalRegister(info, renewalDate: renewalDate, stamp: try reader.value())
        }
        var aliases: [AccountAlias: ReportStamp] = [:]
        for _ in 0..<(try reader.uint64()) {
            let alias = try AccountAlias(from: &reader)
            aliases[alias] = try ReportStamp(from: &reader)
        }
        self.init(
            id: id, registers: registers, renewal: renewal,
            links: OriginalLinks(aliases: aliases, claim: try reader.optional()))
    }
}

extension ReportedRecord: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.isUnclaimed)
        writer.write(self.originals)
        let isNeeded = !self.names.isEmpty || !self.unfinished.isEmpty || self.history != nil
        guard writer.has(form: 5, isNeeded: isNeeded) else { return }
        writer.write(self.names)
        writer.write(self.unfinished)
        writer.write(self.history)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init()
        self.isUnclaimed = try reader.bool()
        for original in try reader.array(of: ReportedOriginal.self) { self.add(original) }
        // Form 4 kept names beside the record, and knew of nothing unfinished.
        guard reader.form >= 5 else { return }
        self.names = try reader.array()
        self.unfinished = try reader.array()
        self.history = try reader.optional()
    }
}

extension ReportedHistory: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.read)
        writer.write(self.places)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(read: try reader.value(), places: try reader.array())
    }
}

extension ReportedHistory.Place: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.original)
        writer.write(self.revision)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(original: try reader.uint64(), revision: try reader.string())
    }
}

extension NotificationNotice: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.type)
        writer.write(self.subtype)
        writer.write(self.uuid)
        writer.write(self.signed)
        writer.write(self.transactionID)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            type: try reader.string(), subtype: try reader.string(), uuid: try reader.string(),
            signed: try reader.value(), transactionID: try reader.uint64())
    }
}

extension EntitlementGrant: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.name)
        writer.write(self.until)
        writer.write(self.reason)
        writer.write(self.since)
        if writer.has(form: 5, isNeeded: !self.tier.isEmpty) { writer.write(self.tier) }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            name: try reader.string(), until: try reader.optional(), reason: try reader.string(),
            since: try reader.value())
        // A grant of form 4 has no tier.
        if reader.form >= 5 { self.tier = try reader.string() }
    }
}

extension EntitlementRule: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.name)
        writer.write(self.productID)
        writer.write(self.groupID)
        writer.write(self.level != nil)
        if let level = self.level { writer.write(level) }
        writer.write(self.tier)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let name = try reader.string()
        let product = try reader.string()
        let group = try reader.string()
        let level = try reader.bool() ? try reader.int32() : nil
        self.init(name: name, productID: product, groupID: group, level: level, tier: try reader.string())
    }
}

extension ReportedTransaction: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.reported)
        writer.write(self.content)
        writer.write(self.shown)
        writer.write(self.replaces)
        self.kind.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let reported = try Transaction(from: &reader)
        let content = try Digest(from: &reader)
        let shown = try reader.optional(Transaction.self)
        let replaces = try reader.array(of: UInt64.self)
        self.init(
            reported: reported, content: content, shown: shown, replaces: replaces,
            kind: try TransactionEventKind(from: &reader))
    }
}

extension ReportedFact: StoreCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .transaction(let report):
            writer.write(byte: 1)
            writer.write(report)
        case .renewal(let info, let renewalDate, let content):
            writer.write(byte: 2)
            writer.write(info)
            writer.write(renewalDate)
            writer.write(content)
        case .claimed(let id, let claim):
            writer.write(byte: 3)
            writer.write(id)
            writer.write(claim)
        case .gained(let original, let source):
            writer.write(byte: 4)
            writer.write(original)
            writer.write(source)
        case .lost(let id, let rows):
            writer.write(byte: 5)
            writer.write(id)
            writer.write(rows)
        case .openedUnclaimed: writer.write(byte: 6)
        case .merged: writer.write(byte: 7)
        case .granted(let grant):
            writer.write(byte: 8)
            writer.write(grant)
        case .grantEnded(let name):
            writer.write(byte: 9)
            writer.write(name)
        case .named(nil): writer.write(byte: 10)
        case .erased: writer.write(byte: 11)
        case .named(let name?):
            writer.write(byte: 12, since: 5)
            writer.write(name)
        case .unnamed(let name):
            writer.write(byte: 13, since: 5)
            writer.write(name)
        case .notified(let notice, let reason):
            writer.write(byte: 14, since: 5)
            writer.write(notice)
            writer.write(reason)
        case .archived(let id):
            writer.write(byte: 15, since: 5)
            writer.write(id)
        case .unarchived(let original):
            writer.write(byte: 16, since: 5)
            writer.write(original)
        case .submitted(let id):
            writer.write(byte: 17, since: 5)
            writer.write(id)
        case .historyRead(let history):
            writer.write(byte: 18, since: 5)
            writer.write(history)
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        switch try reader.byte() {
        case 1: self = .transaction(try reader.value())
        case 2:
            let info = try RenewalInfo(from: &reader)
            let renewalDate = try reader.optional(Instant.self)
            self = .renewal(info, renewalDate: renewalDate, content: try reader.value())
        case 3: self = .claimed(try reader.uint64(), try reader.value())
        case 4: self = .gained(try reader.value(), from: try reader.uint64())
        case 5: self = .lost(try reader.uint64(), rows: try reader.array())
        case 6: self = .openedUnclaimed
        case 7: self = .merged
        case 8: self = .granted(try reader.value())
        case 9: self = .grantEnded(name: try reader.string())
        case 10: self = .named(nil)
        case 11: self = .erased
        case 12: self = .named(try reader.value())
        case 13: self = .unnamed(try reader.value())
        case 14: self = .notified(try reader.value(), reason: try reader.string())
        case 15: self = .archived(try reader.uint64())
        case 16: self = .unarchived(try reader.value())
        case 17: self = .submitted(try reader.uint64())
        case 18: self = .historyRead(try reader.value())
        default: throw .invalid("kind of reported fact", atOffset: start)
        }
    }
}
