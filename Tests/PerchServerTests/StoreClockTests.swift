import PerchBase
import PerchLoop
import Testing
import TestingThreads

@testable import PerchServer

@Suite(.onOwnThreads) struct `the server's clock` {
    private func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

    @Test func `the server's clock begins at the lease, and stands until the machine's has come there`() {
        let clock = StoreClock(notBefore: self.at(1_000), bound: self.at(9_000))
        #expect(clock.now(machine: self.at(400)) == self.at(1_000))
        #expect(clock.now(machine: self.at(1_001)) == self.at(1_001))
    }

    @Test func `the server's clock does not go back with the machine's`() {
        let clock = StoreClock(notBefore: self.at(0), bound: self.at(9_000))
        #expect(clock.now(machine: self.at(5_000)) == self.at(5_000))
        #expect(clock.now(machine: self.at(200)) == self.at(5_000))
    }

    @Test func `the clock never passes the lease on disk, and wakes the store's thread once for another`() throws {
        let wake = try WakeUp()
        let clock = StoreClock(notBefore: self.at(0), bound: self.at(9_000))
        clock.wakes(wake)
        #expect(clock.now(machine: self.at(9_000)) == self.at(9_000))
        #expect(wake.clear() == 0)
        #expect(clock.now(machine: self.at(600_000)) == self.at(9_000))
        #expect(clock.now(machine: self.at(600_001)) == self.at(9_000))
        #expect(wake.clear() == 1)
        #expect(clock.extend(to: self.at(612_000), machine: self.at(600_001)), "somebody waited for it")
        #expect(clock.now(machine: self.at(600_002)) == self.at(600_002))
        #expect(!clock.extend(to: self.at(622_000), machine: self.at(600_002)))
        #expect(wake.clear() == 0)
        #expect(clock.now(machine: self.at(700_000)) == self.at(622_000))
        #expect(wake.clear() == 1, "the next time as well")
    }

    /// A store that cannot be written: its thread tries again by itself, and each loop that it woke would wake it again.
    @Test func `wakes the store's thread once while no lease is to be had, and nobody else`() throws {
        let wake = try WakeUp()
        let clock = StoreClock(notBefore: self.at(0), bound: self.at(9_000))
        clock.wakes(wake)
        var woken: UInt64 = 0
        for second in 10..<110 {
            #expect(clock.now(machine: self.at(Int64(second) * 1_000)) == self.at(9_000))
            #expect(!clock.extend(to: self.at(9_000), machine: self.at(Int64(second) * 1_000)))
            woken += wake.clear()
        }
        #expect(woken == 1)
        #expect(clock.extend(to: self.at(130_000), machine: self.at(110_000)))
        #expect(clock.now(machine: self.at(110_001)) == self.at(110_001))
    }

    @Test func `stands at what was shown last while it is held, and says whether it was held`() {
        let clock = StoreClock(notBefore: self.at(0), bound: self.at(9_000))
        #expect(clock.now(machine: self.at(5_000)) == self.at(5_000))
        clock.hold()
        clock.hold()
        #expect(clock.now(machine: self.at(5_001)) == self.at(5_000))
        #expect(clock.release())
        #expect(!clock.release())
        #expect(clock.now(machine: self.at(5_001)) == self.at(5_001))
    }

    @Test func `shows no thread a later instant once it is held`() async {
        let clock = StoreClock(notBefore: self.at(0), bound: .distantFuture)
        let latest = await withTaskGroup(of: Instant.self) { group in
            for start in 0..<4 {
                group.addTask {
                    var seen = Instant.distantPast
                    for step in 0..<20_000 { seen = clock.now(machine: Instant(milliseconds: Int64(start + step * 4))) }
                    return seen
                }
            }
            var held = Instant.distantPast
            group.addTask {
                clock.hold()
                return clock.now(machine: .distantFuture)
            }
            for await seen in group { held = max(held, seen) }
            return held
        }
        #expect(clock.now(machine: .distantFuture) == latest)
    }
}
