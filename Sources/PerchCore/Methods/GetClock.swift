import PerchModel
import PerchStore
import PerchWire

struct GetClock: AppMethod {
    let asked: ClockRequest

    func answer(_ context: MethodContext) throws(CallRefusal) -> ClockResponse {
        let app = context.app
        guard app.isTestApp else {
            throw CallRefusal(
                .notATestApp,
                "\(app.bundleID) is an app of the \(app.environment) store; only xcode apps have a clock of their own")
        }
        let result = StoreEngine.clockResult(app, wall: context.wall, settled: RenewalCount())
        guard case .clock(let now, let isFrozen, let offset, let rate, _) = result else {
            preconditionFailure("a clock is a clock")
        }
        return ClockResponse(
            clock: ClockState(now: now, isFrozen: isFrozen, offsetMilliseconds: offset, timeRate: rate.rawValue))
    }
}
