import PerchModel

// Choices that are enumerations of the contract. A command line takes Perch's short words and the names that
// canonical JSON has, so that a value from `-o json` is a value for an option.
extension ValueKind {
    /// The words of an enumeration: `winBack` is `OFFER_TYPE_WIN_BACK` in JSON.
    static func contract(_ prefix: String, _ words: [String], naming names: [String: String] = [:]) -> ValueKind {
        let json = words.map { (prefix + "_" + (names[$0] ?? Self.constant($0)), $0) }
        return .choice(words, json: Dictionary(uniqueKeysWithValues: json))
    }

    /// A field of the type bool.
    static let toggle = ValueKind.choice(["on", "off"], json: ["true": "on", "false": "off"])

    static let environment = ValueKind.contract("ENVIRONMENT", Array(AppEnvironment.names.dropFirst()))

    /// `inGracePeriod` and `developer-issue` as a constant's name.
    private static func constant(_ word: String) -> String {
        String(word.flatMap { $0 == "-" ? ["_"] : $0.isUppercase ? ["_", $0] : Array($0.uppercased()) })
    }

    /// Whether the number of a transaction is such a value.
    var isOfTransaction: Bool {
        switch self {
        case .target, .transactionID: true
        default: false
        }
    }

    /// Whether a value may begin with a hyphen.
    var takesNegative: Bool {
        if case .moment = self { true } else { false }
    }
}
