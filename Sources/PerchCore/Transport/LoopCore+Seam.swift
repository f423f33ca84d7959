import PerchBase
import PerchWire

/// A transport's data about a call that it opens.
struct Opening {
    var method: Method
    /// The caller's deadline in milliseconds; 0: none.
    var timeoutMilliseconds: UInt64
    /// Metadata beside the request: credentials of this call.
    var metadata: [Metadata]
    /// The client cannot drop a resume token that is refused: it is given the value instead, as if it had none.
    var forgivesToken = false
}

// The calls from service and views to the transports. They name a call, and never its form on the wire.
//
//     transport → service   open(connection, stream, Opening, request) · end(call, status): cancelled, or too late
//     service → transport   send · sendEnd · sendRefusal · spend: the work that a call took
//     views → transport     ready(call): it has a value or events
//     transport → views     encoding(for:zlib:) · eventsReady: what a ready call is given when its stream can take it
extension Transport: CallSink {
    @inline(__always)
    mutating func spend(_ units: Int) { self.work.spend(units) }

    /// Sends the answer of a unary call. The transport takes over the payload's reference.
    mutating func send(_ call: Int32, _ payload: PayloadHandle, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP { return self.sendHTTP(call, payload, &tables) }
        self.owe(connection, .answer, stream: tables.calls[call].stream, payload, &tables)
    }

    /// The end of a call that went wrong. The call is removed when the kernel has taken it.
    mutating func sendEnd(of call: Int32, _ status: WireStatus, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: tables.calls[call].stream), status, endsCall: call, &tables)
        }
        self.owe(
            connection, .status, stream: tables.calls[call].stream, self.encodedStatus(status, &tables), endsCall: call,
            &tables)
    }

    /// The end of a call that went well.
    mutating func sendEnd(of call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: tables.calls[call].stream), .ok, endsCall: call, &tables)
        }
        tables.payloads.retain(self.okStatus)
        self.owe(connection, .status, stream: tables.calls[call].stream, self.okStatus, endsCall: call, &tables)
    }

    /// The end of a call that never got a slot.
    mutating func sendRefusal(_ connection: Int32, stream: UInt32, _ status: WireStatus, _ tables: inout Tables) {
        if tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: stream), status, endsCall: -1, &tables)
        }
        self.owe(connection, .status, stream: stream, self.encodedStatus(status, &tables), &tables)
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

    /// The address of a caller, for the audit trail.
    func callerAddress(ofCall call: Int32, _ tables: borrowing Tables) -> PeerAddress {
        self.admission.origins[tables.connections[tables.calls[call].connection].origin]
    }

    /// What the client of a call says it is, in HELLO or with the call.
    func clientID(ofCall call: Int32, _ tables: borrowing Tables) -> [UInt8] {
        self.clientID(tables.calls[call].connection, stream: tables.calls[call].stream, tables) ?? []
    }

    /// The same for a stream that has no call yet; nil without an ID.
    @inline(__always)
    func clientID(_ connection: Int32, stream: UInt32, _ tables: borrowing Tables) -> [UInt8]? {
        if tables.connections[connection].wire.isHTTP {
            let ids = self.http.clientIDs
            return ids.isEmpty ? nil : ids[Int32(bitPattern: stream)]
        }
        return self.clientIDs.isEmpty ? nil : self.clientIDs[connection]
    }

    /// Whether the stream of a call accepts no output now.
    @inline(__always)
    func isFull(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        let connection = tables.calls[call].connection
        if tables.connections[connection].flags.contains(.isFull) { return true }
        return tables.connections[connection].wire.isHTTP && self.isHTTPBlocked(call, tables)
    }

    /// Whether the peer of a call accepts zlib.
    @inline(__always)
    func acceptsZlib(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP { return self.acceptsHTTPZlib(call, tables) }
        return tables.connections[connection].flags.contains(.acceptsZlib)
    }

    /// A call delays the bookmarks of its connection until `releaseBeats`: a value that a BEAT would cover is pending.
    @inline(__always)
    mutating func holdBeats(for call: Int32, _ tables: inout Tables) {
        tables.connections[tables.calls[call].connection].waitingCount += 1
    }

    /// The pending value is ready. A BEAT that waited for the last such call is sent in this tick.
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

    /// A watch or a stream of events has output: its connection fetches it when it is written to.
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

    /// A stream has said everything up to `applied`: what claims that may go out.
    mutating func caughtUp(_ call: Int32, _ tables: inout Tables) {
        let connection = tables.calls[call].connection
        if tables.connections[connection].wire.isHTTP {
            self.readyHTTP(Int32(bitPattern: tables.calls[call].stream), &tables)
        } else {
            self.list(connection, &tables)
        }
    }

    /// A call has no more output.
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
