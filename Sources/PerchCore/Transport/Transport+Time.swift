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
extension Transport {
    /// Heartbeats and stalls that are due.
    mutating func runBeats(_ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate) {
        let second = tables.now.monotonic / 1_000
        self.beats.advance(to: second)
        while tables.vouches, let connection = self.beats.popDue() {
            self.beatDue(connection, second, &tables, &views)
        }
        self.stalls.advance(to: second)
        while let connection = self.stalls.popDue() { self.stallDue(connection, &tables, &views, &service) }
    }

    /// The time of a connection or a call has come.
    mutating func expired(
        _ packed: UInt64, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let index = Int32(bitPattern: UInt32(truncatingIfNeeded: packed))
        let generation = UInt32(truncatingIfNeeded: packed >> 32) & 0x0FFF_FFFF
        let kind = packed >> 60
        if kind == 2 || kind == 3 || kind == 9 {
            guard tables.calls.isTaken(index), tables.calls.generation(index) & 0x0FFF_FFFF == generation
            else { return }
            if kind == 2 { self.holdPlace(of: index, &tables, &views) }
            return service.timeIsUp(index, isAge: kind == 9, isDeadline: kind == 2, &tables, &views, &self)
        }
        guard tables.connections.isTaken(index),
            tables.connections.generation(index) & 0x0FFF_FFFF == generation
        else {
            return
        }
        switch kind {
        case 0:
            if tables.connections[index].phase == .closing {
                let nothing: [UInt8] = []
                return self.sayRefusal(index, nothing.span.bytes, &tables)
            }
            guard tables.connections[index].phase == .greeting || self.isSilentHTTP2(index, tables, service) else {
                return
            }
            if tables.connections[index].flags.contains(.hasSpoken) {
                let rest = tables.settings.helloTimeoutMilliseconds - tables.settings.firstByteTimeoutMilliseconds
                tables.scheduleDeadline(
                    .hello(index, tables.connections.generation(index)), at: tables.now.monotonic + rest)
            } else {
                self.close(
                    index,
                    Self.helloTimeout(
                        "nothing", "first-byte-timeout", tables.settings.firstByteTimeoutMilliseconds), &tables, &views,
                    &service)
            }
        case 1:
            if self.isSilentHTTP2(index, tables, service) {
                let limit = tables.settings.helloTimeoutMilliseconds
                return self.close(
                    index,
                    WireStatus(
                        .helloTimeout, "no request came within \(limit) ms of connecting; connect when you have one",
                        details: [.limit(limit), .setting("hello-timeout")]), &tables, &views, &service)
            }
            guard tables.connections[index].phase == .greeting else { return }
            self.close(
                index,
                Self.helloTimeout("no whole HELLO", "hello-timeout", tables.settings.helloTimeoutMilliseconds), &tables,
                &views, &service)
        case 4:
            tables.counters.lingerExpired += 1
            self.remove(index, &tables, &views, &service)
        case 6:
            if let status = service.identityCloseDue(index, &tables, self) {
                self.close(index, status, &tables, &views, &service)
            }
        case 7:
            self.frameTimerFired(index, &tables, &views, &service)
        case 8:
            guard tables.connections[index].http >= 0 else { return }
            self.ageHTTP(index, &tables)
        case 10:
            if tables.connections[index].http >= 0 { self.drainPingReturned(index, &tables, &views, &service) }
        default:
            self.close(index, self.shuttingDown(tables), &tables, &views, &service)
        }
    }

    /// A connection of HTTP/2 on which only the preface came; on a server that needs credentials, one without a request.
    private func isSilentHTTP2(_ index: Int32, _ tables: borrowing Tables, _ service: borrowing some Gate) -> Bool {
        guard tables.connections[index].phase == .open, tables.connections[index].wire == .http2,
            tables.connections[index].identity == IdentityTable.nobody
        else { return false }
        let http = self.http.connections[tables.connections[index].http]
        return !http.flags.contains(.hasSettings) || service.hasAuthenticator && http.lastStream == 0
    }

    private static func helloTimeout(_ what: String, _ setting: String, _ milliseconds: Int64) -> WireStatus {
        WireStatus(
            .helloTimeout, "\(what) came within \(milliseconds) ms of connecting; send HELLO at once",
            details: [.limit(milliseconds), .setting(setting)])
    }

    private mutating func beatDue(
        _ connection: Int32, _ second: Int64, _ tables: inout Tables, _ views: inout some Source
    ) {
        if tables.connections[connection].http >= 0 { return self.httpBeatDue(connection, second, &tables, &views) }
        let slot = tables.connections[connection]
        let interval = Int64(slot.heartbeatSeconds)
        let due = slot.lastBeat / 1_000 + interval
        if due > second {
            // A BEAT was sent in this interval, at the end of a group.
            self.beats.insert(connection, dueAt: due)
            return
        }
        self.beats.insert(connection, dueAt: second + interval)
        tables.connections[connection].flags.insert(.wantsBeat)
        // A waiting watch delays the BEAT, and the client would treat silence as a dead connection.
        if slot.phase == .open, slot.waitingCount > 0, !slot.flags.contains(.isFull) {
            let payload = tables.payloads.insert(Self.pingBody)
            self.keepUnsent(connection, .ping, stream: 0, payload, &tables)
        }
        self.list(connection, &tables)
    }

    /// A PING after its address: no compression, eight arbitrary bytes.
    private static let pingBody: [UInt8] = [0, 0, 0, 0, 8] + [UInt8](repeating: 0, count: 8)

    private mutating func stallDue(
        _ connection: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let since = tables.connections[connection].stalledSince
        guard since != 0 else { return }
        let due = since + tables.settings.writeStallMilliseconds
        guard due <= tables.now.monotonic else {
            self.stalls.insert(connection, dueAt: due / 1_000 + 1)
            return
        }
        guard tables.connections[connection].phase.takesFrames else { return }
        tables.counters.stalledClosed += 1
        self.close(
            connection,
            WireStatus(
                .writeStalled,
                "this connection has taken nothing for \(tables.now.monotonic - since) ms, the limit is \(tables.settings.writeStallMilliseconds); read faster, or watch less on one connection",
                details: [
                    .found(tables.now.monotonic - since),
                    .limit(tables.settings.writeStallMilliseconds), .setting("write-stall"),
                ]), &tables, &views, &service)
    }
}
