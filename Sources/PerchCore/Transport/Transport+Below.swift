import PerchWire

// Events of a driver with a layer between socket and core: TLS. The core itself sees plaintext only, and the simulator
// has no such layer.
extension Transport {
    /// Input arrived that is not for the core, such as a part of a handshake. It meets the limit for the first byte;
    /// that for HELLO remains.
    mutating func heard(_ connection: Int32, _ tables: inout Tables) {
        guard tables.connections.isTaken(connection) else { return }
        tables.connections[connection].flags.insert(.hasSpoken)
    }

    /// The driver refuses this peer. The connection closes with a reason that the peer can read.
    mutating func refuse(
        _ connection: Int32, _ status: WireStatus, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        guard tables.connections.isTaken(connection) else { return }
        self.close(connection, status, &tables, &views, &service)
    }

    /// The driver refuses a peer for the way in which it begins.
    ///
    /// `bytes`: the first bytes of the peer. A client of HTTP is answered in HTTP/1.1, which all of them show.
    mutating func refuse(
        _ connection: Int32, _ status: WireStatus, first bytes: borrowing RawSpan, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        guard tables.connections.isTaken(connection) else { return }
        if let wire = self.wire(of: bytes), wire.isHTTP { tables.connections[connection].wire = .http1 }
        self.close(connection, status, &tables, &views, &service)
    }

    /// The layer between has failed, and has notified the peer itself if it could. The core sends nothing more. It
    /// shuts down the writing side and discards input for a while, so that the peer can read the notification.
    mutating func giveUp(
        _ connection: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        guard tables.connections.isTaken(connection), tables.connections[connection].phase != .dying else { return }
        let isClosing = tables.connections[connection].phase == .closing
        if isClosing {
            tables.connections[connection].phase = .dying
        } else {
            self.leaveOpenPhase(connection, to: .dying, &tables, &views, &service)
        }
        self.dropUnsent(connection, &tables)
        if tables.connections[connection].unfinished >= 0 { self.dropUnfinished(connection, &tables) }
        tables.effects.append(.shutDownWriting(connection: connection, socket: tables.connections[connection].socket))
        if tables.connections[connection].flags.contains(.peerHasEnded) {
            self.remove(connection, &tables, &views, &service)
        } else if !isClosing {
            self.linger(connection, &tables, &views, &service)
        }
    }

    /// The kernel accepted some or all of the bytes that the core counts as written, so a slow reader is not stalled.
    mutating func progressed(_ connection: Int32, isAll: Bool, _ tables: inout Tables) {
        guard tables.connections.isTaken(connection) else { return }
        if isAll { tables.connections[connection].flags.remove(.isHeldBelow) }
        guard tables.connections[connection].stalledSince != 0 else { return }
        if isAll, !tables.connections[connection].flags.contains(.isFull) {
            self.stopsStalling(connection, &tables)
        } else {
            tables.connections[connection].stalledSince = tables.now.monotonic
        }
    }
}
