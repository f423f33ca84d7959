package import PerchJSON

/// The reason that a JSON document is not the message that it should be.
package enum MessageJSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The document is not JSON, or exceeds a limit.
    case notJSON(JSONError)
    /// A value does not fit its field. `field` is a path by JSON's names: `order.offer.id`, empty for the document.
    case wrongValue(field: String, at: JSONPlace, found: String, expected: String)
    /// The message has no such field. `nearest` is the field whose name is most like it.
    case unknownField(field: String, at: JSONPlace, message: String, nearest: String?)
    /// The field came twice: by both of its names, or beside another field of the same `oneof`.
    case secondValue(field: String, at: JSONPlace)
    /// A query names a field more than once that takes one value.
    case repeatedField(field: String, count: Int)
    /// The query of a GET has too many fields, or a path with too many names.
    case queryTooLarge(found: String, limit: String)

    /// The path of the field that the error is about; nil for a document that is not JSON.
    package var field: String? {
        switch self {
        case .notJSON, .queryTooLarge: nil
        case .wrongValue(let field, _, _, _), .unknownField(let field, _, _, _), .secondValue(let field, _),
            .repeatedField(let field, _):
            field
        }
    }

    package var description: String {
        switch self {
        case .notJSON(let error): return "\(error)"
        case .wrongValue(let field, let place, let found, let expected):
            return "\(place): \(field.isEmpty ? "the document" : field) is \(found); send \(expected)"
        case .unknownField(let field, let place, let message, let nearest):
            let advice = nearest.map { "; did you mean \($0)?" } ?? "; see proto/ for its fields"
            return "\(place): \(message) has no field \(field)\(advice)"
        case .repeatedField(let field, let count):
            return "the query has \(field) \(count) times, and it takes one value; send it once"
        case .queryTooLarge(let found, let limit):
            return "the query has \(found), the limit is \(limit); POST the request"
        case .secondValue(let field, let place):
            return "\(place): \(field) is a second value of a field that takes one; send it once"
        }
    }
}
