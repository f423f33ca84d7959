package import PerchBase
package import PerchJSON

/// The fields of a JSON object from Apple, by name. A field that is missing, null or of another type reads as nil.
///
/// Nothing is lost: the object stays whole, with fields and values that this version does not know.
package struct PayloadFields: Sendable {
    package let value: JSONValue

    package init(_ value: JSONValue) { self.value = value }

    package func text(_ name: String) -> String? { self.value[name]?.string }
    package func integer(_ name: String) -> Int64? { self.value[name]?.integer }
    package func boolean(_ name: String) -> Bool? { self.value[name]?.boolean }

    /// Milliseconds since the Unix epoch. Xcode signs fractions, which are rounded down. Whatever stands there: what the model takes of
    /// it goes through `usableInstant`.
    package func instant(_ name: String) -> Instant? { self.value[name]?.instant }

    package func texts(_ name: String) -> [String]? {
        guard let elements = self.value[name]?.array else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }

    package func object(_ name: String) -> PayloadFields? {
        guard let value = self.value[name], value.members != nil else { return nil }
        return PayloadFields(value)
    }

    package func objects(_ name: String) -> [PayloadFields]? {
        guard let elements = self.value[name]?.array, elements.allSatisfy({ $0.members != nil }) else { return nil }
        return elements.map { PayloadFields($0) }
    }
}

extension JSONValue {
    /// A number of milliseconds, rounded down; nil where it is no number or does not fit.
    var instant: Instant? {
        if let integer = self.integer { return Instant(milliseconds: integer) }
        guard let number = self.double?.rounded(.down), let milliseconds = Int64(exactly: number) else { return nil }
        return Instant(milliseconds: milliseconds)
    }
}

/// The type that Apple documents for a field.
package indirect enum FieldShape: Sendable {
    case text, integer, boolean, instant, texts
    case object([String: FieldShape])
    case objects([String: FieldShape])
}

/// The payload of one kind of signed value.
package protocol ApplePayload: Sendable {
    var fields: PayloadFields { get }
    init(_ fields: PayloadFields)

    /// The documented fields.
    static var shape: [String: FieldShape] { get }
}

extension ApplePayload {
    /// Names of fields that this version does not know, sorted; those of inner objects with the path before them.
    package var unknownFields: [String] {
        Self.visit(self.fields.value, Self.shape, path: "") { _, shape in shape == nil }.sorted()
    }

    /// Names of known fields whose value has another type than documented, sorted.
    package var mistypedFields: [String] {
        Self.visit(self.fields.value, Self.shape, path: "") { value, shape in
            guard let shape, !value.isNull else { return false }
            return !value.has(shape)
        }.sorted()
    }

    /// The paths of all members for which `matches` holds.
    private static func visit(
        _ value: JSONValue, _ shapes: [String: FieldShape], path: String, _ matches: (JSONValue, FieldShape?) -> Bool
    ) -> [String] {
        var found: [String] = []
        for member in value.members ?? [] {
            let shape = shapes[member.key]
            let name = path + member.key
            if matches(member.value, shape) { found.append(name) }
            switch shape {
            case .object(let inner)?: found += self.visit(member.value, inner, path: name + ".", matches)
            case .objects(let inner)?:
                for element in member.value.array ?? [] {
                    found += self.visit(element, inner, path: name + "[].", matches)
                }
            default: break
            }
        }
        return found
    }
}

extension JSONValue {
    fileprivate func has(_ shape: FieldShape) -> Bool {
        switch shape {
        case .text: self.string != nil
        case .integer: self.integer != nil
        case .boolean: self.boolean != nil
        case .instant: self.instant != nil
        case .texts: self.array?.allSatisfy { $0.string != nil } ?? false
        case .object: self.members != nil
        case .objects: self.array?.allSatisfy { $0.members != nil } ?? false
        }
    }
}
