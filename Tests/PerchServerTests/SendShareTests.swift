import PerchBase
import Testing

@testable import PerchServer

/// Long answers share an iteration, short ones always go out whole.
@Suite struct SendShareTests {
    /// The bytes that each of so many writes sends.
    private func sent(_ share: inout SendShare, _ count: Int, of byteCount: Int, kernelTakes most: Int = .max) -> [Int]
    {
        (0..<count).map { _ in
            let part = min(share.part(of: byteCount), most)
            share.sent(part, of: byteCount)
            return part
        }
    }

    @Test func `Long writes have a part of an iteration, then each sends a little, and then they wait`() {
        var share = SendShare()
        let sent = self.sent(&share, 400, of: 256 * 1024)
        let whole = Limits.bulkBytesPerTurn / (256 * 1024)
        #expect(sent.prefix(whole).allSatisfy { $0 == 256 * 1024 })
        #expect(sent[whole] == Limits.shortWriteBytes && sent.last == 0)
        #expect(sent.reduce(0, +) <= 4 * Limits.bulkBytesPerTurn + Limits.shortWriteBytes)
        share.begin()
        #expect(share.part(of: 256 * 1024) == 256 * 1024)
    }

    @Test func `What the kernel did not take is not counted`() {
        var share = SendShare()
        let sent = self.sent(&share, 8, of: 256 * 1024, kernelTakes: 1024)
        #expect(sent.allSatisfy { $0 == 1024 })
        #expect(share.part(of: 256 * 1024) == 256 * 1024)
    }

    @Test func `A short write is whole, whatever was sent before`() {
        var share = SendShare()
        _ = self.sent(&share, 100, of: 1024 * 1024)
        #expect(self.sent(&share, 10_000, of: 500).allSatisfy { $0 == 500 })
        #expect(share.part(of: Limits.shortWriteBytes) == Limits.shortWriteBytes)
    }
}
