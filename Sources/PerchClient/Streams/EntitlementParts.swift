package import PerchWire

/// The parts of a copy of an app's entitlements, as the contract has them: see `AppEntitlementsResponse`.
///
/// Over any number of connections: after a lost one it goes on with a `begin`. Each iteration opens its own stream.
package struct EntitlementParts: AsyncSequence, Sendable {
    package typealias Element = CopyPart
    package typealias Failure = PerchError

    private let start: UpdatesStart

    init(_ start: UpdatesStart) { self.start = start }

    package func makeAsyncIterator() -> Iterator { Iterator(UpdatesReader(self.start)) }

    /// One consumer's place.
    package struct Iterator: AsyncIteratorProtocol {
        private let reader: UpdatesReader

        init(_ reader: UpdatesReader) { self.reader = reader }

        package mutating func next() async throws(PerchError) -> CopyPart? {
            try await self.next(isolation: nil)
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws(PerchError) -> CopyPart? {
            while let item = try await self.reader.next() {
                if let part = item.part { return part }
            }
            return nil
        }
    }
}

extension PerchClient {
    /// Reads a copy of the app's entitlements, and then every change of it.
    package func entitlementParts() -> EntitlementParts {
        let app = self.app
        let request = EventsRequest(.appEntitlements, after: []) { token in
            .appEntitlements(AppEntitlementsRequest(app: app, resumeToken: token))
        }
        return EntitlementParts(UpdatesStart(self, request, includesOwn: true))
    }
}
