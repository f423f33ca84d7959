import PerchWire

/// A transport's data about a call that it opens.
struct Opening {
    var method: Method
    /// The caller's deadline in milliseconds; 0: none.
    var timeoutMilliseconds: UInt64
    /// Metadata beside the request: credentials of this call.
    var metadata: [Metadata]
}

// The calls from service and views to the transports. They name a call, and never its form on the wire.
//
//     transport → service   open(connection, stream, Opening, request) · end(call, status): cancelled, or too late
//     service → transport   send · sendEnd · sendRefusal
//     views → transport     ready(call): it has a value or events
//     transport → views     encoding(for:zlib:) · eventsReady: what a ready call is given when its stream can take it
extension LoopCore {
    /// Sends the answer of a unary call. The transport takes over the payload's reference.
    mutating func send(_ call: Int32, _ payload: PayloadHandle) {
        self.owe(self.calls[call].connection, .answer, stream: self.calls[call].stream, payload)
    }

    /// Sends the end of a call. The call is removed when the kernel has accepted it.
    mutating func sendEnd(of call: Int32, _ payload: PayloadHandle) {
        self.owe(self.calls[call].connection, .status, stream: self.calls[call].stream, payload, endsCall: call)
    }

    /// Sends the end of a call that never had a slot.
    mutating func sendRefusal(_ connection: Int32, stream: UInt32, _ payload: PayloadHandle) {
        self.owe(connection, .status, stream: stream, payload)
    }

    /// Whether the stream of a call accepts no output now.
    @inline(__always)
    func isFull(_ call: Int32) -> Bool { self.connections[self.calls[call].connection].flags.contains(.isFull) }

    /// Whether the peer of a call accepts zlib.
    @inline(__always)
    func acceptsZlib(_ call: Int32) -> Bool {
        self.connections[self.calls[call].connection].flags.contains(.acceptsZlib)
    }

    /// A watch or a stream of events has output: its connection fetches it when it is written to.
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

    /// A call has no more output.
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
