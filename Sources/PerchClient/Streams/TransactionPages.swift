public import PerchModel
import PerchWire

/// The transactions of an account, oldest first, loaded page by page during iteration, or one page at a time.
public struct TransactionPages: AsyncSequence, Sendable {
    /// One transaction.
    public typealias Element = Verified<Transaction>
    /// The sequence fails with the client's error.
    public typealias Failure = PerchError

    private let load: @Sendable (_ token: [UInt8]) async throws(PerchError) -> TransactionPage

    init(_ load: @escaping @Sendable (_ token: [UInt8]) async throws(PerchError) -> TransactionPage) {
        self.load = load
    }

    /// The page after the one with this `nextPageToken`; without a token the first.
    public func page(after token: [UInt8]? = nil) async throws(PerchError) -> TransactionPage {
        try await self.load(token ?? [])
    }

    /// Starts an iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// One consumer's place.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: TransactionPages
        private var page: ArraySlice<Verified<Transaction>> = []
        /// Token of the next page; nil after the last one.
        private var token: [UInt8]? = []

        init(_ pages: TransactionPages) {
            self.pages = pages
        }

        /// The next transaction; loads the next page if the current one is exhausted.
        public mutating func next() async throws(PerchError) -> Verified<Transaction>? {
            try await self.next(isolation: nil)
        }

        /// The next transaction, on the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(PerchError) -> Verified<Transaction>? {
            while self.page.isEmpty {
                guard let token = self.token else { return nil }
                let page = try await self.pages.load(token)
                self.page = page.transactions[...]
                self.token = page.nextPageToken
            }
            return self.page.popFirst()
        }
    }
}
