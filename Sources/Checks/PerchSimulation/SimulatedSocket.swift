package import PerchBase

/// The two pipes of a connection, with the bounds of a kernel. Data in either direction waits in a buffer of limited
/// size.
///
/// A `World` owns it, on its one thread.
package final class SimulatedSocket {
    package let number: Int32
    /// Bytes in flight to the client at most: the server's SO_SNDBUF.
    package var capacity: Int
    /// Whether the network delivers nothing to the client.
    package var isStalled = false

    /// Sent by the client, not yet at the server's kernel.
    package private(set) var clientInFlight: [UInt8] = []
    /// At the server's kernel, not yet read.
    package private(set) var serverReadable: [UInt8] = []
    /// Sent by the server, not yet read by the client.
    package private(set) var serverInFlight: [UInt8] = []

    /// The certificate that TLS would have verified.
    package var certificate: PeerCertificate?
    /// Whether it came over the listener of Apple's notifications.
    package var isIntake = false
    /// The client's address; nil for the same machine.
    package var address: PeerAddress?

    private var hasClientEnded = false
    private var hasServerSeenEnd = false
    package private(set) var isReset = false
    /// The server has shut down its writing side, or closed.
    package private(set) var hasServerEnded = false
    package private(set) var isClosedByServer = false

    package init(number: Int32, capacity: Int = 128 * 1024) {
        self.number = number
        self.capacity = capacity
    }

    // MARK: The client's side

    package func clientSends(_ bytes: [UInt8]) {
        guard !self.isReset, !self.hasClientEnded, !self.isClosedByServer else { return }
        self.clientInFlight.append(contentsOf: bytes)
    }

    /// The client shuts down its writing side.
    package func clientEnds() { self.hasClientEnded = true }

    /// The client is gone, and data in flight is lost.
    package func reset() {
        self.isReset = true
        self.clientInFlight.removeAll()
        self.serverReadable.removeAll()
        self.serverInFlight.removeAll()
    }

    // MARK: The network

    /// Moves up to `count` bytes to the server's kernel; returns whether there were any.
    package func deliverToServer(upTo count: Int = .max) -> Bool {
        guard !self.clientInFlight.isEmpty else { return false }
        let taken = min(count, self.clientInFlight.count)
        self.serverReadable.append(contentsOf: self.clientInFlight[..<taken])
        self.clientInFlight.removeFirst(taken)
        return true
    }

    /// Delivers up to `count` bytes to the client.
    package func deliverToClient(upTo count: Int = .max) -> [UInt8] {
        guard !self.isStalled, !self.isReset else { return [] }
        let taken = min(count, self.serverInFlight.count)
        let bytes = Array(self.serverInFlight[..<taken])
        self.serverInFlight.removeFirst(taken)
        return bytes
    }

    /// Whether the client has read everything and the server sends no more.
    package var isAtEndForClient: Bool {
        self.isReset || (self.hasServerEnded && self.serverInFlight.isEmpty)
    }

    // MARK: The server's side

    /// The result of a read.
    package enum Read {
        case bytes([UInt8])
        case end
        case broken
    }

    package var isReadable: Bool {
        guard !self.isClosedByServer else { return false }
        if self.isReset { return true }
        return !self.serverReadable.isEmpty
            || (self.hasClientEnded && self.clientInFlight.isEmpty && !self.hasServerSeenEnd)
    }

    package func read(upTo count: Int) -> Read {
        if self.isReset { return .broken }
        if self.serverReadable.isEmpty {
            self.hasServerSeenEnd = true
            return .end
        }
        let taken = min(count, self.serverReadable.count)
        let bytes = Array(self.serverReadable[..<taken])
        self.serverReadable.removeFirst(taken)
        return .bytes(bytes)
    }

    package var room: Int { max(0, self.capacity - self.serverInFlight.count) }

    package var isWritable: Bool { self.isReset || self.room > 0 }

    /// Accepts bytes up to the free space; nil if the peer is gone.
    package func send(_ bytes: UnsafeRawBufferPointer, atMost: Int) -> Int? {
        if self.isReset { return nil }
        let taken = min(bytes.count, min(atMost, self.room))
        self.serverInFlight.append(contentsOf: bytes[..<taken])
        return taken
    }

    package func shutDownWriting() { self.hasServerEnded = true }

    package func close() {
        self.hasServerEnded = true
        self.isClosedByServer = true
        self.clientInFlight.removeAll()
        self.serverReadable.removeAll()
    }
}
