import PerchBase
import PerchLoop
import PerchScenario
import PerchWire

// Connections: connecting, greeting, reading and closing. Values and answers are handled elsewhere.
extension Generator {
    // MARK: Connecting

    /// Starts as many connections as may be in handshake at a time.
    func connectMore(at now: Int64) {
        while self.joining.toConnectNext < self.joining.toConnect.count,
            self.joining.handshaking < self.settings.handshakes
        {
            let (index, intended) = self.joining.toConnect[self.joining.toConnectNext]
            guard intended <= now else { break }
            self.joining.toConnectNext += 1
            // Without a schedule, a connection's intended time is the time at which it starts.
            self.connect(Int(index), intended: intended > 0 ? intended : now)
            if self.stage == .done { return }
        }
        if self.joining.toConnectNext == self.joining.toConnect.count {
            self.joining.toConnect.removeAll(keepingCapacity: true)
            self.joining.toConnectNext = 0
        }
    }

    private func connect(_ index: Int, intended: Int64) {
        do throws(SystemError) {
            let descriptor = try Sockets.connect(to: self.address, options: nil)
            // Over loopback the connection is usually complete by now, which saves four system calls. A storm should
            // measure the server.
            guard let opening = self.opening(index) else { return }
            let outcome =
                opening.isEmpty
                ? SendOutcome.full : opening.withUnsafeBytes { Sockets.send(descriptor.number, $0) }
            self.connections[index].generation &+= 1
            let isOpen = outcome == .wrote(opening.count)
            try self.loop.poller.watch(
                descriptor.number, tag: self.tag(of: index), for: isOpen ? .readable : .writable)
            self.connections[index].socket = descriptor.release()
            self.connections[index].phase = isOpen ? self.phaseOnceOpened(index) : .connecting
            self.connections[index].intended = intended
            self.connections[index].awaited = self.connections[index].watchCount
            self.joining.handshaking += 1
            guard !isOpen else { return }
            switch outcome {
            // The rest is sent when the socket is writable; until then the connection counts as connected.
            case .wrote(let count):
                self.connections[index].phase = self.phaseOnceOpened(index)
                self.input.unsent[Int32(index)] = Array(opening[count...])
            case .full: if !opening.isEmpty { self.input.unsent[Int32(index)] = opening }
            case .broken(let errno): self.refused(errno)
            }
        } catch {
            self.giveUp("cannot connect: \(error)")
        }
    }

    private func refused(_ errno: Errno) {
        let question = self.stage == .joining ? "is the server running there?" : "is the server still there?"
        self.giveUp(
            "cannot connect to \(self.address): \(errno); \(question)",
            ServerRefusal(code: StatusCode.unavailable.rawValue))
    }

    private func tag(of index: Int) -> UInt64 {
        UInt64(self.connections[index].generation & 0x3FFF_FFFF) << 32 | UInt64(index)
    }

    func connectEnded(_ index: Int) {
        switch Sockets.connectResult(self.connections[index].socket) {
        case .underWay: return
        case .failed(let errno):
            self.refused(errno)
            return
        case .connected: break
        }
        self.connections[index].phase = self.phaseOnceOpened(index)
        let opening = self.input.unsent.removeValue(forKey: Int32(index))
        self.setInterest(index)
        guard let opening else { return self.writerOpened() }
        opening.withUnsafeBytes { self.transmit(index, $0) }
    }

    /// The first bytes of a connection. Empty for a writer to Redis, which is open once connected. Nil if the round has
    /// ended.
    private func opening(_ index: Int) -> [UInt8]? {
        switch self.dialect {
        case .perch: self.secure == nil ? self.greeting(index) : self.securedOpening(index)
        case .redis: self.connections[index].isWriter ? [] : self.subscriptions(of: index)
        }
    }

    func greeting(_ index: Int) -> [UInt8] {
        if self.dialect.isGRPC { return GRPCFrames.opening }
        return self.connections[index].isWriter ? self.requests.writerHello : self.requests.hello
    }

    private func phaseOnceOpened(_ index: Int) -> Connection.Phase {
        switch self.dialect {
        case .perch: .greeting
        case .redis: .open
        }
    }

    func writerOpened() {
        self.joining.handshaking -= 1
        self.joining.established += 1
    }

