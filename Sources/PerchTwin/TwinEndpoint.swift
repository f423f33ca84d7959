import PerchBase

/// The endpoints of the App Store Server API that the twin serves.
enum TwinEndpoint: Hashable {
    case transactionInfo(String)
    case transactionHistory(String, version: Int)
    case subscriptionStatuses(String)
    case orderLookup(String)
    case refundHistory(String)
    case appTransaction(String)
    case extend(String)
    case extendAll
    case extendedAll(product: String, request: String)
    case finish(String)
    case consumption(String, version: Int)
    case accountToken(String)
    case notificationHistory
    case requestTest
    case testStatus(String)
    case messaging(MessagingEndpoint)

    /// Nil for a path that there is not. An endpoint with another method is no endpoint either, as at the App Store.
    init?(method: String, path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count >= 5, parts[0].isEmpty, parts[1] == "inApps", parts.allSatisfy({ $0.utf8.count <= 256 })
        else { return nil }
        if parts[2] == "v1", parts[3] == "messaging" {
            guard let endpoint = MessagingEndpoint(method: method, Array(parts[4...])) else { return nil }
            self = .messaging(endpoint)
            return
        }
        switch (method, parts[2], parts[3], parts.count) {
        case ("GET", "v1", "transactions", 5): self = .transactionInfo(parts[4])
        case ("GET", "v1", "transactions", 6) where parts[4] == "appTransactions": self = .appTransaction(parts[5])
        case ("POST", "v1", "transactions", 6) where parts[5] == "finish": self = .finish(parts[4])
        case ("PUT", "v1", "transactions", 6) where parts[4] == "consumption":
            self = .consumption(parts[5], version: 1)
        case ("PUT", "v2", "transactions", 6) where parts[4] == "consumption":
            self = .consumption(parts[5], version: 2)
        case ("PUT", "v1", "transactions", 6) where parts[5] == "appAccountToken": self = .accountToken(parts[4])
        case ("GET", "v1", "history", 5): self = .transactionHistory(parts[4], version: 1)
        case ("GET", "v2", "history", 5): self = .transactionHistory(parts[4], version: 2)
        case ("GET", "v1", "subscriptions", 5): self = .subscriptionStatuses(parts[4])
        case ("PUT", "v1", "subscriptions", 6) where parts[4] == "extend": self = .extend(parts[5])
        case ("POST", "v1", "subscriptions", 6) where parts[4] == "extend" && parts[5] == "mass": self = .extendAll
        case ("GET", "v1", "subscriptions", 8) where parts[4] == "extend" && parts[5] == "mass":
            self = .extendedAll(product: parts[6], request: parts[7])
        case ("GET", "v2", "refund", 6) where parts[4] == "lookup": self = .refundHistory(parts[5])
        case ("GET", "v1", "lookup", 5): self = .orderLookup(parts[4])
        case ("POST", "v1", "notifications", 5) where parts[4] == "history": self = .notificationHistory
        case ("POST", "v1", "notifications", 5) where parts[4] == "test": self = .requestTest
        case ("GET", "v1", "notifications", 6) where parts[4] == "test": self = .testStatus(parts[5])
        default: return nil
        }
    }

    /// Requests a second that Apple allows an app.
    var rate: TwinRate {
        switch self {
        case .transactionInfo: TwinRate("transaction", 50)
        case .transactionHistory: TwinRate("history", 50)
        case .subscriptionStatuses: TwinRate("statuses", 50)
        case .appTransaction: TwinRate("app transaction", 50)
        case .finish: TwinRate("finish", 50)
        case .consumption: TwinRate("consumption", 50)
        case .notificationHistory: TwinRate("notification history", 50)
        case .requestTest, .testStatus: TwinRate("test", 1)
        case .extendAll, .extendedAll: TwinRate("mass extension", 1)
        case .extend: TwinRate("extend", 20)
        case .accountToken: TwinRate("account token", 20)
        case .orderLookup: TwinRate("order", 10)
        case .refundHistory: TwinRate("refunds", 10)
        case .messaging(let endpoint): endpoint.rate
        }
    }
}

/// A rate that endpoints share.
struct TwinRate: Hashable {
    let name: String
    let perSecond: Int64

    init(_ name: String, _ perSecond: Int64) {
        self.name = name
        self.perSecond = perSecond
    }
}

/// Counts requests of apps against Apple's rates, which are a tenth in the sandbox. A token bucket for each app, environment and rate.
struct TwinRates {
    struct Key: Hashable {
        var app: String
        var isSandbox: Bool
        var rate: TwinRate
    }

    /// Requests since a second began, and the most of any second.
    struct Tally {
        private(set) var most = 0
        private(set) var all = 0
        private var count = 0
        private var began = MonotonicTime.zero

        mutating func add(at now: MonotonicTime) {
            if now.nanoseconds(since: self.began) >= 1_000_000_000 { (self.began, self.count) = (now, 0) }
            self.count += 1
            self.all += 1
            self.most = max(self.most, self.count)
        }
    }

    /// Requests in thousandths, at an instant.
    private struct Bucket {
        var left: Int64
        var at: MonotonicTime
    }

    private var buckets: [Key: Bucket] = [:]
    /// Every request, also those that were refused for their rate.
    private(set) var tallies: [Key: Tally] = [:]

    /// Takes a request. Otherwise the milliseconds after which one more is allowed.
    mutating func take(_ app: String, _ host: TwinHost, _ rate: TwinRate, now: MonotonicTime) -> Int64? {
        // In thousandths of a request, so each number is also that of requests in a thousand seconds.
        let perSecond = host == .sandbox ? rate.perSecond * 100 : rate.perSecond * 1_000
        let most = max(perSecond * Limits.twinBurstSeconds, 10_000)
        let key = Key(app: app, isSandbox: host == .sandbox, rate: rate)
        self.tallies[key, default: Tally()].add(at: now)
        var bucket = self.buckets[key] ?? Bucket(left: most, at: now)
        let passed = min(now.nanoseconds(since: bucket.at) / 1_000_000, 10_000_000)
        // What is less than a thousandth of a request stays for the next time.
        if passed * perSecond >= 1_000 {
            bucket.left = min(most, bucket.left + passed * perSecond / 1_000)
            bucket.at = now
        }
        defer { self.buckets[key] = bucket }
        guard bucket.left >= 1_000 else { return ((1_000 - bucket.left) * 1_000 + perSecond - 1) / perSecond }
        bucket.left -= 1_000
        return nil
    }
}
