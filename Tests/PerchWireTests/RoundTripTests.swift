import PerchBase
import PerchModel
import Testing

@testable import PerchWire

/// Enough that every operation of a test store comes up.
private let seeds = (1...480).map { UInt64($0) }
/// A method's messages are drawn at least so often, and until each field was written.
private let fewestSeeds: UInt64 = 60

@Suite struct `messages there and back` {
    @Test(arguments: Method.allCases)
    func `a request comes back as it was sent, with every field of the contract`(_ method: PerchWire.Method) throws {
        let codec = MessageCodec()
        let descriptor = Contract.messages(of: method).request
        let all = Contract.fields(of: descriptor)
        var written: Set<String> = []
        for seed in seeds where seed <= fewestSeeds || written != all {
            var samples = Samples(seed: seed)
            let request = samples.request(method)
            #expect(request.method == method)
            let bytes = [UInt8](try codec.encode(request).message)
            #expect(try codec.decodeRequest(method, bytes.span.bytes) == request, "seed \(seed)")
            written.formUnion(Contract.fields(in: bytes[...], of: descriptor))
        }
        #expect(written == all)
    }

    @Test(arguments: Method.allCases)
    func `a response comes back as it was sent, with every field of the contract`(_ method: PerchWire.Method) throws {
        let codec = MessageCodec()
        let descriptor = Contract.messages(of: method).response
        // Bookmarks are messages of their own, which a transport writes beside the values.
        func values(_ fields: Set<String>) -> Set<String> { fields.filter { !$0.contains(".bookmark") } }
        let all = values(Contract.fields(of: descriptor))
        var written: Set<String> = []
        for seed in seeds where seed <= fewestSeeds || values(written) != all {
            var samples = Samples(seed: seed)
            let response = samples.response(method)
            #expect(response.method == method)
            let bytes = [UInt8](try codec.encode(response).message)
            let decoded = try codec.decodeResponse(method, bytes.span.bytes)
            #expect(decoded == response, "seed \(seed)")
            // Equality ignores the fields that each signing changes; the bytes do not.
            #expect([UInt8](try codec.encode(decoded).message) == bytes, "seed \(seed)")
            written.formUnion(Contract.fields(in: bytes[...], of: descriptor))
        }
        #expect(values(written) == all)
    }

    @Test(arguments: seeds)
    func `the messages of the transport come back as they were sent`(_ seed: UInt64) throws {
        let codec = MessageCodec()
        var samples = Samples(seed: seed)
        let hello = samples.hello()
        #expect(try codec.decodeHello([UInt8](codec.encode(hello).message).span.bytes) == hello)
        let welcome = samples.welcome()
        #expect(try codec.decodeWelcome([UInt8](codec.encode(welcome).message).span.bytes) == welcome)
        let status = samples.status()
        #expect(try codec.decodeStatus([UInt8](codec.encode(status).message).span.bytes) == status)
        let beat = Beat(revision: samples.u64(), serverTime: samples.instant())
        #expect(try codec.decodeBeat([UInt8](codec.encode(beat).message).span.bytes) == beat)
        let drain = samples.drain()
        #expect(try codec.decodeDrain([UInt8](codec.encode(drain).message).span.bytes) == drain)
    }

    @Test(arguments: Method.allCases)
    func `a call carries its request as a range of its own bytes`(_ method: PerchWire.Method) throws {
        let codec = MessageCodec()
        var samples = Samples(seed: 5)
        let request = samples.request(method)
        let metadata = [
            Metadata(key: "authorization", value: samples.bytes()), Metadata(key: samples.text(), value: []),
        ]
        let bytes = [UInt8](
            try codec.encodeCall(request, timeoutMilliseconds: 1_500, metadata: metadata).message)
        let call = try codec.decodeCall(bytes.span.bytes)
        #expect(Method(path: call.path) == method)
        #expect(call.timeoutMilliseconds == 1_500)
        #expect(call.metadata == metadata)
        #expect(try codec.decodeRequest(method, bytes.span.bytes.extracting(call.request)) == request)
    }

