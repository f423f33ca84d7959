import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// The purpose of a deadline, packed into the 64 bits of a timer.
enum Deadline {
    case firstByte(Int32, UInt32)
    case hello(Int32, UInt32)
    case call(Int32, UInt32)
    case behind(Int32, UInt32)
    case dying(Int32, UInt32)
    case drained(Int32, UInt32)
    case identityEnded(Int32, UInt32)
    case frame(Int32, UInt32)
    case connectionAge(Int32, UInt32)
    case streamAge(Int32, UInt32)
    case lastStream(Int32, UInt32)

    /// Four bits of kind, 28 of generation, 32 of index. Generations that differ by 2^28 count as equal: a slot would
    /// have to be reused a quarter of a billion times within one deadline.
    var packed: UInt64 {
        let (kind, index, generation): (UInt64, Int32, UInt32) =
            switch self {
            case .firstByte(let index, let generation): (0, index, generation)
            case .hello(let index, let generation): (1, index, generation)
            case .call(let index, let generation): (2, index, generation)
            case .behind(let index, let generation): (3, index, generation)
            case .dying(let index, let generation): (4, index, generation)
            case .drained(let index, let generation): (5, index, generation)
            case .identityEnded(let index, let generation): (6, index, generation)
            case .frame(let index, let generation): (7, index, generation)
            case .connectionAge(let index, let generation): (8, index, generation)
            case .streamAge(let index, let generation): (9, index, generation)
            case .lastStream(let index, let generation): (10, index, generation)
            }
        return kind << 60 | UInt64(generation & 0x0FFF_FFFF) << 32 | UInt64(UInt32(bitPattern: index))
    }
}

// Time: deadlines, heartbeats, stalls, on the monotonic clock.
extension LoopCore {
    mutating func runTimers() {
        while let due = self.tables.deadlines.popDue(at: self.tables.now.monotonic) { self.expired(due.payload) }
        self.service.endExpiredIdentities(&self.tables, &self.views, &self.transport)
        self.views.retryLoads(&self.tables)
        self.service.lookForApps(&self.tables)
        self.views.raiseDueCrossings(&self.tables, &self.transport)
        let second = self.tables.now.monotonic / 1_000
        self.transport.beats.advance(to: second)
        while self.tables.vouches, let connection = self.transport.beats.popDue() {
            self.beatDue(connection, second)
        }
        self.transport.stalls.advance(to: second)
        while let connection = self.transport.stalls.popDue() { self.stallDue(connection) }
    }

    /// Heartbeats vouch for a position. They pause while the store of several nodes is out of reach, and are sent then. Reads are refused
    /// meanwhile, those too that the store's thread has, because it may be waiting for a database that confirms nothing.
    package mutating func vouches(_ isFresh: Bool) {
        let ends = self.tables.vouches && !isFresh
        self.tables.vouches = isFresh
        guard ends else { return }
        self.service.endAppSearch(&self.tables, &self.views, &self.transport)
        for place in 0..<self.tables.tickets.extent where self.tables.tickets.isTaken(place) {
            guard case .call(let call, let generation) = self.tables.tickets[place],
                self.tables.calls.isTaken(call, generation: generation), self.tables.calls[call].method.isSafe,
                self.service.pendingCall(call, self.tables)?.asksStore == true
            else { continue }
            self.holdPlace(of: call)
            self.service.end(call, Service.outOfReach, &self.tables, &self.views, &self.transport)
        }
    }

    /// Whether an answer of the store is awaited.
    package var awaitsStore: Bool { self.tables.tickets.count > 0 }

