import PerchBase
import PerchPostgres
import Testing

/// A node's time between heartbeats: the database's clock, carried on by the machine's clock that counts suspend.
@Suite struct `the clock of a node` {
    private static let begin: Int64 = 1_800_000_000_000

    /// One whose machine stands at 1,000 ms.
    private func clock() -> FollowedClock {
        FollowedClock(database: Self.begin, sent: 995, received: 1_005)
    }

    @Test func `is the database's at the middle of the first round trip`() {
        #expect(self.clock().offset == Self.begin - 1_000)
        #expect(self.clock().jump == 0)
    }

    @Test func `follows small differences, by the shortest round trips`() {
        var clock = self.clock()
        clock.measure(database: Self.begin + 1_300, sent: 2_000, received: 2_004)
        #expect(clock.offset == Self.begin - 702)
        clock.measure(database: Self.begin + 2_300, sent: 3_000, received: 3_900)
        #expect(clock.offset == Self.begin - 702, "a long trip says less")
        #expect(clock.jump == 0)
    }

    @Test(arguments: [Int64(600_000), -600_000])
    func `goes on as before when the database's jumps, until the two agree again`(_ jump: Int64) {
        var clock = self.clock()
        let offset = clock.offset
        for second in 2...100 as ClosedRange<Int64> {
            let now = second * 1_000
            clock.measure(database: Self.begin + now - 1_000 + jump, sent: now, received: now + 2)
            #expect(clock.offset == offset)
            #expect(abs(clock.jump - jump) <= 2)
            #expect(!clock.agrees(database: Self.begin + now - 1_000 + jump, sent: now, received: now + 2))
            #expect(!clock.agrees(database: Self.begin + now - 1_000, sent: now, received: now + 2), "not yet")
        }
        clock.measure(database: Self.begin + 100_000, sent: 101_000, received: 101_002)
        #expect(clock.jump == 0)
        #expect(clock.agrees(database: Self.begin + 100_000, sent: 101_000, received: 101_002))
    }

    @Test(arguments: [(Int64(30_000), Int64(60)), (600_000, 1_200), (-5_000, 60)])
    func `follows a jump that lasts for a minute, and for twice its length`(_ jump: Int64, _ seconds: Int64) {
        var clock = self.clock()
        let offset = clock.offset
        for second in 2...(1 + seconds) {
            let now = second * 1_000
            clock.measure(database: Self.begin + now - 1_000 + jump, sent: now, received: now)
            #expect(clock.jump != 0, "after \(second) s")
        }
        let now = (3 + seconds) * 1_000
        clock.measure(database: Self.begin + now - 1_000 + jump, sent: now, received: now)
        #expect(clock.jump == 0)
        #expect(clock.offset == offset + jump)
    }

    @Test func `a jump that moves on begins anew`() {
        var clock = self.clock()
        let offset = clock.offset
        for second in 2...600 as ClosedRange<Int64> {
            let now = second * 1_000
            // Each minute somebody sets it again.
            let jump = 10_000 + second / 30 * 5_000
            clock.measure(database: Self.begin + now - 1_000 + jump, sent: now, received: now)
        }
        #expect(clock.offset == offset)
        #expect(clock.jump != 0)
    }
}
