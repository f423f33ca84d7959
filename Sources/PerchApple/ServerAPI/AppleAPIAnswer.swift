package import PerchBase
import PerchJSON
package import PerchModel

/// What the App Store Server API answered. Signed values are taken out as they came: nothing of them is verified here.
package struct AppleAPIAnswer: Sendable {
    private let fields: PayloadFields

    /// Nil for what is no JSON object within limits.
    package init?(_ body: [UInt8]) {
        var limits = JSONLimits()
        limits.bytes = 4 * 1024 * 1024
        limits.depth = Limits.appleDepthMax
        limits.values = Limits.appleValuesMax
        limits.stringBytes = Limits.appleNotificationBytesMax
        do throws(JSONError) {
            let value = try JSONReader.read(body, limits: limits)
            guard value.members != nil else { return nil }
            self.fields = PayloadFields(value)
        } catch {
            return nil
        }
    }

    /// Of `requestTest`.
    package var testToken: String? { self.fields.text("testNotificationToken") }

    /// Of `testStatus`: the results of the attempts so far, the newest first as Apple sends them.
    package var sendResults: [String]? {
        self.fields.objects("sendAttempts")?.compactMap { $0.text("sendAttemptResult") }
    }

    /// Of `notifications`: notifications as they were sent, and the token of the next page; nil: this is the last one.
    package var notifications: (values: [String], next: String?)? {
        guard let history = self.fields.objects("notificationHistory") else { return nil }
        let isLast = self.fields.boolean("hasMore") != true
        return (history.compactMap { $0.text("signedPayload") }, isLast ? nil : self.fields.text("paginationToken"))
    }

    /// Of `statuses`: all subscriptions of the customer.
    package var statuses: [AppleSubscriptionStatus]? {
        guard let groups = self.fields.objects("data") else { return nil }
        return groups.flatMap { $0.objects("lastTransactions") ?? [] }.map { line in
            AppleSubscriptionStatus(
                original: line.text("originalTransactionId").flatMap { TransactionID($0) },
                state: line.integer("status").flatMap { Int32(exactly: $0) }.map { RenewalState(rawValue: $0) },
                values: [line.text("signedTransactionInfo"), line.text("signedRenewalInfo")].compactMap { $0 })
        }
    }

    /// Of `history`: transactions, the token after this page, and whether another one follows.
    package var history: (values: [String], revision: String, hasMore: Bool)? {
        guard let values = self.fields.texts("signedTransactions"), let revision = self.fields.text("revision") else {
            return nil
        }
        return (values, revision, self.fields.boolean("hasMore") == true)
    }

    /// The original transaction that a signed transaction is of. Nothing of it is verified here.
    package static func original(of text: String) -> TransactionID? {
        do throws(VerificationFault) {
            let signed = try SignedText(Array(text.utf8), limit: Limits.appleSignedBytesMax)
            return PayloadFields(signed.payload).transactionID("originalTransactionId")
        } catch {
            return nil
        }
    }

    /// Apple's number and message of an error.
    package var error: AppleAPIError? {
        self.fields.integer("errorCode").map {
            AppleAPIError(code: $0, message: self.fields.text("errorMessage") ?? "")
        }
    }
}

/// A subscription as the App Store Server API states it.
package struct AppleSubscriptionStatus: Hashable, Sendable {
    package var original: TransactionID?
    package var state: RenewalState?
    /// The newest transaction, and the renewal information, both signed.
    package var values: [String]

    /// The end of the period of the newest transaction, as it says. Nothing is verified here.
    package var end: Instant? {
        guard let text = self.values.first else { return nil }
        do throws(VerificationFault) {
            let signed = try SignedText(Array(text.utf8), limit: Limits.appleSignedBytesMax)
            return PayloadFields(signed.payload).instant("expiresDate")
        } catch {
            return nil
        }
    }
}

/// An error of the App Store Server API.
package struct AppleAPIError: Hashable, Sendable {
    package var code: Int64
    package var message: String

    package init(code: Int64, message: String) {
        self.code = code
        self.message = message
    }

    /// Apple's words for "try again", too many requests, and faults of the App Store itself.
    package var isRetryable: Bool {
        [4_040_002, 4_040_004, 4_040_006].contains(self.code) || self.code / 10_000 == 429 || self.code >= 5_000_000
    }
    /// No URL for notifications is set in App Store Connect.
    package var lacksURL: Bool { self.code == 4_040_007 }
}
