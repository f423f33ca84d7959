import CPerchProto
import PerchBase
import PerchModel

@testable import PerchWire

/// Values with every field set, the same for the same seed.
struct Samples: RandomNumberGenerator {
    private var generator: SplitMix64

    init(seed: UInt64) { self.generator = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { self.generator.next() }

    /// Never empty; of one to four bytes a character.
    mutating func text() -> String {
        let alphabet = Array("abcXYZ019._-é日🐦\u{10FFFF}")
        return String((0..<Int.random(in: 1...24, using: &self)).map { _ in alphabet.randomElement(using: &self)! })
    }

    mutating func texts() -> [String] { (0..<3).map { _ in self.text() } }
    mutating func bytes() -> [UInt8] {
        (0..<Int.random(in: 1...40, using: &self)).map { _ in UInt8(truncatingIfNeeded: self.next()) }
    }
    /// Never 0, of any length on the wire.
    mutating func u64() -> UInt64 { self.next() >> UInt64.random(in: 0...62, using: &self) | 1 }
    mutating func u32() -> UInt32 { UInt32(truncatingIfNeeded: self.u64()) | 1 }
    mutating func i64() -> Int64 { Int64(bitPattern: self.u64()) }
    mutating func i32() -> Int32 { Int32(bitPattern: self.u32()) }
    mutating func instant() -> Instant { Instant(milliseconds: self.i64()) }
    mutating func position() -> Position { Position(revision: self.u64(), asOf: self.instant()) }

    /// A known value or, one time in four, one that only a newer peer knows.
    mutating func value<Value: OpenEnumeration>(_ type: Value.Type = Value.self) -> Value {
        if self.next() % 4 == 0 { return Value(rawValue: self.i32()) }
        return Value(rawValue: Int32.random(in: 1..<Int32(Value.names.count), using: &self))
    }

    mutating func list<Value>(_ make: (inout Samples) -> Value) -> [Value] {
        (0..<Int.random(in: 1...3, using: &self)).map { _ in make(&self) }
    }
}

// MARK: Values of the model

extension Samples {
    mutating func money() -> Money { Money(milliunits: self.i64(), currency: self.text()) }
    mutating func storefront() -> Storefront { Storefront(countryCode: self.text(), id: self.text()) }
    mutating func period() -> Period { Period(self.i32(), self.value()) }

    mutating func appliedOffer() -> TransactionOffer {
        TransactionOffer(id: self.text(), type: self.value(), paymentMode: self.value(), period: self.period())
    }

    mutating func commitment() -> Commitment {
        Commitment(
            billingPeriodNumber: self.u32(), totalBillingPeriods: self.u32(), expirationDate: self.instant(),
            price: self.money(), willRenew: true)
    }

    mutating func transaction() -> Transaction {
        var transaction = Transaction(
            id: self.u64(), originalID: self.u64(), appBundleID: self.text(), productID: self.text(),
            productType: self.value(), purchaseDate: self.instant(), originalPurchaseDate: self.instant(),
            environment: self.value(), storefront: self.storefront(), reason: self.value(), signedDate: self.instant())
        transaction.webOrderLineItemID = self.text()
        transaction.appTransactionID = self.text()
        transaction.subscriptionGroupID = self.text()
        transaction.expirationDate = self.instant()
        transaction.quantity = self.u32()
        transaction.isUpgraded = true
        transaction.ownership = self.value()
        transaction.offer = self.appliedOffer()
        transaction.revocation = Revocation(
            date: self.instant(), reason: self.value(), type: self.value(), percentageMilli: self.u32())
        transaction.appAccountToken = self.text()
        transaction.price = self.money()
        transaction.deviceVerification = self.bytes()
        transaction.deviceVerificationNonce = self.text()
        transaction.billingPlan = self.value()
        transaction.commitment = self.commitment()
        transaction.advancedCommerceInfo = self.bytes()
        return transaction
    }

    mutating func verified() -> Verified<Transaction> {
        Verified(self.transaction(), failure: self.value(), jws: self.text())
    }

