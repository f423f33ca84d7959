package import PerchBase
import PerchWire

/// Connections' shares of bounded resources, by address.
struct Admission {
    var origins = Origins()
    /// Connections before WELCOME, or without valid credentials on a server that needs them.
    var handshakes = FairQueue()
    /// Bytes of those connections: partial frames, and TLS handshakes.
    var handshakeBytes = FairQueue()
    /// Bytes of the other connections' partial frames.
    var partialFrames = FairQueue()
    /// Connections that are closing.
    var closing = FairQueue()
    /// Of those, the ones whose protocol is not known yet.
    var refused: [Int32: RefusedConnection] = [:]
}

/// Why a connection was refused before its first byte.
struct RefusedConnection {
    var status: WireStatus
    /// Milliseconds after which the client may return, if the reason has no default.
    var wait: UInt32?
}

// Unauthenticated connections: from accept to WELCOME with valid credentials.
extension Transport {
    /// A connection was accepted. Its number identifies it in effects and events from now on.
    ///
    /// `address` is the peer's. Quotas of addresses do not count connections from this machine.
    mutating func accepted(
        socket: Int32, isLoopback: Bool, address: PeerAddress = .thisMachine, isIntake: Bool = false,
        _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) -> Int32 {
        let index = tables.connections.insert(
            Connection(
                socket: socket, flags: isIntake ? .isIntake : [],
                heartbeatSeconds: UInt16(Limits.heartbeatSecondsDefault),
                lastBeat: tables.now.monotonic, origin: self.admission.origins.take(address)))
        tables.counters.connectionsAccepted += 1
        self.admission.handshakes.add(1, to: index, origin: tables.connections[index].origin)
        tables.effects.append(.listen(connection: index, socket: socket, reading: true, writing: false))
        if self.draining {
            self.close(index, self.shuttingDown(tables), &tables, &views, &service)
            return index
        }
        if !isLoopback {
            guard self.admit(index, from: address, &tables, &views, &service) else { return index }
        }
        tables.scheduleDeadline(
            .firstByte(index, tables.connections.generation(index)),
            at: tables.now.monotonic + tables.settings.firstByteTimeoutMilliseconds)
        if self.handshakes > tables.settings.handshakesMax { self.freeHandshakeSlot(&tables, &views, &service) }
        return index
    }

    /// Number of connections with a handshake slot.
    var handshakes: Int { self.admission.handshakes.count }

    /// Bytes of connections with a handshake slot.
    var handshakeBytes: Int { self.admission.handshakeBytes.weight }

    /// The peer's certificate was verified. Must be called before any of its bytes are given.
    mutating func authenticated(_ connection: Int32, as certificate: PeerCertificate, _ tables: inout Tables) {
        guard tables.connections.isTaken(connection) else { return }
        precondition(
            tables.connections[connection].phase != .open,
            "a certificate came after connection \(connection) had greeted"
        )
        self.certificates[connection] = certificate
    }

    /// TLS chose a protocol by ALPN, and the connection must speak it. Must be called before any of its bytes are given.
    mutating func negotiated(_ connection: Int32, _ name: String, _ tables: inout Tables) {
        guard tables.connections.isTaken(connection), tables.connections[connection].wire == .unknown else { return }
        self.negotiated[connection] = Wire(negotiated: name)
    }

    /// The driver holds more memory for a connection before its peer is known: a TLS handshake.
    mutating func holds(
        _ bytes: Int, for connection: Int32, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        guard tables.connections.isTaken(connection), self.admission.handshakes.contains(connection)
        else {
            return
        }
        self.charge(bytes, connection, &tables, &views, &service)
    }

    /// The peer is known: the connection releases its handshake slot.
    mutating func identified(_ index: Int32, _ tables: inout Tables) {
        guard !tables.connections[index].flags.contains(.isIdentified) else { return }
        tables.connections[index].flags.insert(.isIdentified)
        self.admission.handshakes.remove(index)
        self.admission.handshakeBytes.remove(index)
        // Its incomplete requests count among those of known peers from now on.
        var held = self.partialInputs[index]?.bytes.count ?? 0
        let http = tables.connections[index].http
        if http >= 0 { held += Int(self.http.connections[http].heldBytes) }
        if held > 0 {
            self.admission.partialFrames.add(held, to: index, origin: tables.connections[index].origin)
        }
    }

