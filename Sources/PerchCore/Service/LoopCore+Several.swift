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
extension LoopCore {
    /// Begins each watch of a call, or refuses the call.
    mutating func beginSeveral(_ call: Int32, _ asked: WatchRequest) throws(CallRefusal) {
        let count = asked.watches.count
        let connection = self.tables.calls[call].connection
        let open = Int(self.tables.connections[connection].callCount)
        guard open + count <= self.tables.settings.callsPerConnectionMax else {
            throw CallRefusal(
                .callsLimit,
                "this connection has \(open) calls and this one would add \(count), the limit is \(self.tables.settings.callsPerConnectionMax); end some, or open another connection",
                details: [
                    .found(open + count), .limit(self.tables.settings.callsPerConnectionMax),
                    .setting("calls-per-connection"),
                ])
        }
        let caller = self.service.callIdentities[call]
        self.tables.calls[call].state = .several
        self.tables.carried.wholes[call] = []
        for (number, request) in asked.watches.enumerated() {
            do throws(CallRefusal) {
                try self.permit(request.method, caller ?? self.tables.connections[connection].identity)
                let part = self.insertPart(CallPart(whole: call, number: UInt32(number)), request.method)
                if let caller {
                    self.service.callIdentities[part] = caller
                    self.service.identities.use(caller)
                }
                try self.begin(part, request)
            } catch {
                throw CallRefusal(Self.status(error.status, ofPart: UInt32(number)))
            }
        }
    }

    private mutating func insertPart(_ part: CallPart, _ method: Method) -> Int32 {
        let slot = self.insertCall(
            self.tables.calls[part.whole].connection, self.tables.calls[part.whole].stream, method, isPart: true)
        self.tables.carried.parts[slot] = part
        self.tables.carried.wholes[part.whole]?.append(slot)
        return slot
    }

    /// The status that ends a whole for one of its parts.
    static func status(_ status: WireStatus, ofPart number: UInt32) -> WireStatus {
        var told = status
        told.details.append(StatusDetail(key: "watch", value: "\(number)"))
        return told
    }

    /// Removes the parts of a whole that ends.
    mutating func removeParts(of whole: Int32) {
        for part in self.tables.carried.wholes[whole] ?? [] { self.removeCall(part) }
        self.tables.carried.wholes[whole] = nil
    }
}

extension Tables {
    /// The parts of a call of several watches; none of another.
    @inline(__always)
    func parts(of whole: Int32) -> [Int32] {
        self.carried.wholes.isEmpty ? [] : self.carried.wholes[whole] ?? []
    }

    /// The part that a call is; nil for a call with a stream of its own.
    @inline(__always)
    func part(_ call: Int32) -> CallPart? {
        self.carried.parts.isEmpty ? nil : self.carried.parts[call]
    }
}
