import PerchBase
package import PerchJSON

/// Why a file is no catalogue. Nothing of it is used.
///
/// Safe to log: it quotes identifiers, periods and prices, at most 64 characters of each, and never the value of an unknown
/// key.
package struct CatalogueError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        case emptyFile
        /// Also beyond the reader's limits.
        case notJSON
        /// JSON, but not in the shape of a StoreKit configuration.
        case wrongShape
        case noUsableProduct
        case duplicateProduct
        /// Missing, empty or too long.
        case badIdentifier
        case badPeriod
        case badPrice
        /// A subscription outside of all groups.
        case noGroup
        /// One of our own keys with a value that it cannot have.
        case badRule
        /// An image, or all of them together, beyond the limit.
        case imageTooLong
        /// In the file of named entitlements.
        case badEntitlement
    }

    package let reason: Reason
    package let place: JSONPlace
    /// Empty where it concerns no product.
    package let productID: String
    /// The sentence without place and product: what happened, and the next step.
    package let message: String
    /// Whether the place is one of the file of named entitlements beside the catalogue.
    package private(set) var isOfEntitlements = false

    package init(_ reason: Reason, at place: JSONPlace, productID: String = "", message: String) {
        self.reason = reason
        self.place = place
        self.productID = productID
        self.message = message
    }

    /// A mistake in the file of named entitlements.
    init(ofEntitlements message: String, at place: JSONPlace) {
        self.init(.badEntitlement, at: place, message: message)
        self.isOfEntitlements = true
    }

    init(_ error: JSONError) {
        self.init(error.reason == .empty ? .emptyFile : .notJSON, at: error.place, message: error.message)
    }

    package var description: String { sentence(self.place, self.productID, self.message) }
}

/// A mistake in a file, and how it was read. The file is used.
package struct CatalogueWarning: Hashable, Sendable, CustomStringConvertible {
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A key that we do not know, at a level that we map.
        case unknownKey
        /// A known key with a value that we cannot use.
        case unusableValue
        /// Something that newer files have and we do not support.
        case unsupported
        /// An entry in a list that it does not belong to.
        case misplaced
        case groupMismatch
        case duplicateGroup
        case level
        /// A new file, with no products yet.
        case noProducts
        /// A schema version newer than those that we know, or older than the first.
        case schemaVersion
        /// A locale whose language or form is unknown.
        case locale
        case noPrice
        case freeOfferWithPrice
        case emptyLocalization
        case timeRate
        /// The file makes a call fail.
        case armedFailure
        /// An image that is missing, no image, or named by no product.
        case image
        /// An offer, plan or text that was left out.
        case leftOut
        /// There are more warnings than we keep.
        case more
    }

    package let reason: Reason
    package let place: JSONPlace
    /// Empty where it concerns no product.
    package let productID: String
    /// The sentence without place and product: what was found, and how it was read.
    package let message: String

    package init(_ reason: Reason, at place: JSONPlace, productID: String = "", message: String) {
        self.reason = reason
        self.place = place
        self.productID = productID
        self.message = message
    }

    package var description: String { sentence(self.place, self.productID, self.message) }
}

private func sentence(_ place: JSONPlace, _ productID: String, _ message: String) -> String {
    productID.isEmpty ? "\(place): \(message)" : "\(place), product \(quoted(productID)): \(message)"
}