    /// Counts a connection for its address. False: there are too many, or they come too fast, and it is being closed.
    private mutating func admit(
        _ index: Int32, from address: PeerAddress, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) -> Bool {
        let limit = tables.settings.connectionsPerAddressMax
        let rate = tables.settings.connectsPerAddress
        switch tables.quotas.enter(address, max: limit, rate: rate, nowMilliseconds: tables.now.monotonic) {
        case .admitted:
            tables.connections[index].flags.insert(.countsForAddress)
            return true
        case .full(let count):
            self.refuseAtFirstByte(
                index,
                WireStatus(
                    .connectionLimit,
                    "this address has \(count) connections, the limit is \(limit); close some, or share one among more watches",
                    details: [.found(count), .limit(limit), .setting("connections-per-address")]), &tables, &views,
                &service)
        case .tooFast(let wait):
            self.refuseAtFirstByte(
                index,
                WireStatus(
                    .connectRate,
                    "this address connects more than \(rate.perSecond) times a second, after \(rate.burst) at once; come back in \(wait) ms",
                    details: [
                        .limit(rate.perSecond), StatusDetail(key: "retry_after_ms", value: "\(wait)"),
                        .setting("connects-per-second"),
                    ]), reconnectAfterMilliseconds: UInt32(clamping: wait), &tables, &views, &service)
        }
        return false
    }

    /// Closes the oldest unfinished handshake of the address with the most slots.
    private mutating func freeHandshakeSlot(
        _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let victim = self.admission.handshakes.victim
        let (found, limit) = (self.handshakes, tables.settings.handshakesMax)
        let own = self.admission.handshakes.weight(ofOrigin: tables.connections[victim].origin)
        let need = tables.connections[victim].phase == .greeting ? "HELLO" : "valid credentials"
        self.refuseAtFirstByte(
            victim,
            WireStatus(
                .handshakeLimit,
                "\(found) connections wait for HELLO or valid credentials, the limit is \(limit); this address has most of them (\(own)), and this one is its oldest: send \(need) as soon as you are connected",
                details: [.found(found), .limit(limit), .setting("handshakes")]), &tables, &views, &service)
    }

    /// Closes a connection. Its peer may not have sent anything yet: then its first byte decides the form of the reason. A
    /// silent peer gets a DRAIN after the time for the first byte.
    private mutating func refuseAtFirstByte(
        _ index: Int32, _ status: WireStatus, reconnectAfterMilliseconds wait: UInt32? = nil, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        guard tables.connections[index].wire == .unknown,
            !tables.connections[index].flags.contains(.hasSpoken)
        else {
            return self.close(index, status, reconnectAfterMilliseconds: wait, &tables, &views, &service)
        }
        if let reason = status.reason { tables.counters.refusalsByReason[reason, default: 0] += 1 }
        self.admission.refused[index] = RefusedConnection(status: status, wait: wait)
        self.leaveOpenPhase(index, to: .closing, &tables, &views, &service)
        tables.scheduleDeadline(
            .firstByte(index, tables.connections.generation(index)),
            at: tables.now.monotonic + tables.settings.firstByteTimeoutMilliseconds)
        self.linger(index, &tables, &views, &service)
    }

    /// Sends a refused connection its reason, in the protocol of its first bytes; none: nothing came.
    mutating func sayRefusal(_ index: Int32, _ bytes: borrowing RawSpan, _ tables: inout Tables) {
        guard let refused = self.admission.refused.removeValue(forKey: index) else { return }
        let (first, second): (UInt8, UInt8) = bytes.withUnsafeBytes { bytes in
            (bytes.first ?? 0, bytes.count > 1 ? bytes[1] : 0)
        }
        if first == UInt8(ascii: "P"), second == UInt8(ascii: "R") {
            tables.connections[index].wire = .http2
            self.keepUnsentControl(index, HTTP2.settings(streamsMax: tables.settings.callsPerConnectionMax), &tables)
            self.keepUnsentControl(index, self.goAway(index, refused.status, tables), &tables)
        } else if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
            tables.connections[index].wire = .http1
            self.keepUnsentControl(index, self.httpClosing(refused.status, &tables), &tables)
        } else {
            self.keepUnsentDrain(index, refused.status, endsAcceptedCredentials: false, wait: refused.wait, &tables)
        }
        tables.connections[index].flags.insert(.writesReason)
    }

    /// Counts bytes of a connection before its peer is known. False: the connection was closed, because its address
    /// holds the most bytes.
    @discardableResult
    mutating func charge(
        _ bytes: Int, _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) -> Bool {
        self.admission.handshakeBytes.add(bytes, to: index, origin: tables.connections[index].origin)
        let limit = tables.settings.handshakesBytesMax
        while self.admission.handshakeBytes.weight > limit {
            let found = self.admission.handshakeBytes.weight
            self.close(
                self.admission.handshakeBytes.victim,
                WireStatus(
                    .handshakeLimit,
                    "connections that wait for HELLO or valid credentials hold \(found) bytes, the limit is \(limit); this address holds most, and this connection is its oldest: finish the handshake sooner",
                    details: [.found(found), .limit(limit), .setting("handshakes-bytes")]), &tables, &views, &service)
        }
        return tables.connections[index].phase.takesFrames
    }
}

extension PeerAddress {
    /// 127.0.0.1, for connections of this machine whose address is unknown.
    package static var thisMachine: PeerAddress { PeerAddress(high: 0, low: 0xFFFF_7F00_0001) }
}
