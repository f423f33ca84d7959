package import PerchBase

/// The decisions of the sender as a stepped value: which request may go now, and whether one that failed goes again. It reads no clock.
package struct SendQueue: Sendable {
    /// A request whose attempt begins.
    package struct Attempt: Sendable {
        package var number: UInt64
        package var request: SenderRequest
    }

    private struct Waiting: Sendable {
        var number: UInt64
        var request: SenderRequest
        var attempts = 0
        /// When it may go, whatever its lane says.
        var notBefore = MonotonicTime.zero
    }

    private struct Lane: Sendable {
        var bucket: TokenBucket
        /// No request of the lane goes before: the server asked for it.
        var pausedUntil = MonotonicTime.zero
        /// In the order in which they came.
        var waiting: [Waiting] = []

        func mayGo(now: MonotonicTime) -> Bool { self.pausedUntil <= now && self.bucket.whenReady <= now }
    }

    private var lanes: [SenderLane: Lane] = [:]
    private var underWay: [UInt64: Waiting] = [:]
    private var unwanted: [UInt64] = []
    private var random: SplitMix64
    private var nextNumber: UInt64 = 1
    package private(set) var figures = SenderFigures()

    package init(seed: UInt64) { self.random = SplitMix64(seed: seed) }

    /// Requests that wait or are under way.
    package var count: Int { self.lanes.values.reduce(self.underWay.count) { $0 + $1.waiting.count } }

    /// Queues a request; nil: there is no room.
    package mutating func add(_ request: SenderRequest, now: MonotonicTime) -> UInt64? {
        guard self.count < Limits.senderQueueMax else {
            self.figures.count(SenderFault(.full, ""))
            return nil
        }
        let number = self.nextNumber
        self.nextNumber += 1
        self.lanes[request.lane, default: Lane(bucket: TokenBucket(request.lane, now: now))].waiting
            .append(Waiting(number: number, request: request))
        return number
    }

    /// The next request that may go now. Its attempt counts from here.
    package mutating func next(now: MonotonicTime) -> Attempt? {
        guard self.underWay.count < Limits.senderConnectionsMax else { return nil }
        for key in self.lanes.keys {
            guard self.lanes[key]?.mayGo(now: now) == true, let place = self.firstWanted(key, now),
                self.lanes[key]?.bucket.take(now: now) == true, var one = self.lanes[key]?.waiting.remove(at: place)
            else { continue }
            one.attempts += 1
            self.underWay[one.number] = one
            self.figures.attempts += 1
            return Attempt(number: one.number, request: one.request)
        }
        return nil
    }

    /// The place in a lane of what may go. What nobody wants any more leaves the lane, and costs it none of its rate.
    private mutating func firstWanted(_ key: SenderLane, _ now: MonotonicTime) -> Int? {
        while let place = self.lanes[key]?.waiting.firstIndex(where: { $0.notBefore <= now }) {
            guard let one = self.lanes[key]?.waiting[place], one.request.isWanted?() == false else { return place }
            self.lanes[key]?.waiting.remove(at: place)
            self.unwanted.append(one.number)
        }
        return nil
    }

    /// Takes out of all lanes what nobody wants any more.
    package mutating func removeUnwanted() {
        for key in Array(self.lanes.keys) {
            guard let waiting = self.lanes[key]?.waiting else { continue }
            let stays = waiting.map { $0.request.isWanted?() ?? true }
            self.unwanted += zip(waiting, stays).filter { !$1 }.map(\.0.number)
            self.lanes[key]?.waiting = zip(waiting, stays).filter { $1 }.map(\.0)
        }
    }

    /// Requests that ended without an attempt, because nobody wants them.
    package mutating func takeUnwanted() -> [UInt64] {
        defer { self.unwanted = [] }
        return self.unwanted
    }

    /// An attempt has ended. Returns the result that its caller gets; nil: it goes again.
    package mutating func ended(
        _ number: UInt64, _ result: SenderResult, now: MonotonicTime, wall: Instant
    ) -> SenderResult? {
        guard var one = self.underWay.removeValue(forKey: number) else {
            preconditionFailure("request \(number) ended, and was not under way")
        }
        var pause: Int64?
        switch result {
        case .success(let answer):
            self.figures.count(answer)
            if answer.status == 429 || answer.status == 503, let asked = Self.pause(of: answer, wall: wall) {
                // The limit is the lane's, not the request's.
                self.lanes[one.request.lane]?.pausedUntil = now.advanced(byMilliseconds: asked)
                pause = asked
            }
            let isWorthIt =
                answer.status == 429 || answer.status >= 500
                || (!answer.isSuccess && one.request.isRetried?(answer) == true)
            guard isWorthIt else { return result }
        case .failure(let fault):
            self.figures.count(fault)
            guard fault.isTransient else { return result }
        }
        guard one.attempts < one.request.attemptsMax else { return result }
        self.figures.retries += 1
        one.notBefore = now.advanced(byMilliseconds: pause ?? self.backoff(after: one.attempts))
        // In front, because it is older than what waits.
        self.lanes[one.request.lane]?.waiting.insert(one, at: 0)
        return nil
    }

    /// When `next` may have something that it has not now; nil: never without a new request or an end.
    package func wake(now: MonotonicTime) -> MonotonicTime? {
        guard self.underWay.count < Limits.senderConnectionsMax else { return nil }
        return self.lanes.values.compactMap { lane in
            lane.waiting.map(\.notBefore).min().map { max($0, lane.pausedUntil, lane.bucket.whenReady) }
        }.min()
    }

    /// Ends everything, and returns what was not ended.
    package mutating func removeAll() -> [UInt64] {
        defer {
            self.lanes = [:]
            self.underWay = [:]
            self.unwanted = []
        }
        return self.unwanted + self.lanes.values.flatMap { $0.waiting.map(\.number) } + self.underWay.keys
    }

    // MARK: Pauses

    /// Doubles with each attempt; half of it is random, so that nodes and requests spread.
    private mutating func backoff(after attempts: Int) -> Int64 {
        let doubled = Limits.senderBackoffMilliseconds << Int64(min(attempts - 1, 16))
        let whole = min(doubled, Limits.senderBackoffMillisecondsMax)
        return whole / 2 + Int64(self.random.below(Int(whole / 2) + 1))
    }

    /// What `Retry-After` asks for, in milliseconds: Apple's is an instant in Unix milliseconds, that of HTTP a number of seconds.
    package static func pause(of answer: SenderAnswer, wall: Instant) -> Int64? {
        guard let value = Int64(answer.retryAfter), value >= 0 else { return nil }
        // Seconds of a thousand years, or milliseconds of 1971.
        let milliseconds = value >= 31_536_000_000 ? value - wall.milliseconds : value * 1_000
        return min(max(milliseconds, 0), Limits.senderRetryAfterMillisecondsMax)
    }
}

/// A rate with a burst: tokens that fill up with time.
struct TokenBucket: Sendable {
    /// Nanoseconds of one token.
    private let period: Int64
    private let burst: Int64
    /// When the bucket was or will be full, in time that one token fills.
    private var full: MonotonicTime

    init(_ lane: SenderLane, now: MonotonicTime) {
        self.period = max(1, 1_000_000_000_000 / lane.perThousandSeconds)
        self.burst = lane.burst
        self.full = now
    }

    /// Takes a token if there is one.
    mutating func take(now: MonotonicTime) -> Bool {
        guard self.whenReady <= now else { return false }
        self.full = max(self.full, now).advanced(byNanoseconds: self.period)
        return true
    }

    /// When there is a token.
    var whenReady: MonotonicTime {
        self.full.advanced(byNanoseconds: -self.period * (self.burst - 1))
    }
}
