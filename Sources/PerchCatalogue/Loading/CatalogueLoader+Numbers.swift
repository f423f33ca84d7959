import PerchBase
import PerchJSON

extension CatalogueLoader {
    /// An integer under a key, also where a file writes it as `2.0` or as `"2"`. Both have one meaning, so the value is
    /// used, with a warning. Nil for everything else.
    mutating func integer(_ value: JSONValue, _ key: String) -> Int64? {
        if let integer = value.integer { return integer }
        guard let integer = Self.wholeNumber(value) else { return nil }
        self.findings.warn(
            .unusableValue, at: value.place,
            "\(quoted(key)) is \(Self.found(value)), not an integer; used as \(integer), write \(integer)")
        return integer
    }

    /// The whole number in a fraction of zeros or a string of digits.
    static func wholeNumber(_ value: JSONValue) -> Int64? {
        switch value.content {
        case .number(let text):
            guard let point = text.firstIndex(of: ".") else { return nil }
            let fraction = text[text.index(after: point)...]
            return fraction.allSatisfy { $0 == "0" } ? Int64(text[..<point]) : nil
        case .string(let text):
            guard let integer = Int64(text), String(integer) == text else { return nil }
            return integer
        default: return nil
        }
    }

    /// A value for a message: its digits, its text in quotes, or what kind of value it is.
    static func found(_ value: JSONValue) -> String {
        switch value.content {
        case .number(let text): String(text.prefix(20))
        case .string(let text): quoted(text)
        default: value.kind
        }
    }
}
