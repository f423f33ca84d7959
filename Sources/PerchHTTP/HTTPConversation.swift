package import PerchBase

/// One connection of the HTTP listener, from the first byte to the close. A value: no socket, no clock.
///
///     reading ──request──▶ awaiting ──answer──▶ writing ──all taken──▶ reading, or lingering ──▶ ended
///        └──────── refusal, late ─────────────────▲
///
/// It answers one request at a time, in order: what a client sends ahead waits. While an answer is made or written nothing
/// is read, so a client that only asks holds no more than one head and one answer.
package struct HTTPConversation: Sendable {
    package enum Step: Equatable, Sendable {
        /// Wait for what is next: bytes, room, or the deadline.
        case wait
        /// Make the answer to this, and call `answer`.
        case ask(HTTPRequest)
        /// Send `output`, which is an answer with this status, and call `wrote`.
        case write(HTTPResponse.Status)
        /// Shut the writing side, read what still comes, and wait.
        case shutDownWriting
        /// Close the socket. It is over.
        case close
    }

    private enum Phase: Equatable, Sendable {
        case reading
        case awaiting(HTTPRequest)
        case writing(keepsAlive: Bool)
        /// The last answer is sent; what still comes is read and dropped, so that the close is no reset.
        case lingering
        case ended
    }

    private var phase = Phase.reading
    private var parser = HTTPHeadParser()
    /// What is still to be sent.
    package private(set) var output: ArraySlice<UInt8> = []
    /// When it is given up; the far future while an answer is made here.
    package private(set) var deadline: MonotonicTime
    /// Nobody may ask again: the server is ending.
    private var isLast = false

    /// A connection was accepted.
    package init(now: MonotonicTime) {
        self.deadline = now.advanced(byMilliseconds: Limits.httpHeadMilliseconds)
    }

    /// Whether bytes are wanted.
    package var reads: Bool { self.phase == .reading || self.phase == .lingering }
    /// Whether room to write is wanted.
    package var writes: Bool { !self.output.isEmpty }

    package mutating func received(
        _ bytes: some Sequence<UInt8>, now: MonotonicTime, wall: Instant
    ) -> Step {
        guard self.phase == .reading else { return .wait }
        let wasIdle = !self.parser.hasBytes
        self.parser.append(bytes)
        if wasIdle, self.parser.hasBytes {
            self.deadline = min(
                self.deadline, now.advanced(byMilliseconds: Limits.httpHeadMilliseconds))
        }
        return self.parse(now: now, wall: wall)
    }

    /// The answer to what was asked for.
    package mutating func answer(_ response: HTTPResponse, now: MonotonicTime, wall: Instant) -> Step {
        guard case .awaiting(let request) = self.phase else {
            preconditionFailure("an answer came to a conversation that is \(self.phase)")
        }
        return self.write(
            response, to: request.method, keepsAlive: request.keepsAlive && !self.isLast, now: now, wall: wall)
    }

    /// So many bytes of `output` are the kernel's.
    package mutating func wrote(_ count: Int, now: MonotonicTime, wall: Instant) -> Step {
        guard case .writing(let keepsAlive) = self.phase else { return .wait }
        self.output = self.output.dropFirst(count)
        guard self.output.isEmpty else {
            if count > 0 { self.deadline = now.advanced(byMilliseconds: Limits.httpHeadMilliseconds) }
            return .wait
        }
        self.output = []
        guard keepsAlive else {
            self.phase = .lingering
            self.deadline = now.advanced(byMilliseconds: Limits.httpLingerMilliseconds)
            return .shutDownWriting
        }
        self.phase = .reading
        let wait = self.parser.hasBytes ? Limits.httpHeadMilliseconds : Limits.httpIdleMilliseconds
        self.deadline = now.advanced(byMilliseconds: wait)
        // What was sent ahead.
        return self.parse(now: now, wall: wall)
    }

    /// The peer will send nothing more.
    package mutating func peerEnded() -> Step {
        switch self.phase {
        case .reading, .lingering, .ended: return self.end()
        case .awaiting, .writing:
            // It may still read its answer.
            self.isLast = true
            return .wait
        }
    }

    /// Looks at the deadline.
    package mutating func timePassed(now: MonotonicTime, wall: Instant) -> Step {
        guard now >= self.deadline else { return .wait }
        switch self.phase {
        case .reading where self.parser.hasBytes: return self.refuse(.timeout, now: now, wall: wall)
        case .awaiting: return .wait
        case .reading, .writing, .lingering, .ended: return self.end()
        }
    }

    /// The connection is gone, or has to go.
    package mutating func end() -> Step {
        self.phase = .ended
        self.output = []
        return .close
    }

    private mutating func parse(now: MonotonicTime, wall: Instant) -> Step {
        do throws(HTTPRefusal) {
            guard let request = try self.parser.next() else { return .wait }
            self.phase = .awaiting(request)
            self.deadline = .distantFuture
            return .ask(request)
        } catch {
            return self.refuse(error, now: now, wall: wall)
        }
    }

    private mutating func refuse(_ refusal: HTTPRefusal, now: MonotonicTime, wall: Instant) -> Step {
        self.write(HTTPResponse(refusal), to: .get, keepsAlive: false, now: now, wall: wall)
    }

    private mutating func write(
        _ response: HTTPResponse, to method: HTTPRequest.Method, keepsAlive: Bool, now: MonotonicTime, wall: Instant
    ) -> Step {
        self.phase = .writing(keepsAlive: keepsAlive)
        self.output = response.bytes(to: method, keepsAlive: keepsAlive, at: wall)[...]
        self.deadline = now.advanced(byMilliseconds: Limits.httpHeadMilliseconds)
        return .write(response.status)
    }
}