    private mutating func expired(_ packed: UInt64) {
        let index = Int32(bitPattern: UInt32(truncatingIfNeeded: packed))
        let generation = UInt32(truncatingIfNeeded: packed >> 32) & 0x0FFF_FFFF
        let kind = packed >> 60
        if kind == 2 || kind == 3 || kind == 9 {
            guard self.tables.calls.isTaken(index), self.tables.calls.generation(index) & 0x0FFF_FFFF == generation
            else { return }
            if kind == 2 { self.holdPlace(of: index) }
            return self.service.timeIsUp(
                index, isAge: kind == 9, isDeadline: kind == 2, &self.tables, &self.views, &self.transport)
        }
        guard self.tables.connections.isTaken(index),
            self.tables.connections.generation(index) & 0x0FFF_FFFF == generation
        else {
            return
        }
        switch kind {
        case 0:
            if self.tables.connections[index].phase == .closing {
                let nothing: [UInt8] = []
                return self.sayRefusal(index, nothing.span.bytes)
            }
            guard self.tables.connections[index].phase == .greeting || self.isSilentHTTP2(index) else { return }
            if self.tables.connections[index].flags.contains(.hasSpoken) {
                let rest =
                    self.tables.settings.helloTimeoutMilliseconds - self.tables.settings.firstByteTimeoutMilliseconds
                self.tables.scheduleDeadline(
                    .hello(index, self.tables.connections.generation(index)), at: self.tables.now.monotonic + rest)
            } else {
                self.close(
                    index,
                    Self.helloTimeout(
                        "nothing", "first-byte-timeout", self.tables.settings.firstByteTimeoutMilliseconds))
            }
        case 1:
            if self.isSilentHTTP2(index) {
                let limit = self.tables.settings.helloTimeoutMilliseconds
                return self.close(
                    index,
                    WireStatus(
                        .helloTimeout, "no request came within \(limit) ms of connecting; connect when you have one",
                        details: [.limit(limit), .setting("hello-timeout")]))
            }
            guard self.tables.connections[index].phase == .greeting else { return }
            self.close(
                index,
                Self.helloTimeout("no whole HELLO", "hello-timeout", self.tables.settings.helloTimeoutMilliseconds))
        case 4:
            self.tables.counters.lingerExpired += 1
            self.remove(index)
        case 6:
            if let status = self.service.identityCloseDue(index, &self.tables) { self.close(index, status) }
        case 7:
            self.frameTimerFired(index)
        case 8:
            guard self.tables.connections[index].http >= 0 else { return }
            self.ageHTTP(index)
        case 10:
            if self.tables.connections[index].http >= 0 { self.drainPingReturned(index) }
        default:
            self.close(index, self.shuttingDown)
        }
    }

    /// A connection of HTTP/2 on which only the preface came; on a server that needs credentials, one without a request.
    private func isSilentHTTP2(_ index: Int32) -> Bool {
        guard self.tables.connections[index].phase == .open, self.tables.connections[index].wire == .http2,
            self.tables.connections[index].identity == IdentityTable.nobody
        else { return false }
        let http = self.transport.http.connections[self.tables.connections[index].http]
        return !http.flags.contains(.hasSettings) || self.service.hasAuthenticator && http.lastStream == 0
    }

    private static func helloTimeout(_ what: String, _ setting: String, _ milliseconds: Int64) -> WireStatus {
        WireStatus(
            .helloTimeout, "\(what) came within \(milliseconds) ms of connecting; send HELLO at once",
            details: [.limit(milliseconds), .setting(setting)])
    }

    private mutating func beatDue(_ connection: Int32, _ second: Int64) {
        if self.tables.connections[connection].http >= 0 { return self.httpBeatDue(connection, second) }
        let slot = self.tables.connections[connection]
        let interval = Int64(slot.heartbeatSeconds)
        let due = slot.lastBeat / 1_000 + interval
        if due > second {
            // A BEAT was sent in this interval, at the end of a group.
            self.transport.beats.insert(connection, dueAt: due)
            return
        }
        self.transport.beats.insert(connection, dueAt: second + interval)
        self.tables.connections[connection].flags.insert(.wantsBeat)
        // A waiting watch delays the BEAT, and the client would treat silence as a dead connection.
        if slot.phase == .open, slot.waitingCount > 0, !slot.flags.contains(.isFull) {
            let payload = self.tables.payloads.insert(Self.pingBody)
            self.transport.owe(connection, .ping, stream: 0, payload, &self.tables)
        }
        self.transport.list(connection, &self.tables)
    }

    /// A PING after its address: no compression, eight arbitrary bytes.
    private static let pingBody: [UInt8] = [0, 0, 0, 0, 8] + [UInt8](repeating: 0, count: 8)

