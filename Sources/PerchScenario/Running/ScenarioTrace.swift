package import PerchWire

/// The requests and pushes of a scenario, line by line. A load test repeats them for other accounts and compares the
/// answers.
package struct ScenarioTrace: Sendable {
    /// The connection that sent a request.
    package enum Asker: Hashable, Sendable { case app, store }

    /// A change, or a read that a change needed, with its answer.
    package struct Ask: Sendable {
        package var asker: Asker
        package var request: Request
        package var answer: Result<Response, RefusedCall>
    }

    /// A step with its requests and pushes. The first passage is the head of the file.
    package struct Passage: Sendable {
        package var place = SourcePlace(line: 1, column: 1)
        /// The source text.
        package var text = ""
        package var asks: [Ask] = []
        package var opened: [(key: WatchKey, request: Request)] = []
        package var closed: [WatchKey] = []
        /// In order of arrival, without `loading` and without the app's own events.
        package var pushes: [WatchKey: [Response]] = [:]
    }

    package var passages = [Passage()]

    mutating func begin(_ line: ScenarioLine) {
        self.passages.append(Passage(place: line.place, text: line.text))
    }

    mutating func asked(_ asker: Asker, _ request: Request, _ answer: Result<Response, RefusedCall>) {
        guard Self.isKept(request) else { return }
        self.passages[self.passages.count - 1].asks.append(Ask(asker: asker, request: request, answer: answer))
    }

    mutating func opened(_ key: WatchKey, _ request: Request) {
        self.passages[self.passages.count - 1].opened.append((key, request))
    }

    mutating func closed(_ key: WatchKey) { self.passages[self.passages.count - 1].closed.append(key) }

    mutating func heard(_ key: WatchKey, _ response: Response, ownClient: [UInt8]) {
        guard response.isTold(to: ownClient) else { return }
        self.passages[self.passages.count - 1].pushes[key, default: []].append(response)
    }

    /// Reads change nothing. `inspectAccount` is kept, because it returns the numbers of pending purchases.
    private static func isKept(_ request: Request) -> Bool {
        !request.method.isSafe || request.method == .inspectAccount
    }
}

extension Response {
    /// Whether a message of a stream is news for the client with this ID. `loading` is not, and neither is an event that
    /// the client caused.
    package func isTold(to clientID: [UInt8]) -> Bool {
        switch self {
        case .productsTask(.loading), .subscriptionStatusTask(.loading), .currentEntitlementTask(.loading),
            .purchaseIntents(.loading), .messages(.loading):
            false
        case .transactionUpdates(let event): event.transaction != nil && event.originClientID != clientID
        default: true
        }
    }
}