    /// Updates the poller's interest in a socket if it has changed.
    func setInterest(_ index: Int) {
        let connection = self.connections[index]
        guard connection.phase != .closed else { return }
        var interest: Poller.Interest = connection.isSlow ? [] : .readable
        let wantsWrite = self.input.unsent[Int32(index)] != nil
        if wantsWrite { interest.insert(.writable) }
        self.loop.poller.change(connection.socket, tag: self.tag(of: index), to: interest)
    }

    // MARK: Sending

    /// Sends frames now, or when the socket is writable.
    func send(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        if self.secure == nil { self.transmit(index, bytes) } else { self.sendSealed(index, bytes) }
    }

    /// Sends bytes unchanged.
    func transmit(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        guard self.input.unsent[Int32(index)] == nil else {
            self.input.unsent[Int32(index)]?.append(contentsOf: bytes)
            return
        }
        var sent = 0
        switch Sockets.send(self.connections[index].socket, bytes) {
        case .wrote(let count): sent = count
        case .full: break
        case .broken(let errno):
            self.lost(index, "\(errno)")
            return
        }
        guard sent < bytes.count else { return }
        self.input.unsent[Int32(index)] = Array(bytes[sent...])
        self.setInterest(index)
    }

    func sendUnsent(_ index: Int) {
        guard let bytes = self.input.unsent.removeValue(forKey: Int32(index)) else { return }
        bytes.withUnsafeBytes { self.transmit(index, $0) }
        if self.input.unsent[Int32(index)] == nil { self.setInterest(index) }
    }

    func flushWriters() {
        for index in self.writers.indices where !self.writers[index].out.isEmpty {
            guard self.connections[index].phase == .open else { continue }
            var bytes: [UInt8] = []
            swap(&bytes, &self.writers[index].out)
            bytes.withUnsafeBytes { self.send(index, $0) }
            bytes.removeAll(keepingCapacity: true)
            self.writers[index].out = bytes
        }
    }

    // MARK: Receiving

    func receive(_ index: Int) {
        // Reads several times from a connection that sends faster than it is read; then the others follow.
        for _ in 0..<4 {
            guard self.connections[index].phase != .closed else { return }
            switch Sockets.receive(self.connections[index].socket, into: self.input.readBuffer) {
            case .bytes(let count):
                let now = Clocks.monotonic().nanoseconds
                if self.recorder.contains(now) { self.recorder.bytes += UInt64(count) }
                let bytes = UnsafeRawBufferPointer(rebasing: self.input.readBuffer[..<count])
                if self.secure == nil { self.take(index, bytes, at: now) } else { self.unseal(index, bytes, at: now) }
                if count < self.input.readBuffer.count { return }
            case .empty: return
            case .end: return self.lost(index, "END_WITHOUT_DRAIN")
            case .broken(let errno): return self.lost(index, "\(errno)")
            }
        }
    }

    func take(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) {
        let key = Int32(index)
        guard !self.input.partials.isEmpty, var held = self.input.partials.removeValue(forKey: key) else {
            let taken = self.read(index, bytes, at: now)
            if taken < bytes.count, self.connections[index].phase != .closed {
                self.input.partials[key] = Array(bytes[taken...])
            }
            return
        }
        held.append(contentsOf: bytes)
        let taken = held.withUnsafeBytes { self.read(index, $0, at: now) }
        guard taken < held.count, self.connections[index].phase != .closed else { return }
        if taken > 0 { held.removeFirst(taken) }
        self.input.partials[key] = held
    }

    /// Handles complete frames in order and returns their length.
    private func read(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) -> Int {
        switch self.dialect {
        case .perch(.perch): self.frames(index, bytes, at: now)
        case .perch(.grpc): self.http2Frames(index, bytes, at: now)
        case .redis: self.replies(index, bytes, at: now)
        }
    }

