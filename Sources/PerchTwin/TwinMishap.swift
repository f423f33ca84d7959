import PerchBase
import PerchJSON
package import PerchModel

/// What goes wrong on purpose: the next requests of the API get this answer.
package struct TwinMishap: Hashable, Sendable {
    /// 429, 500 or 503.
    let status: Int
    /// The beginning of the paths that it concerns.
    let path: String
    private(set) var times: UInt32
    /// The app whose backend it concerns; nil: every app.
    let app: String?

    /// Nil where the kind is none of requests, or the numbers are out of range.
    package init?(_ kind: MishapKind, times: UInt32, path: String, app: String?) {
        guard (1...Limits.mishapTimesMax).contains(times) else { return nil }
        switch kind {
        case .rateLimit: self.status = 429
        case .error: self.status = 500
        case .unavailable: self.status = 503
        default: return nil
        }
        self.path = path.isEmpty ? "/" : path
        self.times = times
        self.app = app
    }

    /// From a JSON object such as `{"answer": 429, "times": 3, "path": "/inApps/v2/history"}`. Nil for anything else.
    package init?(_ body: [UInt8]) {
        let kinds: [Int64: MishapKind] = [429: .rateLimit, 500: .error, 503: .unavailable]
        guard let value = try? JSONReader.read(body), let members = value.members,
            members.allSatisfy({ ["answer", "times", "path"].contains($0.key) }),
            let kind = value["answer"]?.integer.flatMap({ kinds[$0] }),
            let times = UInt32(exactly: value["times"] == nil ? 1 : value["times"]?.integer ?? 0)
        else { return nil }
        self.init(kind, times: times, path: value["path"]?.string ?? "", app: nil)
    }

    /// Whether a request of an app meets it; then one less follows.
    mutating func meets(_ request: TwinRequest, of app: String) -> Bool {
        guard self.times > 0, request.path.hasPrefix(self.path), self.app.map({ $0 == app }) ?? true else {
            return false
        }
        self.times -= 1
        return true
    }

    var isOver: Bool { self.times == 0 }

    func answer(at machine: Instant) -> TwinResponse {
        var response: TwinResponse
        switch self.status {
        case 429:
            response = TwinResponse(TwinError.rateLimit)
            response.retryAfter = machine.advanced(byMilliseconds: Limits.twinMishapRetryMilliseconds)
        case 500: response = TwinResponse(TwinError.generalRetryable)
        default: response = TwinResponse(status: self.status)
        }
        response.reason = "a mishap was asked for"
        return response
    }
}
