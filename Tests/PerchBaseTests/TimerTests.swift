import PerchBase
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `timers` {
    @Test(arguments: [1, 2, 3, 0xBEEF, 20_261_121] as [UInt64])
    func `a timer heap behaves as a sorted list`(seed: UInt64) {
        struct Expected { var time: Int64, order: Int, payload: UInt64, id: TimerHeap.ID }
        var random = SplitMix64(seed: seed)
        var heap = TimerHeap()
        var model: [Expected] = []
        var stale: [TimerHeap.ID] = [.none]
        var now: Int64 = 0
        for order in 0..<4_000 {
            switch random.below(10) {
            case 0..<5:
                let time = now + Int64(random.below(60)) - 5
                let payload = random.next()
                let id = heap.schedule(at: time, payload: payload)
                #expect(heap.isScheduled(id), "seed \(seed)")
                model.append(Expected(time: time, order: order, payload: payload, id: id))
            case 5..<8 where !model.isEmpty:
                let victim = model.remove(at: random.below(model.count))
                let cancelled = heap.cancel(victim.id)
                #expect(cancelled, "seed \(seed)")
                stale.append(victim.id)
            case 8:
                let cancelled = heap.cancel(stale[random.below(stale.count)])
                #expect(!cancelled, "a stale identifier cancelled a timer, seed \(seed)")
            default:
                now += Int64(random.below(20))
                var due = model.filter { $0.time <= now }
                due.sort { ($0.time, $0.order) < ($1.time, $1.order) }
                model.removeAll { $0.time <= now }
                for expected in due {
                    let popped = heap.popDue(at: now)
                    #expect(popped?.time == expected.time && popped?.payload == expected.payload, "seed \(seed)")
                    stale.append(expected.id)
                }
                let more = heap.popDue(at: now)
                #expect(more == nil, "seed \(seed)")
            }
            heap.checkInvariants()
            #expect(heap.count == model.count && heap.nextTime == model.map(\.time).min(), "seed \(seed)")
        }
    }

    @Test func `cancelled timers do not accumulate`() {
        var heap = TimerHeap()
        for time in 0..<100_000 {
            let id = heap.schedule(at: Int64(time), payload: 0)
            _ = heap.schedule(at: .max, payload: 1)
            heap.cancel(id)
            if let late = heap.popDue(at: .max) { #expect(late.payload == 1) }
        }
        heap.checkInvariants()
        #expect(heap.count == 0 && heap.nextTime == nil)
    }

    @Test(arguments: [4, 5, 6, 0xFACE, 20_261_122] as [UInt64])
    func `a timer wheel behaves as a sorted list`(seed: UInt64) {
        struct Expected { var second: Int64, order: Int, index: Int32 }
        var random = SplitMix64(seed: seed)
        var now = Int64(random.below(5_000)) - 2_500
        var wheel = TimerWheel(startingAt: now)
        var model: [Expected] = []
        for order in 0..<4_000 {
            let index = Int32(random.below(200))
            let known = model.firstIndex { $0.index == index }
            #expect(wheel.contains(index) == (known != nil), "seed \(seed)")
            switch random.below(10) {
            case 0..<6 where known == nil:
                let ahead = random.below(20) == 0 ? TimerWheel.slotCount - 1 : random.below(40) - 3
                wheel.insert(index, dueAt: now + Int64(ahead))
                model.append(Expected(second: now + Int64(max(1, ahead)), order: order, index: index))
            case 6..<8:
                let removed = wheel.remove(index)
                #expect(removed == (known != nil), "seed \(seed)")
                if let known { model.remove(at: known) }
            default:
                now += random.below(50) == 0 ? 10_000 : Int64(random.below(4))
                wheel.advance(to: now)
                var due = model.filter { $0.second <= now }
                due.sort { ($0.second, $0.order) < ($1.second, $1.order) }
                model.removeAll { $0.second <= now }
                // Remove an index after it became due and before it is popped.
                if due.count > 2, random.below(2) == 0 { wheel.remove(due.remove(at: random.below(due.count)).index) }
                for expected in due {
                    let popped = wheel.popDue()
                    #expect(popped == expected.index, "seed \(seed)")
                }
                let more = wheel.popDue()
                #expect(more == nil, "seed \(seed)")
            }
            wheel.checkInvariants()
            #expect(wheel.count == model.count, "seed \(seed)")
        }
    }

    @Test func `a due index may be inserted again at once, even after a jump in time`() {
        var wheel = TimerWheel(startingAt: 0)
        wheel.insert(7, dueAt: 30)
        #expect(Self.due(in: &wheel, at: 29).isEmpty)
        wheel.advance(to: 1_000_000)
        let popped = wheel.popDue()
        #expect(popped == 7)
        wheel.insert(7, dueAt: 1_000_030)
        #expect(Self.due(in: &wheel, at: 1_000_029).isEmpty)
        #expect(Self.due(in: &wheel, at: 1_000_030) == [7])
        wheel.checkInvariants()
    }

    @Test func `time that runs backwards changes nothing`() {
        var wheel = TimerWheel(startingAt: 100)
        wheel.insert(1, dueAt: 101)
        #expect(Self.due(in: &wheel, at: 50).isEmpty && wheel.second == 100)
        #expect(Self.due(in: &wheel, at: 101) == [1])
    }

    private static func due(in wheel: inout TimerWheel, at second: Int64) -> [Int32] {
        wheel.advance(to: second)
        var due: [Int32] = []
        while let index = wheel.popDue() { due.append(index) }
        return due
    }

    @Test func `a deadline beyond the wheel traps`() async {
        await #expect(processExitsWith: .failure) {
            var wheel = TimerWheel(startingAt: 0)
            wheel.insert(0, dueAt: Int64(TimerWheel.slotCount))
        }
    }

    @Test func `an index that is in the wheel cannot be inserted again`() async {
        await #expect(processExitsWith: .failure) {
            var wheel = TimerWheel(startingAt: 0)
            wheel.insert(3, dueAt: 1)
            wheel.insert(3, dueAt: 2)
        }
    }

    @Test func `monotonic time saturates and counts in every unit`() {
        let start = MonotonicTime(nanoseconds: 1_999_999_999)
        #expect(start.wholeSeconds == 1)
        #expect(MonotonicTime(nanoseconds: -1).wholeSeconds == -1)
        #expect(start.advanced(bySeconds: 2).nanoseconds == 3_999_999_999)
        #expect(start.advanced(byMilliseconds: 3).milliseconds(since: start) == 3)
        #expect(start.advanced(bySeconds: .max) == .distantFuture)
        #expect(start.advanced(byMilliseconds: .min).nanoseconds == .min)
        #expect(MonotonicTime.distantFuture.advanced(byNanoseconds: 1) == .distantFuture)
        #expect(MonotonicTime.distantFuture.nanoseconds(since: MonotonicTime(nanoseconds: -1)) == .max)
        #expect(MonotonicTime.zero < start)
    }
}
