package import PerchBase
package import PerchWire

// What the driver does with a transport.
extension LoopCore {
    /// A connection was accepted. Its number identifies it in effects and events from now on.
    package mutating func accepted(
        socket: Int32, isLoopback: Bool, address: PeerAddress = .thisMachine, isIntake: Bool = false
    ) -> Int32 {
        self.transport.accepted(
            socket: socket, isLoopback: isLoopback, address: address, isIntake: isIntake, &self.tables, &self.views,
            &self.service)
    }

    /// Number of connections with a handshake slot.
    package var handshakes: Int { self.transport.handshakes }

    /// Bytes of connections with a handshake slot.
    package var handshakeBytes: Int { self.transport.handshakeBytes }

    /// The peer's certificate was verified. Must be called before any of its bytes are given.
    package mutating func authenticated(_ connection: Int32, as certificate: PeerCertificate) {
        self.transport.authenticated(connection, as: certificate, &self.tables)
    }

    /// TLS chose a protocol by ALPN, and the connection must speak it. Must be called before any of its bytes are given.
    package mutating func negotiated(_ connection: Int32, _ name: String) {
        self.transport.negotiated(connection, name, &self.tables)
    }

    /// The driver holds more memory for a connection before its peer is known: a TLS handshake.
    package mutating func holds(_ bytes: Int, for connection: Int32) {
        self.transport.holds(bytes, for: connection, &self.tables, &self.views, &self.service)
    }

    /// Input arrived that is not for the core, such as a part of a handshake. It meets the limit for the first byte;
    /// that for HELLO remains.
    package mutating func heard(_ connection: Int32) {
        self.transport.heard(connection, &self.tables)
    }

    /// The driver refuses this peer. The connection closes with a reason that the peer can read.
    package mutating func refuse(_ connection: Int32, _ status: WireStatus) {
        self.transport.refuse(connection, status, &self.tables, &self.views, &self.service)
    }

    /// The driver refuses a peer for the way in which it begins.
    package mutating func refuse(_ connection: Int32, _ status: WireStatus, first bytes: borrowing RawSpan) {
        self.transport.refuse(connection, status, first: bytes, &self.tables, &self.views, &self.service)
    }

    /// The layer between has failed, and has notified the peer itself if it could. The core sends nothing more. It
    /// shuts down the writing side and discards input for a while, so that the peer can read the notification.
    package mutating func giveUp(_ connection: Int32) {
        self.transport.giveUp(connection, &self.tables, &self.views, &self.service)
    }

    /// The kernel accepted some or all of the bytes that the core counts as written, so a slow reader is not stalled.
    package mutating func progressed(_ connection: Int32, isAll: Bool) {
        self.transport.progressed(connection, isAll: isAll, &self.tables)
    }

    /// Plans the next batch of writes. Zero: this tick has no more output.
    package mutating func planWrites() -> Int {
        self.transport.planWrites(&self.tables, &self.views)
    }

    package var listedCount: Int { self.transport.listedCount }

    package func listedConnection(_ place: Int) -> Int32 {
        self.transport.listedConnection(place)
    }

    package func plannedWrite(_ index: Int) -> PlannedWrite {
        self.transport.plannedWrite(index)
    }

    /// A segment of a planned write.
    package func segment(_ index: Int, of write: PlannedWrite) -> UnsafeRawBufferPointer {
        self.transport.segment(index, of: write)
    }

    /// Whether the driver should continue to read this connection in this tick.
    package func wantsInput(_ connection: Int32) -> Bool {
        self.transport.wantsInput(connection, self.tables)
    }

    package func socket(of connection: Int32) -> Int32? {
        self.transport.socket(of: connection, self.tables)
    }

    package var connectionCount: Int { self.transport.connectionCount(self.tables) }

    /// Receives bytes. Whole frames are handled; the rest is kept.
    @discardableResult
    package mutating func received(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int = .max
    ) -> Int {
        self.transport.received(index, bytes, untilAsks: asksMax, &self.tables, &self.views, &self.service)
    }

    /// The peer will send nothing more.
    package mutating func peerEnded(_ index: Int32) {
        self.transport.peerEnded(index, &self.tables, &self.views, &self.service)
    }

    /// The connection is gone: reset, or refused by the kernel.
    package mutating func broken(_ index: Int32) {
        self.transport.broken(index, &self.tables, &self.views, &self.service)
    }

    /// Begins the drain: every connection gets DRAIN, every call its STATUS, and then every connection closes.
    package mutating func beginDrain() {
        self.transport.beginDrain(&self.tables, &self.views, &self.service)
    }

    /// Closes every connection, because this node has lost its store and others have not. Whoever comes is still let in: an operator,
    /// and a client that has only this address.
    package mutating func sendAway() {
        self.transport.sendAway(&self.tables, &self.views, &self.service)
    }

    /// Reports the result of one write of the batch.
    package mutating func wrote(_ index: Int, _ result: WriteResult) {
        self.transport.wrote(index, result, &self.tables, &self.views, &self.service)
    }

    /// The kernel has room again.
    package mutating func writable(_ connection: Int32) {
        self.transport.writable(connection, &self.tables, &self.views)
    }

    /// Handles input that was received before a pause, the longest paused first. Beyond the part of a tick that it may cost, the rest
    /// stays paused: however many connections send ahead, a tick is short. Must be called at the beginning of a tick.
    package mutating func takePausedInput() {
        self.transport.takePausedInput(&self.tables, &self.views, &self.service)
    }

    package var hasPausedInput: Bool { self.transport.hasPausedInput }
}
