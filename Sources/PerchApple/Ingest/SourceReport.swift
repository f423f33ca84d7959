package import PerchBase
import PerchJSON
package import PerchModel

/// What a verified value of the App Store reports, as the store folds it.
package struct SourceReport: Hashable, Sendable {
    /// Which kind of signed value it was.
    package enum Kind: String, Sendable, CaseIterable {
        case transaction, renewalInfo, appTransaction, notification
    }

    /// A signed value as it came, kept beside what was made of it.
    package struct SignedValue: Hashable, Sendable {
        package let kind: Kind
        package let jws: String
    }

    package var kind: Kind
    package var app: AppleApp
    /// The notification's UUID, which is the same in each retry; else a digest of the value.
    package var eventID: String
    /// Type and subtype of a notification. They are counted, never folded, so types of newer versions work.
    package var type = ""
    package var subtype = ""
    package var signed: Instant
    /// Apple's word for why a customer wants a refund, where a notification asks the app about one; empty for none.
    package var consumptionReason = ""
    /// What to fold, in any order.
    package var reports: [ReportedValue] = []
    /// Apple's number of the customer in an app transaction. It reports no purchase.
    package var appTransactionID = ""
    /// The state that Apple computed. It is compared with ours and counted.
    package var statedStatus: RenewalState?
    /// The signed values inside, or the value itself.
    package var values: [SignedValue] = []
    /// Fields that this version does not know, for a counter.
    package var unknownFields: [String] = []
}

extension PayloadFields {
    /// Digest of the payload's canonical bytes: JSON with sorted keys and without white space. It orders reports that were
    /// signed in one millisecond.
    package var contentDigest: Digest {
        var writer = JSONWriter(keys: .sorted)
        writer.value(self.value)
        do throws(JSONOverflow) {
            return Digest(of: try writer.finish())
        } catch {
            preconditionFailure("a payload within the limits of a signed value fits a writer")
        }
    }
}
