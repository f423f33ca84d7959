import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchWire
import Testing

/// How a watch begins: loading, a snapshot, `unchanged`, or a wait for a position.
@Suite(.onChosenStorage) struct FirstMessageTests {
    @Test func `loading comes first and once, in the same flush as a value that is ready`() throws {
        let world = World()
        let client = world.welcomedClient()
        for request in [Request.status(), .entitlement(), .products()] {
            let stream = client.call(request)
            world.settle()
            let messages = client.messages(on: stream)
            #expect(messages.count == 2)
            #expect(self.isLoading(messages[0]) && !self.isLoading(messages[1]))
        }
        try world.buy("gold", from: client)
        let again = client.call(.products())
        _ = world.deliver(client)
        world.turn()
        _ = world.deliver(client)
        #expect(client.products(on: again).count == 2)
    }

    @Test func `a call without a token that waits for a position says loading once`() throws {
        let world = World()
        let client = world.welcomedClient()
        let ahead = Position(revision: 2, asOf: world.wall)
        let stream = client.call(.status(atLeast: ahead))
        world.settle()
        #expect(client.statuses(on: stream) == [.loading])
        try world.buy("gold", from: client)
        let states = client.statuses(on: stream)
        #expect(states.count == 2)
        #expect(states.count(where: \.isLoading) == 1)
        #expect(states.last?.value?.states == [.subscribed])
        world.checkNothingIsLeft()
    }

