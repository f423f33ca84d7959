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
extension LoopCore {
    /// A new call, under its stream number.
    mutating func nameStream(of call: Int32) { self.transport.nameStream(of: call, self.tables) }

    /// The stream number is free for another call.
    mutating func forgetStream(of call: Int32) { self.transport.forgetStream(of: call, self.tables) }

    @inline(__always)
    mutating func spend(_ units: Int) { self.transport.work.spend(units) }

    /// Sends the answer of a unary call. The transport takes over the payload's reference.
    mutating func send(_ call: Int32, _ payload: PayloadHandle) {
        let connection = self.tables.calls[call].connection
        if self.tables.connections[connection].wire.isHTTP { return self.sendHTTP(call, payload) }
        self.owe(connection, .answer, stream: self.tables.calls[call].stream, payload)
    }

    /// The end of a call that went wrong. The call is removed when the kernel has taken it.
    mutating func sendEnd(of call: Int32, _ status: WireStatus) {
        let connection = self.tables.calls[call].connection
        if self.tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: self.tables.calls[call].stream), status, endsCall: call)
        }
        self.owe(
            connection, .status, stream: self.tables.calls[call].stream, self.encodedStatus(status), endsCall: call)
    }

    /// The end of a call that went well.
    mutating func sendEnd(of call: Int32) {
        let connection = self.tables.calls[call].connection
        if self.tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: self.tables.calls[call].stream), .ok, endsCall: call)
        }
        self.tables.payloads.retain(self.service.okStatus)
        self.owe(connection, .status, stream: self.tables.calls[call].stream, self.service.okStatus, endsCall: call)
    }

    /// The end of a call that never got a slot.
    mutating func sendRefusal(_ connection: Int32, stream: UInt32, _ status: WireStatus) {
        if self.tables.connections[connection].wire.isHTTP {
            return self.sendHTTPEnd(Int32(bitPattern: stream), status, endsCall: -1)
        }
        self.owe(connection, .status, stream: stream, self.encodedStatus(status))
    }

    private mutating func encodedStatus(_ status: WireStatus) -> PayloadHandle {
        self.encoded { codec throws(MessageError) in try codec.encode(status.status) }
    }

    /// The store, or the server, has answered a question.
    @inline(__always)
    mutating func questionAnswered(_ question: Ticket) {
        if !self.transport.http.heldPlaces.isEmpty { self.releasePlace(of: question) }
    }

    /// Whether the store may be asked what is true: see `vouches`.
    var mayRead: Bool { self.transport.vouches }

    /// The address of a caller, for the audit trail.
    func callerAddress(ofCall call: Int32) -> PeerAddress {
        self.transport.admission.origins[self.tables.connections[self.tables.calls[call].connection].origin]
    }

    /// What the client of a call says it is, in HELLO or with the call.
    func clientID(ofCall call: Int32) -> [UInt8] {
        self.clientID(self.tables.calls[call].connection, stream: self.tables.calls[call].stream) ?? []
    }

    /// The same for a stream that has no call yet; nil without an ID.
    @inline(__always)
    func clientID(_ connection: Int32, stream: UInt32) -> [UInt8]? {
        if self.tables.connections[connection].wire.isHTTP {
            let ids = self.transport.http.clientIDs
            return ids.isEmpty ? nil : ids[Int32(bitPattern: stream)]
        }
        return self.service.clientIDs.isEmpty ? nil : self.service.clientIDs[connection]
    }

    /// Whether the stream of a call accepts no output now.
    @inline(__always)
    func isFull(_ call: Int32) -> Bool {
        let connection = self.tables.calls[call].connection
        if self.tables.connections[connection].flags.contains(.isFull) { return true }
        return self.tables.connections[connection].wire.isHTTP && self.isHTTPBlocked(call)
    }

    /// Whether the peer of a call accepts zlib.
    @inline(__always)
    func acceptsZlib(_ call: Int32) -> Bool {
        let connection = self.tables.calls[call].connection
        if self.tables.connections[connection].wire.isHTTP { return self.acceptsHTTPZlib(call) }
        return self.tables.connections[connection].flags.contains(.acceptsZlib)
    }

    /// A call delays the bookmarks of its connection until `releaseBeats`: a value that a BEAT would cover is pending.
    @inline(__always)
    mutating func holdBeats(for call: Int32) {
        self.tables.connections[self.tables.calls[call].connection].waitingCount += 1
    }

    /// The pending value is ready. A BEAT that waited for the last such call is sent in this tick.
    @inline(__always)
    mutating func releaseBeats(for call: Int32) {
        let connection = self.tables.calls[call].connection
        self.tables.connections[connection].waitingCount -= 1
        if self.tables.connections[connection].wire.isHTTP { return self.releaseBookmark(of: call) }
        if self.tables.connections[connection].waitingCount == 0,
            !self.tables.connections[connection].flags.isDisjoint(with: [.wantsBeat, .hasOpenGroup])
        {
            self.list(connection)
        }
    }

    /// A watch or a stream of events has output: its connection fetches it when it is written to.
    @inline(__always)
    mutating func ready(_ call: Int32) {
        let connection = self.tables.calls[call].connection
        if self.tables.connections[connection].wire.isHTTP {
            return self.readyHTTP(Int32(bitPattern: self.tables.calls[call].stream))
        }
        if !self.tables.calls[call].flags.contains(.isListed) {
            self.tables.calls[call].flags.insert(.isListed)
            self.tables.calls[call].nextDirty = -1
            let last = self.tables.connections[connection].lastDirty
            self.tables.calls[call].previousDirty = last
            if last >= 0 {
                self.tables.calls[last].nextDirty = call
            } else {
                self.tables.connections[connection].firstDirty = call
            }
            self.tables.connections[connection].lastDirty = call
        }
        self.list(connection)
    }

    /// A stream has said everything up to `applied`: what claims that may go out.
    mutating func caughtUp(_ call: Int32) {
        let connection = self.tables.calls[call].connection
        if self.tables.connections[connection].wire.isHTTP {
            self.readyHTTP(Int32(bitPattern: self.tables.calls[call].stream))
        } else {
            self.list(connection)
        }
    }

    /// A call has no more output.
    mutating func unlist(_ call: Int32) {
        let connection = self.tables.calls[call].connection
        let (previous, next) = (self.tables.calls[call].previousDirty, self.tables.calls[call].nextDirty)
        if previous >= 0 {
            self.tables.calls[previous].nextDirty = next
        } else {
            self.tables.connections[connection].firstDirty = next
        }
        if next >= 0 {
            self.tables.calls[next].previousDirty = previous
        } else {
            self.tables.connections[connection].lastDirty = previous
        }
        self.tables.calls[call].nextDirty = -1
        self.tables.calls[call].previousDirty = -1
        self.tables.calls[call].flags.remove(.isListed)
    }
}
