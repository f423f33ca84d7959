import PerchBase
import PerchWire

// perch/1: its frames that open and end calls.
extension LoopCore {
    /// Handles a CALL frame on a free stream number.
    mutating func openCall(_ header: FrameHeader, _ body: borrowing RawSpan, _ connection: Int32) {
        guard Int(self.tables.connections[connection].callCount) < self.tables.settings.callsPerConnectionMax else {
            self.service.refuse(
                connection, header.stream,
                WireStatus(
                    .callsLimit,
                    "this connection has \(self.tables.connections[connection].callCount) calls, the limit is \(self.tables.settings.callsPerConnectionMax); end some, or open another connection",
                    details: [
                        .found(self.tables.connections[connection].callCount),
                        .limit(self.tables.settings.callsPerConnectionMax), .setting("calls-per-connection"),
                    ]), &self.tables, &self.transport)
            return
        }
        if self.transport.draining {
            self.service.refuse(connection, header.stream, self.shuttingDown, &self.tables, &self.transport)
            return
        }
        if header.isCompressed {
            do throws(InflateError) {
                let inflated = try self.tables.codec.inflate(body, limit: self.frameBytesMax(of: connection))
                // The codec's buffer is stable until the next inflate, and decoding does not inflate.
                self.openCall(header.stream, RawSpan(_unsafeBytes: inflated), connection)
            } catch {
                // A message that cannot be inflated breaks the framing.
                var status = WireStatus(error)
                if status.reason == .inflateLimit {
                    let isIdentified = self.tables.connections[connection].flags.contains(.isIdentified)
                    status.details.append(.setting(isIdentified ? "frame-bytes" : "unidentified-frame-bytes"))
                }
                self.close(connection, status)
            }
        } else {
            self.openCall(header.stream, body, connection)
        }
    }

    private mutating func openCall(_ stream: UInt32, _ body: borrowing RawSpan, _ connection: Int32) {
        let call: Call
        do throws(MessageError) {
            call = try self.tables.codec.decodeCall(body)
        } catch {
            self.service.refuse(connection, stream, WireStatus(error), &self.tables, &self.transport)
            return
        }
        guard let method = call.method else {
            self.service.refuse(
                connection, stream,
                WireStatus(
                    .unknownMethod,
                    "there is no method \(String(call.path.prefix(128))); proto/perch lists what there is"),
                &self.tables, &self.transport)
            return
        }
        let opening = Opening(
            method: method, timeoutMilliseconds: call.timeoutMilliseconds, metadata: call.metadata)
        if let status = self.service.open(
            connection, stream: stream, opening, request: body.extracting(call.request), &self.tables, &self.views,
            &self.transport)
        {
            self.close(connection, status)
        }
    }
}