    @Test func `the views' own entrances write what the general one writes`() throws {
        let codec = MessageCodec()
        for seed in seeds {
            var samples = Samples(seed: seed)
            let (statuses, products, entitlement, info) = (
                samples.statuses(), samples.products(), samples.verified(), samples.info()
            )
            #expect(
                [UInt8](try codec.encodeStatuses(statuses, info).message)
                    == [UInt8](try codec.encode(Response.subscriptionStatusTask(.success(statuses, info))).message))
            #expect(
                [UInt8](try codec.encodeProducts(products, info).message)
                    == [UInt8](try codec.encode(Response.productsTask(.success(products, info))).message))
            #expect(
                [UInt8](try codec.encodeProducts(products, info, isRead: true).message)
                    == [UInt8](try codec.encode(Response.getProducts(.success(products, info))).message))
            for value in [entitlement, nil] {
                #expect(
                    [UInt8](try codec.encodeEntitlement(value, info).message)
                        == [UInt8](try codec.encode(Response.currentEntitlementTask(.success(value, info))).message))
            }
        }
    }

    @Test func `loading, failure, an empty success and a missing entitlement are four different answers`() throws {
        let codec = MessageCodec()
        let states: [TaskState<Verified<Transaction>?>] = [
            .loading, .failure(Failure(), ValueInfo()), .success(nil, ValueInfo()),
            .success(Verified(.blank), ValueInfo()), .unchanged(ValueInfo()),
        ]
        let encoded = try states.map { [UInt8](try codec.encode(Response.currentEntitlementTask($0)).message) }
        #expect(Set(encoded).count == states.count)
        for (state, bytes) in zip(states, encoded) {
            #expect(
                try codec.decodeResponse(.currentEntitlementTask, bytes.span.bytes) == .currentEntitlementTask(state))
        }
    }

    @Test func `loading is one constant for all state streams`() throws {
        let codec = MessageCodec()
        let responses: [Response] = [
            .productsTask(.loading), .subscriptionStatusTask(.loading), .currentEntitlementTask(.loading),
            .purchaseIntents(.loading), .messages(.loading),
        ]
        for response in responses {
            #expect([UInt8](try codec.encode(response).prefixed) == MessageCodec.loadingBody)
        }
    }

    @Test func `a state stream's message without a state is refused by the name of the field`() {
        let codec = MessageCodec()
        #expect(throws: MessageError.missing(field: "perch.v1.ProductsTaskResponse.state")) {
            try codec.decodeResponse(.productsTask, [UInt8]().span.bytes)
        }
    }

    @Test func `transaction 0 and a price of 0 are values, not absences`() throws {
        let codec = MessageCodec()
        var samples = Samples(seed: 1)
        var transaction = samples.transaction()
        transaction.id = 0
        transaction.originalID = 0
        transaction.expirationDate = Instant(milliseconds: 0)
        transaction.price = Money(milliunits: 0, currency: "")
        let response = Response.operate(OperateResponse(transaction: Verified(transaction)))
        let bytes = [UInt8](try codec.encode(response).message)
        #expect(try codec.decodeResponse(.operate, bytes.span.bytes) == response)
    }

    @Test func `a codec writes its epoch into every position that has none, and no other`() throws {
        let codec = MessageCodec(serves: true, epoch: 7)
        var samples = Samples(seed: 3)
        var count = 0
        for method in Method.allCases {
            let response = samples.response(method)
            guard let position = response.position else { continue }
            let read = try codec.decodeResponse(method, codec.encode(response).message.bytes)
            #expect(read.position?.epoch == (position.epoch == 0 ? 7 : position.epoch), "\(method)")
            #expect(read.position?.revision == position.revision && read.position?.asOf == position.asOf, "\(method)")
            count += 1
        }
        #expect(count > 10)
    }

    @Test func `a frame is its address and the body that all transports share`() throws {
        let codec = MessageCodec()
        let encoded = try codec.encode(Beat(revision: 5))
        #expect([UInt8](encoded.prefixed) == [0, 0, 0, 0, 2, 8, 5])
        #expect([UInt8](encoded.frame(.beat, stream: 0)) == [7, 0, 0, 0, 0, 0, 0, 0, 2, 8, 5])
        #expect([UInt8](encoded.frame(.message, stream: 0x01_0203)) == [4, 1, 2, 3, 0, 0, 0, 0, 2, 8, 5])
    }
}
