// MARK: JSON

extension Limits {
    /// Depth of nested arrays and objects in JSON. A deeper one is refused at its opening bracket.
    ///
    /// Catalogue files nest eight deep. The reader recurses once a level, so this bounds its stack too.
    package static let jsonDepth = 32

    /// Values of a JSON document: scalars, arrays and objects together. The first one beyond is refused at its
    /// position.
    ///
    /// A parsed value takes up to 64 bytes and its text, so this bounds the memory for a file of commas and zeros.
    package static let jsonValues = 262_144

    /// Bytes of one JSON string or key, unescaped. A longer one is refused at its position. Licence agreements, the
    /// longest texts of a catalogue, have tens of kilobytes.
    package static let jsonStringBytes = 1024 * 1024

    /// Default capacity of a JSON writer, in bytes. Beyond it the writer drops its output and reports an overflow at
    /// the end.
    ///
    /// It is twice the largest frame, because the JSON of a message is longer than the message.
    package static let jsonOutputBytes = 8 * 1024 * 1024
    /// Bytes of a request in JSON: Base64 takes a third more than the bytes of the longest request.
    package static let jsonRequestBytesMax = 2 * frameBytesMax
}
