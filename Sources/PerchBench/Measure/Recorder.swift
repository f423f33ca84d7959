/// The measurements of one round, by second and in total. Times in nanoseconds.
package struct Recorder: Sendable {
    /// One second, or the rest of one.
    package struct Interval: Hashable, Sendable {
        /// Its end, in seconds since the window began.
        package var end = 0.0
        package var length = 0.0
        package var deliveries: UInt64 = 0
        package var changes: UInt64 = 0
        package var opens: UInt64 = 0
        /// Nil if no value was pushed, which differs from 0.
        package var pushP50: Int64?
        package var pushP99: Int64?
        package var pushMax: Int64?
        package var residentBytes = 0
        /// Share of a core.
        package var serverCPU = 0.0
        package var generatorCPU = 0.0
        /// The time after the window, for events that arrive late.
        package var isAfterWindow = false

        package init() {}
    }

    package var answer = LatencyHistogram()
    package var first = LatencyHistogram()
    package var lag = LatencyHistogram()
    package private(set) var intervals: [Interval] = []

    /// Totals of the window.
    package var deliveries: UInt64 = 0
    package var conflated: UInt64 = 0
    package var changes: UInt64 = 0
    package var converged: UInt64 = 0
    package var opens: UInt64 = 0
    package var bytes: UInt64 = 0
    /// Changes planned in the window, and how many of them were unsent, refused and answered.
    package var due: UInt64 = 0
    package var unsent: UInt64 = 0
    package var refused: UInt64 = 0
    package var answered: UInt64 = 0

    /// Pushes of finished seconds, and of the current second. Each is recorded once.
    private var pushes = LatencyHistogram()
    private var second = LatencyHistogram()
    private var atLast = (deliveries: UInt64(0), changes: UInt64(0), opens: UInt64(0))
    package private(set) var began: Int64 = .max
    package private(set) var ended: Int64 = .max
    private var intervalBegan: Int64 = 0

    /// Whether the seconds report first values instead of pushes.
    package var isAboutFirsts = false

    package init() {}

    package mutating func begin(at now: Int64) {
        self.began = now
        self.intervalBegan = now
    }

    package mutating func end(at now: Int64) { self.ended = now }

    /// Whether a time is in the window.
    @inline(__always)
    package func contains(_ time: Int64) -> Bool { time >= self.began && time < self.ended }

    package var seconds: Double {
        self.began == .max || self.ended == .max ? 0 : Double(self.ended - self.began) / 1e9
    }

    /// Records that a change has reached a number of watches, or has not reached them yet.
    @inline(__always)
    package mutating func recordPush(intended: Int64, arrived: Int64, times: UInt64 = 1) {
        guard self.contains(intended) else { return }
        if self.isAboutFirsts {
            self.pushes.record(arrived - intended, times: times)
        } else {
            self.second.record(arrived - intended, times: times)
        }
    }

    /// Records a value. The last of these changes is the shown one; the earlier ones were skipped.
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

    /// The times of all pushes.
    package var push: LatencyHistogram {
        guard !self.isAboutFirsts else { return self.pushes }
        var all = self.pushes
        all.merge(self.second)
        return all
    }

    /// Records a planned change: sent, or with `isSent` false not sent.
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

    /// Records an answer that has not arrived yet.
    package mutating func recordMissedAnswer(intended: Int64, at now: Int64) {
        if self.contains(intended) { self.answer.record(now - intended) }
    }

    package mutating func recordFirst(intended: Int64, at now: Int64) {
        if self.contains(now) { self.opens += 1 }
        self.recordMissedFirst(intended: intended, at: now)
    }

    /// Records a first value that has not arrived yet.
    package mutating func recordMissedFirst(intended: Int64, at now: Int64) {
        guard self.contains(intended) else { return }
        self.first.record(now - intended)
        if self.isAboutFirsts { self.second.record(now - intended) }
    }

    /// Bytes a second by which the server's memory grows: the slope of a least-squares line through its seconds. The
    /// first half is ignored, because caches fill. Nil for less than fifteen seconds, which are not significant.
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

    /// Whether events have arrived that no finished second includes.
    package var hasNews: Bool {
        self.second.count > 0
            || (self.deliveries, self.changes, self.opens) != (
                self.atLast.deliveries, self.atLast.changes, self.atLast.opens
            )
    }

    /// Ends a second. The caller supplies memory and CPU figures, because only it can read them.
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