    private func frames(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) -> Int {
        var at = 0
        while bytes.count - at >= FrameHeader.byteCount {
            let address = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
            let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at + 5, as: UInt32.self)))
            let start = at + FrameHeader.byteCount
            guard length <= Limits.frameBytesMax else {
                self.giveUp("received a frame of \(length) bytes, the limit is \(Limits.frameBytesMax)")
                return bytes.count
            }
            guard bytes.count - start >= length else { break }
            let message = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
            let isCompressed = bytes[at + 4] & 1 == 1
            at = start + length
            self.frame(index, UInt8(address >> 24), address & FrameHeader.streamMax, message, isCompressed, at: now)
            if self.connections[index].phase == .closed { return bytes.count }
        }
        return at
    }

    @inline(__always)
    private func frame(
        _ index: Int, _ kind: UInt8, _ stream: UInt32, _ message: UnsafeRawBufferPointer, _ isCompressed: Bool,
        at now: Int64
    ) {
        switch kind {
        case FrameKind.message.rawValue:
            if self.connections[index].isWriter {
                self.answer(writer: index, stream, message, at: now)
            } else {
                self.pushed(index, stream, message, isCompressed, at: now)
            }
        case FrameKind.status.rawValue:
            self.ended(
                index, stream,
                message.isEmpty ? Status() : (try? self.codec.decodeStatus(message.bytes)) ?? Status(code: 13))
        case FrameKind.welcome.rawValue: self.welcomed(index)
        case FrameKind.drain.rawValue: self.drained(index, message)
        // BEATs contain nothing new, and the generator sends no PING.
        default: break
        }
    }

    private func welcomed(_ index: Int) {
        guard self.connections[index].phase == .greeting else { return }
        self.connections[index].phase = .open
        let connection = self.connections[index]
        guard !connection.isWriter else { return self.writerOpened() }
        var out: [UInt8] = []
        for offset in 0..<Int(connection.watchCount) {
            _ = self.appendWatch(
                Int(connection.firstWatch) + offset, stream: UInt32(offset + 1), connection.isReturning, &out)
        }
        out.withUnsafeBytes { self.send(index, $0) }
    }

    /// Appends the call of a watch. Returns its bytes that count against a window.
    func appendWatch(_ watch: Int, stream: UInt32, _ isReturning: Bool, _ out: inout [UInt8]) -> Int {
        let key = self.ledger.key(ofWatch: watch)
        let account = key == self.settings.keys ? nil : key
        if isReturning, !self.joining.tokens.isEmpty, !self.joining.tokens[watch].isEmpty {
            do throws(MessageError) {
                let call = try self.requests.resumed(account: account, token: self.joining.tokens[watch], self.codec)
                call.append(to: &out, stream: stream)
                return call.flowBytes
            } catch {
                preconditionFailure("a call of our own: \(error)")
            }
        } else if let account {
            self.requests.watch.append(to: &out, stream: stream, account: account)
            return self.requests.watch.flowBytes
        } else {
            self.requests.watchProducts.append(to: &out, stream: stream)
            return self.requests.watchProducts.flowBytes
        }
    }

    // MARK: Ending

    private func drained(_ index: Int, _ message: UnsafeRawBufferPointer) {
        let drain = try? self.codec.decodeDrain(message.bytes)
        self.lost(index, drain?.reason ?? "DRAIN_UNREADABLE", drain?.message)
    }

    /// Handles a connection that ended unexpectedly.
    ///
    /// `explanation` gives the next step, if one is known.
    func lost(_ index: Int, _ reason: String, _ explanation: String? = nil) {
        let wasGreeting = self.connections[index].phase != .open
        self.results.closes[reason, default: 0] += 1
        if !self.connections[index].isWriter, !self.connections[index].wasSlow { self.results.closedUnasked += 1 }
        self.drop(index)
        let connection = self.connections[index]
        for offset in 0..<connection.watchCount { self.ledger.leave(connection.firstWatch + offset) }
        guard connection.isWriter || wasGreeting else { return }
        let said = explanation.map { "\(reason), \($0)" } ?? reason
        self.giveUp(
            connection.isWriter
                ? "the server closed the connection that sends changes: \(said)"
                : "the server closed a connection before its WELCOME: \(said)",
            ErrorReason(rawValue: reason).map { ServerRefusal(code: $0.code.rawValue, reason: reason) })
    }

    /// Closes at once with a reset, so that neither side keeps the port.
    func drop(_ index: Int) {
        guard self.connections[index].phase != .closed else { return }
        let connection = self.connections[index]
        Sockets.reset(connection.socket)
        let isEstablished = connection.phase == .open && (connection.isWriter || connection.awaited == 0)
        if isEstablished { self.joining.established -= 1 } else { self.joining.handshaking -= 1 }
        self.connections[index].phase = .closed
        self.connections[index].socket = -1
        self.connections[index].isReturning = true
        self.input.unsent[Int32(index)] = nil
        self.input.partials[Int32(index)] = nil
        self.secure?.end(Int32(index))
        self.http2.drop(
            index, watches: Int(connection.firstWatch)..<Int(connection.firstWatch + connection.watchCount))
    }
}
