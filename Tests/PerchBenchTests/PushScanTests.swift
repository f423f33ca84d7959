import PerchBase
import PerchBench
import PerchModel
import PerchWire
import Testing

@Suite struct `a scan of a pushed message` {
    private static let info = ValueInfo(
        position: Position(revision: 123_456_789, asOf: Instant(milliseconds: 1_790_000_000_123)),
        committed: Instant(milliseconds: 7), cause: .purchase, token: Array(0..<77))

    @Test func `reads the codec's output, for every state`() throws {
        let transaction = Verified<Transaction>?.none
        let states: [(TaskState<Verified<Transaction>?>, PushScan.State)] = [
            (.success(transaction, Self.info), .success),
            (.failure(Failure(reason: "R", message: "m"), Self.info), .failure),
            (.unchanged(Self.info), .unchanged),
        ]
        for (state, expected) in states {
            let codec = MessageCodec()
            let bytes = Array(try codec.encode(Response.currentEntitlementTask(state)).message)
            let scan = try #require(bytes.withUnsafeBytes { PushScan($0) })
            #expect(scan.state == expected)
            #expect(scan.revision == 123_456_789)
            #expect(scan.asOf == 1_790_000_000_123)
            #expect(Array(bytes[scan.tokenStart..<scan.tokenStart + scan.tokenCount]) == Array(0..<77))
        }
        let codec = MessageCodec()
        let loading = try codec.encode(Response.currentEntitlementTask(.loading))
        #expect(PushScan(loading.message)?.state == .loading)
    }

    @Test func `reads the revision of an answer`() throws {
        let codec = MessageCodec()
        let answer = OperateResponse(position: Position(revision: 300, asOf: Instant(milliseconds: 5)))
        #expect(PushScan.revision(ofAnswer: try codec.encode(.operate(answer)).message) == 300)
    }

    /// A truncated message is refused, or is a shorter valid message; the scan never reads past its end.
    @Test func `truncated at any byte is refused or shorter`() throws {
        let codec = MessageCodec()
        let state = TaskState<Verified<Transaction>?>.success(nil, Self.info)
        let bytes = Array(try codec.encode(Response.currentEntitlementTask(state)).message)
        for count in 0..<bytes.count {
            let cut = Array(bytes[..<count])
            let scan = cut.withUnsafeBytes { PushScan($0) }
            #expect(scan == nil || scan?.tokenCount == 0 || scan?.state == nil, "\(count) of \(bytes.count)")
        }
    }

    @Test func `a scan of a pushed message accepts a number padded to ten bytes`() {
        // The baseline server writes revisions in place: field 5 { field 1 { field 1: 5 in ten bytes } }.
        let message: [UInt8] = [
            0x1A, 0, 0x2A, 13, 0x0A, 11, 0x08, 0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00,
        ]
        let scan = message.withUnsafeBytes { PushScan($0) }
        #expect(scan?.state == .success)
        #expect(scan?.revision == 5)
    }
}
