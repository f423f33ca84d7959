package import PerchBase
import PerchJSON
package import PerchModel

/// A call of the App Store Server API that Perch makes.
package enum AppleAPICall: Hashable, Sendable {
    /// Asks for a notification of type TEST.
    case requestTest
    /// What became of it.
    case testStatus(token: String)
    /// Notifications of a time, or those of them that the app's server did not take. `page`: the token of the next page; empty for the
    /// first.
    case notifications(from: Instant, to: Instant, onlyFailures: Bool, page: String)
    /// The newest transaction and renewal information of each subscription of a customer, by any transaction of theirs.
    case statuses(TransactionID)
    /// All transactions of a customer, by any of them. `revision`: the token after which they begin; empty for the first.
    case history(TransactionID, revision: String)
    /// The app's answer about a purchase whose customer wants a refund.
    case consumption(TransactionID, ConsumptionAnswer)
    /// What a transaction bought was delivered.
    case finish(TransactionID)
    /// The app's UUID of the customer that has an original transaction.
    case accountToken(TransactionID, String)

    /// For metrics and the names of lanes.
    package var name: String {
        switch self {
        case .requestTest, .testStatus: "test"
        case .notifications: "notification_history"
        case .statuses: "statuses"
        case .history: "history"
        case .consumption: "consumption"
        case .finish: "finish"
        case .accountToken: "account_token"
        }
    }

    /// All names, for metrics.
    package static let names = [
        "test", "notification_history", "statuses", "history", "consumption", "finish", "account_token",
    ]

    package var method: String {
        switch self {
        case .requestTest, .notifications, .finish: "POST"
        case .testStatus, .statuses, .history: "GET"
        case .consumption, .accountToken: "PUT"
        }
    }

    /// With the query.
    package var path: String {
        switch self {
        case .requestTest: "/inApps/v1/notifications/test"
        case .testStatus(let token): "/inApps/v1/notifications/test/\(Self.escaped(token))"
        case .notifications(_, _, _, let page):
            "/inApps/v1/notifications/history" + (page.isEmpty ? "" : "?paginationToken=\(Self.escaped(page))")
        case .statuses(let id): "/inApps/v1/subscriptions/\(id)"
        case .history(let id, let revision):
            "/inApps/v2/history/\(id)" + (revision.isEmpty ? "" : "?revision=\(Self.escaped(revision))")
        case .consumption(let id, _): "/inApps/v2/transactions/consumption/\(id)"
        case .finish(let id): "/inApps/v1/transactions/\(id)/finish"
        case .accountToken(let id, _): "/inApps/v1/transactions/\(id)/appAccountToken"
        }
    }

    package var body: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        switch self {
        case .notifications(let from, let to, let onlyFailures, _):
            writer.member("startDate", from.milliseconds)
            writer.member("endDate", to.milliseconds)
            writer.member("onlyFailures", onlyFailures)
        case .consumption(_, let answer): answer.write(to: &writer)
        case .accountToken(_, let token): writer.member("appAccountToken", token)
        case .requestTest, .testStatus, .statuses, .history, .finish: return []
        }
        writer.endObject()
        do throws(JSONOverflow) {
            return try writer.finish()
        } catch {
            preconditionFailure("a request has a few hundred bytes")
        }
    }

    /// Requests in a thousand seconds: half of what Apple allows an app, of which the sandbox has a tenth.
    package func perThousandSeconds(in environment: AppleApp.Environment) -> Int64 {
        let allowed: Int64 =
            switch self {
            case .requestTest, .testStatus: 1_000
            case .accountToken: 20_000
            case .notifications, .statuses, .history, .consumption, .finish: 50_000
            }
        return allowed / 2 / (environment == .sandbox ? 10 : 1)
    }

    /// Requests at once after a pause: to ask for a test notification and for what became of it are two.
    package var burst: Int64 {
        switch self {
        case .requestTest, .testStatus: 2
        case .notifications, .statuses, .history, .consumption, .finish, .accountToken: 1
        }
    }

    /// Letters of a URL that need no escape stay; all others are escaped, since a token is whatever the server made it.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(decoding: [byte], as: UTF8.self)
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

extension AppleApp.Environment {
    /// Where the App Store Server API is.
    package var serverAPI: String {
        switch self {
        case .production: "https://api.storekit.apple.com"
        case .sandbox: "https://api.storekit-sandbox.apple.com"
        }
    }

    /// How far back the App Store keeps notifications, in days.
    package var notificationDays: Int64 { self == .production ? 180 : 30 }
}

extension ConsumptionAnswer {
    /// The members of Apple's request.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("customerConsented", self.hasConsent)
        writer.member("sampleContentProvided", self.hasSample)
        writer.member("deliveryStatus", self.delivery.appleWord)
        writer.member("consumptionPercentage", Int64(self.consumedMilli))
        if let word = self.preference.appleWord { writer.member("refundPreference", word) }
    }
}

extension ConsumptionDelivery {
    /// Apple's word.
    package var appleWord: String {
        switch self {
        case .delivered: "DELIVERED"
        case .qualityIssue: "UNDELIVERED_QUALITY_ISSUE"
        case .wrongItem: "UNDELIVERED_WRONG_ITEM"
        case .serverOutage: "UNDELIVERED_SERVER_OUTAGE"
        default: "UNDELIVERED_OTHER"
        }
    }
}

extension RefundPreference {
    /// Apple's word; nil: nothing is said.
    package var appleWord: String? {
        switch self {
        case .decline: "DECLINE"
        case .grantFull: "GRANT_FULL"
        case .grantProrated: "GRANT_PRORATED"
        default: nil
        }
    }
}
