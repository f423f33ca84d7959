import PerchBase
import PerchModel

// The parts of a transaction. Its own form is generated from the contract: `Generated/Stored.swift`.

extension Storefront: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.countryCode)
        writer.write(self.id)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let countryCode = try reader.string()
        self.init(countryCode: countryCode, id: try reader.string())
    }
}

extension TransactionOffer: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        self.type.write(to: &writer)
        self.paymentMode.write(to: &writer)
        writer.write(self.period)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let id = try reader.string()
        let type = try OfferType(from: &reader)
        let paymentMode = try PaymentMode(from: &reader)
        self.init(id: id, type: type, paymentMode: paymentMode, period: try reader.optional())
    }
}

extension Revocation: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.date)
        self.reason.write(to: &writer)
        self.type.write(to: &writer)
        writer.write(self.percentageMilli)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let date = try Instant(from: &reader)
        let reason = try RevocationReason(from: &reader)
        let type = try RevocationType(from: &reader)
        self.init(date: date, reason: reason, type: type, percentageMilli: try reader.uint32())
    }
}

extension Commitment: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.billingPeriodNumber)
        writer.write(self.totalBillingPeriods)
        writer.write(self.expirationDate)
        writer.write(self.price)
        writer.write(self.willRenew)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let number = try reader.uint32()
        let total = try reader.uint32()
        let expirationDate = try Instant(from: &reader)
        let price = try Money(from: &reader)
        self.init(
            billingPeriodNumber: number, totalBillingPeriods: total, expirationDate: expirationDate, price: price,
            willRenew: try reader.bool())
    }
}
