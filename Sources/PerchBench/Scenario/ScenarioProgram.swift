package import PerchScenario
import PerchWire

/// A scenario as the first account has played it: what each further one asks, line by line, and what it is to be told.
package struct ScenarioProgram: Sendable {
    struct Passage: Sendable {
        var line: Int
        var text: String
        /// Of the app, and so once for all: its catalogue, its settings, its clock.
        var common: [ScenarioTrace.Ask] = []
        /// Of each account.
        var own: [ScenarioTrace.Ask] = []
        var opened: [(key: Int, request: Request)] = []
        var closed: [Int] = []
        /// What each watch is to say, by its key.
        var expected: [Int: [Response]] = [:]

        /// Nobody does anything for himself: all wait for what the app's change brings.
        var isCommon: Bool { self.own.isEmpty && self.opened.isEmpty && self.closed.isEmpty }

        var isNothing: Bool { self.isCommon && self.common.isEmpty && self.expected.isEmpty }
    }

    /// Of the file, for people.
    package let file: String
    /// Streams that the scenario looks at.
    let keys: [WatchKey]
    let methods: [Method]
    let passages: [Passage]

    package init(_ trace: ScenarioTrace, file: String) {
        self.file = file
        var keys: [WatchKey] = []
        var methods: [Method] = []
        func number(_ key: WatchKey, _ method: Method?) -> Int {
            if let known = keys.firstIndex(of: key) { return known }
            guard let method else { preconditionFailure("a stream that was never opened") }
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
