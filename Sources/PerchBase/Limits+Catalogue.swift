// MARK: Catalogue files

extension Limits {
    /// Codes that one offer lists. A file with more leaves the rest out; an edit with more fails with FIELD_INVALID.
    package static let offerCodesMax = 1_000
    /// Bytes of a code that customers enter.
    package static let offerCodeBytesMax = 64
    /// Bytes of the original version in an app transaction.
    package static let appVersionBytesMax = 64

    /// Bytes of a catalogue file. A longer one is refused unread.
    ///
    /// It is also the largest request that loads a catalogue. The largest real file seen has 17 kB.
    package static let catalogueFileBytes = 4 * 1024 * 1024

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
