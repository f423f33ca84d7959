import PerchBase

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
            applied: self.tables.applied)
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
}
