import CPerchProto
import Foundation
import PerchBase
import PerchModel
import Testing

@testable import PerchWire

/// The bytes of a message after it was a value of ours; nil if it is none.
private func again<C: CMessage, Value>(
    _ bytes: [UInt8], _ type: C.Type, _ read: (UnsafeMutablePointer<C>) throws -> Value?,
    _ write: (Value, UnsafeMutablePointer<C>, Arena) -> Void
) throws -> [UInt8]? {
    let codec = MessageCodec()
    let arena = codec.arena
    let message = try codec.unpack(type, bytes.span.bytes, singularFieldsMax: Limits.protobufSingularFieldsMax)
    guard let value = try read(message) else { return nil }
    return [UInt8](try codec.pack(type) { write(value, $0, arena) }.message)
}

/// A list of settings without one that is not known, which a reader leaves out.
private func wholeList(_ message: UnsafeMutablePointer<Perch__V1__GetSettingsResponse>) throws -> SettingsList {
    for setting in UnsafeBufferPointer(start: message.pointee.settings, count: message.pointee.n_settings) {
        _ = try AppSettingChange(setting!)
    }
    return SettingsList(message)
}

@Suite(.enabled(if: FileManager.default.fileExists(atPath: Vector.folder.path), "no proto/vectors here"))
struct `vectors` {
    /// Messages that are parts of others. The codec itself reads and writes the requests and responses of methods.
    private static let parts: [String: @Sendable ([UInt8]) throws -> [UInt8]?] = [
        "perch.v1.App": { try again($0, Perch__V1__App.self, { AppSummary($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.AppRef": { try again($0, Perch__V1__AppRef.self, { AppReference($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.BillingPlan": {
            try again($0, Perch__V1__BillingPlan.self, { BillingPlan($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.CatalogSummary": {
            try again($0, Perch__V1__CatalogSummary.self, { CatalogSummary($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.CatalogWarning": {
            try again($0, Perch__V1__CatalogWarning.self, { CatalogWarning($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.Clock": { try again($0, Perch__V1__Clock.self, { ClockState($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.CommitmentInfo": {
            try again($0, Perch__V1__CommitmentInfo.self, { Commitment($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.Failure": { try again($0, Perch__V1__Failure.self, { Failure($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Finding": { try again($0, Perch__V1__Finding.self, { Finding($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Bookmark": { try again($0, Perch__V1__Bookmark.self, { Bookmark($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Forecast": { try again($0, Perch__V1__Forecast.self, { Forecast($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.CatalogImage": {
            try again($0, Perch__V1__CatalogImage.self, { CatalogImage($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.CatalogImageInfo": {
            try again($0, Perch__V1__CatalogImageInfo.self, { CatalogImageInfo($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.Metric": { try again($0, Perch__V1__Metric.self, { Metric($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Money": { try again($0, Perch__V1__Money.self, { Money($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Period": { try again($0, Perch__V1__Period.self, { Period($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Position": { try again($0, Perch__V1__Position.self, { Position($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Product": { try again($0, Perch__V1__Product.self, { Product($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.Products": { try again($0, Perch__V1__Products.self, { Products($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.PurchaseOffer": {
            try again($0, Perch__V1__PurchaseOffer.self, { OrderedOffer($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.RenewalInfo": {
            try again($0, Perch__V1__RenewalInfo.self, { RenewalInfo($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.RenewalInfoResult": {
            try again($0, Perch__V1__RenewalInfoResult.self, { Verified<RenewalInfo>($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.Revocation": {
            try again($0, Perch__V1__Revocation.self, { Revocation($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.Storefront": {
            try again($0, Perch__V1__Storefront.self, { Storefront($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.SubscriptionInfo": {
            try again($0, Perch__V1__SubscriptionInfo.self, { SubscriptionInfo($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.SubscriptionOffer": {
            try again($0, Perch__V1__SubscriptionOffer.self, { SubscriptionOffer($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.SubscriptionStatus": {
            try again($0, Perch__V1__SubscriptionStatus.self, { SubscriptionStatus($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.SubscriptionStatuses": {
            try again($0, Perch__V1__SubscriptionStatuses.self, { SubscriptionStatuses($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.Transaction": {
            try again($0, Perch__V1__Transaction.self, { Transaction($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.TransactionOffer": {
            try again($0, Perch__V1__TransactionOffer.self, { TransactionOffer($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.TransactionResult": {
            try again($0, Perch__V1__TransactionResult.self, { Verified<Transaction>($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.ValueInfo": { try again($0, Perch__V1__ValueInfo.self, { ValueInfo($0) }, { $0.write(to: $1, $2) }) },
        "perch.v1.PurchaseOrder": {
            try again($0, Perch__V1__PurchaseOrder.self, { PurchaseOrder($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.PendingPurchase": {
            try again($0, Perch__V1__PendingPurchase.self, { PendingPurchase($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.PurchaseIntent": {
            try again($0, Perch__V1__PurchaseIntent.self, { PurchaseIntent($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.StoreMessage": {
            try again($0, Perch__V1__StoreMessage.self, { StoreMessage($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.PurchaseIntentList": {
            try again(
                $0, Perch__V1__PurchaseIntentList.self, { Perch__V1__PurchaseIntentList.value($0) },
                { Perch__V1__PurchaseIntentList.write($0, to: $1, $2) })
        },
        "perch.v1.StoreMessages": {
            try again(
                $0, Perch__V1__StoreMessages.self, { Perch__V1__StoreMessages.value($0) },
                { Perch__V1__StoreMessages.write($0, to: $1, $2) })
        },
        "perch.v1.ProductEdit": {
            try again($0, Perch__V1__ProductEdit.self, { ProductEdit($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.OfferEdit": {
            try again($0, Perch__V1__OfferEdit.self, { OfferEdit($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.FamilyShare": {
            try again($0, Perch__V1__FamilyShare.self, { FamilySharing($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.GroupStatuses": {
            try again($0, Perch__V1__GroupStatuses.self, { GroupStatuses($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.AsOf": {
            try again($0, Perch__V1__AsOf.self, { AsOf($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.PlanOption": {
            try again($0, Perch__V1__PlanOption.self, { PlanOption($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.OfferEligibility": {
            try again($0, Perch__V1__OfferEligibility.self, { OfferEligibility($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.ExplainedFact": {
            try again($0, Perch__V1__ExplainedFact.self, { ExplainedFact($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.Explanation": {
            try again($0, Perch__V1__Explanation.self, { Explanation($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.StoreOperation": {
            try again($0, Perch__V1__StoreOperation.self, { try StoreOperation($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.AppSetting": {
            try again($0, Perch__V1__AppSetting.self, { try AppSettingChange($0) }, { $0.write(to: $1, $2) })
        },
        "perch.v1.GetSettingsResponse": {
            try again($0, Perch__V1__GetSettingsResponse.self, { try wholeList($0) }, { $0.write(to: $1, $2) })
        },
        "perch.wire.v1.Beat": { try again($0, Perch__Wire__V1__Beat.self, { Beat($0) }, { $0.write(to: $1, $2) }) },
        "perch.wire.v1.Drain": { try again($0, Perch__Wire__V1__Drain.self, { Drain($0) }, { $0.write(to: $1, $2) }) },
        "perch.wire.v1.Hello": { try again($0, Perch__Wire__V1__Hello.self, { Hello($0) }, { $0.write(to: $1, $2) }) },
        "perch.wire.v1.Limits": {
            try again($0, Perch__Wire__V1__Limits.self, { PeerLimits($0) }, { $0.write(to: $1, $2) })
        },
        "perch.wire.v1.Metadata": {
            try again($0, Perch__Wire__V1__Metadata.self, { Metadata($0) }, { $0.write(to: $1, $2) })
        },
        "perch.wire.v1.Status": {
            try again($0, Perch__Wire__V1__Status.self, { Status($0) }, { $0.write(to: $1, $2) })
        },
        "perch.wire.v1.StatusDetail": {
            try again($0, Perch__Wire__V1__StatusDetail.self, { StatusDetail($0) }, { $0.write(to: $1, $2) })
        },
        "perch.wire.v1.Welcome": {
            try again($0, Perch__Wire__V1__Welcome.self, { Welcome($0) }, { $0.write(to: $1, $2) })
        },
    ]

    /// Every message that the codec knows, by its name.
    private static let trips: [String: @Sendable ([UInt8]) throws -> [UInt8]?] = {
        var trips = Self.parts
        func add(_ descriptor: Contract.Descriptor, _ trip: @escaping @Sendable ([UInt8]) throws -> [UInt8]?) {
            let name = String(cString: descriptor.pointee.name)
            if trips[name] == nil { trips[name] = trip }
        }
        for method in PerchWire.Method.allCases {
            add(method.requestDescriptor) { bytes in
                let codec = MessageCodec()
                return [UInt8](try codec.encode(try codec.decodeRequest(method, bytes.span.bytes)).message)
            }
            add(method.responseDescriptor) { bytes in
                let codec = MessageCodec()
                do {
                    return [UInt8](try codec.encode(try codec.decodeResponse(method, bytes.span.bytes)).message)
                } catch MessageError.missing(let field) where field.hasSuffix(".state") {
                    // A task's message without a state is no value of ours.
                    return nil
                }
            }
        }
        return trips
    }()

    /// Messages that have no value of their own. They are in the vectors of what contains them.
    private static let unwrapped: Set<String> = [
        "perch.v1.AccountSummary", "perch.v1.AdvanceToBoundary", "perch.v1.CurrentEntitlement", "perch.v1.FreezeClock",
        "perch.v1.Loading", "perch.v1.ResumeClock",
        "perch.v1.Unchanged", "perch.wire.v1.Call", "perch.v1.OperationTarget", "perch.v1.SimulatedError",
        "perch.v1.EntitlementChange", "perch.v1.NamedEntitlement", "perch.v1.NamedEntitlements", "perch.v1.DeadLetter",
        "perch.v1.AuditLine", "perch.v1.WinBackRule", "perch.v1.GrantSummary", "perch.v1.OfferCode",
        "perch.v1.GroupEffective", "perch.v1.RedeemedOffer", "perch.v1.UnclaimedPurchase",
        "perch.v1.AppStoreNotification", "perch.v1.ConsumptionRequest", "perch.v1.RefusedValue",
        "perch.v1.ReceivedNotification",
        "perch.v1.EntitlementGrade", "perch.v1.EntitlementsBatch", "perch.v1.EntitlementsBegin",
        "perch.v1.EntitlementsClock", "perch.v1.EntitlementsEnd",
        "perch.v1.CustomerNote", "perch.v1.ExpectedChange", "perch.v1.ExplainedGrant", "perch.v1.FoundCustomer",
        "perch.v1.HistoryEntry",
        "perch.v1.SupposedOutcome", "perch.v1.Supposition",
        "perch.v1.ConsumptionAnswer", "perch.v1.ConsumptionCase", "perch.v1.ReconcileDifference",
    ]

    /// Messages that mean nothing without their choice: the vectors without one, or with one that is not known, are refused
    /// by the name of a field.
    private static let demanding: Set<String> = [
        "perch.v1.StoreOperation", "perch.v1.OperateRequest", "perch.v1.AppSetting", "perch.v1.ConfigureRequest",
        "perch.v1.GetSettingsResponse",
    ]

    @Test(arguments: Vector.messageFiles)
    func `each message is written as other implementations write it`(_ file: String) throws {
        let contract = Contract.all()
        for vector in try Vector.read(file) {
            let name = try #require(vector.message)
            guard let trip = Self.trips[name] else {
                #expect(
                    Self.unwrapped.contains(name) || name.hasSuffix("Operation"), "\(name) has no place in these tests")
                continue
            }
            let descriptor = try #require(contract[name])
            do {
                #expect(
                    try trip(vector.bytes) == Contract.inTheModel(vector.canonicalBytes[...], descriptor),
                    "\(name): \(vector.name)")
            } catch {
                let field: String
                switch error as? MessageError {
                case .missing(let name)?, .invalid(let name, _, _)?: field = name
                default: throw error
                }
                #expect(Self.demanding.contains(name) && vector.name != "every field", "\(name): \(field)")
            }
        }
    }

    @Test func `each call is read as other implementations write it`() throws {
        let codec = MessageCodec()
        var count = 0
        for vector in try Vector.read("messages-wire.json") where vector.message == "perch.wire.v1.Call" {
            let bytes = vector.bytes
            let call = try codec.decodeCall(bytes.span.bytes)
            let again = try bytes.withUnsafeBytes {
                [UInt8](
                    try codec.encodeCall(
                        path: call.path, timeoutMilliseconds: call.timeoutMilliseconds, metadata: call.metadata,
                        request: UnsafeRawBufferPointer(rebasing: $0[call.request])
                    ).message)
            }
            #expect(again == vector.canonicalBytes, "\(vector.name)")
            count += 1
        }
        #expect(count > 5)
    }

    @Test func `a message that clients must not send is refused with its documented reason`() throws {
        let codec = MessageCodec()
        let contract = Contract.all()
        for vector in try Vector.read("messages-refused.json") {
            let descriptor = try #require(contract[vector.message ?? ""])
            do {
                _ = try codec.unpack(
                    descriptor, vector.bytes.span.bytes, singularFieldsMax: Limits.protobufSingularFieldsMax)
                Issue.record("\(vector.name): was read")
            } catch {
                #expect(WireStatus(error).reason?.rawValue == vector.reason, "\(vector.name): \(error)")
            }
        }
    }

    @Test func `frames of other implementations are taken apart as they say`() throws {
        let codec = MessageCodec()
        let contract = Contract.all()
        for vector in try Vector.read("frames.json") {
            var decoder = FrameDecoder()
            decoder.append(vector.bytes)
            for says in try #require(vector.frames) {
                let frame = try #require(try decoder.next())
                #expect(frame.header.kind.rawValue == says.number)
                #expect(frame.header.stream == says.stream)
                #expect(frame.header.isCompressed == says.compressed)
                #expect(frame.header.length == says.length)
                guard let name = says.message else { continue }
                let descriptor = try #require(contract[name])
                let payload =
                    says.compressed ? [UInt8](try codec.inflate(frame.payload.span.bytes)) : frame.payload
                _ = try codec.unpack(
                    descriptor, payload.span.bytes, singularFieldsMax: Limits.responseSingularFieldsMax)
            }
            #expect(try decoder.next() == nil)
            #expect(decoder.bufferedByteCount == Vector.bytes(vector.rest ?? "").count)
        }
    }

    @Test func `frames that end a connection by their header or their compression end it by the same word`() throws {
        let ofFrames = ["UNKNOWN_KIND", "RESERVED_FLAG", "FRAME_TOO_LONG"]
        let ofCompression = ["INFLATE_CORRUPT", "INFLATE_RATIO", "INFLATE_LIMIT"]
        let codec = MessageCodec()
        var count = 0
        for vector in try Vector.read("frames-refused.json") {
            let expected = try #require(vector.drain)
            guard ofFrames.contains(expected) || ofCompression.contains(expected) else { continue }
            count += 1
            var decoder = FrameDecoder(
                lengthLimit: vector.given == "connected" ? Limits.helloBytesMax : Limits.frameBytesMax)
            decoder.append(vector.bytes)
            do {
                let frame = try #require(try decoder.next(), "\(vector.name)")
                _ = try codec.inflate(frame.payload.span.bytes)
                Issue.record("\(vector.name): was read")
            } catch let error as FrameError {
                #expect(WireStatus(error).reason?.rawValue == expected, "\(vector.name)")
            } catch let error as InflateError {
                #expect(WireStatus(error).reason?.rawValue == expected, "\(vector.name)")
            }
        }
        #expect(count > 20)
    }
}
