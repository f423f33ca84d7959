import PerchTesting

@testable import PerchScenario

/// A file of this checkout.
func checkoutText(_ name: String) -> String {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    return String(decoding: TemporaryDirectory.read("\(root)/\(name)"), as: UTF8.self)
}

extension ParsedScenario {
    /// Everything that the runner reads of a scenario, without places and texts of lines.
    var meaning: String {
        let scenario = self.scenario
        var parts = ["\(scenario.start) \(scenario.isStrict) \(scenario.accounts) \(scenario.settings)"]
        parts.append("\(String(describing: scenario.catalogue))")
        parts += scenario.namedCatalogues.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        parts += scenario.lines.map(\.meaning)
        return parts.joined(separator: "\n")
    }

    /// The runner's reading of one line.
    func meaning(ofLine number: Int) -> String {
        self.scenario.lines.filter { $0.place.line == number }.map(\.meaning).joined(separator: "\n")
    }
}

extension ScenarioLine {
    fileprivate var meaning: String {
        switch self.content {
        case .step(let step): return "\(step)"
        case .expectation(let expectation):
            return "\(expectation.subject) \(expectation.items.map { $0.checks.map { "\($0.kind)" } })"
        }
    }
}
