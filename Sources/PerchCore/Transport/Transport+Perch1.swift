import PerchBase
import PerchWire

// perch/1: its frames that open and end calls.
extension Transport {
    /// Handles a CALL frame on a free stream number.
    mutating func openCall(
        _ header: FrameHeader, _ body: borrowing RawSpan, _ connection: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        guard Int(tables.connections[connection].callCount) < tables.settings.callsPerConnectionMax else {
            service.refuse(
                connection, header.stream,
                WireStatus(
                    .callsLimit,
                    "this connection has \(tables.connections[connection].callCount) calls, the limit is \(tables.settings.callsPerConnectionMax); end some, or open another connection",
                    details: [
                        .found(tables.connections[connection].callCount),
                        .limit(tables.settings.callsPerConnectionMax), .setting("calls-per-connection"),
                    ]), &tables, &self)
            return
        }
        if self.draining {
            service.refuse(connection, header.stream, self.shuttingDown(tables), &tables, &self)
            return
        }
        if header.isCompressed {
            do throws(InflateError) {
                let inflated = try tables.codec.inflate(body, limit: self.frameBytesMax(of: connection, tables))
                // The codec's buffer is stable until the next inflate, and decoding does not inflate.
                self.openCall(header.stream, RawSpan(_unsafeBytes: inflated), connection, &tables, &views, &service)
            } catch {
                // A message that cannot be inflated breaks the framing.
                var status = WireStatus(error)
                if status.reason == .inflateLimit {
                    let isIdentified = tables.connections[connection].flags.contains(.isIdentified)
                    status.details.append(.setting(isIdentified ? "frame-bytes" : "unidentified-frame-bytes"))
                }
                self.close(connection, status, &tables, &views, &service)
            }
        } else {
            self.openCall(header.stream, body, connection, &tables, &views, &service)
        }
    }

    mutating func openCall(
        _ stream: UInt32, _ body: borrowing RawSpan, _ connection: Int32, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) {
        let call: Call
        do throws(MessageError) {
            call = try tables.codec.decodeCall(body)
        } catch {
            service.refuse(connection, stream, WireStatus(error), &tables, &self)
            return
        }
        guard let method = call.method else {
            service.refuse(
                connection, stream,
                WireStatus(
                    .unknownMethod,
                    "there is no method \(String(call.path.prefix(128))); proto/perch lists what there is"),
                &tables, &self)
            return
        }
        let opening = Opening(method: method, timeoutMilliseconds: call.timeoutMilliseconds, metadata: call.metadata)
        if let status = service.open(
            connection, stream: stream, opening, request: body.extracting(call.request), &tables, &views,
            &self)
        {
            self.close(connection, status, &tables, &views, &service)
        }
    }
}
