import PerchBase
import PerchModel
import PerchWire

/// The place of a watch in the call of several that carries it.
struct CallPart: Hashable {
    /// The call that owns the stream.
    var whole: Int32
    /// The place in the request, from 0.
    var number: UInt32
}

// A call of several watches: one stream, and a call slot for each watch (its parts). A part is a watch or a stream of events like
// any other, of the same stream number; the transport puts its messages into an envelope that has its number. The whole has no
// output of its own but bookmarks and the status, and ends when one of its parts does.
extension Service {
    /// Begins each watch of a call, or refuses the call.
    mutating func beginSeveral(
        _ call: Int32, _ asked: WatchRequest, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) throws(CallRefusal) {
        let count = asked.watches.count
        let connection = tables.calls[call].connection
        let open = Int(tables.connections[connection].callCount)
        guard open + count <= tables.settings.callsPerConnectionMax else {
            throw CallRefusal(
                .callsLimit,
                "this connection has \(open) calls and this one would add \(count), the limit is \(tables.settings.callsPerConnectionMax); end some, or open another connection",
                details: [
                    .found(open + count), .limit(tables.settings.callsPerConnectionMax),
                    .setting("calls-per-connection"),
                ])
        }
        let caller = self.callIdentities[call]
        tables.calls[call].state = .several
        tables.carried.wholes[call] = []
        for (number, request) in asked.watches.enumerated() {
            do throws(CallRefusal) {
                try self.permit(request.method, caller ?? tables.connections[connection].identity, &tables)
                let part = self.insertPart(
                    CallPart(whole: call, number: UInt32(number)), request.method, &tables, &sink)
                if let caller {
                    self.callIdentities[part] = caller
                    self.identities.use(caller)
                }
                try self.begin(part, request, &tables, &views, &sink)
            } catch {
                throw CallRefusal(Self.status(error.status, ofPart: UInt32(number)))
            }
        }
    }

    private mutating func insertPart(
        _ part: CallPart, _ method: Method, _ tables: inout Tables, _ sink: inout some Sink
    ) -> Int32 {
        let slot = self.insertCall(
            tables.calls[part.whole].connection, tables.calls[part.whole].stream, method, isPart: true, &tables, &sink)
        tables.carried.parts[slot] = part
        tables.carried.wholes[part.whole]?.append(slot)
        return slot
    }

    /// The status that ends a whole for one of its parts.
    static func status(_ status: WireStatus, ofPart number: UInt32) -> WireStatus {
        var told = status
        told.details.append(StatusDetail(key: "watch", value: "\(number)"))
        return told
    }

    /// Removes the parts of a whole that ends.
    mutating func removeParts(
        of whole: Int32, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        for part in tables.carried.wholes[whole] ?? [] { self.removeCall(part, &tables, &views, &sink) }
        tables.carried.wholes[whole] = nil
    }
}
