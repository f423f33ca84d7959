import PerchBase
import PerchModel
import PerchWire

// HELLO and WELCOME.
extension Transport {
    mutating func greet(
        _ index: Int32, _ body: borrowing RawSpan, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        self.work.spend(WorkMeter.greeting)
        let hello: Hello
        do throws(MessageError) {
            hello = try tables.codec.decodeHello(body)
        } catch {
            let status = WireStatus(error)
            self.close(
                index, WireStatus(.helloInvalid, "HELLO: \(status.message)", details: status.details), &tables, &views,
                &service)
            return
        }
        guard hello.protocolVersion == 1 else {
            self.close(
                index,
                WireStatus(
                    .protocolVersion, "the client speaks version \(hello.protocolVersion), this server speaks 1",
                    details: [.found(hello.protocolVersion), StatusDetail(key: "expected", value: "1")]), &tables,
                &views, &service)
            return
        }
        guard hello.clientID.count <= Limits.clientIDBytesMax else {
            let (found, limit) = (hello.clientID.count, Limits.clientIDBytesMax)
            self.close(
                index,
                WireStatus(
                    .helloInvalid, "client_id has \(found) bytes, the limit is \(limit)",
                    details: [.field("client_id"), .found(found), .limit(limit)]), &tables, &views, &service)
            return
        }
        let identity: UInt32
        do throws(CallRefusal) {
            identity = try service.identify(index, hello.authorization, &tables, &self)
        } catch {
            self.close(index, error.status, &tables, &views, &service)
            return
        }
        if let status = service.admit(index, as: identity, &tables) {
            return self.close(index, status, &tables, &views, &service)
        }
        service.noteGreeting(index, as: identity, &tables)
        let asked = hello.heartbeatSeconds == 0 ? Limits.heartbeatSecondsDefault : hello.heartbeatSeconds
        let heartbeat = min(max(asked, Limits.heartbeatSecondsMin), Limits.heartbeatSecondsMax)
        tables.connections[index].phase = .open
        tables.connections[index].heartbeatSeconds = UInt16(heartbeat)
        if hello.accepts.contains(.zlib) { tables.connections[index].flags.insert(.acceptsZlib) }
        if !hello.clientID.isEmpty { self.clientIDs[index] = hello.clientID }
        if !service.hasAuthenticator || identity != IdentityTable.nobody {
            self.identified(index, &tables)
        }
        // Spread by connection number, so that a storm of connects does not become a storm of beats. The first BEAT
        // comes early, as if the last one had been sent before the connection opened.
        tables.connections[index].lastBeat = tables.now.monotonic - Int64(heartbeat) * 1_000
        let spread = 1 + Int64(truncatingIfNeeded: UInt32(bitPattern: index) &* 2_654_435_761 >> 8) % Int64(heartbeat)
        self.beats.insert(index, dueAt: tables.now.monotonic / 1_000 + spread)
        self.keepUnsent(index, .welcome, stream: 0, self.welcome(heartbeatSeconds: heartbeat, &tables), &tables)
    }

    /// The WELCOME of this tick, except for the heartbeat. Encoded once, because a storm of connects has hundreds in a
    /// tick. The caller owns a reference.
    private mutating func welcome(heartbeatSeconds: UInt32, _ tables: inout Tables) -> PayloadHandle {
        let said = Welcomed(heartbeatSeconds: heartbeatSeconds, revision: tables.applied, wall: tables.now.wall)
        if self.welcomed.payload.isNone || self.welcomed.said != said {
            let welcome = Welcome(
                serverVersion: tables.settings.serverVersion, storeID: tables.identity.bytes,
                epoch: tables.epoch,
                revision: said.revision,
                limits: PeerLimits(
                    frameBytes: UInt32(tables.settings.frameBytesMax),
                    requestBytes: UInt32(Limits.requestBytesMax),
                    catalogRequestBytes: UInt32(Limits.catalogRequestBytesMax),
                    callsPerConnection: UInt32(tables.settings.callsPerConnectionMax),
                    writeStallMilliseconds: UInt32(tables.settings.writeStallMilliseconds)),
                heartbeatSeconds: heartbeatSeconds, accepts: [.zlib], serverTime: said.wall)
            let payload = tables.encoded { codec throws(MessageError) in try codec.encode(welcome) }
            self.forgetWelcome(&tables)
            self.welcomed = (payload, said)
        }
        tables.payloads.retain(self.welcomed.payload)
        return self.welcomed.payload
    }

    /// Once a tick, because the next WELCOME has another time.
    mutating func forgetWelcome(_ tables: inout Tables) {
        guard !self.welcomed.payload.isNone else { return }
        tables.payloads.release(self.welcomed.payload)
        self.welcomed.payload = .none
    }
}

/// The variable fields of a WELCOME.
struct Welcomed: Equatable {
    var heartbeatSeconds: UInt32 = 0
    var revision: UInt64 = 0
    var wall = Instant.distantPast
}
