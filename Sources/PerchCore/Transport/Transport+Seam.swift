import PerchBase
import PerchWire

// What service and views ask of the transport, in the form of the wire of each connection.
extension Transport: CallSink {
    @inline(__always)
    mutating func spend(_ units: Int) { self.work.spend(units) }

    mutating func send(_ call: Int32, _ payload: PayloadHandle, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP { return self.sendHTTP(call, payload, &tables) }
        self.keepUnsent(connection, .answer, stream: tables.calls[call].stream, payload, &tables)
    }

    mutating func sendEnd(of call: Int32, _ status: WireStatus, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: tables.calls[call].stream), status, endsCall: call, &tables)
        }
        self.keepUnsent(
            connection, .status, stream: tables.calls[call].stream, self.encodedStatus(status, &tables), endsCall: call,
            &tables)
    }

    mutating func sendEnd(of call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: tables.calls[call].stream), .ok, endsCall: call, &tables)
        }
        tables.payloads.retain(self.okStatus)
        self.keepUnsent(connection, .status, stream: tables.calls[call].stream, self.okStatus, endsCall: call, &tables)
    }

    mutating func sendRefusal(_ connection: Int32, stream: UInt32, _ status: WireStatus, _ tables: inout Tables) {
        if tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: stream), status, endsCall: -1, &tables)
        }
        self.keepUnsent(connection, .status, stream: stream, self.encodedStatus(status, &tables), &tables)
    }

    private mutating func encodedStatus(_ status: WireStatus, _ tables: inout Tables) -> PayloadHandle {
        tables.encoded { codec throws(MessageError) in try codec.encode(status.status) }
    }

    /// The store, or the server, has answered a question.
    @inline(__always)
    mutating func questionAnswered(_ question: Ticket, _ tables: inout Tables) {
        if !self.http.heldPlaces.isEmpty { self.releasePlace(of: question, &tables) }
    }

    func certificate(of connection: Int32) -> PeerCertificate? { self.certificates[connection] }

    func callerAddress(ofCall call: Int32, _ tables: borrowing Tables) -> PeerAddress {
        self.admission.origins[tables.connections[tables.calls[call].connection].origin]
    }

    func clientID(ofCall call: Int32, _ tables: borrowing Tables) -> [UInt8] {
        self.clientID(tables.calls[call].connection, stream: tables.calls[call].stream, tables) ?? []
    }

    @inline(__always)
    func clientID(_ connection: Int32, stream: UInt32, _ tables: borrowing Tables) -> [UInt8]? {
        if tables.connections[connection].wire.isHTTP {
            let ids = self.http.clientIDs
            return ids.isEmpty ? nil : ids[Int32(bitPattern: stream)]
        }
        return self.clientIDs.isEmpty ? nil : self.clientIDs[connection]
    }

    func hasOutput(_ connection: Int32, _ tables: borrowing Tables) -> Bool {
        tables.connections[connection].firstUnsent >= 0
    }

    @inline(__always)
    func isFull(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        let connection = tables.calls[call].connection
        if tables.connections[connection].flags.contains(.isFull) { return true }
        return tables.connections[connection].wire.isHTTP && self.isHTTPBlocked(call, tables)
    }

    @inline(__always)
    func acceptsZlib(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP { return self.acceptsHTTPZlib(call, tables) }
        return tables.connections[connection].flags.contains(.acceptsZlib)
    }

    @inline(__always)
    mutating func holdBeats(for call: Int32, _ tables: inout Tables) {
        tables.connections[tables.calls[call].connection].waitingCount += 1
    }

    @inline(__always)
    mutating func releaseBeats(for call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        tables.connections[connection].waitingCount -= 1
        if tables.connections[connection].wire.isHTTP { return self.releaseBookmark(of: call, &tables) }
        if tables.connections[connection].waitingCount == 0,
            !tables.connections[connection].flags.isDisjoint(with: [.wantsBeat, .hasOpenGroup])
        {
            self.list(connection, &tables)
        }
    }

    @inline(__always)
    mutating func ready(_ call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP {
            return self.readyHTTP(Int32(bitPattern: tables.calls[call].stream), &tables)
        }
        if !tables.calls[call].flags.contains(.isListed) {
            tables.calls[call].flags.insert(.isListed)
            tables.calls[call].nextDirty = -1
            let last = tables.connections[connection].lastDirty
            tables.calls[call].previousDirty = last
            if last >= 0 {
                tables.calls[last].nextDirty = call
            } else {
                tables.connections[connection].firstDirty = call
            }
            tables.connections[connection].lastDirty = call
        }
        self.list(connection, &tables)
    }

    mutating func caughtUp(_ call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP {
            self.readyHTTP(Int32(bitPattern: tables.calls[call].stream), &tables)
        } else {
            self.list(connection, &tables)
        }
    }

    mutating func vouch(for call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        guard tables.connections[connection].wire.isHTTP else {
            tables.connections[connection].flags.insert(.wantsBeat)
            return self.list(connection, &tables)
        }
        let stream = Int32(bitPattern: tables.calls[call].stream)
        guard self.http.streams.isTaken(stream) else { return }
        self.http.streams[stream].flags.insert(.hasUnsentBookmark)
        self.readyHTTP(stream, &tables)
    }

    mutating func unlist(_ call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        let (previous, next) = (tables.calls[call].previousDirty, tables.calls[call].nextDirty)
        if previous >= 0 {
            tables.calls[previous].nextDirty = next
        } else {
            tables.connections[connection].firstDirty = next
        }
        if next >= 0 {
            tables.calls[next].previousDirty = previous
        } else {
            tables.connections[connection].lastDirty = previous
        }
        tables.calls[call].nextDirty = -1
        tables.calls[call].previousDirty = -1
        tables.calls[call].flags.remove(.isListed)
    }
}
