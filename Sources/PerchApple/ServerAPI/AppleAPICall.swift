package import PerchBase
import PerchJSON
package import PerchModel

/// A call of the App Store Server API that Perch makes.
package enum AppleAPICall: Hashable, Sendable {
    /// Asks for a notification of type TEST.
    case requestTest
    /// What became of it.
    case testStatus(token: String)
    /// Notifications that the app's server did not take. `page`: the token of the next page; empty for the first.
    case failedNotifications(from: Instant, to: Instant, page: String)
    /// The newest transaction and renewal information of each subscription of a customer, by any transaction of theirs.
    case statuses(TransactionID)

    /// For metrics and the names of lanes.
    package var name: String {
        switch self {
        case .requestTest, .testStatus: "test"
        case .failedNotifications: "notification_history"
        case .statuses: "statuses"
        }
    }

    package var method: String {
        switch self {
        case .requestTest, .failedNotifications: "POST"
        case .testStatus, .statuses: "GET"
        }
    }

    /// With the query.
    package var path: String {
        switch self {
        case .requestTest: "/inApps/v1/notifications/test"
        case .testStatus(let token): "/inApps/v1/notifications/test/\(Self.escaped(token))"
        case .failedNotifications(_, _, let page):
            "/inApps/v1/notifications/history" + (page.isEmpty ? "" : "?paginationToken=\(Self.escaped(page))")
        case .statuses(let id): "/inApps/v1/subscriptions/\(id)"
        }
    }

    package var body: [UInt8] {
        guard case .failedNotifications(let from, let to, _) = self else { return [] }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("startDate", from.milliseconds)
        writer.member("endDate", to.milliseconds)
        writer.member("onlyFailures", true)
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
            case .failedNotifications, .statuses: 50_000
            }
        return allowed / 2 / (environment == .sandbox ? 10 : 1)
    }

    /// Requests at once after a pause: to ask for a test notification and for what became of it are two.
    package var burst: Int64 {
        switch self {
        case .requestTest, .testStatus: 2
        case .failedNotifications, .statuses: 1
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
