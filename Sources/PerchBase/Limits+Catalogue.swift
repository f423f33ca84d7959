// MARK: Catalogue files

extension Limits {
    /// Bytes of a catalogue file. A longer one is refused unread.
    ///
    /// It is also the largest request that loads a catalogue. The largest real file seen has 17 kB.
    package static let catalogueFileBytes = 4 * 1024 * 1024

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

    /// Bytes of an identifier in a catalogue. A longer product or group identifier refuses the file; an offer with a
    /// longer one is left out. App Store Connect allows 100 characters.
    package static let catalogueIdentifierBytes = 255

    /// Bytes of a product's own JSON. A longer one is left out with a warning; the product is still sold.
    ///
    /// Real ones have up to 3 kB. The limit leaves space for several such products in a frame.
    package static let productJSONBytes = 256 * 1024

    /// Warnings about one catalogue file, which travel in one message. The rest are counted, and a last warning gives
    /// their number.
    package static let catalogueWarnings = 1_000

    /// Bytes of one promotional image. A catalogue with a longer one is refused.
    ///
    /// Apple takes 1,024 by 1,024 pixels: about 100 to 800 kB as PNG. One image travels in one frame.
    package static let catalogueImageBytes = 1024 * 1024

    /// Bytes of all promotional images of a catalogue. A catalogue with more is refused.
    ///
    /// They are stored beside the catalogue and are in memory while it is loaded.
    package static let catalogueImagesBytes = 16 * 1024 * 1024

    /// Entries that are read of a bundle's `Assets` directory. A bundle with more is refused.
    package static let catalogueAssets = 4_096
}
