package import PerchWire

// What a driver tells that puts something between socket and core: TLS. The core itself sees plaintext only, and the
// simulator has nothing in between.
extension LoopCore {
    /// Something came that is not for the core, such as a part of a handshake: the limit for the first byte is met, that
    /// for HELLO stands.
    package mutating func heard(_ connection: Int32) {
        guard self.connections.isTaken(connection) else { return }
        self.connections[connection].flags.insert(.hasSpoken)
    }

    /// The driver does not let this peer in. It is closed with a reason that it can read.
    package mutating func refuse(_ connection: Int32, _ status: WireStatus) {
        guard self.connections.isTaken(connection) else { return }
        self.close(connection, status)
    }

    /// What lies in between has failed, and has told the peer itself as well as it can. The core says nothing more; the
    /// writing side is shut, and what still comes is thrown away for a while, so that the peer reads what it was told.
    package mutating func giveUp(_ connection: Int32) {
        guard self.connections.isTaken(connection), self.connections[connection].phase != .dying else { return }
        let isClosing = self.connections[connection].phase == .closing
        if isClosing {
            self.connections[connection].phase = .dying
        } else {
            self.leaveOpenPhase(connection, to: .dying)
        }
        self.dropOwed(connection)
        if self.connections[connection].unfinished >= 0 { self.dropUnfinished(connection) }
        self.effects.append(
            .shutDownWriting(connection: connection, socket: self.connections[connection].socket))
        if self.connections[connection].flags.contains(.peerHasEnded) {
            self.remove(connection)
        } else if !isClosing {
            self.linger(connection)
        }
    }

    /// The kernel took some of what the core counts as written already, or all of it: a reader that is slow does not
    /// stand still.
    package mutating func progressed(_ connection: Int32, isAll: Bool) {
        guard self.connections.isTaken(connection) else { return }
        if isAll { self.connections[connection].flags.remove(.isHeldBelow) }
        guard self.connections[connection].stalledSince != 0 else { return }
        if isAll, !self.connections[connection].flags.contains(.isFull) {
            self.stopsStalling(connection)
        } else {
            self.connections[connection].stalledSince = self.now.monotonic
        }
    }
}
