import PerchBase
import PerchCore
import PerchIdentity
import PerchSimulation
import PerchWire
import Testing

@Suite struct `A rate` {
    @Test func `a rate lets a burst pass, then what it earns, and says how long to wait`() {
        var meter = RateMeter()
        let limit = RateLimit(perSecond: 4, burst: 3)
        let waits = (0..<4).map { _ in meter.take(limit, nowMilliseconds: 10_000) }
        #expect(waits == [nil, nil, nil, 250])
        #expect(meter.take(limit, nowMilliseconds: 10_249) == 1)
        #expect(meter.take(limit, nowMilliseconds: 10_250) == nil)
        #expect(meter.take(limit, nowMilliseconds: 10_250) == 250)
        #expect(!meter.isIdle(nowMilliseconds: 10_999))
        #expect(meter.isIdle(nowMilliseconds: 11_000))
        // After a rest it is as new, and no better.
        #expect((0..<4).map { _ in meter.take(limit, nowMilliseconds: 99_000) } == [nil, nil, nil, 250])
    }

    @Test func `a rate of zero is no limit`() {
        var meter = RateMeter()
        for _ in 0..<10_000 { #expect(meter.take(.none, nowMilliseconds: 0) == nil) }
    }

    @Test func `the call rate is counted for each identity, and its refusal has a retry time`() {
        let world = Gate.world { $0.core.callsPerIdentity = RateLimit(perSecond: 10, burst: 2) }
        let busy = world.welcomedClient(authorization: Gate.token(.read, id: "a"))
        let other = world.welcomedClient(authorization: Gate.token(.read, id: "b"))
        let streams = (0..<3).map { _ in busy.call(.readStatus()) }
        world.settle()
        let status = busy.status(of: streams[2])
        #expect(status?.reason == "CALL_RATE")
        #expect(status?.details.first { $0.key == "retry_after_ms" }?.value == "100")
        #expect(world.answer(to: .readStatus(), from: other).status?.code == 0)
        world.advance(100)
        #expect(world.answer(to: .readStatus(), from: busy).status?.code == 0)
    }

    @Test func `the connect rate is refused by DRAIN, and does not apply to this machine`() {
        var setup = World.Setup()
        setup.core.connectsPerAddress = RateLimit(perSecond: 1, burst: 1)
        let world = World(setup)
        let address = PeerAddress(high: 0, low: 0xFFFF_C000_0201)
        let first = world.connect(address: address)
        let second = world.connect(address: address)
        let local = (0..<5).map { _ in world.connect() }
        world.settle()
        #expect(first.isOpen && local.allSatisfy { $0.isOpen })
        #expect(second.drains.isEmpty, "its protocol is not known yet")
        second.hello()
        world.settle()
        #expect(second.drains.map(\.reason) == ["CONNECT_RATE"])
        #expect(second.drains.first?.reconnectAfterMilliseconds == 1_000)
        world.advance(1_000)
        let third = world.connect(address: address)
        world.settle()
        #expect(third.isOpen)
        world.checkNothingIsLeft()
    }
}

@Suite struct `Quotas` {
    @Test func `take an IPv6 network for one, and IPv4 addresses for several`() {
        let network = PeerAddress(high: 0x2001_0DB8_0000_0001, low: 1)
        #expect(network == PeerAddress(high: 0x2001_0DB8_0000_0001, low: 0xFFFF_0000_0001))
        #expect(network != PeerAddress(high: 0x2001_0DB8_0000_0002, low: 1))
        #expect(PeerAddress(high: 0, low: 0xFFFF_C000_0201) != PeerAddress(high: 0, low: 0xFFFF_C000_0202))
    }

    @Test func `forget who is gone and was quiet, and are bounded`() {
        let quotas = SharedQuotas()
        let rate = RateLimit(perSecond: 1_000, burst: 1)
        for number in 0..<UInt64(Limits.addressesTrackedMax) + 100 {
            let address = PeerAddress(high: number + 1, low: 0)
            let admission = quotas.enter(address, max: 1, rate: rate, nowMilliseconds: Int64(number) * 2)
            #expect(admission == .admitted)
            quotas.leave(address, nowMilliseconds: Int64(number) * 2)
        }
        #expect(quotas.counts.addresses <= Limits.addressesTrackedMax)
        // Held ones are never forgotten.
        let held = PeerAddress(high: 1 << 40, low: 0)
        #expect(quotas.enter(held, max: 1, rate: .none, nowMilliseconds: 1_000_000) == .admitted)
        #expect(quotas.enter(held, max: 1, rate: .none, nowMilliseconds: 2_000_000) == .full(count: 1))
        quotas.leave(held, nowMilliseconds: 2_000_000)
        #expect(quotas.enter(held, max: 1, rate: .none, nowMilliseconds: 2_000_000) == .admitted)
    }

    @Test func `let go of an identity with its connection`() {
        let world = Gate.world { $0.core.connectionsPerIdentityMax = 1 }
        for _ in 0..<3 {
            let client = world.welcomedClient(authorization: Gate.token(.read))
            client.socket.clientEnds()
            world.settle()
        }
        let broken = world.welcomedClient(authorization: Gate.token(.read))
        broken.sendBytes([0x16])
        world.settle()
        // It is closing, and no longer counts.
        #expect(world.welcomedClient(authorization: Gate.token(.read)).isOpen)
        world.checkNothingIsLeft()
    }
}
