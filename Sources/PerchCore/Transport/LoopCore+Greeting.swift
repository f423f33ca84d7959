import PerchBase
import PerchModel
import PerchWire

// HELLO and WELCOME.
extension LoopCore {
    mutating func greet(_ index: Int32, _ body: borrowing RawSpan) {
        self.transport.work.spend(WorkMeter.greeting)
        let hello: Hello
        do throws(MessageError) {
            hello = try self.tables.codec.decodeHello(body)
        } catch {
            let status = WireStatus(error)
            self.close(index, WireStatus(.helloInvalid, "HELLO: \(status.message)", details: status.details))
            return
        }
        guard hello.protocolVersion == 1 else {
            self.close(
                index,
                WireStatus(
                    .protocolVersion, "the client speaks version \(hello.protocolVersion), this server speaks 1",
                    details: [.found(hello.protocolVersion), StatusDetail(key: "expected", value: "1")]))
            return
        }
        guard hello.clientID.count <= Limits.clientIDBytesMax else {
            let (found, limit) = (hello.clientID.count, Limits.clientIDBytesMax)
            self.close(
                index,
                WireStatus(
                    .helloInvalid, "client_id has \(found) bytes, the limit is \(limit)",
                    details: [.field("client_id"), .found(found), .limit(limit)]))
            return
        }
        let identity: UInt32
        do throws(CallRefusal) {
            identity = try self.service.identify(index, hello.authorization, &self.tables, &self.transport)
        } catch {
            self.close(index, error.status)
            return
        }
        if let status = self.service.admit(index, as: identity, &self.tables) { return self.close(index, status) }
        self.service.noteGreeting(index, as: identity, &self.tables)
        let asked = hello.heartbeatSeconds == 0 ? Limits.heartbeatSecondsDefault : hello.heartbeatSeconds
        let heartbeat = min(max(asked, Limits.heartbeatSecondsMin), Limits.heartbeatSecondsMax)
        self.tables.connections[index].phase = .open
        self.tables.connections[index].heartbeatSeconds = UInt16(heartbeat)
        if hello.accepts.contains(.zlib) { self.tables.connections[index].flags.insert(.acceptsZlib) }
        if !hello.clientID.isEmpty { self.transport.clientIDs[index] = hello.clientID }
        if !self.service.hasAuthenticator || identity != IdentityTable.nobody {
            self.transport.identified(index, &self.tables)
        }
        // Spread by connection number, so that a storm of connects does not become a storm of beats. The first BEAT
        // comes early, as if the last one had been sent before the connection opened.
        self.tables.connections[index].lastBeat = self.tables.now.monotonic - Int64(heartbeat) * 1_000
        let spread = 1 + Int64(truncatingIfNeeded: UInt32(bitPattern: index) &* 2_654_435_761 >> 8) % Int64(heartbeat)
        self.transport.beats.insert(index, dueAt: self.tables.now.monotonic / 1_000 + spread)
        self.transport.owe(index, .welcome, stream: 0, self.welcome(heartbeatSeconds: heartbeat), &self.tables)
    }

    /// The WELCOME of this tick, except for the heartbeat. Encoded once, because a storm of connects has hundreds in a
    /// tick. The caller owns a reference.
    private mutating func welcome(heartbeatSeconds: UInt32) -> PayloadHandle {
        let said = Welcomed(
            heartbeatSeconds: heartbeatSeconds, revision: self.tables.applied, wall: self.tables.now.wall)
        if self.transport.welcomed.payload.isNone || self.transport.welcomed.said != said {
            let welcome = Welcome(
                serverVersion: self.tables.settings.serverVersion, storeID: self.tables.identity.bytes,
                epoch: self.tables.epoch,
                revision: said.revision,
                limits: PeerLimits(
                    frameBytes: UInt32(self.tables.settings.frameBytesMax),
                    requestBytes: UInt32(Limits.requestBytesMax),
                    catalogRequestBytes: UInt32(Limits.catalogRequestBytesMax),
                    callsPerConnection: UInt32(self.tables.settings.callsPerConnectionMax),
                    writeStallMilliseconds: UInt32(self.tables.settings.writeStallMilliseconds)),
                heartbeatSeconds: heartbeatSeconds, accepts: [.zlib], serverTime: said.wall)
            let payload = self.tables.encoded { codec throws(MessageError) in try codec.encode(welcome) }
            self.forgetWelcome()
            self.transport.welcomed = (payload, said)
        }
        self.tables.payloads.retain(self.transport.welcomed.payload)
        return self.transport.welcomed.payload
    }

    /// Once a tick, because the next WELCOME has another time.
    mutating func forgetWelcome() {
        guard !self.transport.welcomed.payload.isNone else { return }
        self.tables.payloads.release(self.transport.welcomed.payload)
        self.transport.welcomed.payload = .none
    }
}

/// The variable fields of a WELCOME.
struct Welcomed: Equatable {
    var heartbeatSeconds: UInt32 = 0
    var revision: UInt64 = 0
    var wall = Instant.distantPast
}
