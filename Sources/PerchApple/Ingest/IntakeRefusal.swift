/// Why a value is not taken, and what a sender is told.
package struct IntakeRefusal: Error, Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Not a request, or not a signed value.
        case malformed
        /// More bytes than a request or a signed value may have.
        case tooLarge
        /// The chain, a marker or the outer signature is wrong.
        case untrusted
        /// The outer signature is good, and a value inside is refused.
        case innerRefused
        /// The signature is good, and no app of this server has that bundle ID, Apple ID and environment.
        case notConfigured
    }

    package let kind: Kind
    /// A stable reason code, for metrics and answers.
    package let code: String
    package let message: String
    /// The name that Apple's Python library gives to the fault; nil where it is about the request.
    package let libraryStatus: AppleLibraryStatus?

    init(_ kind: Kind, _ fault: VerificationFault) {
        self.kind = kind
        self.code = fault.code
        self.message = fault.description
        self.libraryStatus = fault.libraryStatus
    }

    init(_ kind: Kind, code: String, message: String) {
        self.kind = kind
        self.code = code
        self.message = message
        self.libraryStatus = nil
    }

    /// Whether the value is kept as a dead letter. Its outer signature was good, so strangers cannot fill the store.
    package var isDeadLetter: Bool { self.kind == .innerRefused || self.kind == .notConfigured }
}
