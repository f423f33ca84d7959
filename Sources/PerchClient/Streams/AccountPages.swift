/// The keys of the accounts of an app, in bytewise order, loaded page by page during iteration.
public struct AccountPages: AsyncSequence, Sendable {
    /// One account key.
    public typealias Element = String
    /// The sequence fails with the client's error.
    public typealias Failure = PerchError

    typealias Load = @Sendable (_ token: [UInt8]) async throws(PerchError) -> (keys: [String], next: [UInt8])

    private let load: Load

    init(_ load: @escaping Load) {
        self.load = load
    }

    /// Starts an iteration.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// One consumer's place.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: AccountPages
        private var page: ArraySlice<String> = []
        /// Token of the next page; nil after the last one.
        private var token: [UInt8]? = []

        init(_ pages: AccountPages) {
            self.pages = pages
        }

        /// The next key; loads the next page if the current one is exhausted.
        public mutating func next() async throws(PerchError) -> String? {
            try await self.next(isolation: nil)
        }

        /// The next account key, on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(PerchError) -> String? {
            while self.page.isEmpty {
                guard let token = self.token else { return nil }
                let page = try await self.pages.load(token)
                self.page = page.keys[...]
                self.token = page.next.isEmpty ? nil : page.next
            }
            return self.page.popFirst()
        }
    }
}