    mutating func renewalInfo() -> RenewalInfo {
        var info = RenewalInfo(
            originalTransactionID: self.u64(), currentProductID: self.text(), willAutoRenew: true,
            renewalDate: self.instant(), recentSubscriptionStartDate: self.instant(), environment: self.value(),
            signedDate: self.instant())
        info.autoRenewPreference = self.text()
        info.expirationReason = self.value()
        info.isInBillingRetry = true
        info.gracePeriodExpirationDate = self.instant()
        info.priceIncreaseStatus = self.value()
        info.renewalPrice = self.money()
        info.offer = self.appliedOffer()
        info.eligibleWinBackOfferIDs = self.texts()
        info.appAccountToken = self.text()
        info.appTransactionID = self.text()
        info.renewalBillingPlan = self.value()
        info.commitment = self.commitment()
        info.isUnreported = true
        return info
    }

    mutating func statuses() -> SubscriptionStatuses {
        let statuses = self.list { samples in
            SubscriptionStatus(
                state: samples.value(), transaction: samples.verified(),
                renewalInfo: Verified(samples.renewalInfo(), failure: samples.value(), jws: samples.text()))
        }
        return SubscriptionStatuses(
            statuses: statuses, effectiveIndex: Int.random(in: 0..<9, using: &self), effectiveReason: self.value())
    }

    mutating func offer() -> SubscriptionOffer {
        var offer = SubscriptionOffer(
            id: self.text(), type: self.value(), paymentMode: self.value(), price: self.money(), period: self.period(),
            periodCount: self.i32())
        offer.displayPrice = self.text()
        offer.billingPlan = self.value()
        return offer
    }

    mutating func product() -> Product {
        var info = SubscriptionInfo(
            groupID: self.text(), groupDisplayName: self.text(), groupLevel: self.i32(), period: self.period())
        info.introductoryOffers = self.list { $0.offer() }
        info.promotionalOffers = self.list { $0.offer() }
        info.winBackOffers = self.list { $0.offer() }
        info.billingPlans = self.list { samples in
            var plan = BillingPlan(
                type: samples.value(), price: samples.money(), commitmentPrice: samples.money(),
                chargeCount: samples.u32())
            plan.displayPrice = samples.text()
            plan.commitmentDisplayPrice = samples.text()
            return plan
        }
        var product = Product(
            id: self.text(), type: self.value(), displayName: self.text(), description: self.text(),
            price: self.money(), displayPrice: self.text(), isFamilyShareable: true, storefront: self.storefront())
        product.promotionalImageID = self.text()
        product.promotionalImageHash = self.bytes()
        product.subscription = info
        product.jsonRepresentation = self.bytes()
        return product
    }

    mutating func products() -> Products {
        Products(products: self.list { $0.product() }, unavailableIDs: self.texts())
    }

    mutating func info() -> ValueInfo {
        ValueInfo(
            position: self.position(), committed: self.instant(), cause: self.value(),
            // Entitled, so that every field is on the wire.
            forecast: Forecast(
                at: self.instant(), kind: self.value(), originalTransactionID: self.u64(), state: .inGracePeriod),
            token: self.bytes(), isNotInCatalog: true)
    }
}

// MARK: Messages

extension Samples {
    mutating func app() -> AppReference { AppReference(bundleID: self.text(), environment: self.value()) }

    /// A request with every field set.
    mutating func request(_ method: Method) -> Request {
        switch method {
        case .operate:
            return .operate(
                OperateRequest(
                    app: self.app(), account: self.text(), idempotencyKey: self.bytes(),
                    operation: self.operation()))
        case .configure:
            return .configure(
                ConfigureRequest(app: self.app(), settings: self.settings(), idempotencyKey: self.bytes()))
        default:
            do {
                return try MessageCodec().decodeRequest(method, self.message(method.requestDescriptor).span.bytes)
            } catch {
                preconditionFailure("\(method) refuses its own fields: \(error)")
            }
        }
    }

    /// A response with every field set.
    mutating func response(_ method: Method) -> Response {
        switch method {
        case .getSettings: return .getSettings(SettingsList(settings: self.settings()))
        default:
            do {
                return try MessageCodec().decodeResponse(method, self.message(method.responseDescriptor).span.bytes)
            } catch {
                preconditionFailure("\(method) refuses its own fields: \(error)")
            }
        }
    }

