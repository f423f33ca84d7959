/// Why bytes are not a JSON document that this reader accepts. Bytes after `place` were not checked.
///
/// It quotes single characters and the keys of objects, never a value: a catalogue file may hold a private key.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// Nothing but white space.
        case empty
        case tooManyBytes, tooDeep, tooManyValues, stringTooLong
        case notUTF8
        /// U+0000, plain or escaped, which C libraries would cut a text at.
        case nul
        /// Below U+0020 inside a string.
        case controlCharacter
        case badEscape
        /// Half of a pair of surrogates.
        case loneSurrogate
        case badNumber
        case duplicateKey
        /// Another character than the grammar allows here, or the end.
        case unexpected
        /// Something behind the document.
        case trailing
    }

    package let reason: Reason
    package let place: JSONPlace
    package let expected: String
    package let found: String

    package init(_ reason: Reason, at place: JSONPlace, expected: String, found: String) {
        self.reason = reason
        self.place = place
        self.expected = expected
        self.found = found
    }

    package var description: String { "\(self.place): \(self.message)" }

    /// Without the place.
    package var message: String { "expected \(self.expected), found \(self.found)" }
}
