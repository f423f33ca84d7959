package import PerchWire

// Events of a driver with a layer between socket and core: TLS. The core itself sees plaintext only, and the simulator
// has no such layer.
extension LoopCore {
    /// Input arrived that is not for the core, such as a part of a handshake. It meets the limit for the first byte;
    /// that for HELLO remains.
    package mutating func heard(_ connection: Int32) {
        guard self.tables.connections.isTaken(connection) else { return }
        self.tables.connections[connection].flags.insert(.hasSpoken)
    }

    /// The driver refuses this peer. The connection closes with a reason that the peer can read.
    package mutating func refuse(_ connection: Int32, _ status: WireStatus) {
        guard self.tables.connections.isTaken(connection) else { return }
        self.close(connection, status)
    }

    /// The driver refuses a peer for the way in which it begins.
    ///
    /// `bytes`: the first bytes of the peer. A client of HTTP is answered in HTTP/1.1, which all of them show.
    package mutating func refuse(_ connection: Int32, _ status: WireStatus, first bytes: borrowing RawSpan) {
        guard self.tables.connections.isTaken(connection) else { return }
        if let wire = self.wire(of: bytes), wire.isHTTP { self.tables.connections[connection].wire = .http1 }
        self.close(connection, status)
    }

    /// The layer between has failed, and has notified the peer itself if it could. The core sends nothing more. It
    /// shuts down the writing side and discards input for a while, so that the peer can read the notification.
    package mutating func giveUp(_ connection: Int32) {
        guard self.tables.connections.isTaken(connection), self.tables.connections[connection].phase != .dying else {
            return
        }
        let isClosing = self.tables.connections[connection].phase == .closing
        if isClosing {
            self.tables.connections[connection].phase = .dying
        } else {
            self.leaveOpenPhase(connection, to: .dying)
        }
        self.dropOwed(connection)
        if self.tables.connections[connection].unfinished >= 0 { self.dropUnfinished(connection) }
        self.tables.effects.append(
            .shutDownWriting(connection: connection, socket: self.tables.connections[connection].socket))
        if self.tables.connections[connection].flags.contains(.peerHasEnded) {
            self.remove(connection)
        } else if !isClosing {
            self.linger(connection)
        }
    }

    /// The kernel accepted some or all of the bytes that the core counts as written, so a slow reader is not stalled.
    package mutating func progressed(_ connection: Int32, isAll: Bool) {
        guard self.tables.connections.isTaken(connection) else { return }
        if isAll { self.tables.connections[connection].flags.remove(.isHeldBelow) }
        guard self.tables.connections[connection].stalledSince != 0 else { return }
        if isAll, !self.tables.connections[connection].flags.contains(.isFull) {
            self.stopsStalling(connection)
        } else {
            self.tables.connections[connection].stalledSince = self.tables.now.monotonic
        }
    }
}
