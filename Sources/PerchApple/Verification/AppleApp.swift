import PerchBase
package import PerchJSON

/// The app whose values are accepted. Values of Xcode and of local tests have no signature of Apple, so there is no app for them.
package struct AppleApp: Hashable, Sendable {
    package enum Environment: String, Sendable {
        case production = "Production"
        case sandbox = "Sandbox"
    }

    package let bundleID: String
    package let environment: Environment
    /// The app's number in App Store Connect. A production app always has it.
    package let appAppleID: Int64?

    package static func production(bundleID: String, appAppleID: Int64) -> AppleApp {
        AppleApp(bundleID: bundleID, environment: .production, appAppleID: appAppleID)
    }

    package static func sandbox(bundleID: String) -> AppleApp {
        AppleApp(bundleID: bundleID, environment: .sandbox, appAppleID: nil)
    }

    private init(bundleID: String, environment: Environment, appAppleID: Int64?) {
        self.bundleID = bundleID
        self.environment = environment
        self.appAppleID = appAppleID
    }

    private func check(bundleID: String?) throws(VerificationFault) {
        guard bundleID == self.bundleID else { throw .bundleID(found: bundleID, expected: self.bundleID) }
    }

    private func check(appAppleID: Int64?) throws(VerificationFault) {
        guard self.environment == .sandbox || appAppleID == self.appAppleID else {
            throw .appAppleID(found: appAppleID, expected: self.appAppleID)
        }
    }

    private func check(environment: String?) throws(VerificationFault) {
        guard environment == self.environment.rawValue else {
            throw .environment(found: environment, expected: self.environment.rawValue)
        }
    }

    // MARK: Payloads, in the order of Apple's libraries: identifiers, then the environment

    package func transaction(_ payload: JSONValue) throws(VerificationFault) -> TransactionPayload {
        let transaction = TransactionPayload(PayloadFields(payload))
        try self.check(bundleID: transaction.bundleID)
        try self.check(environment: transaction.environment)
        return transaction
    }

    package func renewalInfo(_ payload: JSONValue) throws(VerificationFault) -> RenewalInfoPayload {
        let info = RenewalInfoPayload(PayloadFields(payload))
        try self.check(environment: info.environment)
        return info
    }

    package func appTransaction(_ payload: JSONValue) throws(VerificationFault) -> AppTransactionPayload {
        let transaction = AppTransactionPayload(PayloadFields(payload))
        try self.check(bundleID: transaction.bundleID)
        try self.check(appAppleID: transaction.appAppleID)
        try self.check(environment: transaction.receiptType)
        return transaction
    }

    package func notification(_ payload: JSONValue) throws(VerificationFault) -> NotificationPayload {
        let notification = NotificationPayload(PayloadFields(payload))
        try self.check(bundleID: notification.bundleID)
        try self.check(appAppleID: notification.appAppleID)
        try self.check(environment: notification.environment)
        return notification
    }

    package func realtimeRequest(_ payload: JSONValue) throws(VerificationFault) -> RealtimeRequestPayload {
        let request = RealtimeRequestPayload(PayloadFields(payload))
        for name in RealtimeRequestPayload.shape.keys.sorted() {
            guard let value = request.fields.value[name], !value.isNull, !request.mistypedFields.contains(name) else {
                throw .missingField(name)
            }
        }
        try self.check(appAppleID: request.appAppleID)
        try self.check(environment: request.environment)
        return request
    }
}
