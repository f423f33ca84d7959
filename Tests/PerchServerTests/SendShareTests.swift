import PerchBase
import Testing

@testable import PerchServer

/// Long answers share an iteration, short ones always go out whole.
@Suite struct SendShareTests {
    @Test func `Long writes have a part of an iteration, and each sends something`() {
        var share = SendShare()
        let sent = (0..<200).map { _ in share.take(256 * 1024) }
        let whole = Limits.bulkBytesPerTurn / (256 * 1024)
        #expect(sent.prefix(whole).allSatisfy { $0 == 256 * 1024 })
        #expect(sent.dropFirst(whole).allSatisfy { $0 == Limits.shortWriteBytes })
        #expect(sent.reduce(0, +) < 5 * 1024 * 1024)
    }

    @Test func `A short write is whole, whatever was sent before`() {
        var share = SendShare()
        for _ in 0..<10_000 { #expect(share.take(500) == 500) }
        for _ in 0..<10 { _ = share.take(1024 * 1024) }
        #expect(share.take(Limits.shortWriteBytes) == Limits.shortWriteBytes)
        #expect(share.take(500) == 500)
    }
}
