import CPerchProto
import PerchBase
import PerchModel
import Testing

@testable import PerchWire

/// Protobuf by hand, for bytes that no serializer writes.
private func varint(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var value = value
    while value > 0x7F {
        bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
        value >>= 7
    }
    return bytes + [UInt8(truncatingIfNeeded: value)]
}

private func field(_ number: UInt64, _ payload: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(UInt64(payload.count)) + payload
}

private func number(_ field: UInt64, _ value: UInt64) -> [UInt8] { varint(field << 3) + varint(value) }

private func times(_ count: Int, _ bytes: [UInt8]) -> [UInt8] { (0..<count).flatMap { _ in bytes } }

/// The codec's error for these bytes as a request; nil if it accepts them.
private func refusal(_ method: PerchWire.Method, _ bytes: [UInt8]) -> MessageError? {
    do {
        _ = try MessageCodec().decodeRequest(method, bytes.span.bytes)
        return nil
    } catch {
        return error
    }
}

@Suite struct `messages that are refused` {
    @Test func `4,096 singular fields are read, nested and unknown ones counted, and one more is not`() {
        let name = "perch.v1.FinishRequest"
        let limit = Limits.protobufSingularFieldsMax
        // An app with one field in it counts two.
        let nested = field(1, number(2, 3))
        let contents: [(once: [UInt8], count: Int, more: [UInt8])] = [
            (number(3, 1), limit, number(3, 1)), (number(15_000, 1), limit, number(15_000, 1)),
            (nested, limit / 2, number(3, 1)),
        ]
        for (once, count, more) in contents {
            #expect(refusal(.finish, times(count, once)) == nil)
            #expect(refusal(.finish, times(count, once) + more) == .tooManyFields(message: name, limit: limit))
        }
    }

