package import PerchWire

/// An image of a product.
public struct PromotionalImage: Hashable, Sendable {
    /// SHA-256 of the image, 32 bytes, as in `promotionalImageHash` of its products.
    public var contentHash: [UInt8]
    /// `image/png` or `image/jpeg`; empty if the caller already has the image.
    public var contentType: String
    /// Nil: the caller has it.
    public var content: [UInt8]?

    package init(_ answer: ImageAnswer) {
        self.contentHash = answer.contentHash
        self.contentType = answer.contentType
        self.content = answer.isUnchanged ? nil : answer.content
    }
}
