import PerchWire

/// What a connection is sent that its process has no room for. No core ever sees it, so the frame is made before anybody comes.
package enum Farewell {
    /// DRAIN, for good. `limit`: so many connections the process may have.
    package static func noRoom(limit: Int) -> [UInt8] {
        let status = WireStatus(
            .connectionLimit,
            "this server holds \(limit) connections, the limit is \(limit); try another server or come back later",
            details: [.found(limit), .limit(limit)])
        let pause = ErrorReason.connectionLimit.drainPause()
        let drain = status.drain(reconnectAfterMilliseconds: pause.after, jitterMilliseconds: pause.jitter)
        // What is encoded lies within the codec.
        let codec = MessageCodec()
        defer { withExtendedLifetime(codec) {} }
        do throws(MessageError) {
            return Array(try codec.encode(drain).frame(.drain, stream: 0))
        } catch {
            preconditionFailure("a message of our own could not be encoded: \(error)")
        }
    }
}