    @Test func `the first value of a call is a snapshot, the next has its cause`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status())
        world.settle()
        #expect(client.statuses(on: stream).last?.info?.cause == .snapshot)
        try world.buy("gold", from: client)
        #expect(client.statuses(on: stream).last?.info?.cause == .purchase)
        let late = client.call(.status())
        world.settle()
        #expect(client.statuses(on: late).last?.info?.cause == .snapshot)
    }

    @Test func `a token from a loop that was further on is not answered by an older position`() throws {
        var setup = World.Setup()
        setup.loops = 2
        let world = World(setup)
        let early = world.welcomedClient(loop: 1)
        let kept = early.call(.products())
        world.settle()
        for change in [ClockChange.advanceBy(milliseconds: 2_000), .advanceBy(milliseconds: 3_000)] {
            // The catalogue's products are no others for it: who looks at them on the second loop is not disturbed.
            _ = try world.require(.clock(change), from: early)
            let first = world.welcomedClient(loop: 0)
            let stream = first.call(.products())
            world.settle()
            let info = try #require(first.products(on: stream).last?.info)
            first.cancel(stream)
            world.settle()
            let second = world.welcomedClient(loop: 1)
            let resumed = second.call(.products(token: info.token))
            world.settle()
            let answer = try #require(second.products(on: resumed).last)
            #expect(answer.isUnchanged)
            #expect(try #require(answer.info).position >= info.position)
        }
        #expect(early.products(on: kept).count == 2)
    }

    @Test func `a token of the same value is answered by unchanged, without loading`() throws {
        let world = World()
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        for (request, resumed) in [
            (Request.status(), { Request.status(token: $0) }), (.entitlement(), { .entitlement(token: $0) }),
            (.products(), { .products(token: $0) }),
        ] as [(Request, ([UInt8]) -> Request)] {
            let stream = client.call(request)
            world.settle()
            let token = try #require(self.resumeToken(client.messages(on: stream).last))
            client.cancel(stream)
            world.settle()
            let again = client.call(resumed(token))
            world.settle()
            let messages = client.messages(on: again)
            #expect(messages.count == 1)
            #expect(self.isUnchanged(messages.first))
        }
        #expect(world.loops[0].core.counters.unchangedAnswers == 3)
        #expect(world.loops[0].core.counters.resumedWithValue == 0)
        world.checkNothingIsLeft()
    }

    @Test func `unchanged is answered whether or not the view has other watches`() throws {
        let world = World()
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        let other = client.call(.status())
        world.settle()
        let token = try #require(client.statuses(on: other).last?.info?.token)
        let streams = (0..<3).map { _ in client.call(.status(token: token)) }
        let fresh = client.call(.status())
        world.settle()
        for stream in streams { #expect(client.statuses(on: stream).map(\.isUnchanged) == [true]) }
        #expect(client.statuses(on: fresh).map(\.isLoading) == [true, false])
        #expect(client.statuses(on: other).count == 2)
        world.checkNothingIsLeft()
    }

    @Test func `a token of another value is answered by the value, without loading`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status())
        world.settle()
        let token = try #require(client.statuses(on: stream).last?.info?.token)
        client.cancel(stream)
        try world.buy("gold", from: client)
        let again = client.call(.status(token: token))
        world.settle()
        #expect(client.statuses(on: again).count == 1)
        #expect(client.statuses(on: again).first?.value?.states == [.subscribed])
    }

    @Test func `a client that was away over an expiry gets the value, never unchanged`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        try world.require(.autoRenew(gold.id, false), from: client)
        let stream = client.call(.status())
        world.settle()
        let token = try #require(client.statuses(on: stream).last?.info?.token)
        client.cancel(stream)
        world.settle()
        world.jump(TestShop.month + 1)
        let again = client.call(.status(token: token))
        world.settle()
        #expect(client.statuses(on: again).compactMap(\.value?.states) == [[.expired]])
    }

    @Test func `a value that replaces unchanged before it is taken is said as a value`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status())
        world.settle()
        let token = try #require(client.statuses(on: stream).last?.info?.token)
        let slow = world.welcomedClient()
        slow.socket.capacity = 0
        let resumed = slow.call(.status(token: token))
        world.settle()
        #expect(slow.messages(on: resumed).isEmpty)
        try world.buy("gold", from: client)
        slow.socket.capacity = 1 << 16
        world.settle()
        #expect(slow.statuses(on: resumed).compactMap(\.value?.states) == [[.subscribed]])
        #expect(slow.statuses(on: resumed).count == 1)
    }

    @Test func `a value that has come back to the token's before anything was said is unchanged`() throws {
        let world = World()
        let client = world.welcomedClient()
        let line = try world.buy("gold", from: client)
        let stream = client.call(.status())
        world.settle()
        let token = try #require(client.statuses(on: stream).last?.info?.token)
        let slow = world.welcomedClient()
        slow.socket.capacity = 0
        let resumed = slow.call(.status(token: token))
        world.settle()
        for isOn in [false, true] {
            _ = try world.require(.autoRenew(line.id, isOn), from: client)
        }
        #expect(slow.messages(on: resumed).isEmpty)
        slow.socket.capacity = 1 << 16
        world.settle()
        #expect(slow.statuses(on: resumed).map(\.isUnchanged) == [true])
        world.checkNothingIsLeft()
    }

    // MARK: Positions ahead

    @Test func `a token ahead of the store waits for its deadline, and is then behind`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status())
        world.settle()
        let said = try #require(client.statuses(on: stream).last?.info?.token)
        var ahead = try ResumeToken(said)
        ahead.position.revision += 1
        let waiting = client.call(.status(token: ahead.bytes), timeoutMilliseconds: 5_000)
        world.advance(4_999)
        #expect(client.messages(on: waiting).isEmpty && client.status(of: waiting) == nil)
        world.advance(1)
        #expect(client.status(of: waiting)?.reason == "BEHIND")
        #expect(client.status(of: waiting)?.code == 9)
        world.checkNothingIsLeft()
    }

    /// The store came to the same revision again after a restore, with other changes.
    @Test
    func `a position of another epoch is refused at once, one of this epoch or of a client that knows none is not`()
        throws
    {
        let world = World()
        let client = world.welcomedClient()
        let bought = try #require(world.position(of: world.require(.buy("gold"), from: client)))
        let epoch = world.loops[0].core.epoch
        #expect(epoch != 0 && bought.epoch == epoch)
        var old = bought
        old.epoch = 0
        for position in [bought, old] {
            let read = client.call(.readStatus(atLeast: position))
            world.settle()
            #expect(client.status(of: read)?.code == 0)
        }
        old.epoch = bought.epoch + 1
        let several = Request.watch(WatchRequest(watches: [.status(), .entitlement(atLeast: old)]))
        for request in [.readStatus(atLeast: old), .status(atLeast: old), .updates(atLeast: old), several] as [Request]
        {
            let call = client.call(request)
            world.settle()
            #expect(client.status(of: call)?.reason == "TOKEN_OTHER_STORE", "\(request.method)")
            #expect(client.status(of: call)?.message.contains("epoch \(old.epoch)") == true)
        }
        old.revision = 1 << 40
        let future = client.call(.readStatus(atLeast: old))
        world.settle()
        #expect(client.status(of: future)?.reason == "TOKEN_OTHER_STORE", "nothing is waited for")
    }

    @Test func `every value on a stream has the epoch of its position`() throws {
        let world = World()
        let client = world.welcomedClient()
        let epoch = world.loops[0].core.epoch
        let stream = client.call(.status())
        try world.buy("gold", from: client)
        world.settle()
        world.settle()
        try world.buy("silver", from: client)
        world.settle()
        let positions = client.statuses(on: stream).compactMap { state -> Position? in
            guard case .success(_, let info) = state else { return nil }
            return info.position
        }
        #expect(positions.count >= 2 && positions.allSatisfy { $0.epoch == epoch })
    }

    @Test func `a call without a deadline waits half a minute for a position`() {
        let world = World()
        let client = world.welcomedClient()
        let ahead = Position(revision: 99, asOf: world.wall)
        let read = client.call(.readStatus(atLeast: ahead))
        world.advance(29_999)
        #expect(client.status(of: read) == nil)
        world.advance(1)
        #expect(client.status(of: read)?.reason == "BEHIND")
    }

    /// The maximum of a connection. If each cost as much as all, this would take minutes.
    @Test func `sixty thousand that wait cost each what it alone would cost`() throws {
        let world = World()
        let client = world.welcomedClient()
        let other = world.welcomedClient()
        let ahead = Position(revision: 2, asOf: world.wall)
        let never = Position(revision: 1 << 63, asOf: world.wall)
        let tomorrow = Position(revision: 0, asOf: world.wall.advanced(byMilliseconds: 86_400_000))
        var woken: [UInt32] = []
        for number in 0..<60_000 {
            let position = [ahead, never, tomorrow][number % 3]
            let stream = client.call(.readStatus(atLeast: position), timeoutMilliseconds: 20_000)
            if position == ahead { woken.append(stream) }
        }
        world.settle()
        client.cancel(2)
        try world.buy("silver", from: other)
        try world.buy("gold", from: other)
        world.settle()
        // Calls whose revision is reached were answered, in the order of their requests.
        let answered = client.events.compactMap { event -> UInt32? in
            if case .status(let stream, let status) = event, status.code == 0 { stream } else { nil }
        }
        #expect(answered == woken)
        world.advance(20_000)
        let reasons = client.events.compactMap { event -> String? in
            if case .status(_, let status) = event, status.code != 0 { status.reason } else { nil }
        }
        #expect(reasons.count == 40_000 && reasons.dropFirst().allSatisfy { $0 == "BEHIND" })
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    @Test func `a call with a longer deadline waits for a position until then`() {
        let world = World()
        let client = world.welcomedClient()
        let ahead = Position(revision: 99, asOf: world.wall)
        let read = client.call(.readStatus(atLeast: ahead), timeoutMilliseconds: 60_000)
        world.advance(59_999)
        #expect(client.status(of: read) == nil)
        world.advance(1)
        #expect(client.status(of: read)?.reason == "BEHIND")
    }

    @Test func `a token ahead of the app's clock waits until the clock is there`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status())
        world.settle()
        var ahead = try ResumeToken(try #require(client.statuses(on: stream).last?.info?.token))
        ahead.position.asOf = ahead.position.asOf.advanced(byMilliseconds: 700)
        let waiting = client.call(.status(token: ahead.bytes))
        world.advance(699)
        #expect(client.messages(on: waiting).isEmpty)
        world.advance(1)
        #expect(client.statuses(on: waiting).map(\.isUnchanged) == [true])
    }

    @Test func `a read at a mutation's position sees the mutation on every loop`() throws {
        var setup = World.Setup()
        setup.loops = 3
        let world = World(setup)
        let buyer = world.welcomedClient(loop: 0)
        let readers = (0..<3).map { world.welcomedClient(loop: $0) }
        let bought = buyer.call(.buy("gold"))
        // Only the buyer's loop gets it at first.
        _ = world.deliver(buyer)
        world.turn(0)
        world.runStore()
        world.turn(0)
        _ = world.deliver(buyer)
        let response = try #require(buyer.messages(on: bought).last)
        let position = try #require(world.position(of: response))
        for reader in readers {
            let stream = reader.call(.readStatus(atLeast: position))
            world.settle()
            guard case .getSubscriptionStatus(let state)? = reader.messages(on: stream).last else {
                Issue.record("no answer")
                continue
            }
            #expect(state.value?.states == [.subscribed])
        }
        world.checkNothingIsLeft()
    }

    @Test(arguments: ["store", "epoch", "view", "app", "damaged"])
    func `a token that is not of this view of this store is refused`(what: String) throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status())
        world.settle()
        var token = try ResumeToken(try #require(client.statuses(on: stream).last?.info?.token))
        var expected = "TOKEN_OTHER_STORE"
        switch what {
        case "store": token.store = StoreIdentity(high: 1, low: 2)
        case "epoch": token.epoch += 1
        case "view":
            token.view = Digest(high: 1, low: 1)
            expected = "TOKEN_OTHER_VIEW"
        case "app":
            token.app += 1
            expected = "TOKEN_OTHER_VIEW"
        default: expected = "TOKEN_MALFORMED"
        }
        var bytes = token.bytes
        if what == "damaged" { bytes[20] ^= 1 }
        let (response, status) = world.answer(to: .status(token: bytes), from: client)
        #expect(response == nil)
        #expect(status?.reason == expected)
    }

    // MARK: Ends

    @Test func `a watch whose deadline passes is ended with that reason`() {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status(), timeoutMilliseconds: 2_000)
        world.advance(1_999)
        #expect(client.status(of: stream) == nil)
        world.advance(1)
        #expect(client.status(of: stream)?.reason == "DEADLINE")
        world.checkNothingIsLeft()
    }

    @Test func `a call may be cancelled at any moment of its life`() throws {
        for request in [
            Request.status(), .status(atLeast: Position(revision: 9, asOf: World.begin)), .updates(), .buy("gold"),
            .readStatus(), .products(),
        ] {
            for steps in 0..<6 {
                let world = World()
                let client = world.welcomedClient()
                let stream = client.call(request)
                for step in 0..<steps {
                    _ = world.deliver(client)
                    if step % 2 == 0 { world.turn() } else { world.runStore() }
                }
                client.cancel(stream)
                client.cancel(stream)
                world.settle()
                world.checkInvariants()
                let status = try #require(client.status(of: stream))
                #expect(status.reason == "CANCELLED" || status.code == 0)
                client.cancel(stream)
                world.settle()
                #expect(client.isOpen)
                let (_, again) = world.answer(to: .readStatus(), from: client)
                #expect(again?.code == 0)
                world.checkNothingIsLeft()
            }
        }
    }

    @Test func `a number is taken until its status is written, then free`() {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.status())
        world.settle()
        client.socket.capacity = 0
        client.cancel(stream)
        world.settle()
        #expect(client.status(of: stream) == nil)
        world.checkInvariants()
        client.socket.capacity = 1 << 16
        world.settle()
        #expect(client.status(of: stream)?.reason == "CANCELLED")
        #expect(world.loops[0].core.census.calls == 0)
    }

    private func isLoading(_ response: Response) -> Bool {
        switch response {
        case .productsTask(let state): state.isLoading
        case .subscriptionStatusTask(let state): state.isLoading
        case .currentEntitlementTask(let state): state.isLoading
        default: false
        }
    }

    private func isUnchanged(_ response: Response?) -> Bool {
        switch response {
        case .productsTask(let state): state.isUnchanged
        case .subscriptionStatusTask(let state): state.isUnchanged
        case .currentEntitlementTask(let state): state.isUnchanged
        default: false
        }
    }

    private func resumeToken(_ response: Response?) -> [UInt8]? {
        switch response {
        case .productsTask(let state): state.info?.token
        case .subscriptionStatusTask(let state): state.info?.token
        case .currentEntitlementTask(let state): state.info?.token
        default: nil
        }
    }
}
