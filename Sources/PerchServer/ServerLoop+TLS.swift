import PerchBase
import PerchCore
import PerchLoop
import PerchTLS
import PerchWire

/// Ciphertext that the kernel has not accepted yet.
struct PendingCiphertext {
    var bytes: [UInt8]
    var sent = 0

    var rest: ArraySlice<UInt8> { self.bytes[self.sent...] }
    var count: Int { self.bytes.count - self.sent }
}

// TLS between socket and core. The core writes and reads plaintext; this code converts it to records and back.
//
//     fresh ──0x16──▶ handshake ──finished──▶ secure ──shut or failed──▶ ended;   fresh ──anything else──▶ plain
//
// The core counts bytes as written once their record is sealed, because a record cannot be taken back. This code keeps
// the unsent rest, one record a connection, and seals nothing more until it is gone. The core then sees a connection
// that accepts nothing.
extension ServerLoop {
    /// The first byte of a handshake record.
    private static let handshakeRecord: UInt8 = 0x16
    /// A record with the alert `handshake_failure`, for a TLS client of a server without TLS.
    private static let refusal: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]
    /// Minimum time between two failed handshakes that a loop logs; further failures are only counted.
    private static let failureToldMilliseconds: Int64 = 1_000

    // MARK: In

    /// Receives bytes of a connection that is not plaintext, or not yet known to be.
    func receivedBelow(_ connection: Int32, _ bytes: UnsafeRawBufferPointer) {
        switch self.sessions[Int(connection)].transport {
        case .fresh: self.begin(connection, bytes)
        case .handshake, .secure: self.open(connection, bytes)
        case .plain: self.give(connection, bytes)
        case .ended: break
        }
    }

    /// The first byte shows whether the peer speaks TLS.
    private func begin(_ connection: Int32, _ bytes: UnsafeRawBufferPointer) {
        let index = Int(connection)
        guard bytes.first == Self.handshakeRecord else {
            self.sessions[index].transport = .plain
            if self.port.mode == .required {
                self.core.refuse(
                    connection,
                    WireStatus(
                        .tlsRequired,
                        "this port takes TLS only, and plaintext came; connect with TLS (perch: --tls-ca FILE with the authority of the server's certificate, or --tls where this machine trusts it), and replace credentials that were sent in plaintext"
                    ), first: bytes.bytes)
            } else {
                self.give(connection, bytes)
            }
            return
        }
        guard let context = self.port.context else {
            self.sessions[index].transport = .ended
            self.failed(connection, "off", "a client speaks TLS, and TLS is off here; give --tls-certificate")
            _ = Self.refusal.withUnsafeBytes { Sockets.send(self.sessions[index].socket, $0) }
            self.core.giveUp(connection)
            return
        }
        do throws(TLSError) {
            self.sessions[index].secure = try self.window.accept(context)
        } catch {
            self.failed(connection, error.fault.rawValue, error.description)
            self.core.broken(connection)
            return
        }
        self.tls.open += 1
        self.sessions[index].transport = .handshake
        self.core.holds(Limits.tlsHandshakeBytes, for: connection)
        self.sessions[index].ticketChange = self.port.tickets?.changes ?? 0
        self.open(connection, bytes)
    }

    /// Receives ciphertext: a part of a handshake, records, or both.
    private func open(_ connection: Int32, _ bytes: UnsafeRawBufferPointer) {
        guard let secure = self.sessions[Int(connection)].secure else { return }
        self.window.take(bytes)
        if self.sessions[Int(connection)].transport == .handshake {
            guard self.shakeHands(connection, secure, bytes.count) else { return }
        }
        var count = 0
        var end = TLSRead.wantsInput
        while true {
            let room = UnsafeMutableRawBufferPointer(rebasing: self.plaintext[count...])
            end = self.window.read(secure, into: room)
            guard case .bytes(let more) = end else { break }
            count += more
            if count == self.plaintext.count { count = self.givePlaintext(connection, count) }
        }
        _ = self.givePlaintext(connection, count)
        switch end {
        case .closed:
            self.sendOutput(connection)
            self.core.peerEnded(connection)
        case .failed: self.breakOff(connection)
        case .wantsInput, .bytes: self.sendOutput(connection)
        }
    }

    /// Gives plaintext to the core; returns the bytes left in the buffer: none.
    private func givePlaintext(_ connection: Int32, _ count: Int) -> Int {
        guard count > 0 else { return 0 }
        self.give(connection, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(self.plaintext)[..<count]))
        return 0
    }

    /// One step of a handshake; returns whether it is finished.
    private func shakeHands(_ connection: Int32, _ secure: TLSConnection, _ count: Int) -> Bool {
        let index = Int(connection)
        self.core.heard(connection)
        self.sessions[index].handshakeBytes += Int32(clamping: count)
        self.core.holds(count, for: connection)
        let step = self.window.handshake(secure)
        switch step {
        case .wantsInput:
            guard Int(self.sessions[index].handshakeBytes) <= Limits.tlsHandshakeBytesMax else {
                self.failed(
                    connection, "limit",
                    "a handshake has more than \(Limits.tlsHandshakeBytesMax) bytes, the limit; use shorter chains")
                self.breakOff(connection)
                return false
            }
            self.sendOutput(connection)
            return false
        case .failed(let error):
            self.failed(connection, error.fault.rawValue, error.description)
            self.breakOff(connection)
            return false
        case .done:
            break
        }
        self.sessions[index].transport = .secure
        self.tls.handshakes += 1
        if secure.isResumed { self.tls.resumed += 1 }
        let chosen = secure.applicationProtocol
        if !chosen.isEmpty { self.core.negotiated(connection, chosen) }
        guard let peer = secure.peer else { return true }
        // OpenSSL does not verify a resumed client again, so the certificate's end is checked here.
        guard peer.notAfter > self.clock.now() else {
            self.core.refuse(
                connection,
                WireStatus(
                    .certificateExpired, "the client's certificate has ended at \(peer.notAfter); get a new one"))
            return true
        }
        self.core.authenticated(connection, as: peer)
        return true
    }

    // MARK: Failing

    func countFailure(_ reason: String) {
        self.tls.failures[reason, default: 0] += 1
    }

    /// Counts a failed handshake, and logs the first in each interval.
    private func failed(_ connection: Int32, _ reason: String, _ text: String) {
        self.countFailure(reason)
        let now = self.loop.now
        guard now >= self.port.nextFailureTold else { return }
        self.port.nextFailureTold = now.advanced(byMilliseconds: Self.failureToldMilliseconds)
        let peer = Sockets.peerAddress(self.sessions[Int(connection)].socket)
        self.control.post(.handshakeFailed(peer: peer, reason: reason, text: text))
    }

    /// Ends TLS after a failure: sends the alert as far as the socket accepts it, and the core drops the connection.
    private func breakOff(_ connection: Int32) {
        self.sendOutput(connection)
        self.core.giveUp(connection)
    }

    // MARK: Out

    /// Seals the core's planned write, a record at a time, as long as the kernel accepts them.
    func sendSecure(_ write: PlannedWrite) -> WriteResult {
        let index = Int(write.connection)
        guard self.sessions[index].transport == .secure, let secure = self.sessions[index].secure else {
            // The core wants to send during a handshake, because its time is over or the server stops. That is
            // impossible before the handshake ends.
            if self.sessions[index].transport == .handshake { self.countFailure("unfinished") }
            return .broken
        }
        guard self.sendPending(write.connection) else { return .held(0) }
        if let changes = self.port.tickets?.changes, changes != self.sessions[index].ticketChange {
            self.sessions[index].ticketChange = changes
            self.window.renewTicket(secure)
        }
        var place = (segment: 0, offset: 0)
        let part = self.sending.part(of: write.byteCount)
        var taken = 0
        defer { self.sending.sent(taken, of: write.byteCount) }
        while taken < part {
            let record = self.record(of: write, from: &place)
            guard self.window.write(secure, record) == .done else {
                self.window.clearOutput()
                return .broken
            }
            taken += record.count
            switch self.sendOutput(connection: write.connection) {
            case .all: break
            case .part: return .held(taken)
            case .none: return .broken
            }
        }
        return .wrote(taken)
    }

    /// The next record's worth of a write: in place if it is contiguous, else copied together.
    private func record(of write: PlannedWrite, from place: inout (segment: Int, offset: Int)) -> UnsafeRawBufferPointer
    {
        let segment = self.core.segment(place.segment, of: write)
        let rest = segment.count - place.offset
        if rest >= Limits.tlsRecordBytes || place.segment + 1 == write.segmentCount {
            let count = min(rest, Limits.tlsRecordBytes)
            defer {
                place.offset += count
                if place.offset == segment.count { place = (place.segment + 1, 0) }
            }
            return UnsafeRawBufferPointer(rebasing: segment[place.offset..<place.offset + count])
        }
        var count = 0
        while place.segment < write.segmentCount, count < Limits.tlsRecordBytes {
            let segment = self.core.segment(place.segment, of: write)
            let more = min(segment.count - place.offset, Limits.tlsRecordBytes - count)
            let piece = UnsafeRawBufferPointer(rebasing: segment[place.offset..<place.offset + more])
            UnsafeMutableRawBufferPointer(rebasing: self.plaintext[count..<count + more]).copyMemory(from: piece)
            count += more
            place.offset += more
            if place.offset == segment.count { place = (place.segment + 1, 0) }
        }
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(self.plaintext)[..<count])
    }

    private enum Sent { case all, part, none }

    /// Sends the window's output and keeps the unsent rest.
    private func sendOutput(connection: Int32) -> Sent {
        let output = self.window.output
        guard !output.isEmpty else { return .all }
        defer { self.window.clearOutput() }
        let index = Int(connection)
        if self.sessions[index].hasPending {
            self.pending[connection]?.bytes.append(contentsOf: output)
            self.updateInterest(connection)
            return .part
        }
        var taken = 0
        switch Sockets.send(self.sessions[index].socket, output) {
        case .wrote(let count): taken = count
        case .full: break
        case .broken: return .none
        }
        guard taken < output.count else { return .all }
        self.pending[connection] = PendingCiphertext(bytes: Array(output[taken...]))
        self.sessions[index].hasPending = true
        self.updateInterest(connection)
        return .part
    }

    /// Sends the window's output outside of a write.
    private func sendOutput(_ connection: Int32) {
        if self.sendOutput(connection: connection) == .none { self.core.broken(connection) }
    }

    /// Sends the kept rest; returns whether all of it is sent.
    func sendPending(_ connection: Int32) -> Bool {
        let index = Int(connection)
        guard self.sessions[index].hasPending, var pending = self.pending.removeValue(forKey: connection) else {
            return true
        }
        let outcome = pending.rest.withUnsafeBytes { Sockets.send(self.sessions[index].socket, $0) }
        switch outcome {
        case .wrote(let count):
            pending.sent += count
            if count > 0 { self.core.progressed(connection, isAll: pending.count == 0) }
        case .full: break
        case .broken:
            self.sessions[index].hasPending = false
            self.core.broken(connection)
            return false
        }
        if pending.count > 0 {
            self.pending[connection] = pending
            self.updateInterest(connection)
            return false
        }
        self.sessions[index].hasPending = false
        if self.sessions[index].endsAfterPending { Sockets.shutdownWriting(self.sessions[index].socket) }
        self.updateInterest(connection)
        return true
    }

    /// True if so much output waits that reading would only add to it.
    func isClogged(_ connection: Int32) -> Bool {
        self.sessions[Int(connection)].hasPending
            && (self.pending[connection]?.count ?? 0) > Limits.tlsPendingBytesMax
    }

    // MARK: The end

    /// The core has sent everything, so TLS closes too; returns whether the writing side can be shut down now.
    func endSecure(_ connection: Int32) -> Bool {
        let index = Int(connection)
        if let secure = self.sessions[index].secure {
            if self.sessions[index].transport == .secure {
                self.window.close(secure)
                _ = self.sendOutput(connection: connection)
            }
            self.letGo(index, secure)
        }
        guard self.sessions[index].hasPending else { return true }
        self.sessions[index].endsAfterPending = true
        return false
    }

    /// Drops the TLS state before its socket is closed.
    func forgetSecure(_ connection: Int32) {
        let index = Int(connection)
        if let secure = self.sessions[index].secure {
            if self.sessions[index].transport == .secure, !self.sessions[index].hasPending {
                // A peer that has sent close_notify waits for ours; a closed one ignores it.
                self.window.close(secure)
                _ = Sockets.send(self.sessions[index].socket, self.window.output)
                self.window.clearOutput()
            }
            self.letGo(index, secure)
        }
        if self.sessions[index].hasPending { self.pending[connection] = nil }
    }

    private func letGo(_ index: Int, _ secure: TLSConnection) {
        secure.free()
        self.sessions[index].secure = nil
        self.sessions[index].transport = .ended
        self.tls.open -= 1
    }
}
