package import PerchBase
import Synchronization

/// Counts of connections over all loops: by address and by identity.
///
/// Sendable without a claim: all state is behind one lock. It is taken when a connection opens, greets and closes,
/// never for a frame, a call or a push.
package final class SharedQuotas: Sendable {
    /// The result of counting a connection.
    package enum Admission: Hashable, Sendable {
        case admitted
        /// The limit is reached.
        case full(count: Int)
        /// They come too fast.
        case tooFast(retryMilliseconds: Int64)
    }

    private struct Address {
        var count = 0
        var meter = RateMeter()
    }

    private struct State {
        var addresses: [PeerAddress: Address] = [:]
        var principals: [String: Int] = [:]
        /// When quiet addresses were last dropped.
        var swept = Int64.min
    }

    private let state = Mutex(State())

    package init() {}

    /// Counts a connection from an address. If admitted, it counts until `leave`.
    package func enter(
        _ address: PeerAddress, max: Int, rate: RateLimit, nowMilliseconds: Int64
    ) -> Admission {
        self.state.withLock { state in
            var entry = state.addresses[address] ?? Address()
            guard entry.count < max else { return .full(count: entry.count) }
            if state.addresses[address] == nil, state.addresses.count >= Limits.addressesTrackedMax {
                Self.sweep(&state, nowMilliseconds)
            }
            let hasRoom = state.addresses[address] != nil || state.addresses.count < Limits.addressesTrackedMax
            if hasRoom, let wait = entry.meter.take(rate, nowMilliseconds: nowMilliseconds) {
                return .tooFast(retryMilliseconds: wait)
            }
            entry.count += 1
            state.addresses[address] = entry
            return .admitted
        }
    }

    package func leave(_ address: PeerAddress, nowMilliseconds: Int64) {
        self.state.withLock { state in
            guard var entry = state.addresses[address] else { preconditionFailure("an address left that had not come") }
            entry.count -= 1
            let isOver = entry.count == 0 && entry.meter.isIdle(nowMilliseconds: nowMilliseconds)
            state.addresses[address] = isOver ? nil : entry
        }
    }

    /// At most once a second, because it visits all addresses.
    private static func sweep(_ state: inout State, _ nowMilliseconds: Int64) {
        guard state.swept <= nowMilliseconds - 1_000 else { return }
        state.swept = nowMilliseconds
        state.addresses = state.addresses.filter { _, entry in
            entry.count > 0 || !entry.meter.isIdle(nowMilliseconds: nowMilliseconds)
        }
    }

    /// Counts a connection of an identity. If admitted, it counts until `leave`.
    package func enter(principal: String, max: Int) -> Admission {
        self.state.withLock { state in
            let count = state.principals[principal] ?? 0
            guard count < max else { return .full(count: count) }
            state.principals[principal] = count + 1
            return .admitted
        }
    }

    package func leave(principal: String) {
        self.state.withLock { state in
            guard let count = state.principals[principal] else {
                preconditionFailure("a connection left somebody who had none")
            }
            state.principals[principal] = count == 1 ? nil : count - 1
        }
    }

    /// Number of counted addresses and identities.
    package var counts: (addresses: Int, principals: Int) {
        self.state.withLock { ($0.addresses.count, $0.principals.count) }
    }
}
