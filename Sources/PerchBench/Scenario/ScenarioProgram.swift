package import PerchScenario
import PerchWire

/// A scenario as the first account ran it: the requests of further accounts, line by line, and their expected data.
package struct ScenarioProgram: Sendable {
    struct Passage: Sendable {
        var line: Int
        var text: String
        /// Requests of the app, made once: its catalogue, settings and clock.
        var common: [ScenarioTrace.Ask] = []
        /// Requests of each account.
        var own: [ScenarioTrace.Ask] = []
        var opened: [(key: Int, request: Request)] = []
        var closed: [Int] = []
        /// The expected values of each watch, by its key.
        var expected: [Int: [Response]] = [:]

        /// No account acts by itself: all wait for the results of the app's change.
        var isCommon: Bool { self.own.isEmpty && self.opened.isEmpty && self.closed.isEmpty }

        var isNothing: Bool { self.isCommon && self.common.isEmpty && self.expected.isEmpty }
    }

    /// The file's name, for messages.
    package let file: String
    /// The scenario's streams.
    let keys: [WatchKey]
    let methods: [Method]
    let passages: [Passage]

    package init(_ trace: ScenarioTrace, file: String) {
        self.file = file
        var keys: [WatchKey] = []
        var methods: [Method] = []
        func number(_ key: WatchKey, _ method: Method?) -> Int {
            if let known = keys.firstIndex(of: key) { return known }
            guard let method else { preconditionFailure("this stream was never opened") }
            keys.append(key)
            methods.append(method)
            return keys.count - 1
        }
        self.passages = trace.passages.map { traced in
            var passage = Passage(line: traced.place.line, text: traced.text)
            for ask in traced.asks {
                if ask.request.account == nil { passage.common.append(ask) } else { passage.own.append(ask) }
            }
            passage.opened = traced.opened.map { (number($0.key, $0.request.method), $0.request) }
            passage.closed = traced.closed.map { number($0, nil) }
            for (key, responses) in traced.pushes { passage.expected[number(key, nil)] = responses }
            return passage
        }.filter { !$0.isNothing }
        self.keys = keys
        self.methods = methods
    }
}
