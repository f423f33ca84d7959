package import PerchBase
package import PerchModel

/// Asks for the plans of a group.
package struct PlanOptionsRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The group.
    package var groupID: String
    /// Such as `en_US`; empty for the app's.
    package var locale: String
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", groupID: String = "", locale: String = "",
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.groupID = groupID
        self.locale = locale
        self.atLeast = atLeast
    }
}

/// The plans of a group.
package struct PlanOptionList: Hashable, Sendable {
    /// By level of service, then in the order of the catalogue.
    package var options: [PlanOption]
    /// Where the answer stands.
    package var position: Position

    package init(
        options: [PlanOption] = [], position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0))
    ) {
        self.options = options
        self.position = position
    }
}

/// Asks which offers an account may have.
package struct OfferEligibilityRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Only of this product; empty for all of the group.
    package var productID: String
    /// May be left out with a product.
    package var groupID: String
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "", groupID: String = "",
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.groupID = groupID
        self.atLeast = atLeast
    }
}

/// Asks for the policies of an app.
package struct AppPoliciesRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// Such as `en_US`; empty for the app's.
    package var locale: String

    package init(app: AppReference = AppReference(), locale: String = "") {
        self.app = app
        self.locale = locale
    }
}

/// The policies of an app.
package struct AppPoliciesAnswer: Hashable, Sendable {
    /// Empty for none.
    package var licenceAgreement: String
    /// Empty for none.
    package var privacyPolicyText: String
    /// Empty for none.
    package var privacyPolicyURL: String
    /// Of the privacy policy that was found.
    package var privacyPolicyLocale: String

    package init(
        licenceAgreement: String = "", privacyPolicyText: String = "", privacyPolicyURL: String = "",
        privacyPolicyLocale: String = ""
    ) {
        self.licenceAgreement = licenceAgreement
        self.privacyPolicyText = privacyPolicyText
        self.privacyPolicyURL = privacyPolicyURL
        self.privacyPolicyLocale = privacyPolicyLocale
    }
}

/// Which offers an account may have.
package struct OfferEligibilityAnswer: Hashable, Sendable {
    /// The offers.
    package var value: OfferEligibilities
    /// Where the answer stands.
    package var position: Position

    package init(
        value: OfferEligibilities = OfferEligibilities(isEligibleForIntroductory: false, offers: []),
        position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0))
    ) {
        self.value = value
        self.position = position
    }
}

/// Which moment a read is about.
package struct AsOf: Hashable, Sendable {
    /// Nil: the app's clock now.
    package var instant: Instant?
    /// What was known at this revision; 0: what is known now.
    package var revision: UInt64

    package init(instant: Instant? = nil, revision: UInt64 = 0) {
        self.instant = instant
        self.revision = revision
    }

    /// Now, with what is known now.
    package var isBlank: Bool { self.instant == nil && self.revision == 0 }
}

/// Asks why an account is entitled, or not.
package struct ExplainRequest: Hashable, Sendable {
    /// What is to be explained.
    package enum About: Hashable, Sendable {
        /// The statuses of a group.
        case group(String)
        /// The entitlement to a product.
        case product(String)
    }

    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Nil where the caller did not say.
    package var about: About?
    /// Which moment; blank: now.
    package var asOf: AsOf
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", about: About? = nil, asOf: AsOf = AsOf(),
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.about = about
        self.asOf = asOf
        self.atLeast = atLeast
    }
}

/// Why.
package struct ExplainAnswer: Hashable, Sendable {
    /// What decided.
    package var value: Explanations
    /// Where the answer stands.
    package var position: Position

    package init(
        value: Explanations = Explanations(message: "", isEntitled: false, explanations: []),
        position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0))
    ) {
        self.value = value
        self.position = position
    }
}
