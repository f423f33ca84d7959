import PerchBase
import Synchronization
import Testing

@testable import PerchCore

@Suite struct `a code of the console` {
    private static func codes() -> ConsoleCodes {
        let next = Mutex<UInt64>(0)
        return ConsoleCodes {
            next.withLock {
                $0 += 1
                return $0
            }
        }
    }

    @Test func `gives its token once`() {
        let codes = Self.codes()
        let code = codes.offer("token", now: 0)
        #expect(code.utf8.count == 32)
        #expect(codes.redeem("another", now: 1) == nil)
        #expect(codes.redeem(code, now: 1) == "token")
        #expect(codes.redeem(code, now: 2) == nil)
    }

    @Test func `is good for a minute`() {
        let codes = Self.codes()
        let (early, late) = (codes.offer("a", now: 0), codes.offer("b", now: 0))
        #expect(codes.redeem(early, now: Limits.consoleCodeMilliseconds - 1) == "a")
        #expect(codes.redeem(late, now: Limits.consoleCodeMilliseconds) == nil)
    }

    @Test func `is forgotten when too many wait`() {
        let codes = Self.codes()
        let first = codes.offer("first", now: 0)
        let rest = (0..<Limits.consoleCodesKept).map { codes.offer("\($0)", now: 1) }
        #expect(codes.redeem(first, now: 2) == nil)
        #expect(rest.allSatisfy { codes.redeem($0, now: 2) != nil })
    }

    @Test(arguments: ["t", String(repeating: "token.", count: 200)])
    func `is not what a shared store keeps, and opens it`(_ token: String) {
        let code = Self.codes().make()
        let sealed = SealedToken(token, code: code)
        #expect(SealedToken.token(sealed.bytes, code: code) == token)
        #expect(sealed.name == SealedToken.name(of: code) && sealed.name != SealedToken.name(of: code + "0"))
        #expect(sealed.bytes != Array(token.utf8) && sealed != SealedToken(token, code: code + "0"))
        #expect(SealedToken.token(sealed.bytes, code: code + "0") != token)
        #expect(!String(decoding: sealed.name + sealed.bytes, as: UTF8.self).contains(code))
    }
}
