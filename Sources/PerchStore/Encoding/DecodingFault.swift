/// Why bytes are not a value that the store has written.
package enum DecodingFault: Error, Hashable, CustomStringConvertible {
    case truncated(atOffset: Int)
    /// A number of more bytes than it needs, or than its type holds.
    case overlong(atOffset: Int)
    case notUTF8(atOffset: Int)
    /// A number without a meaning here.
    case invalid(String, atOffset: Int)
    case trailing(bytes: Int)
    case checksum(stored: UInt32, computed: UInt32)
    /// Intact, but of a later form: written by a newer version.
    case unknownVersion(found: UInt8, known: UInt8)

    package var description: String {
        switch self {
        case .truncated(let offset): "it ends within a field, at byte \(offset)"
        case .overlong(let offset): "the number at byte \(offset) is longer than its type allows"
        case .notUTF8(let offset): "the text at byte \(offset) is not UTF-8"
        case .invalid(let what, let offset): "the \(what) at byte \(offset) stands for nothing"
        case .trailing(let bytes): "\(bytes) bytes follow its last field"
        case .checksum(let stored, let computed):
            "it bears checksum \(String(stored, radix: 16)), and comes to \(String(computed, radix: 16))"
        case .unknownVersion(let found, let known):
            "it has form \(found), this version knows \(known)"
        }
    }
}
