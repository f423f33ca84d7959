import PerchBase
import PerchJSON

/// What goes wrong on purpose: the next requests of the API get this answer.
package struct TwinMishap: Hashable, Sendable {
    /// 429, 500 or 503.
    let status: Int
    /// The beginning of the paths that it concerns.
    let path: String
    private(set) var times: Int64

    /// From a JSON object such as `{"answer": 429, "times": 3, "path": "/inApps/v2/history"}`. Nil for anything else.
    package init?(_ body: [UInt8]) {
        guard let value = try? JSONReader.read(body), let members = value.members,
            members.allSatisfy({ ["answer", "times", "path"].contains($0.key) }),
            let status = value["answer"]?.integer, [429, 500, 503].contains(status)
        else { return nil }
        self.status = Int(status)
        self.path = value["path"]?.string ?? "/"
        self.times = value["times"] == nil ? 1 : value["times"]?.integer ?? 0
        guard (1...Limits.twinMishapTimesMax).contains(self.times) else { return nil }
    }

    /// Whether a request meets it; then one less follows.
    mutating func meets(_ request: TwinRequest) -> Bool {
        guard self.times > 0, request.path.hasPrefix(self.path) else { return false }
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
