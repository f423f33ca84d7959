/// What one round has measured, by second and in all. Times in nanoseconds.
package struct Recorder: Sendable {
    /// One second, or what was left of it.
    package struct Interval: Hashable, Sendable {
        /// Since the window began, in seconds, at its end.
        package var end = 0.0
        package var length = 0.0
        package var deliveries: UInt64 = 0
        package var changes: UInt64 = 0
        package var opens: UInt64 = 0
        /// Nil where nothing was pushed: which is not the same as at once.
        package var pushP50: Int64?
        package var pushP99: Int64?
        package var pushMax: Int64?
        package var residentBytes = 0
        /// Share of a core.
        package var serverCPU = 0.0
        package var generatorCPU = 0.0
        /// After the window: what was still on its way when that ended, and is late.
        package var isAfterWindow = false

        package init() {}
    }

    package var answer = LatencyHistogram()
    package var first = LatencyHistogram()
    package var lag = LatencyHistogram()
    package private(set) var intervals: [Interval] = []

    /// Of the window.
    package var deliveries: UInt64 = 0
    package var conflated: UInt64 = 0
    package var changes: UInt64 = 0
    package var converged: UInt64 = 0
    package var opens: UInt64 = 0
    package var bytes: UInt64 = 0
    /// Changes that were meant to be made in the window, and of them those that were not even sent, refused, and answered.
    package var due: UInt64 = 0
    package var unsent: UInt64 = 0
    package var refused: UInt64 = 0
    package var answered: UInt64 = 0

    /// Pushes of seconds that are over, and what the one that runs tells of: each time is recorded once.
    private var pushes = LatencyHistogram()
    private var second = LatencyHistogram()
    private var atLast = (deliveries: UInt64(0), changes: UInt64(0), opens: UInt64(0))
    package private(set) var began: Int64 = .max
    package private(set) var ended: Int64 = .max
    private var intervalBegan: Int64 = 0

    /// Whether first values, and not pushes, are what its seconds tell of.
    package var isAboutFirsts = false

    package init() {}

    package mutating func begin(at now: Int64) {
        self.began = now
        self.intervalBegan = now
    }

    package mutating func end(at now: Int64) { self.ended = now }

    /// Whether it belongs to the window.
    @inline(__always)
    package func contains(_ time: Int64) -> Bool { time >= self.began && time < self.ended }

    package var seconds: Double {
        self.began == .max || self.ended == .max ? 0 : Double(self.ended - self.began) / 1e9
    }

    /// A change has reached so many watches, or is known not to have by now.
    @inline(__always)
    package mutating func recordPush(intended: Int64, arrived: Int64, times: UInt64 = 1) {
        guard self.contains(intended) else { return }
        if self.isAboutFirsts {
            self.pushes.record(arrived - intended, times: times)
        } else {
            self.second.record(arrived - intended, times: times)
        }
    }

    /// A value has come: the last of these changes is the one that it shows, those before it were passed over.
    package mutating func recordReached(_ intended: borrowing Span<Int64>, arrived: Int64, isTimed: Bool = true) {
        if self.contains(arrived) {
            self.deliveries += 1
            self.conflated += UInt64(intended.count - 1)
        }
        guard isTimed else { return }
        let window = self.began..<self.ended
        if self.isAboutFirsts {
            self.pushes.record(since: intended, in: window, until: arrived)
        } else {
            self.second.record(since: intended, in: window, until: arrived)
        }
    }

    /// Times of all pushes.
    package var push: LatencyHistogram {
        guard !self.isAboutFirsts else { return self.pushes }
        var all = self.pushes
        all.merge(self.second)
        return all
    }

    /// A change is sent, or, `isSent` false, should have been.
    @inline(__always)
    package mutating func recordDue(intended: Int64, at now: Int64, times: UInt64 = 1, isSent: Bool = true) {
        guard self.contains(intended) else { return }
        self.due += times
        if !isSent { self.unsent += times }
        self.lag.record(now - intended, times: times)
    }

    package mutating func recordAnswer(intended: Int64, at now: Int64) {
        if self.contains(now) { self.changes += 1 }
        guard self.contains(intended) else { return }
        self.answered += 1
        self.answer.record(now - intended)
    }

    package mutating func recordRefusal(intended: Int64) {
        if self.contains(intended) { self.refused += 1 }
    }

    /// An answer that has not come by now.
    package mutating func recordMissedAnswer(intended: Int64, at now: Int64) {
        if self.contains(intended) { self.answer.record(now - intended) }
    }

    package mutating func recordFirst(intended: Int64, at now: Int64) {
        if self.contains(now) { self.opens += 1 }
        self.recordMissedFirst(intended: intended, at: now)
    }

    /// A first value that has not come by now.
    package mutating func recordMissedFirst(intended: Int64, at now: Int64) {
        guard self.contains(intended) else { return }
        self.first.record(now - intended)
        if self.isAboutFirsts { self.second.record(now - intended) }
    }

    /// Bytes a second by which the server grew, by a straight line through what its seconds say: least squares. Without the
    /// first half, in which caches fill. Nil where that is less than fifteen seconds, which say nothing.
    package var residentGrowthPerSecond: Double? {
        let points = self.intervals.filter { $0.residentBytes > 0 && $0.length > 0.5 && !$0.isAfterWindow }.dropFirst(
            self.intervals.count / 2)
        guard points.count >= 15 else { return nil }
        let count = Double(points.count)
        let meanTime = points.reduce(0) { $0 + $1.end } / count
        let meanBytes = points.reduce(0) { $0 + Double($1.residentBytes) } / count
        var (product, square) = (0.0, 0.0)
        for point in points {
            product += (point.end - meanTime) * (Double(point.residentBytes) - meanBytes)
            square += (point.end - meanTime) * (point.end - meanTime)
        }
        return product / square
    }

    /// Whether something came that no second tells of yet.
    package var hasNews: Bool {
        self.second.count > 0
            || (self.deliveries, self.changes, self.opens) != (
                self.atLast.deliveries, self.atLast.changes, self.atLast.opens
            )
    }

    /// Ends a second. Memory and processors are told by who can look.
    package mutating func tick(at now: Int64, residentBytes: Int, serverCPU: Double, generatorCPU: Double) {
        var interval = Interval()
        interval.end = Double(now - self.began) / 1e9
        interval.length = Double(now - self.intervalBegan) / 1e9
        interval.deliveries = self.deliveries - self.atLast.deliveries
        interval.changes = self.changes - self.atLast.changes
        interval.opens = self.opens - self.atLast.opens
        if self.second.count > 0 {
            interval.pushP50 = self.second.value(atQuantile: 0.5)
            interval.pushP99 = self.second.value(atQuantile: 0.99)
            interval.pushMax = self.second.max
        }
        interval.isAfterWindow = self.ended < now
        interval.residentBytes = residentBytes
        interval.serverCPU = serverCPU
        interval.generatorCPU = generatorCPU
        self.intervals.append(interval)
        if !self.isAboutFirsts { self.pushes.merge(self.second) }
        self.second.clear()
        self.atLast = (self.deliveries, self.changes, self.opens)
        self.intervalBegan = now
    }
}