    /// The bytes of a message with every field set; of the fields of a oneof one has a value.
    private mutating func message(_ descriptor: Contract.Descriptor) -> [UInt8] {
        let fields = (0..<Int(descriptor.pointee.n_fields)).map { descriptor.pointee.fields[$0] }
        // Bookmarks are messages of their own, which a transport writes beside the values.
        let values = fields.filter { String(cString: $0.name) != "bookmark" }
        let choices = Dictionary(grouping: values.filter(\.isInOneof), by: \.quantifier_offset)
        var chosen: Set<UInt32> = []
        for offset in choices.keys.sorted() { chosen.insert(choices[offset]!.randomElement(using: &self)!.id) }
        var bytes: [UInt8] = []
        for field in values where !field.isInOneof || chosen.contains(field.id) {
            let count = field.label == PROTOBUF_C_LABEL_REPEATED ? Int.random(in: 1...3, using: &self) : 1
            for _ in 0..<count { self.append(field, to: &bytes) }
        }
        return bytes
    }

    private mutating func append(_ field: ProtobufCFieldDescriptor, to bytes: inout [UInt8]) {
        func varint(_ value: UInt64) {
            var value = value
            while value > 0x7F {
                bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
                value >>= 7
            }
            bytes.append(UInt8(truncatingIfNeeded: value))
        }
        func number(_ value: UInt64) {
            varint(UInt64(field.id) << 3)
            varint(value)
        }
        func block(_ content: [UInt8]) {
            varint(UInt64(field.id) << 3 | 2)
            varint(UInt64(content.count))
            bytes += content
        }
        switch field.type {
        case PROTOBUF_C_TYPE_INT32: number(UInt64(bitPattern: Int64(self.i32())))
        case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_UINT64: number(self.u64())
        case PROTOBUF_C_TYPE_UINT32: number(UInt64(self.u32()))
        case PROTOBUF_C_TYPE_BOOL: number(1)
        case PROTOBUF_C_TYPE_ENUM:
            let known = field.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self).pointee.n_values
            // A known value or, one time in four, one that only a newer peer knows.
            let value = self.next() % 4 == 0 ? self.i32() : Int32.random(in: 1..<Int32(known), using: &self)
            number(UInt64(bitPattern: Int64(value)))
        case PROTOBUF_C_TYPE_STRING: block(Array(self.text().utf8))
        case PROTOBUF_C_TYPE_BYTES: block(self.bytes())
        case PROTOBUF_C_TYPE_DOUBLE:
            varint(UInt64(field.id) << 3 | 1)
            let pattern = (Double(self.u32()) / 8).bitPattern
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: pattern >> shift)) }
        case PROTOBUF_C_TYPE_FIXED32:
            varint(UInt64(field.id) << 3 | 5)
            withUnsafeBytes(of: self.u32().littleEndian) { bytes += $0 }
        case PROTOBUF_C_TYPE_SFIXED64:
            varint(UInt64(field.id) << 3 | 1)
            withUnsafeBytes(of: self.u64().littleEndian) { bytes += $0 }
        case PROTOBUF_C_TYPE_MESSAGE:
            block(self.message(field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)))
        default: preconditionFailure("the contract has fields of a new type: \(field.type)")
        }
    }

    mutating func details() -> [StatusDetail] { self.list { StatusDetail(key: $0.text(), value: $0.text()) } }

    mutating func hello() -> Hello {
        Hello(
            protocolVersion: self.u32(), authorization: self.text(), clientName: self.text(),
            accepts: self.list { $0.value() }, heartbeatSeconds: self.u32(), clientID: self.bytes())
    }

    mutating func welcome() -> Welcome {
        Welcome(
            serverVersion: self.text(), storeID: self.bytes(), epoch: self.u32(), revision: self.u64(),
            limits: PeerLimits(
                frameBytes: self.u32(), requestBytes: self.u32(), catalogRequestBytes: self.u32(),
                callsPerConnection: self.u32(), writeStallMilliseconds: self.u32()),
            heartbeatSeconds: self.u32(), accepts: self.list { $0.value() }, serverTime: self.instant())
    }

    mutating func status() -> Status {
        Status(code: self.i32(), message: self.text(), reason: self.text(), details: self.details())
    }

    mutating func drain() -> Drain {
        Drain(
            reason: self.text(), message: self.text(), reconnectAfterMilliseconds: self.u32(),
            jitterMilliseconds: self.u32(), isFinal: true, details: self.details())
    }
}

extension ProtobufCFieldDescriptor {
    fileprivate var isInOneof: Bool { self.flags & UInt32(PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue) != 0 }
}
