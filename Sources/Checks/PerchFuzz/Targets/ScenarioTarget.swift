import PerchBase
import PerchScenario

/// Scenario files: what is read says the same when it is read again, and every mistake has a place within the text.
final class ScenarioTarget: FuzzTarget {
    static let name = "scenario"
    static let reaches = ["PerchScenario/Parsing", "PerchScenario/Text"]

    static func seeds() -> [[UInt8]] {
        [
            """
            catalogue
              subscription pro.monthly in plus: P1M, 4.99
            end
            alice buys pro.monthly
            expect status of alice in plus: subscribed
            advance by 1 month
            """, "clock 2026-01-01T00:00:00Z\n# a comment\nanna buys \"a b\"\n", "expect nothing\r\nfreeze\r\n",
            "catalog {\n\"products\": []\n}\nbuy pro\n",
            "file Shop.storekit\nwatch entitlement of alice to pro -> none\n",
        ].map { Array($0.utf8) }
    }

    func run(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.count
        let parsed = ScenarioParser.parse(text) { (source) throws(ScenarioParser.CatalogueUnreadable) in
            guard case .file(let path) = source else { return (products: ["pro", "coins"], groups: ["plus"]) }
            if path.hasPrefix("no") { throw ScenarioParser.CatalogueUnreadable("it is not there") }
            return path.hasPrefix("un") ? nil : (products: ["pro", "coins"], groups: ["plus"])
        }
        hold(parsed.isSound == parsed.faults.isEmpty, "a text is sound and has mistakes, or neither")
        hold(parsed.faultCount >= parsed.faults.count, "more mistakes are told than there are")
        hold(parsed.faults.count <= Limits.scenarioFaultsMax, "more mistakes are told than may be")
        for fault in parsed.faults {
            hold(!fault.message.isEmpty, "a mistake without a word")
            hold((1...lines + 1).contains(fault.place.line) && fault.place.column >= 1, "a mistake at \(fault.place)")
        }
        return parsed.isSound
    }
}
