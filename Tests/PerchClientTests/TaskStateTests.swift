import PerchBase
import PerchClient
import PerchModel
import Testing

@Suite struct `a state of a task` {
    private static let info = ValueInfo(
        position: Position(revision: 7, asOf: Instant(milliseconds: 1)), committed: Instant(milliseconds: 1),
        cause: .purchase)
    private static let failure = EntitlementTaskFailure(reason: "LOAD_FAILED", message: "no value")

    @Test func `is mapped with its value, and a failure with its last value`() {
        typealias State = EntitlementTaskState<Int>
        #expect(State.loading.map { "\($0)" } == .loading)
        #expect(State.success(3, info: Self.info).map { "\($0)" } == .success("3", info: Self.info))
        #expect(State.failure(Self.failure, last: 3).map { "\($0)" } == .failure(Self.failure, last: "3"))
        #expect(State.failure(Self.failure, last: nil).map { "\($0)" } == .failure(Self.failure, last: nil))
        #expect(State.unchanged(info: Self.info).map { "\($0)" } == .unchanged(info: Self.info))
    }

    @Test func `of an entitlement has its transaction, verified or not`() {
        typealias State = EntitlementTaskState<Verified<Transaction>?>
        let transaction = Sample.transaction(1).value
        let isWrong = VerificationFailure(rawValue: 4)
        let bought = Verified(transaction, failure: isWrong)
        #expect(State.loading.transaction == nil)
        #expect(State.success(nil, info: Self.info).transaction == nil)
        #expect(State.success(bought, info: Self.info).transaction == bought)
        #expect(State.failure(Self.failure, last: bought).transaction == bought)
        #expect(State.success(bought, info: Self.info).map { $0?.failure }.value == .some(isWrong))
    }
}
