import PerchBase
import Synchronization

/// Tokens that wait for their browsers, by code, for all loops. Each is given out once, within a minute. Nodes that share a store keep
/// them there, as `SealedToken`.
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
        let code = self.make()
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

    /// A new code.
    func make() -> String { Self.digits(self.random()) + Self.digits(self.random()) }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}

/// A token as a shared store keeps it: neither the store nor a backup of it reveals the code or the token.
///
/// The code has 128 random bits and seals one token, so the hashes of the code and a counter serve as a key of one use.
struct SealedToken: Equatable {
    /// Of the code.
    let name: [UInt8]
    let bytes: [UInt8]

    init(_ token: String, code: String) {
        self.name = Self.name(of: code)
        self.bytes = Self.mix(Array(token.utf8), code)
    }

    static func name(of code: String) -> [UInt8] { ContentHash(of: Array("name \(code)".utf8)).bytes }

    static func token(_ bytes: [UInt8], code: String) -> String {
        String(decoding: Self.mix(bytes, code), as: UTF8.self)
    }

    private static func mix(_ bytes: [UInt8], _ code: String) -> [UInt8] {
        var mixed = bytes
        for start in stride(from: 0, to: mixed.count, by: ContentHash.byteCount) {
            let key = ContentHash(of: Array("token \(start) \(code)".utf8)).bytes
            for place in start..<min(start + key.count, mixed.count) { mixed[place] ^= key[place - start] }
        }
        return mixed
    }
}
