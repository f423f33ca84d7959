import PerchBase
import PerchModel

/// A value inside a sealed blob. It has no version and no checksum; its blob has both.
///
/// A form never changes. A new field is a new version of the blobs that hold the value.
protocol StoreCoded {
    func write(to writer: inout ByteWriter)
    init(from reader: inout ByteReader) throws(DecodingFault)
}

extension Instant: StoreCoded {
    func write(to writer: inout ByteWriter) { writer.write(self.milliseconds) }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(milliseconds: try reader.int64())
    }
}

extension UInt64: StoreCoded {
    func write(to writer: inout ByteWriter) { writer.write(self) }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self = try reader.uint64()
    }
}

extension String: StoreCoded {
    func write(to writer: inout ByteWriter) { writer.write(self) }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self = try reader.string()
    }
}

/// Unknown numbers are preserved, because a newer version may know them.
extension OpenEnumeration {
    func write(to writer: inout ByteWriter) { writer.write(self.rawValue) }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(rawValue: try reader.int32())
    }
}

extension ExpirationReason: StoreCoded {}

extension Bool: StoreCoded {
    func write(to writer: inout ByteWriter) { writer.write(self) }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self = try reader.bool()
    }
}

extension Money: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.milliunits)
        writer.write(self.currency)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(milliunits: try reader.int64(), currency: try reader.string())
    }
}

extension Period: StoreCoded {
    func write(to writer: inout ByteWriter) {
        self.unit.write(to: &writer)
        writer.write(self.value)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let unit = try Unit(from: &reader)
        self.init(try reader.int32(), unit)
    }
}

extension TimeRate: StoreCoded {
    func write(to writer: inout ByteWriter) { writer.write(self.rawValue) }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        guard let rate = TimeRate(rawValue: try reader.int32()) else {
            throw .invalid("time rate", atOffset: start)
        }
        self = rate
    }
}

extension Digest: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(fixed: self.high)
        writer.write(fixed: self.low)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(high: try reader.fixed64(), low: try reader.fixed64())
    }
}

extension StoreIdentity: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(fixed: self.high)
        writer.write(fixed: self.low)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(high: try reader.fixed64(), low: try reader.fixed64())
    }
}

extension Position: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.revision)
        writer.write(self.asOf)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(revision: try reader.uint64(), asOf: try reader.value())
    }
}

extension SubscriptionOffer: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        self.type.write(to: &writer)
        self.paymentMode.write(to: &writer)
        writer.write(self.price)
        writer.write(self.displayPrice)
        writer.write(self.period)
        writer.write(self.periodCount)
        self.billingPlan.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let id = try reader.string()
        let type = try OfferType(from: &reader)
        let paymentMode = try PaymentMode(from: &reader)
        let price = try Money(from: &reader)
        let displayPrice = try reader.string()
        let period = try Period(from: &reader)
        self.init(
            id: id, type: type, paymentMode: paymentMode, price: price, period: period,
            periodCount: try reader.int32())
        self.displayPrice = displayPrice
        self.billingPlan = try BillingPlanType(from: &reader)
    }
}
