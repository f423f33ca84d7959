import PerchWire

/// What a transport says of a call when it opens one.
struct Opening {
    var method: Method
    /// How long the caller waits; 0: it did not say.
    var timeoutMilliseconds: UInt64
    /// What came beside the request: credentials of the call's own.
    var metadata: [Metadata]
}

// What service and views ask of the transports. They name a call, and never how it is written.
//
//     transport → service   open(connection, stream, Opening, request) · end(call, status): cancelled, or too late
//     service → transport   send · sendEnd · sendRefusal
//     views → transport     ready(call): it has a value or events
//     transport → views     encoding(for:zlib:) · eventsReady: what a ready call is given when its stream can take it
extension LoopCore {
    /// The answer of a unary call. The payload's reference is the transport's from now on.
    mutating func send(_ call: Int32, _ payload: PayloadHandle) {
        self.owe(self.calls[call].connection, .answer, stream: self.calls[call].stream, payload)
    }

    /// The end of a call. The call is removed when the kernel has taken it.
    mutating func sendEnd(of call: Int32, _ payload: PayloadHandle) {
        self.owe(self.calls[call].connection, .status, stream: self.calls[call].stream, payload, endsCall: call)
    }

    /// The end of a call that never got a slot.
    mutating func sendRefusal(_ connection: Int32, stream: UInt32, _ payload: PayloadHandle) {
        self.owe(connection, .status, stream: stream, payload)
    }

    /// Whether the stream of a call takes nothing now.
    @inline(__always)
    func isFull(_ call: Int32) -> Bool { self.connections[self.calls[call].connection].flags.contains(.isFull) }

    /// Whether the peer of a call reads zlib.
    @inline(__always)
    func acceptsZlib(_ call: Int32) -> Bool {
        self.connections[self.calls[call].connection].flags.contains(.acceptsZlib)
    }

    /// A watch or a stream of events has something to say: its connection asks for it when it is written to.
    @inline(__always)
    mutating func ready(_ call: Int32) {
        let connection = self.calls[call].connection
        if !self.calls[call].flags.contains(.isListed) {
            self.calls[call].flags.insert(.isListed)
            self.calls[call].nextDirty = -1
            let last = self.connections[connection].lastDirty
            self.calls[call].previousDirty = last
            if last >= 0 { self.calls[last].nextDirty = call } else { self.connections[connection].firstDirty = call }
            self.connections[connection].lastDirty = call
        }
        self.list(connection)
    }

    /// A call has nothing to say any more.
    mutating func unlist(_ call: Int32) {
        let connection = self.calls[call].connection
        let (previous, next) = (self.calls[call].previousDirty, self.calls[call].nextDirty)
        if previous >= 0 {
            self.calls[previous].nextDirty = next
        } else {
            self.connections[connection].firstDirty = next
        }
        if next >= 0 {
            self.calls[next].previousDirty = previous
        } else {
            self.connections[connection].lastDirty = previous
        }
        self.calls[call].nextDirty = -1
        self.calls[call].previousDirty = -1
        self.calls[call].flags.remove(.isListed)
    }
}
