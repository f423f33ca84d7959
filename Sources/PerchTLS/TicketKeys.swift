internal import CPerchTLS
package import PerchBase
internal import Synchronization

/// The keys that encrypt a server's session tickets: those of the current and the previous period.
///
/// The server stores no sessions: the client holds each session encrypted in its ticket. Without a secret the keys are
/// random, are dropped two periods later, and end with the process. With a secret each period's key is derived from it
/// and the period's number, so that tickets survive a restart and are valid at every server with the same secret.
///
/// All loops read the keys, one thread changes them. Sendable because a lock in C guards the keys, and the rest is
/// constant or atomic. The lock checks its owner: a failed lock operation, or freeing the keys while in use, ends the
/// process.
package final class TicketKeys: Sendable {
    // Safe because it is set once, and its target has a lock.
    nonisolated(unsafe) let handle: OpaquePointer
    private let secret: [UInt8]
    private let state: Mutex<State>
    private let period = Atomic<UInt32>(0)

    private struct State {
        var number: Int64
        var current: [UInt8]
    }

    /// Creates the keys of the period at `wall`. `secret` may be empty.
    package init(secret: [UInt8] = [], wall: Instant) {
        guard let handle = perch_tls_ticket_keys_new() else { preconditionFailure("out of memory for the ticket keys") }
        self.handle = handle
        self.secret = secret
        let number = Self.number(at: wall)
        let current = Self.key(secret, number)
        self.state = Mutex(State(number: number, current: current))
        perch_tls_ticket_keys_set(handle, current, secret.isEmpty ? nil : Self.key(secret, number - 1))
    }

    deinit { perch_tls_ticket_keys_free(self.handle) }

    /// Number of key changes. A connection whose ticket has an earlier number needs a new one.
    package var changes: UInt32 { self.period.load(ordering: .relaxed) }

    /// Changes the keys if a new period has begun, and returns whether it did. A clock that went backwards changes
    /// nothing, because a dropped key has no use.
    @discardableResult
    package func rotate(wall: Instant) -> Bool {
        let number = Self.number(at: wall)
        return self.state.withLock { state in
            guard number > state.number else { return false }
            let next = Self.key(self.secret, number)
            // A server that slept through a whole period must not accept the last key any more.
            let previous: [UInt8]? =
                if !self.secret.isEmpty {
                    Self.key(self.secret, number - 1)
                } else {
                    number == state.number + 1 ? state.current : nil
                }
            perch_tls_ticket_keys_set(self.handle, next, previous)
            state = State(number: number, current: next)
            self.period.wrappingAdd(1, ordering: .relaxed)
            return true
        }
    }

    /// The start of the next period.
    package static func nextChange(after wall: Instant) -> Instant {
        Instant(milliseconds: (Self.number(at: wall) + 1) * Limits.tlsTicketKeyMilliseconds)
    }

    private static func number(at wall: Instant) -> Int64 {
        max(0, wall.milliseconds / Limits.tlsTicketKeyMilliseconds)
    }

    private static func key(_ secret: [UInt8], _ number: Int64) -> [UInt8] {
        let count = Int(PERCH_TLS_TICKET_KEY_BYTES)
        guard !secret.isEmpty else {
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        var key: [UInt8] = []
        var part: UInt8 = 0
        while key.count < count {
            part += 1
            let label = Array("perch ticket key 1/\(number)/\(part)".utf8)
            var digest = [UInt8](repeating: 0, count: 32)
            perch_tls_hmac(secret, secret.count, label, label.count, &digest)
            key += digest
        }
        return Array(key[..<count])
    }
}
