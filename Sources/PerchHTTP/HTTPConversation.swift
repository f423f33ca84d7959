package import PerchBase

/// One connection of the HTTP listener, from the first byte to the close. A value without socket or clock.
///
///     reading ──request──▶ awaiting ──answer──▶ writing ──all sent──▶ reading, or lingering ──▶ ended
///        └──────── refusal, late ─────────────────▲
///
/// It answers one request at a time, in order; pipelined requests wait. It reads nothing while an answer is prepared or
/// written, so a client can occupy at most one head and one answer.
package struct HTTPConversation: Sendable {
    package enum Step: Equatable, Sendable {
        /// Wait for the next bytes, for write capacity, or for the deadline.
        case wait
        /// Prepare the answer to this request and call `answer`.
        case ask(HTTPRequest)
        /// Send `output`, an answer with this status, and call `wrote`.
        case write(HTTPResponse.Status)
        /// Shut down the writing side, read remaining input, and wait.
        case shutDownWriting
        /// Close the socket. The conversation has ended.
        case close
    }

    private enum Phase: Equatable, Sendable {
        case reading
        case awaiting(HTTPRequest)
        case writing(keepsAlive: Bool)
        /// The last answer is sent. Remaining input is read and dropped, because closing with unread input would reset
        /// the connection.
        case lingering
        case ended
    }

    private var phase = Phase.reading
    private var parser: HTTPHeadParser
    /// Bytes that are still to be sent.
    package private(set) var output: ArraySlice<UInt8> = []
    /// Time at which the conversation is abandoned; the far future while the server prepares an answer.
    package private(set) var deadline: MonotonicTime
    /// The server is stopping, so the client may send no further request.
    private var isLast = false

    /// Starts a conversation on an accepted connection.
    package init(now: MonotonicTime, hosts: HostRule = HostRule(.any)) {
        self.parser = HTTPHeadParser(hosts: hosts)
        self.deadline = now.advanced(byMilliseconds: Limits.httpHeadMilliseconds)
    }

    /// Whether it needs input.
    package var reads: Bool { self.phase == .reading || self.phase == .lingering }
    /// Whether it has output.
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

    /// Accepts the answer to the current request.
    package mutating func answer(_ response: HTTPResponse, now: MonotonicTime, wall: Instant) -> Step {
        guard case .awaiting(let request) = self.phase else {
            preconditionFailure("an answer arrived in phase \(self.phase)")
        }
        return self.write(
            response, to: request.method, keepsAlive: request.keepsAlive && !self.isLast, now: now, wall: wall)
    }

    /// Reports that the kernel accepted `count` bytes of `output`.
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
        // Continue with pipelined requests.
        return self.parse(now: now, wall: wall)
    }

    /// Reports that the peer has closed its writing side.
    package mutating func peerEnded() -> Step {
        switch self.phase {
        case .reading, .lingering, .ended: return self.end()
        case .awaiting, .writing:
            // The peer may still read its answer.
            self.isLast = true
            return .wait
        }
    }

    /// Checks the deadline.
    package mutating func timePassed(now: MonotonicTime, wall: Instant) -> Step {
        guard now >= self.deadline else { return .wait }
        switch self.phase {
        case .reading where self.parser.hasBytes: return self.refuse(.timeout, now: now, wall: wall)
        case .awaiting: return .wait
        case .reading, .writing, .lingering, .ended: return self.end()
        }
    }

    /// Ends the conversation because the connection is lost or must be closed.
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
