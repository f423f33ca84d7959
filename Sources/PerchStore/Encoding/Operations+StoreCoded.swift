import PerchBase
import PerchModel

// The parts of pending purchases, intents, family shares and offers.

extension OrderedOffer: StoreCoded {
    func write(to writer: inout ByteWriter) {
        self.type.write(to: &writer)
        writer.write(self.id)
        writer.write(self.signature)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(type: try OfferType(from: &reader), id: try reader.string(), signature: try reader.string())
    }
}

extension PurchaseOrder: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.productID)
        writer.write(self.quantity)
        writer.write(self.appAccountToken)
        writer.write(self.offer)
        self.introductoryEligibility.write(to: &writer)
        writer.write(self.introductoryEligibilitySignature)
        self.billingPlan.write(to: &writer)
        writer.write(self.date)
        self.renewalBehaviour.write(to: &writer)
        writer.write(self.simulatesAskToBuy)
        writer.write(self.seenStorefront)
        writer.write(self.continuesInNewStorefront)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            productID: try reader.string(), quantity: try reader.uint32(), appAccountToken: try reader.string(),
            offer: try reader.optional())
        self.introductoryEligibility = try IntroductoryEligibility(from: &reader)
        self.introductoryEligibilitySignature = try reader.string()
        self.billingPlan = try BillingPlanType(from: &reader)
        self.date = try reader.optional()
        self.renewalBehaviour = try RenewalBehaviour(from: &reader)
        self.simulatesAskToBuy = try reader.bool()
        self.seenStorefront = try reader.string()
        self.continuesInNewStorefront = try reader.bool()
    }
}

extension PendingPurchase: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        self.reason.write(to: &writer)
        writer.write(self.order)
        writer.write(self.since)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            id: try reader.uint64(), reason: try PendingReason(from: &reader), order: try reader.value(),
            since: try reader.value())
    }
}

extension PurchaseIntent: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        writer.write(self.productID)
        writer.write(self.offer)
        writer.write(self.since)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            id: try reader.uint64(), productID: try reader.string(), offer: try reader.optional(),
            since: try reader.value())
    }
}

extension FamilyShare: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.original)
        writer.write(self.member)
        writer.write(self.memberOriginal)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            original: try reader.uint64(), member: try reader.uint64(), memberOriginal: try reader.uint64())
    }
}

extension GroupHistory: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.groupID)
        writer.write(self.hadIntroductoryOffer)
        writer.write(self.paidMilliseconds)
        writer.write(self.lastWinBack)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(groupID: try reader.string())
        self.hadIntroductoryOffer = try reader.bool()
        self.paidMilliseconds = try reader.int64()
        self.lastWinBack = try reader.optional()
    }
}

extension PriceIncrease: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.price)
        writer.write(self.asked)
        self.status.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            price: try reader.value(), asked: try reader.value(), status: try PriceIncreaseStatus(from: &reader))
    }
}

extension Remainder: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.lines)
        writer.write(self.owned)
        writer.write(self.histories)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(lines: try reader.array(), owned: try reader.array(), histories: try reader.array())
    }
}

extension WinBackRule: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.paidMonthsMin)
        writer.write(self.lapsedMonthsMin)
        writer.write(self.lapsedMonthsMax)
        writer.write(self.waitMonths)
        writer.write(self.from)
        writer.write(self.until)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init()
        self.paidMonthsMin = try reader.int32()
        self.lapsedMonthsMin = try reader.int32()
        self.lapsedMonthsMax = try reader.int32()
        self.waitMonths = try reader.int32()
        self.from = try reader.optional()
        self.until = try reader.optional()
    }
}

extension SimulatedErrors: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(UInt64(self.entries.count))
        for entry in self.entries {
            entry.api.write(to: &writer)
            entry.error.write(to: &writer)
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init()
        for _ in 0..<(try reader.uint64()) {
            let api = try StoreKitAPI(from: &reader)
            self[api] = try SimulatedError(from: &reader)
        }
    }
}
