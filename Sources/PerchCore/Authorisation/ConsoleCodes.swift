import PerchBase
import Synchronization

/// Tokens that wait for their browsers, by code, for all loops. Each is given out once, within a minute.
///
/// A code has 128 random bits, so nobody guesses one. It keeps the newest `Limits.consoleCodesKept`.
package final class ConsoleCodes: Sendable {
    private struct Entry {
        var code: String
        var token: String
        /// In monotonic milliseconds.
        var end: Int64
    }

    private let entries = Mutex<[Entry]>([])
    private let random: @Sendable () -> UInt64

    /// `random` must not be predictable.
    package init(random: @escaping @Sendable () -> UInt64) { self.random = random }

    /// Keeps a token, and returns its code.
    func offer(_ token: String, now: Int64) -> String {
        let code = Self.digits(self.random()) + Self.digits(self.random())
        self.entries.withLock { entries in
            entries.removeAll { $0.end <= now }
            if entries.count >= Limits.consoleCodesKept { entries.removeFirst() }
            entries.append(Entry(code: code, token: token, end: now + Limits.consoleCodeMilliseconds))
        }
        return code
    }

    /// The token of a code, which is then forgotten. Nil: the code is not known, or its minute is over.
    func redeem(_ code: String, now: Int64) -> String? {
        self.entries.withLock { entries in
            entries.removeAll { $0.end <= now }
            guard let place = entries.firstIndex(where: { $0.code == code }) else { return nil }
            return entries.remove(at: place).token
        }
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
