import PerchBase
import PerchModel
import PerchWire

/// Several watches on one stream. Each is permitted and checked as it begins.
struct Watch: MethodHandler {
    typealias Answer = WatchedResponse

    let asked: WatchRequest

    func check() throws(CallRefusal) {
        let count = self.asked.watches.count
        guard (1...Limits.watchesPerCallMax).contains(count) else {
            throw CallRefusal(
                count == 0 ? .fieldMissing : .fieldInvalid,
                "watches has \(count) entries; it must have 1 to \(Limits.watchesPerCallMax), make a second call for others",
                details: [.field("watches"), .found(count), .limit(Limits.watchesPerCallMax)])
        }
    }

    func begin(_ context: MethodContext) -> Step { .several(self.asked) }
}
