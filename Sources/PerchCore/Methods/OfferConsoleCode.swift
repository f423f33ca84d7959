import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// A code for a token, which its browser gets once.
struct OfferConsoleCode: MethodHandler {
    let asked: OfferConsoleCodeRequest

    var auditNote: AuditNote { .notAudited }

    func check() throws(CallRefusal) {
        let count = self.asked.token.utf8.count
        guard (1...Limits.tokenBytesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid, "token has \(count) bytes; it must have 1 to \(Limits.tokenBytesMax)",
                details: [.field("token"), .found(count), .limit(Limits.tokenBytesMax)])
        }
    }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        guard let codes = context.access.consoleCodes else {
            throw CallRefusal(
                .fieldInvalid, "this server asks for no token, so the console needs no code; open its address as it is",
                details: [.field("token")])
        }
        guard context.access.sharesStore else {
            return Self.step(ConsoleCode(code: codes.offer(self.asked.token, now: context.monotonic)))
        }
        let code = codes.make()
        let sealed = SealedToken(self.asked.token, code: code)
        return .ask(.code(.keep(sealed.name, sealed: sealed.bytes)), keeping: code)
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        Self.step(ConsoleCode(code: context.kept))
    }
}
