import PerchBase
import PerchLoop
import PerchWire

// Connections: connecting, greeting, reading.
extension ScenarioLoad {
    func connectMore() {
        while self.passing.nextLink < self.links.count, self.passing.handshaking < self.settings.handshakes,
            !self.isDone
        {
            let link = self.passing.nextLink
            self.passing.nextLink += 1
            do throws(SystemError) {
                let descriptor = try Sockets.connect(to: self.address, options: nil)
                try self.loop.poller.watch(descriptor.number, tag: UInt64(link), for: .writable)
                self.links[link].socket = descriptor.release()
                self.links[link].phase = .connecting
                self.passing.handshaking += 1
            } catch {
                self.giveUp("cannot connect: \(error)")
            }
        }
    }

    func connectEnded(_ link: Int) {
        switch Sockets.connectResult(self.links[link].socket) {
        case .underWay: return
        case .failed(let errno): return self.giveUp("a connection was refused: \(errno); is the server still there?")
        case .connected: break
        }
        self.links[link].phase = .greeting
        self.loop.poller.change(self.links[link].socket, tag: UInt64(link), to: .readable)
        let hello = Hello(
            protocolVersion: 1, clientName: "perch bench", accepts: [], heartbeatSeconds: Limits.heartbeatSecondsMax,
            clientID: self.links[link].clientID)
        self.send(link, .hello, stream: 0) { codec throws(MessageError) in try codec.encode(hello) }
    }

    // MARK: Sending

    func send(
        _ link: Int, _ kind: FrameKind, stream: UInt32,
        _ encode: (MessageCodec) throws(MessageError) -> MessageCodec.Encoded
    ) {
        do throws(MessageError) {
            self.send(link, try encode(self.codec).frame(kind, stream: stream))
        } catch {
            self.giveUp("cannot encode a request of the scenario: \(error)")
        }
    }

    func sendFrame(_ link: Int, _ kind: FrameKind, stream: UInt32, _ payload: [UInt8]) {
        var frame = [UInt8](repeating: 0, count: FrameHeader.byteCount)
        frame.withUnsafeMutableBytes {
            FrameHeader(kind: kind, stream: stream, length: payload.count).write(into: $0)
        }
        frame += payload
        frame.withUnsafeBytes { self.send(link, $0) }
    }

    private func send(_ link: Int, _ bytes: UnsafeRawBufferPointer) {
        guard self.links[link].unsent.isEmpty else { return self.links[link].unsent.append(contentsOf: bytes) }
        var sent = 0
        switch Sockets.send(self.links[link].socket, bytes) {
        case .wrote(let count): sent = count
        case .full: break
        case .broken(let errno): return self.giveUp("a connection broke: \(errno)")
        }
        guard sent < bytes.count else { return }
        self.links[link].unsent = Array(bytes[sent...])
        self.loop.poller.change(self.links[link].socket, tag: UInt64(link), to: [.readable, .writable])
    }

    func sendUnsent(_ link: Int) {
        var bytes: [UInt8] = []
        swap(&bytes, &self.links[link].unsent)
        guard !bytes.isEmpty else { return }
        bytes.withUnsafeBytes { self.send(link, $0) }
        if self.links[link].unsent.isEmpty {
            self.loop.poller.change(self.links[link].socket, tag: UInt64(link), to: .readable)
        }
    }

    func takeStream(_ link: Int, for target: Target) -> UInt32 {
        if let free = self.links[link].free.popLast() {
            self.links[link].targets[Int(free)] = target
            return free
        }
        self.links[link].targets.append(target)
        return UInt32(self.links[link].targets.count - 1)
    }

    // MARK: Receiving

    func receive(_ link: Int) {
        while self.links[link].phase != .closed, !self.isDone {
            switch Sockets.receive(self.links[link].socket, into: self.readBuffer) {
            case .bytes(let count):
                let now = Clocks.monotonic().nanoseconds
                self.recorder.bytes += UInt64(count)
                let bytes = UnsafeRawBufferPointer(rebasing: self.readBuffer[..<count])
                self.links[link].decoder.append(bytes.bytes)
                self.takeFrames(link, at: now)
                if count < self.readBuffer.count { return }
            case .empty: return
            case .end: return self.giveUp("the server closed a connection; see its log for the reason")
            case .broken(let errno): return self.giveUp("a connection broke: \(errno)")
            }
        }
    }

    private func takeFrames(_ link: Int, at now: Int64) {
        while !self.isDone {
            let frame: Frame?
            do throws(FrameError) {
                frame = try self.links[link].decoder.next()
            } catch {
                return self.giveUp("the server sent an invalid frame: \(error)")
            }
            guard let frame else { return }
            do throws(MessageError) {
                try self.take(link, frame, at: now)
            } catch {
                self.giveUp("the server sent an unreadable message: \(error)")
            }
        }
    }

    private func take(_ link: Int, _ frame: Frame, at now: Int64) throws(MessageError) {
        let stream = frame.header.stream
        let bytes = frame.payload.span.bytes
        switch frame.header.kind {
        case .welcome:
            guard self.links[link].phase == .greeting else { return }
            self.links[link].phase = .open
            self.passing.handshaking -= 1
            self.measures.lastProgress = now
        case .message, .status:
            guard Int(stream) < self.links[link].targets.count else { return }
            let target = self.links[link].targets[Int(stream)]
            if frame.header.kind == .status {
                self.ended(link, stream, target, try self.codec.decodeStatus(bytes), at: now)
                return
            }
            switch target {
            case .none: return
            case .watch(let key):
                self.results.valueBytes = bytes.byteCount
                let response = try self.codec.decodeResponse(self.program.methods[key], bytes)
                self.pushed(link - self.storeCount, key, response, at: now)
            case .common, .ask: try self.answered(target, bytes, at: now)
            }
        case .pong:
            self.passing.pongs += 1
            self.measures.lastProgress = now
        case .drain: self.giveUp("the server is draining")
        case .beat, .hello, .call, .cancel, .ping: break
        }
    }
}
