/// How often something may happen: so many times a second, and at once as often as `burst`.
package struct RateLimit: BitwiseCopyable, Hashable, Sendable {
    /// 0: as often as anybody likes.
    package var perSecond: Int
    package var burst: Int

    package init(perSecond: Int, burst: Int) {
        precondition(perSecond >= 0 && perSecond <= 1_000_000 && burst >= 1 && burst <= 100_000_000)
        self.perSecond = perSecond
        self.burst = burst
    }

    package static let none = RateLimit(perSecond: 0, burst: 1)
}

/// Holds somebody to a rate. One number: the instant until which what he did is paid for (GCRA, ITU-T I.371).
package struct RateMeter: BitwiseCopyable, Hashable, Sendable {
    /// Microseconds of a clock that never jumps.
    private var paidUntil: Int64 = .min / 4

    package init() {}

    /// Nil: it may happen, and is counted. Else it may not, and may after so many milliseconds.
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

    /// Whether it says the same as a new one.
    package func isIdle(nowMilliseconds: Int64) -> Bool { self.paidUntil <= nowMilliseconds * 1_000 }
}
