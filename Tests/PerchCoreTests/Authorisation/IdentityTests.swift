import PerchBase
import PerchCore
import PerchIdentity
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// From HELLO to the end of an identity.
@Suite(.onChosenStorage) struct `An identity` {
    @Test func `that has ended ends its streams with the reason, within five seconds`() throws {
        let world = Gate.world()
        let client = world.welcomedClient(authorization: Gate.token(.read, lifetime: 90_000))
        let status = client.call(.status())
        let updates = client.call(.updates())
        world.advance(89_999)
        #expect(client.status(of: status) == nil && client.status(of: updates) == nil)
        world.advance(1)
        for stream in [status, updates] {
            #expect(client.status(of: stream)?.reason == "CREDENTIALS_EXPIRED")
            #expect(client.status(of: stream)?.code == 16)
        }
        let late = client.call(.readStatus())
        world.settle()
        #expect(client.status(of: late)?.reason == "CREDENTIALS_EXPIRED")
        // The connection stays for a moment, for its pending output, and gets the reason again when it closes.
        #expect(client.isOpen)
        world.advance(2_000)
        #expect(client.drains.map(\.reason) == ["CREDENTIALS_EXPIRED"])
        #expect(client.drains.last?.isFinal == true)
        #expect(!client.isOpen)
        world.checkNothingIsLeft()
    }

