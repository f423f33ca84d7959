internal import CPerchTLS
package import PerchBase
internal import Synchronization

/// The keys under which a server's session tickets are sealed: of this period, and of the one before.
///
/// The server keeps no sessions: a ticket is the session, sealed, at the client. Without a secret the keys are random and
/// forgotten two periods later; they end with the process. With one, each period's key follows from the secret and the
/// period's number, so that tickets outlive a restart, and hold at every server with the same secret.
///
/// Used by all loops, changed by one thread. Sendable because: the keys in C are behind a lock, the rest does not change
/// or is atomic. The trap that stands with this is that lock's: it checks who holds it, and a step that fails, or an end
/// while somebody reads, ends the process.
package final class TicketKeys: Sendable {
    // Because: it is set once, and what it points to has its own lock.
    nonisolated(unsafe) let handle: OpaquePointer
    private let secret: [UInt8]
    private let state: Mutex<State>
    private let period = Atomic<UInt32>(0)

    private struct State {
        var number: Int64
        var current: [UInt8]
    }

    /// `secret` may be empty. `wall` decides which period it is.
    package init(secret: [UInt8] = [], wall: Instant) {
        guard let handle = perch_tls_ticket_keys_new() else { preconditionFailure("there is no memory for two keys") }
        self.handle = handle
        self.secret = secret
        let number = Self.number(at: wall)
        let current = Self.key(secret, number)
        self.state = Mutex(State(number: number, current: current))
        perch_tls_ticket_keys_set(handle, current, secret.isEmpty ? nil : Self.key(secret, number - 1))
    }

    deinit { perch_tls_ticket_keys_free(self.handle) }

    /// How often the keys have changed. A connection whose ticket is of an earlier number wants a new one.
    package var changes: UInt32 { self.period.load(ordering: .relaxed) }

    /// Changes the keys where a new period has begun; whether it has. Where the clock went back, nothing happens: there
    /// is no use in a key that was given up.
    @discardableResult
    package func rotate(wall: Instant) -> Bool {
        let number = Self.number(at: wall)
        return self.state.withLock { state in
            guard number > state.number else { return false }
            let next = Self.key(self.secret, number)
            // Of a server that slept through a whole period, the last key is too old.
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

    /// When the next period begins.
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
