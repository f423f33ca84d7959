import PerchBase
import PerchModel
import Testing

@testable import PerchWire

/// A codec that serves keeps what transactions share as bytes. It must write what a codec without memory writes.
@Suite struct `the kept bytes of a sale` {
    private static func transaction(_ samples: inout Samples, sale: SaleTerms?) -> Verified<Transaction> {
        var transaction = samples.verified()
        transaction.value.change {
            if samples.next() % 4 != 0 {
                $0.offer = nil
                $0.revocation = nil
                $0.deviceVerification = []
                $0.deviceVerificationNonce = ""
                $0.commitment = nil
                $0.advancedCommerceInfo = []
                $0.appAccountToken =
                    samples.next() % 2 == 0 ? "" : AccountToken(high: samples.next(), low: samples.next()).text
            }
            if samples.next() % 8 == 0 { $0.appBundleID = String(repeating: "long", count: 200) }
            if samples.next() % 8 == 0 { $0.price = nil }
            if samples.next() % 8 == 0 { $0.expirationDate = nil }
            if samples.next() % 8 == 0 { $0.signedDate = Instant(milliseconds: 0) }
            if samples.next() % 4 == 0 { $0.originalPurchaseDate = $0.purchaseDate }
            if let sale, samples.next() % 2 == 0 {
                $0.productID = sale.fields.productID
                $0.price = sale.fields.price
            }
        }
        if samples.next() % 2 == 0 { transaction.failure = .noFailure }
        return transaction
    }

    @Test func `are those that a codec without memory writes`() throws {
        var samples = Samples(seed: 2_028)
        let (serving, plain) = (MessageCodec(serves: true), MessageCodec())
        var earlier: [Verified<Transaction>] = []
        var withoutRare = 0
        for _ in 0..<3_000 {
            var transaction = Self.transaction(
                &samples, sale: earlier.randomElement(using: &samples)?.value.contents.fields.sale)
            // Of the same sale as an earlier one, with its own numbers.
            if let known = earlier.randomElement(using: &samples), samples.next() % 2 == 0 {
                transaction = known
                transaction.value.id = samples.next()
                transaction.value.purchaseDate = Instant(milliseconds: Int64(samples.next() % 4) * 1_700_000_000_000)
            }
            earlier.append(transaction)
            if earlier.count > 200 { earlier.removeFirst() }
            if transaction.value.contents.fields.rare == nil { withoutRare += 1 }
            let info = ValueInfo()
            for _ in 0..<2 {
                #expect(
                    [UInt8](try serving.encodeEntitlement(transaction, info).message)
                        == [UInt8](try plain.encodeEntitlement(transaction, info).message))
                #expect(serving.digest(of: transaction) == plain.digest(of: transaction))
            }
            let position = Position(revision: samples.next(), asOf: transaction.value.purchaseDate)
            let wasHeld = samples.next() % 2 == 0
            let result = Verified(transaction.value, failure: transaction.failure)
            #expect(
                [UInt8](
                    try serving.encodePurchase(
                        transaction.value, transaction.failure, wasHeld: wasHeld, at: position, isOperation: true
                    ).message)
                    == [UInt8](
                        try plain.encode(
                            OperateResponse(
                                position: position, transaction: result, purchaseResult: .success, wasHeld: wasHeld)
                        ).message))
            var response = PurchaseResponse(position: position, result: .success)
            (response.transaction, response.wasHeld) = (result, wasHeld)
            #expect(
                [UInt8](
                    try serving.encodePurchase(
                        transaction.value, transaction.failure, wasHeld: wasHeld, at: position, isOperation: false
                    ).message) == [UInt8](try plain.encode(response).message))
        }
        #expect(withoutRare > 1_000)
    }

    /// Whatever the quick reader of orders takes, the general way reads the same.
    @Test func `an order that is read quickly is what its request says`() throws {
        var samples = Samples(seed: 28)
        let codec = MessageCodec(serves: true)
        var quick = 0
        for round in 0..<4_000 {
            let token = samples.next() % 3
            let order = PurchaseOrder(
                productID: samples.next() % 8 == 0
                    ? samples.text() : ["coins", "season", "app.perch.season"][round % 3],
                quantity: UInt32(samples.next() % 3),
                appAccountToken: token == 0
                    ? "" : token == 1 ? samples.text() : AccountToken(high: samples.next(), low: samples.next()).text)
            let app =
                samples.next() % 2 == 0
                ? AppReference() : AppReference(bundleID: "com.example.a", environment: .xcode)
            let account = samples.next() % 4 == 0 ? samples.text() : "account-\(samples.next() % 1_000)"
            let isPurchase = samples.next() % 2 == 0
            let key = (0..<[0, 0, 16, 36, 41][round % 5]).map { _ in UInt8(truncatingIfNeeded: samples.next()) }
            var request: Request =
                isPurchase
                ? .purchase(PurchaseRequest(app: app, account: account, order: order, idempotencyKey: key))
                : .operate(OperateRequest(app: app, account: account, idempotencyKey: key, operation: .buy(order)))
            if samples.next() % 8 == 0 { request = samples.request(isPurchase ? .purchase : .operate) }
            var bytes = [UInt8](try codec.encode(request).message)
            if samples.next() % 4 == 0, !bytes.isEmpty {
                bytes[Int(samples.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: samples.next())
            }
            let general = try? codec.decodeRequest(isPurchase ? .purchase : .operate, bytes.span.bytes)
            bytes.withUnsafeBytes { buffer in
                guard let read = codec.decodeQuickOrder(buffer, isPurchase: isPurchase) else { return }
                quick += 1
                var asked: (app: AppReference, account: String, key: [UInt8], order: PurchaseOrder)?
                switch general {
                case .purchase(let purchase)?:
                    asked = (purchase.app, purchase.account, purchase.idempotencyKey, purchase.order)
                case .operate(let operation)?:
                    if case .buy(let order)? = operation.operation {
                        asked = (operation.app, operation.account, operation.idempotencyKey, order)
                    }
                default: break
                }
                guard let asked else {
                    Issue.record("read quickly, and not at all in general: \(bytes)")
                    return
                }
                #expect((read.app ?? AppReference()) == asked.app && asked.key == [UInt8](read.key))
                #expect(String(decoding: read.account, as: UTF8.self) == asked.account)
                #expect(
                    asked.order
                        == PurchaseOrder(
                            productID: codec.name(at: read.productPlace), quantity: read.quantity,
                            accountToken: WrittenAccountToken(uuid: read.accountToken)))
                // The digest of a key's request is that of these bytes, whichever way reads them.
                let written = general.flatMap { request in (try? codec.encode(request)).map { [UInt8]($0.message) } }
                #expect(written == bytes)
            }
        }
        #expect(quick > 1_000)
    }
}
