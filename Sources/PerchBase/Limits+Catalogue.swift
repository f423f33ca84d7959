// MARK: Catalogue files

extension Limits {
    /// Bytes of a catalogue file. A longer one is refused before it is looked at.
    ///
    /// It is also the largest request that loads a catalogue; the largest real file seen has 17 kB.
    package static let catalogueFileBytes = 4 * 1024 * 1024

    /// Arrays and objects that may stand inside one another in JSON. A deeper one is refused where it opens.
    ///
    /// Catalogue files nest eight deep. The reader recurses once a level, so this bounds its stack too.
    package static let jsonDepth = 32

    /// Values of a JSON document: scalars, arrays and objects together. The one beyond is refused at its place.
    ///
    /// A value takes up to 64 bytes and its text once read, so this bounds what a file of commas and zeros can make of its bytes.
    package static let jsonValues = 262_144

    /// Bytes of one string or key of JSON, escapes undone. A longer one is refused at its place. Licence agreements,
    /// the longest texts of a catalogue, have tens of kilobytes.
    package static let jsonStringBytes = 1024 * 1024

    /// Bytes that a JSON writer holds unless it is told otherwise. Beyond, it writes nothing more, and says so at the
    /// end. Twice the largest frame: the JSON of a message is longer than the message.
    package static let jsonOutputBytes = 8 * 1024 * 1024

    /// Bytes of an identifier in a catalogue: of a product, a group or an offer. A product or group with a longer one
    /// refuses the file, an offer is left out. App Store Connect allows 100 characters.
    package static let catalogueIdentifierBytes = 255

    /// Bytes of a product's own JSON. A product that has more is sold without it, with a warning.
    ///
    /// Real ones have up to 3 kB; this leaves room for several products of this size in a frame.
    package static let productJSONBytes = 256 * 1024

    /// Warnings about one catalogue file. The rest are counted, and one last warning says how many they are.
    ///
    /// They travel in one message, and nobody reads a thousand.
    package static let catalogueWarnings = 1_000

    /// Bytes of one promotional image. A catalogue with a longer one is refused.
    ///
    /// Apple takes 1,024 by 1,024 pixels, which as PNG have some 100 to 800 kB. One image goes in one frame.
    package static let catalogueImageBytes = 1024 * 1024

    /// Bytes of all promotional images of a catalogue. A catalogue with more is refused.
    ///
    /// They lie in the store beside the catalogue and are in memory while it is loaded.
    package static let catalogueImagesBytes = 16 * 1024 * 1024

    /// Entries of a bundle's `Assets` directory that are looked at. A bundle with more is refused.
    package static let catalogueAssets = 4_096
}
