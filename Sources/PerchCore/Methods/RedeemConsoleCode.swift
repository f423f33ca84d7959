import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// The token of a code.
struct RedeemConsoleCode: MethodHandler {
    let asked: RedeemConsoleCodeRequest

    var auditNote: AuditNote { .notAudited }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        if context.access.sharesStore { return .ask(.code(.take(SealedToken.name(of: self.asked.code)))) }
        return try self.answer(context.access.consoleCodes?.redeem(self.asked.code, now: context.monotonic))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        guard case .code(let bytes) = found else { preconditionFailure("a code was to be taken") }
        return try self.answer(bytes.map { SealedToken.token($0, code: self.asked.code) })
    }

    private func answer(_ token: String?) throws(CallRefusal) -> Step {
        guard let token else {
            throw CallRefusal(
                .fieldInvalid,
                "the code was used, or is older than \(Limits.consoleCodeMilliseconds / 1_000) s, or none; `perch console` makes another",
                details: [.field("code")])
        }
        return Self.step(ConsoleToken(token: token))
    }
}