    private mutating func stallDue(_ connection: Int32) {
        let since = self.tables.connections[connection].stalledSince
        guard since != 0 else { return }
        let due = since + self.tables.settings.writeStallMilliseconds
        guard due <= self.tables.now.monotonic else {
            self.transport.stalls.insert(connection, dueAt: due / 1_000 + 1)
            return
        }
        guard self.tables.connections[connection].phase.takesFrames else { return }
        self.tables.counters.stalledClosed += 1
        self.close(
            connection,
            WireStatus(
                .writeStalled,
                "this connection has taken nothing for \(self.tables.now.monotonic - since) ms, the limit is \(self.tables.settings.writeStallMilliseconds); read faster, or watch less on one connection",
                details: [
                    .found(self.tables.now.monotonic - since),
                    .limit(self.tables.settings.writeStallMilliseconds), .setting("write-stall"),
                ]))
    }

    /// Ends a tick: reports barriers that are reached. Returns when to step the core again, in milliseconds of the
    /// monotonic clock; nil: at the next event.
    package mutating func endTurn() -> Int64? {
        self.views.reportBarriers(&self.tables)
        self.forgetWelcome()
        self.forgetBookmark()
        self.views.forgetEncodedChanges(&self.tables)
        if !self.transport.pausedInputs.isEmpty { return self.tables.now.monotonic }
        var next = self.tables.deadlines.nextTime
        func consider(_ time: Int64) { next = min(next ?? .max, time) }
        if let time = self.views.nextTime(self.tables) { consider(time) }
        if let time = self.service.nextTime(self.tables) { consider(time) }
        if self.transport.beats.count > 0 || self.transport.stalls.count > 0 {
            consider((self.tables.now.monotonic / 1_000 + 1) * 1_000)
        }
        return next
    }

    /// The costs and counts of the loop's data, for `perch doctor`.
    package var census: LoopCensus {
        LoopCensus(
            connections: Int(self.tables.connections.count), calls: Int(self.tables.calls.count),
            views: Int(self.views.slots.count),
            accounts: Int(self.views.accounts.count),
            payloads: self.tables.payloads.count - self.transport.http.heads.count - self.lastingFormCount,
            memoryBytes: self.tables.connections.memoryBytes + self.tables.calls.memoryBytes
                + self.views.slots.memoryBytes
                + self.views.accounts.memoryBytes + self.tables.payloads.memoryBytes + self.views.encodings.memoryBytes
                + self.transport.streams.memoryBytes + self.views.tableBytes + self.httpBytes
                + Limits.stagingBytes + self.transport.partialBytes,
            connectionBytes: Slab<Connection>.bytesPerElement,
            callBytes: Slab<CallSlot>.bytesPerElement + SlotTable.bytesPerSlotMax,
            viewBytes: Slab<ViewSlot>.bytesPerElement + Slab<AccountSlot>.bytesPerElement
                + 3 * SlotTable.bytesPerSlotMax, handshakes: self.handshakes,
            handshakeBytes: self.handshakeBytes,
            dying: self.transport.admission.closing.count, partialBytes: self.transport.partialBytes,
            callsBytes: self.service.callsBytes(self.tables, self.views),
            identities: self.service.identities.count,
            applied: self.tables.applied)
    }
}

/// How much a loop holds.
package struct LoopCensus: Sendable {
    package var connections: Int
    package var calls: Int
    package var views: Int
    package var accounts: Int
    package var payloads: Int
    package var memoryBytes: Int
    package var connectionBytes: Int
    /// Bytes of a watch of an existing view.
    package var callBytes: Int
    /// Upper bound for the bytes of a view of an account with no other watch, without its key; table entries included.
    package var viewBytes: Int
    /// Connections before WELCOME, or without valid credentials on a server that needs them.
    package var handshakes: Int
    /// Bytes of those connections: partial frames, and TLS handshakes.
    package var handshakeBytes: Int
    /// Connections that are closing.
    package var dying: Int
    package var partialBytes: Int
    /// What open calls hold.
    package var callsBytes: Int
    /// Known identities, used or not.
    package var identities: Int
    /// The revision up to which the loop has applied every change.
    package var applied: UInt64
}
