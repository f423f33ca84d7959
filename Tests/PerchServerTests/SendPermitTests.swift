import PerchBase
import PerchLoop
import Testing

@testable import PerchServer

@Suite struct `the permit to ask the App Store` {
    private static func soon(_ milliseconds: Int64) -> MonotonicTime {
        Clocks.monotonic().advanced(byMilliseconds: milliseconds)
    }

    @Test func `it ends with the right, and with the clock`() {
        let permit = SendPermit()
        #expect(!permit.isGranted(0))
        #expect(!permit.set(until: .distantFuture, paused: [:]))
        #expect(permit.isGranted(0))
        // Nothing need tell it that the time is over.
        #expect(!permit.set(until: Self.soon(-1), paused: [:]))
        #expect(!permit.isGranted(0))
        #expect(permit.set(until: nil, paused: [:]))
        #expect(!permit.isGranted(0))
        #expect(!permit.set(until: nil, paused: [:]))
    }

    @Test func `a pause is one app's`() {
        let permit = SendPermit()
        _ = permit.set(until: .distantFuture, paused: [:])
        #expect(permit.set(until: .distantFuture, paused: [1: Self.soon(600_000)]))
        #expect(permit.isGranted(0))
        #expect(!permit.isGranted(1))
        #expect(!permit.set(until: .distantFuture, paused: [1: Self.soon(600_000)]))
        #expect(!permit.set(until: .distantFuture, paused: [:]))
        #expect(permit.isGranted(1))
    }
}