    @Test func `65,536 items of lists are read, and one more is not`() {
        let limit = Limits.protobufRepeatedItemsMax
        let items = times(limit, field(2, []))
        #expect(refusal(.getProducts, items) == nil)
        #expect(
            refusal(.getProducts, items + field(2, []))
                == .tooManyItems(field: "perch.v1.GetProductsRequest.product_ids", count: limit + 1, limit: limit))
    }

    @Test func `packed items count like others, and are refused before there is room for them`() throws {
        let limit = Limits.protobufRepeatedItemsMax
        func hello(_ items: Int) -> [UInt8] { field(4, [UInt8](repeating: 2, count: items)) }
        let codec = MessageCodec()
        #expect(try codec.decodeHello(hello(limit).span.bytes).accepts.count == limit)
        #expect(
            throws: MessageError.tooManyItems(field: "perch.wire.v1.Hello.accepts", count: limit + 1, limit: limit)
        ) { try codec.decodeHello(hello(limit + 1).span.bytes) }
        // Two lists add up.
        #expect(
            throws: MessageError.tooManyItems(field: "perch.wire.v1.Hello.accepts", count: limit + 1, limit: limit)
        ) { try codec.decodeHello((hello(limit) + hello(1)).span.bytes) }
    }

    @Test func `numbers written one by one where they could be packed are read too, and mixed`() throws {
        let codec = MessageCodec()
        let bytes = number(4, 1) + field(4, [2, 3]) + number(4, 1)
        #expect(try codec.decodeHello(bytes.span.bytes).accepts.map(\.rawValue) == [1, 2, 3, 1])
    }

    @Test func `text that is not UTF-8 is refused by the path of its field and the byte`() {
        let name = "perch.v1.SubscriptionStatusTaskRequest"
        #expect(
            refusal(.subscriptionStatusTask, field(2, [0x61, 0x80])) == .notUTF8(field: name + ".account", atByte: 1))
        #expect(
            refusal(.subscriptionStatusTask, field(1, field(1, [0xFF])))
                == .notUTF8(field: name + ".app.bundle_id", atByte: 0))
        #expect(
            refusal(.getProducts, field(2, [0x61]) + field(2, [0xE2, 0x82]))
                == .notUTF8(field: "perch.v1.GetProductsRequest.product_ids", atByte: 0))
    }

    @Test func `text with NUL, which C would cut short, is refused; bytes with NUL are read whole`() throws {
        let name = "perch.v1.FinishRequest"
        #expect(refusal(.finish, field(2, [0x61, 0, 0x62])) == .hasNUL(field: name + ".account", atByte: 1))
        #expect(refusal(.finish, field(2, [0])) == .hasNUL(field: name + ".account", atByte: 0))
        let bytes = field(4, [1, 0, 2])
        let request = try MessageCodec().decodeRequest(.finish, bytes.span.bytes)
        #expect(request == .finish(FinishRequest(idempotencyKey: [1, 0, 2])))
    }

    @Test func `text is checked in metadata of a call too`() {
        let bytes = field(1, Array("/x".utf8)) + field(3, field(1, [0xC0, 0x80]))
        #expect(throws: MessageError.notUTF8(field: "perch.wire.v1.Call.metadata.key", atByte: 0)) {
            try MessageCodec().decodeCall(bytes.span.bytes)
        }
    }

    @Test func `32 messages within one another are read, and one more is not`() throws {
        // No message of the contract contains itself, so one is described here: `t.M { M m = 1; }`.
        let descriptor = UnsafeMutablePointer<ProtobufCMessageDescriptor>.allocate(capacity: 1)
        let fields = UnsafeMutablePointer<ProtobufCFieldDescriptor>.allocate(capacity: 1)
        defer {
            descriptor.deallocate()
            fields.deallocate()
        }
        let name = Array("t.M".utf8CString)
        let fieldName = Array("m".utf8CString)
        func nested(_ depth: Int) -> [UInt8] { (1..<depth).reduce([]) { inner, _ in field(1, inner) } }
        func check(_ bytes: [UInt8]) throws {
            _ = try bytes.withUnsafeBytes { try MessageScan.check($0, as: descriptor, singularFieldsMax: 100) }
        }
        try name.withUnsafeBufferPointer { name in
            try fieldName.withUnsafeBufferPointer { fieldName in
                fields.initialize(to: ProtobufCFieldDescriptor())
                fields.pointee.id = 1
                fields.pointee.name = fieldName.baseAddress
                fields.pointee.type = PROTOBUF_C_TYPE_MESSAGE
                fields.pointee.label = PROTOBUF_C_LABEL_NONE
                fields.pointee.descriptor = UnsafeRawPointer(descriptor)
                descriptor.initialize(to: ProtobufCMessageDescriptor())
                descriptor.pointee.name = name.baseAddress
                descriptor.pointee.n_fields = 1
                descriptor.pointee.fields = UnsafePointer(fields)
                let limit = Limits.protobufDepthMax
                try check(nested(limit))
                let path = "t.M" + String(repeating: ".m", count: limit)
                #expect(throws: MessageError.tooDeep(field: path, limit: limit)) { try check(nested(limit + 1)) }
            }
        }
    }

    struct Malformed: Sendable {
        var what: String
        var bytes: [UInt8]
        var field: String
        var byte: Int
        var fault: MessageError.Fault
    }

    static let malformed: [Malformed] = [
        Malformed(what: "ends in a tag", bytes: [0x88], field: "", byte: 0, fault: .truncated),
        Malformed(what: "ends after a tag", bytes: [0x18], field: ".transaction_id", byte: 1, fault: .truncated),
        Malformed(what: "ends in a number", bytes: [0x18, 0x80], field: ".transaction_id", byte: 1, fault: .truncated),
        Malformed(
            what: "a number of eleven bytes", bytes: [0x18] + times(10, [0x80]) + [0], field: ".transaction_id",
            byte: 1, fault: .overlongNumber),
        Malformed(
            what: "a tag of six bytes", bytes: [0x98, 0x80, 0x80, 0x80, 0x80, 0, 1], field: "", byte: 0,
            fault: .overlongNumber),
        Malformed(
            what: "a field number over 29 bits", bytes: [0x98, 0x80, 0x80, 0x80, 0x10, 1], field: "", byte: 0,
            fault: .fieldNumberTooLarge),
        Malformed(what: "field number 0", bytes: [0, 1], field: "", byte: 0, fault: .fieldNumberZero),
        Malformed(what: "an unknown group", bytes: varint(15_000 << 3 | 3), field: "", byte: 0, fault: .group),
        Malformed(what: "a group that ends", bytes: varint(15_000 << 3 | 4), field: "", byte: 0, fault: .group),
        Malformed(what: "a group for a known field", bytes: [0x1B], field: ".transaction_id", byte: 1, fault: .group),
        Malformed(what: "wire type 6", bytes: varint(15_000 << 3 | 6), field: "", byte: 0, fault: .unknownWireType(6)),
        Malformed(
            what: "wire type 7 for a known field", bytes: [0x1F], field: ".transaction_id", byte: 1,
            fault: .unknownWireType(7)),
        Malformed(
            what: "text for a number", bytes: [0x1A, 1, 0x31], field: ".transaction_id", byte: 1,
            fault: .wrongWireType(found: 2, expected: 0)),
        Malformed(
            what: "a number for text", bytes: [0x10, 1], field: ".account", byte: 1,
            fault: .wrongWireType(found: 0, expected: 2)),
        Malformed(
            what: "a length past the end", bytes: [0x12, 5, 0x61], field: ".account", byte: 1,
            fault: .lengthBeyondEnd(declaredBytes: 5, leftBytes: 1)),
        Malformed(
            what: "the longest length", bytes: [0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], field: ".account", byte: 1,
            fault: .lengthBeyondEnd(declaredBytes: 0xFFFF_FFFF, leftBytes: 0)),
        Malformed(
            what: "a nested length past its message", bytes: [0x0A, 2, 0x0A, 1, 0x61], field: ".app.bundle_id",
            byte: 3, fault: .lengthBeyondEnd(declaredBytes: 1, leftBytes: 0)),
        Malformed(
            what: "an unknown fixed64 cut short", bytes: varint(15_000 << 3 | 1) + [1, 2, 3], field: "", byte: 3,
            fault: .truncated),
    ]

    @Test(arguments: Self.malformed)
    func `bytes that are no message are refused by field, byte and fault`(_ case: Malformed) {
        let expected = MessageError.malformed(
            field: "perch.v1.FinishRequest" + `case`.field, atByte: `case`.byte, fault: `case`.fault)
        #expect(refusal(.finish, `case`.bytes) == expected, "\(`case`.what)")
    }

    @Test func `a valid message cut anywhere is read as less or refused, never worse`() throws {
        let codec = MessageCodec()
        var samples = Samples(seed: 11)
        for method in Method.allCases {
            let bytes = [UInt8](try codec.encode(samples.response(method)).message)
            for cut in 0..<bytes.count {
                do {
                    _ = try codec.decodeResponse(method, bytes.span.bytes.extracting(..<cut))
                } catch {
                    switch error {
                    case .malformed(_, let byte, _): #expect(byte <= cut)
                    case .missing: break
                    default: Issue.record("\(method) cut at \(cut): \(error)")
                    }
                }
            }
        }
    }

    @Test func `a message with any changed byte is read or refused, and a read one can be written`() throws {
        let codec = MessageCodec()
        var samples = Samples(seed: 12)
        var refused = 0
        for method in Method.allCases {
            let bytes = [UInt8](try codec.encode(samples.request(method)).message)
            for index in bytes.indices {
                var changed = bytes
                changed[index] = UInt8(truncatingIfNeeded: samples.next())
                do {
                    _ = try codec.encode(try codec.decodeRequest(method, changed.span.bytes))
                } catch {
                    refused += 1
                }
            }
        }
        #expect(refused > 100)
    }

    @Test func `two bytes that ask for much memory a thousand times get it, and without end do not`() throws {
        let codec = MessageCodec()
        // 1,000 empty results: 2 kB that become about 60 kB of structures.
        let small = times(1_000, field(1, []))
        guard case .listTransactions(let page) = try codec.decodeResponse(.listTransactions, small.span.bytes) else {
            Issue.record("not a page")
            return
        }
        #expect(page.transactions.count == 1_000)
        // 65,536 statuses of ten bytes that become 800 bytes each.
        let status = field(1, field(2, field(1, [])) + field(3, field(1, [])))
        let large = field(3, times(Limits.protobufRepeatedItemsMax, status))
        #expect(
            throws: MessageError.tooMuchMemory(
                message: "perch.v1.SubscriptionStatusTaskResponse", limitBytes: Limits.codecArenaBytesMax)
        ) { try codec.decodeResponse(.subscriptionStatusTask, large.span.bytes) }
        #expect(codec.arenaBytes <= Limits.codecArenaBytesMax)
        // And it is given back with the next message.
        _ = try codec.decodeResponse(.listTransactions, [UInt8]().span.bytes)
        #expect(codec.arenaBytes == 64 * 1024)
    }

    @Test func `a nested message in pieces is all of them together, the last counting`() throws {
        let codec = MessageCodec()
        let pieces = field(1, field(1, [0x61])) + number(3, 1) + field(1, number(2, 3)) + field(1, field(1, [0x62]))
        #expect(
            try codec.decodeRequest(.finish, pieces.span.bytes)
                == .finish(FinishRequest(app: AppReference(bundleID: "b", environment: .xcode), transactionID: 1)))
        // Lists of the pieces follow one another; of a oneof only the last member counts, and nothing from before it.
        func success(_ ids: String...) -> [UInt8] { field(3, ids.flatMap { field(2, Array($0.utf8)) }) }
        let failure = field(2, field(1, [0x78]))
        let info = field(5, field(1, number(1, 7))) + field(5, field(1, number(2, 9)))
        let position = Position(revision: 7, asOf: Instant(milliseconds: 9))
        #expect(
            try codec.decodeResponse(
                .getProducts, (success("a") + info + failure + success("b") + success("c", "d")).span.bytes)
                == .getProducts(
                    .success(Products(products: [], unavailableIDs: ["b", "c", "d"]), ValueInfo(position: position))))
        #expect(
            try codec.decodeResponse(.getProducts, (success("a") + failure).span.bytes)
                == .getProducts(.failure(Failure(reason: "x"), ValueInfo())))
    }

    @Test func `a message longer than a frame is refused before it is written`() throws {
        let codec = MessageCodec()
        let limit = Limits.frameBytesMax
        // A tag and a length of four bytes precede the file.
        let request = Request.checkCatalog(CheckCatalogRequest(file: [UInt8](repeating: 1, count: limit - 5)))
        #expect(try codec.encode(request).message.count == limit)
        let longer = Request.checkCatalog(CheckCatalogRequest(file: [UInt8](repeating: 1, count: limit - 4)))
        #expect(
            throws: MessageError.tooLong(
                message: "perch.v1.CheckCatalogRequest", bytes: limit + 1, limitBytes: limit)
        ) { try codec.encode(longer) }
    }

    @Test func `unknown fields are ignored, and unknown values of enumerations are carried through`() throws {
        let codec = MessageCodec()
        let unknown = number(15_000, 7) + field(15_001, [0xFF, 0]) + [0xD5, 0xA9, 0x07, 1, 2, 3, 4]
        let bytes = unknown + number(2, 77) + unknown
        let request = try codec.decodeRequest(.getCatalog, field(1, bytes).span.bytes)
        #expect(
            request == .getCatalog(GetCatalogRequest(app: AppReference(environment: AppEnvironment(rawValue: 77)))))
        #expect([UInt8](try codec.encode(request).message) == field(1, number(2, 77)))
    }

    @Test func `a refusal names the field and both numbers, and nothing of the contents`() {
        let secret = Array("Bearer secret".utf8)
        let error = refusal(.finish, field(2, secret + [0xFF]))
        let text = error?.description ?? ""
        #expect(text.contains("perch.v1.FinishRequest.account") && text.contains("\(secret.count)"))
        #expect(!text.contains("secret"))
    }

    @Test(arguments: [
        (Request.finish(FinishRequest(account: "an\u{0}na")), "account", 2),
        (.getCatalog(GetCatalogRequest(app: AppReference(bundleID: "\u{0}"))), "app.bundle_id", 0),
        (.getProducts(ProductsRequest(productIDs: ["a", "b\u{0}"])), "product_ids", 1),
        (
            .purchase(PurchaseRequest(account: "anna", order: PurchaseOrder(productID: "gold\u{0}en"))),
            "order.product_id", 4
        ),
        (
            .operate(OperateRequest(account: "anna", operation: .setStorefront("US\u{0}"))),
            "operation.set_storefront.storefront", 2
        ),
        (.configure(ConfigureRequest(settings: [.dialogs(true), .locale("e\u{0}")])), "settings.locale", 1),
    ])
    func `a request with a NUL in a text is not written, because C would cut the text`(
        request: Request, field: String, place: Int
    ) {
        #expect(throws: MessageError.hasNUL(field: field, atByte: place)) { _ = try MessageCodec().encode(request) }
    }
}
