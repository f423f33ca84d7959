package import PerchBase
package import PerchModel

/// Asks for products, as a stream or once.
package struct ProductsRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// Duplicates are collapsed.
    package var productIDs: [String]
    /// Such as `en_US`; empty for the app's.
    package var locale: String
    /// ISO 3166-1 alpha-3; empty for the app's.
    package var storefront: String
    /// From the last value of an earlier call; empty to begin, and in reads.
    package var resumeToken: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), productIDs: [String] = [], locale: String = "", storefront: String = "",
        resumeToken: [UInt8] = [], atLeast: Position? = nil
    ) {
        self.app = app
        self.productIDs = productIDs
        self.locale = locale
        self.storefront = storefront
        self.resumeToken = resumeToken
        self.atLeast = atLeast
    }
}

/// Asks for the statuses of an account in a group, as a stream or once.
package struct SubscriptionStatusRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// An unknown group has no statuses.
    package var groupID: String
    /// From the last value of an earlier call; empty to begin, and in reads.
    package var resumeToken: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?
    /// Which moment; blank: now. Of reads only.
    package var asOf: AsOf

    package init(
        app: AppReference = AppReference(), account: String = "", groupID: String = "", resumeToken: [UInt8] = [],
        atLeast: Position? = nil, asOf: AsOf = AsOf()
    ) {
        self.app = app
        self.account = account
        self.groupID = groupID
        self.resumeToken = resumeToken
        self.atLeast = atLeast
        self.asOf = asOf
    }
}

/// Asks for the entitlement of an account to a product, as a stream or once.
package struct CurrentEntitlementRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Nobody is entitled to an unknown product.
    package var productID: String
    /// From the last value of an earlier call; empty to begin, and in reads.
    package var resumeToken: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?
    /// Which moment; blank: now. Of reads only.
    package var asOf: AsOf

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "", resumeToken: [UInt8] = [],
        atLeast: Position? = nil, asOf: AsOf = AsOf()
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.resumeToken = resumeToken
        self.atLeast = atLeast
        self.asOf = asOf
    }
}

/// Asks for everything that an account is entitled to.
package struct ListCurrentEntitlementsRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Wait until the server is at least here.
    package var atLeast: Position?
    /// Which moment; blank: now. Of reads only.
    package var asOf: AsOf

    package init(
        app: AppReference = AppReference(), account: String = "", atLeast: Position? = nil, asOf: AsOf = AsOf()
    ) {
        self.app = app
        self.account = account
        self.atLeast = atLeast
        self.asOf = asOf
    }
}

/// Everything that an account is entitled to.
package struct EntitlementList: Hashable, Sendable {
    /// By product identifier, own before shared.
    package var transactions: [Verified<Transaction>]
    /// Where the answer stands.
    package var info: ValueInfo

    package init(transactions: [Verified<Transaction>] = [], info: ValueInfo = ValueInfo()) {
        self.transactions = transactions
        self.info = info
    }
}

/// Asks for an image of the catalogue.
package struct GetImageRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// What products name it by.
    package var imageID: String
    /// Of the bytes that the caller has; empty for none.
    package var knownHash: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), imageID: String = "", knownHash: [UInt8] = [], atLeast: Position? = nil
    ) {
        self.app = app
        self.imageID = imageID
        self.knownHash = knownHash
        self.atLeast = atLeast
    }
}

/// An image of the catalogue.
package struct ImageAnswer: Hashable, Sendable {
    /// SHA-256.
    package var contentHash: [UInt8]
    package var contentType: String
    /// The caller has it: there is no content.
    package var isUnchanged: Bool
    package var content: [UInt8]

    package init(
        contentHash: [UInt8] = [], contentType: String = "", isUnchanged: Bool = false, content: [UInt8] = []
    ) {
        self.contentHash = contentHash
        self.contentType = contentType
        self.isUnchanged = isUnchanged
        self.content = content
    }
}
