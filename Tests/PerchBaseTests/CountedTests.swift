import Testing

@testable import PerchBase

@Suite("A counted word") struct CountedTests {
    @Test func `it is singular for one alone`() {
        #expect([0, 1, 2].map { counted($0, "purchase") } == ["0 purchases", "1 purchase", "2 purchases"])
        #expect([1, 2].map { counted($0, "history", "histories") } == ["1 history", "2 histories"])
    }
}
