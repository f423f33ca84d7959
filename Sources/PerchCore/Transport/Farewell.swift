import PerchWire

/// The DRAIN for a connection beyond the process's limit. No core handles such a connection, so the frame is made in
/// advance.
package enum Farewell {
    /// A final DRAIN. `limit` is the process's maximum number of connections.
    package static func noRoom(limit: Int) -> [UInt8] {
        let status = WireStatus(
            .connectionLimit,
            "this server holds \(limit) connections, the limit is \(limit); try another server or come back later",
            details: [.found(limit), .limit(limit)])
        let pause = ErrorReason.connectionLimit.drainPause()
        let drain = status.drain(reconnectAfterMilliseconds: pause.after, jitterMilliseconds: pause.jitter)
        // The encoded bytes live inside the codec.
        let codec = MessageCodec()
        defer { withExtendedLifetime(codec) {} }
        do throws(MessageError) {
            return Array(try codec.encode(drain).frame(.drain, stream: 0))
        } catch {
            preconditionFailure("a message of our own could not be encoded: \(error)")
        }
    }
}