    @Test(arguments: [true, false])
    func `that has ended makes no call any more, and its connection is closed with the reason`(isRevoked: Bool) throws {
        let world = Gate.world()
        let reason = isRevoked ? "CREDENTIALS_REVOKED" : "CREDENTIALS_EXPIRED"
        let client = world.welcomedClient(
            authorization: Gate.token(.test, id: "thief", lifetime: isRevoked ? 3_600_000 : 90_000))
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all))
        if isRevoked {
            try world.require(.revokeToken(RevokeTokenRequest(tokenID: "thief")), from: admin)
        } else {
            world.advance(90_000)
        }
        // A revoked token took one revision.
        let revision = world.history.revision
        for request in [Request.readStatus(), .buy("gold"), .status(), .updates(), .clock(.freeze)] {
            let (response, status) = world.answer(to: request, from: client)
            #expect(response == nil)
            #expect(status?.reason == reason)
            #expect(status?.code == 16)
        }
        #expect(world.history.revision == revision)
        world.advance(2_000)
        #expect(client.drains.map(\.reason) == [reason])
        #expect(!client.isOpen)
        #expect(admin.isOpen)
        world.checkNothingIsLeft()
    }

    @Test func `that has ended is not answered with what came after, also where a read waited for it`() throws {
        let world = Gate.world()
        let client = world.welcomedClient(authorization: Gate.token(.read, lifetime: 60_000))
        let anonymous = world.welcomedClient()
        let writer = world.welcomedClient(authorization: Gate.token(.test))
        let next = Position(revision: world.history.revision + 1, asOf: World.begin)
        let waiting = client.call(.readStatus(atLeast: next), timeoutMilliseconds: 86_400_000)
        let watch = client.call(.status(atLeast: next), timeoutMilliseconds: 86_400_000)
        let own = anonymous.call(
            .readStatus(atLeast: next), timeoutMilliseconds: 86_400_000,
            authorization: Gate.token(.read, id: "own", lifetime: 60_000))
        world.advance(60_000)
        try world.buy("gold", from: writer)
        for (client, stream) in [(client, waiting), (client, watch), (anonymous, own)] {
            #expect(client.status(of: stream)?.reason == "CREDENTIALS_EXPIRED")
        }
        #expect(client.messages(on: waiting).isEmpty)
        #expect(client.statuses(on: watch).map(\.isLoading) == [true])
        #expect(anonymous.messages(on: own).isEmpty)
        world.advance(2_000)
        #expect(!client.isOpen)
        #expect(anonymous.isOpen)
        world.checkNothingIsLeft()
    }

    @Test func `a call with two authorization entries is refused, whichever they are`() {
        let world = Gate.world()
        let client = world.welcomedClient(authorization: Gate.token(.read))
        let good = Gate.token(.admin, id: "good")
        for (first, second) in [(good, good), (good, "Bearer garbage"), (Gate.token(.read, id: "other"), good)] {
            let call = client.call(.readStatus(), timeoutMilliseconds: 0, authorization: first, second)
            world.settle()
            #expect(client.status(of: call)?.reason == "CREDENTIALS_MALFORMED")
        }
        // An empty entry is an error: it means neither no caller nor the connection's.
        let empty = client.call(.readStatus(), authorization: "")
        world.settle()
        #expect(client.status(of: empty)?.reason == "CREDENTIALS_MALFORMED")
        #expect(client.status(of: empty)?.message.contains("it is empty") == true)
        let alone = client.call(.readStatus(), authorization: good)
        world.settle()
        #expect(client.status(of: alone)?.code == 0)
        client.socket.clientEnds()
        world.settle()
        world.checkNothingIsLeft()
    }

    @Test func `an identity ends exactly, for a call that comes in the turn that finds out`() throws {
        let world = Gate.world()
        let client = world.welcomedClient(authorization: Gate.token(.read, lifetime: 3_000))
        let (_, before) = world.answer(to: .readStatus(), from: client)
        #expect(before?.code == 0)
        // As on a machine that slept: the loop reads input before it checks its timers.
        world.setMachineClock(by: 3_000)
        let (response, status) = world.answer(to: .readStatus(), from: client)
        #expect(response == nil)
        #expect(status?.reason == "CREDENTIALS_EXPIRED")
    }

    @Test(arguments: [true, false])
    func `an ended identity's slow reader gets the end of each stream, for five seconds at most`(readsAgain: Bool)
        throws
    {
        let world = Gate.world()
        let client = world.welcomedClient(authorization: Gate.token(.read, lifetime: 60_000))
        let streams = [client.call(.status()), client.call(.updates())]
        world.settle()
        client.socket.capacity = 0
        world.advance(63_000)
        #expect(streams.allSatisfy { client.status(of: $0) == nil })
        if !readsAgain { world.advance(4_000) }
        client.socket.capacity = 1 << 16
        world.settle()
        if readsAgain {
            for stream in streams { #expect(client.status(of: stream)?.reason == "CREDENTIALS_EXPIRED") }
            #expect(client.drains.isEmpty)
            world.advance(2_000)
        }
        #expect(client.drains.map(\.reason) == ["CREDENTIALS_EXPIRED"])
        #expect(!client.isOpen)
        world.checkNothingIsLeft()
    }

    @Test func `an identity ends with the machine's clock, also when that is set forward`() {
        let world = Gate.world()
        let client = world.welcomedClient(authorization: Gate.token(.read, lifetime: 3_600_000))
        let stream = client.call(.status())
        world.settle()
        world.setMachineClock(by: 3_600_000)
        // A loop reads the clock in each tick, at least once a minute.
        client.ping()
        world.settle()
        #expect(client.status(of: stream)?.reason == "CREDENTIALS_EXPIRED")
        world.checkNothingIsLeft()
    }

    @Test func `a holder with a new token resumes its streams`() throws {
        let world = Gate.world()
        let first = world.welcomedClient(authorization: Gate.token(.read, lifetime: 60_000))
        let stream = first.call(.status())
        world.settle()
        let token = try #require(first.statuses(on: stream).last?.info?.token)
        world.advance(60_000)
        #expect(first.status(of: stream)?.reason == "CREDENTIALS_EXPIRED")
        let second = world.welcomedClient(authorization: Gate.token(.read, id: "next", lifetime: 120_000))
        let again = second.call(.status(token: token))
        world.settle()
        #expect(second.statuses(on: again).map(\.isUnchanged) == [true])
    }

    @Test func `that is taken back ends on every loop, and stays so after a restart`() throws {
        let storage = MemoryStorage(identity: World.identity)
        let world = Gate.world { setup in
            setup.loops = 2
            setup.storage = storage
        }
        let stolen = Gate.token(.read, id: "stolen")
        let watchers = (0..<2).map { world.welcomedClient(loop: $0, authorization: stolen) }
        let others = (0..<2).map { world.welcomedClient(loop: $0, authorization: Gate.token(.read, id: "good")) }
        let streams = watchers.map { $0.call(.status()) }
        let kept = others.map { $0.call(.status()) }
        world.settle()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all))
        let response = try world.require(
            .revokeToken(
                RevokeTokenRequest(tokenID: "stolen", expires: World.begin.advanced(byMilliseconds: 3_600_000))),
            from: admin)
        #expect(response == .revokeToken(RevokeTokenResponse(wasRevoked: false, wasSeen: true)))
        for (client, stream) in zip(watchers, streams) {
            #expect(client.status(of: stream)?.reason == "CREDENTIALS_REVOKED")
        }
        for (client, stream) in zip(others, kept) { #expect(client.status(of: stream) == nil) }
        for loop in 0..<2 {
            let back = world.connect(loop: loop)
            back.hello(authorization: stolen)
            world.settle()
            #expect(back.drains.map(\.reason) == ["CREDENTIALS_REVOKED"])
        }
        let again = try world.require(.revokeToken(RevokeTokenRequest(tokenID: "stolen")), from: admin)
        // Revoked for ever, which is longer than before, although the token was already revoked.
        #expect(again == .revokeToken(RevokeTokenResponse(wasRevoked: true, wasSeen: true)))
        let misspelt = try world.require(.revokeToken(RevokeTokenRequest(tokenID: "stolne")), from: admin)
        #expect(misspelt == .revokeToken(RevokeTokenResponse(wasRevoked: false, wasSeen: false)))

        let next = Gate.world { $0.storage = storage }
        let client = next.connect()
        client.hello(authorization: stolen)
        next.settle()
        #expect(client.drains.map(\.reason) == ["CREDENTIALS_REVOKED"])
    }

    @Test func `an identity is not revoked with an end in the past: the revocation would be forgotten`() throws {
        let world = Gate.world()
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all))
        let now = World.begin
        func refusal(_ expires: Instant) -> Status? {
            world.answer(to: .revokeToken(RevokeTokenRequest(tokenID: "x", expires: expires)), from: admin).status
        }
        func detail(_ status: Status?, _ key: String) -> String? {
            status?.details.first { $0.key == key }?.value
        }
        let seconds = Instant(milliseconds: now.milliseconds / 1_000 + 3_600)
        for expires in [now, now.advanced(byMilliseconds: -1), seconds, Instant(milliseconds: -1)] {
            let status = refusal(expires)
            #expect(status?.reason == "FIELD_INVALID" && detail(status, "field") == "expires_at_ms")
            #expect(detail(status, "found") == "\(expires.milliseconds)")
            #expect(detail(status, "expected")?.hasPrefix("0, or more than ") == true)
            #expect(status?.message.contains("in seconds, this field is in milliseconds") == (expires == seconds))
        }
        #expect(refusal(now.advanced(byMilliseconds: 1))?.code == 0)
    }

    /// A revocation by identifier alone, or with a wrong end, covers the token all the same.
    @Test(arguments: [nil, 1, 3_600_000] as [Int64?])
    func `that is revoked stays so for as long as any token may live`(_ saidEnd: Int64?) throws {
        let storage = MemoryStorage(identity: World.identity)
        let world = Gate.world { $0.storage = storage }
        let admin = world.welcomedClient(authorization: Gate.token(.admin, app: .all))
        let said = saidEnd.map { World.begin.advanced(byMilliseconds: $0) }
        _ = try world.require(.revokeToken(RevokeTokenRequest(tokenID: "stolen", expires: said)), from: admin)
        let longest = World.begin.advanced(byMilliseconds: Limits.tokenLifeMilliseconds)
        let kept = try #require(storage.revokedTokens().first { $0.id == "stolen" })
        #expect(saidEnd == nil ? kept.expires == .distantFuture : kept.expires >= longest)
        // The store drops ended revocations when it gets the next one.
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        var outbox = StoreEngine.Outbox(loops: 1)
        let other = RevokedToken(id: "other", expires: .distantFuture)
        _ = engine.run(
            [StoreRequest(loop: 0, ticket: 1, .revoke(other))], wall: longest.advanced(byMilliseconds: -1),
            into: &outbox)
        #expect(storage.revokedTokens().map(\.id).contains("stolen"))
    }

    @Test func `an identity ends when its key or its certificate is taken away, and others go on`() throws {
        let spare = try #require(TokenKey.generate(.es256, id: "spare"))
        let world = Gate.world { $0.authenticator = Gate.authenticator([Gate.key, spare]) }
        let old = world.welcomedClient(authorization: Gate.token(.read))
        let new = world.welcomedClient(authorization: Gate.token(.read, key: spare))
        let mapped = world.welcomedClient(certificate: Gate.backend)
        let streams = [old, new, mapped].map { $0.call(.status()) }
        world.settle()
        world.trust(Gate.authenticator([spare]))
        world.settle()
        #expect(old.status(of: streams[0])?.reason == "CREDENTIALS_REVOKED")
        #expect(new.status(of: streams[1]) == nil)
        #expect(mapped.status(of: streams[2]) == nil)
        var without = Gate.authenticator([spare])
        without.certificates = CertificateIdentities()
        world.trust(without)
        world.settle()
        #expect(new.status(of: streams[1]) == nil)
        #expect(mapped.status(of: streams[2])?.reason == "CREDENTIALS_REVOKED")
        world.advance(20_000)
        world.checkNothingIsLeft()
    }

    @Test func `the identity of a certificate ends with the certificate`() {
        let world = Gate.world()
        let client = world.welcomedClient(certificate: Gate.backend)
        let stream = client.call(.status())
        world.advance(3_600_000)
        #expect(client.status(of: stream)?.reason == "CREDENTIALS_EXPIRED")
    }

    @Test func `a token's identity precedes a certificate's, and an unknown certificate has none`() throws {
        let world = Gate.world()
        let both = world.welcomedClient(authorization: Gate.token(.read), certificate: Gate.backend)
        #expect(world.answer(to: .buy("coins"), from: both).status?.reason == "PERMISSION_DENIED")
        var stranger = Gate.backend
        stranger.names = ["stranger.example.com"]
        stranger.fingerprint[0] = 9
        let unknown = world.welcomedClient(certificate: stranger)
        #expect(world.answer(to: .readStatus(), from: unknown).status?.reason == "UNAUTHENTICATED")
    }

    @Test func `that comes with a call holds for that call only`() throws {
        let world = Gate.world()
        let client = world.welcomedClient(authorization: Gate.token(.read))
        #expect(world.answer(to: .buy("coins"), from: client).status?.reason == "PERMISSION_DENIED")
        let bought = client.call(.buy("coins"), authorization: Gate.token(.write, id: "w", lifetime: 60_000))
        world.settle()
        #expect(client.status(of: bought)?.code == 0)
        let own = client.call(.status(), authorization: Gate.token(.read, id: "short", lifetime: 60_000))
        let connections = client.call(.status())
        world.advance(60_000)
        #expect(client.status(of: own)?.reason == "CREDENTIALS_EXPIRED")
        #expect(client.status(of: connections) == nil)
        world.checkInvariants()
        // And the other way round: a call that brought its own stays when those of HELLO end.
        let anonymous = world.welcomedClient()
        let stream = anonymous.call(.status(), authorization: Gate.token(.read, id: "long"))
        world.advance(120_000)
        #expect(anonymous.status(of: stream) == nil)
        world.checkNothingIsLeft()
    }

    @Test func `that is refused with HELLO closes the connection with the reason`() {
        let world = Gate.world()
        for (authorization, reason) in [
            ("Bearer x", "CREDENTIALS_MALFORMED"), ("Basic abc", "CREDENTIALS_MALFORMED"),
            (Gate.token(.read, lifetime: 0), "CREDENTIALS_EXPIRED"),
            (Gate.token(.read, audience: "x"), "CREDENTIALS_MISDIRECTED"),
            (Gate.token(.read) + "AAAA", "CREDENTIALS_UNTRUSTED"),
        ] {
            let client = world.connect()
            client.hello(authorization: authorization)
            world.settle()
            #expect(client.drains.map(\.reason) == [reason])
            #expect(client.drains.first?.isFinal == true)
            #expect(client.welcome == nil)
        }
        #expect(world.loops[0].core.counters.credentialsRefused == 5)
        world.advance(60_000)
        world.checkNothingIsLeft()
    }

    @Test func `an identity is verified once for as long as it is remembered`() {
        let world = Gate.world()
        let token = Gate.token(.read)
        for _ in 0..<20 {
            let client = world.welcomedClient(authorization: token)
            client.socket.clientEnds()
            world.settle()
        }
        #expect(world.loops[0].core.counters.credentialsVerified == 1)
        #expect(world.loops[0].core.census.identities == 1)
        world.checkInvariants()
    }

    @Test func `beyond those that are kept lets the oldest go`() {
        let world = Gate.world { $0.core.identitiesKeptMax = 8 }
        let client = world.welcomedClient()
        for number in 0...8 { client.call(.readStatus(), authorization: Gate.token(.read, id: "\(number)")) }
        world.settle()
        #expect(world.loops[0].core.census.identities == 8)
        world.checkInvariants()
        // The first was evicted and is verified again; the last is known.
        let verified = world.loops[0].core.counters.credentialsVerified
        client.call(.readStatus(), authorization: Gate.token(.read, id: "8"))
        world.settle()
        #expect(world.loops[0].core.counters.credentialsVerified == verified)
        client.call(.readStatus(), authorization: Gate.token(.read, id: "0"))
        world.settle()
        #expect(world.loops[0].core.counters.credentialsVerified == verified + 1)
    }

    @Test func `an identity for one app may omit the app, one for several must name it`() throws {
        let world = Gate.world { $0.moreApps = ["com.example.second"] }
        let open = Gate.token(.admin, app: .all)
        let all = world.welcomedClient(authorization: open)
        #expect(world.answer(to: .readStatus(), from: all).status?.reason == "APP_AMBIGUOUS")
        let one = world.welcomedClient(authorization: Gate.token(.admin))
        #expect(world.answer(to: .readStatus(), from: one).status?.code == 0)
        guard case .listApps(let list)? = world.answer(to: .listApps, from: one).response else {
            throw NoAnswer(status: nil)
        }
        #expect(list.apps.map(\.bundleID) == [TestShop.bundleID])
        let both = AppReach.apps(
            [TestShop.bundleID, "com.example.second"].map { AppName(bundleID: $0, environment: .xcode) })
        let two = world.welcomedClient(authorization: Gate.token(.read, app: both))
        #expect(world.answer(to: .readStatus(), from: two).status?.reason == "APP_AMBIGUOUS")
        // The refusal for another app is the same, whether the server has it or not.
        let messages = ["com.example.second", "com.example.nowhere"].map { id in
            let app = AppReference(bundleID: id, environment: .xcode)
            let asked = Request.getSubscriptionStatus(
                SubscriptionStatusRequest(app: app, account: "anna", groupID: "plans"))
            return world.answer(to: asked, from: one).status
        }
        #expect(messages[0]?.reason == "PERMISSION_DENIED")
        #expect(messages[0] == messages[1])
    }

    @Test func `an identity for one account is refused for another account that looks alike`() {
        let world = Gate.world()
        // The same letter, composed and not: two keys, and one text for Swift.
        let composed = "ren\u{E9}"
        let decomposed = "rene\u{301}"
        #expect(composed == decomposed)
        let client = world.welcomedClient(authorization: Gate.token(.test, account: composed))
        #expect(world.answer(to: .readStatus(composed), from: client).status?.code == 0)
        #expect(world.answer(to: .readStatus(decomposed), from: client).status?.reason == "PERMISSION_DENIED")
        // And nothing is done to others by the way of one's own.
        let share = Request.operate(.share(.product("gold"), member: "anna"), composed)
        #expect(world.answer(to: share, from: client).status?.reason == "PERMISSION_DENIED")
        #expect(world.answer(to: .refund(1), from: client).status?.reason == "PERMISSION_DENIED")
    }

    @Test func `an identity is everyone's where there is no authenticator`() {
        let world = World()
        let client = world.welcomedClient(authorization: "Bearer nonsense")
        #expect(world.answer(to: .getServerStatus, from: client).status?.code == 0)
        #expect(world.loops[0].core.counters.credentialsVerified == 0)
        world.checkNothingIsLeft()
    }
}
