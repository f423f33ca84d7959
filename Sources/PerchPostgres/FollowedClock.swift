import PerchBase

/// The database's clock, as a node goes on with it between heartbeats: an offset to the machine's clock that counts suspend.
///
/// A measurement that differs by more than `Limits.clockToleranceMilliseconds` is a jump: somebody has set the database's clock, another
/// server took over, or this machine stood still without counting it. The node goes on with the clock that it has, until the two agree
/// again. A jump that lasts becomes the clock: after `Limits.clockJumpMilliseconds`, or after twice the jump if that is longer.
package struct FollowedClock: Equatable, Sendable {
    /// The database's clock less the machine's, in milliseconds.
    package private(set) var offset: Int64
    /// The last measurement less what this clock showed; 0 while they agree.
    package private(set) var jump: Int64 = 0
    /// By the machine's clock.
    private var jumpSince: Int64 = 0
    /// The shortest recent round trip. The shorter it is, the better the offset is known.
    private var bestTrip: Int64

    /// All by the first measurement: `database` was read between `sent` and `received`.
    package init(database: Int64, sent: Int64, received: Int64) {
        self.offset = database - (sent + received) / 2
        self.bestTrip = received - sent
    }

    package mutating func measure(database: Int64, sent: Int64, received: Int64) {
        let difference = self.difference(database: database, sent: sent, received: received)
        guard abs(difference) > Limits.clockToleranceMilliseconds else {
            self.jump = 0
            self.follow(database: database, sent: sent, received: received)
            return
        }
        if self.jump == 0 || abs(difference - self.jump) > Limits.clockToleranceMilliseconds {
            self.jumpSince = received
        }
        self.jump = difference
        guard received - self.jumpSince >= max(Limits.clockJumpMilliseconds, 2 * abs(difference)) else { return }
        self = FollowedClock(database: database, sent: sent, received: received)
    }

    /// Whether an instant of the database, read between `sent` and `received`, fits this clock.
    package func agrees(database: Int64, sent: Int64, received: Int64) -> Bool {
        self.jump == 0
            && abs(self.difference(database: database, sent: sent, received: received))
                <= Limits.clockToleranceMilliseconds
    }

    private mutating func follow(database: Int64, sent: Int64, received: Int64) {
        let trip = received - sent
        guard trip <= max(self.bestTrip + 2, 5) else {
            // An old measurement is worth less: the clocks drift apart.
            self.bestTrip += 1
            return
        }
        self.bestTrip = min(self.bestTrip + 1, trip)
        self.offset = database - (sent + received) / 2
    }

    /// How far an instant is outside of what this clock showed from `sent` to `received`.
    private func difference(database: Int64, sent: Int64, received: Int64) -> Int64 {
        let (first, last) = (sent + self.offset, received + self.offset)
        return database < first ? database - first : max(0, database - last)
    }
}
