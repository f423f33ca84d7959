import PerchBase
import PerchIdentity

extension LoopCore {
    /// The costs and counts of the loop's data, for `perch doctor`.
    package var census: LoopCensus {
        LoopCensus(
            connections: Int(self.tables.connections.count), calls: Int(self.tables.calls.count),
            views: Int(self.views.slots.count),
            accounts: Int(self.views.accounts.count),
            payloads: self.tables.payloads.count - self.transport.http.heads.count
                - self.transport.lastingFormCount(self.tables, self.views),
            memoryBytes: self.tables.connections.memoryBytes + self.tables.calls.memoryBytes
                + self.views.slots.memoryBytes
                + self.views.accounts.memoryBytes + self.tables.payloads.memoryBytes + self.views.encodings.memoryBytes
                + self.transport.streams.memoryBytes + self.views.tableBytes + self.transport.httpBytes
                + Limits.stagingBytes + self.transport.partialBytes,
            connectionBytes: Slab<Connection>.bytesPerElement,
            callBytes: Slab<CallSlot>.bytesPerElement + SlotTable.bytesPerSlotMax,
            viewBytes: Slab<ViewSlot>.bytesPerElement + Slab<AccountSlot>.bytesPerElement
                + 3 * SlotTable.bytesPerSlotMax, handshakes: self.transport.handshakes,
            handshakeBytes: self.transport.handshakeBytes,
            dying: self.transport.admission.closing.count, partialBytes: self.transport.partialBytes,
            callsBytes: self.service.callsBytes(self.tables, self.views),
            identities: self.service.identities.count,
            applied: self.tables.applied, copies: self.copies)
    }

    /// Copies of apps' entitlements, by the label of their callers.
    private var copies: [String: CopyCensus] {
        var found: [String: CopyCensus] = [:]
        for (call, state) in self.views.appStreams.copies {
            var behind: Int64 = 0
            if let since = state.behindSince { behind = self.tables.now.monotonic - since }
            var caller = self.service.identity(ofCall: call, self.tables).label
            if found[caller] == nil, found.count >= CopyCensus.callersNamed { caller = CopyCensus.others }
            found[caller, default: CopyCensus()].add(isFilling: state.isFilling, behindMilliseconds: behind)
        }
        return found
    }
}

/// How much a loop holds.
package struct LoopCensus: Sendable {
    package var connections: Int
    package var calls: Int
    package var views: Int
    package var accounts: Int
    package var payloads: Int
    package var memoryBytes: Int
    package var connectionBytes: Int
    /// Bytes of a watch of an existing view.
    package var callBytes: Int
    /// Upper bound for the bytes of a view of an account with no other watch, without its key; table entries included.
    package var viewBytes: Int
    /// Connections before WELCOME, or without valid credentials on a server that needs them.
    package var handshakes: Int
    /// Bytes of those connections: partial frames, and TLS handshakes.
    package var handshakeBytes: Int
    /// Connections that are closing.
    package var dying: Int
    package var partialBytes: Int
    /// What open calls hold.
    package var callsBytes: Int
    /// Known identities, used or not.
    package var identities: Int
    /// The revision up to which the loop has applied every change.
    package var applied: UInt64
    /// By the label of their callers.
    package var copies: [String: CopyCensus]
}

/// The copies of apps' entitlements of one caller.
package struct CopyCensus: Sendable {
    /// Callers that the metrics name, for each loop, and the label of the others.
    static let (callersNamed, others) = (32, "others")

    package var count = 0
    /// Those that are not complete yet.
    package var fillingCount = 0
    /// The longest time for which one has not been up to date; 0: all are.
    package var behindMilliseconds: Int64 = 0

    package init() {}

    package mutating func add(isFilling: Bool, behindMilliseconds: Int64) {
        self.count += 1
        if isFilling { self.fillingCount += 1 }
        self.behindMilliseconds = max(self.behindMilliseconds, behindMilliseconds)
    }
}
