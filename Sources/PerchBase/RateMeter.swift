/// A rate limit: a number of events per second, and a burst.
package struct RateLimit: BitwiseCopyable, Hashable, Sendable {
    /// 0 means unlimited.
    package var perSecond: Int
    package var burst: Int

    package init(perSecond: Int, burst: Int) {
        precondition(perSecond >= 0 && perSecond <= 1_000_000 && burst >= 1 && burst <= 100_000_000)
        self.perSecond = perSecond
        self.burst = burst
    }

    package static let none = RateLimit(perSecond: 0, burst: 1)
}

/// Enforces a `RateLimit` for one client with the generic cell rate algorithm (GCRA, ITU-T I.371). Its only state is
/// the instant until which the client's past events use up the rate.
package struct RateMeter: BitwiseCopyable, Hashable, Sendable {
    /// Microseconds of a monotonic clock.
    private var paidUntil: Int64 = .min / 4

    package init() {}

    /// Counts an event and returns nil if the rate allows it; otherwise returns the milliseconds until the next attempt
    /// is allowed.
    package mutating func take(_ limit: RateLimit, nowMilliseconds: Int64) -> Int64? {
        guard limit.perSecond > 0 else { return nil }
        let now = nowMilliseconds * 1_000
        let interval = 1_000_000 / Int64(limit.perSecond)
        let begin = max(self.paidUntil, now)
        let excess = begin - now - interval * Int64(limit.burst - 1)
        guard excess <= 0 else { return (excess + 999) / 1_000 }
        self.paidUntil = begin + interval
        return nil
    }

    /// Whether the meter is equivalent to a new one.
    package func isIdle(nowMilliseconds: Int64) -> Bool { self.paidUntil <= nowMilliseconds * 1_000 }
}
