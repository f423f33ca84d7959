import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Calls: from an opening to a watch, a question to the store, or a refusal; and their ends.
extension Service: ServiceGate {
    /// Opens a call for a transport: checks it, and begins or refuses it. `request` is the request message's bytes.
    ///
    /// Returns why the connection is to be closed, if its calls have had bad credentials too often.
    mutating func open(
        _ connection: Int32, stream: UInt32, _ opening: borrowing Opening, request: borrowing RawSpan,
        _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) -> WireStatus? {
        sink.spend(WorkMeter.call)
        let method = opening.method
        do throws(CallRefusal) {
            let caller: UInt32
            do throws(CallRefusal) {
                caller = try self.caller(connection, opening.metadata, &tables, &sink)
            } catch {
                if let status = self.credentialsFailed(connection, &tables) { return status }
                throw error
            }
            if !tables.connections[connection].flags.contains(.isIntake) { try self.permit(method, caller, &tables) }
            guard request.byteCount <= method.requestBytesMax else {
                throw CallRefusal(
                    WireStatus(
                        method.reasonOfTooLong,
                        "the request has \(request.byteCount) bytes, the limit of \(method.path) is \(method.requestBytesMax)",
                        details: [.found(request.byteCount), .limit(method.requestBytesMax)]))
            }
            if method.isStreaming || request.byteCount > Limits.smallRequestBytes {
                try self.requireRoom(request.byteCount, tables, views)
            }
            let plain =
                method == .operate || method == .purchase
                ? request.withUnsafeBytes { self.plainOrder($0, method, connection, stream, caller, &tables, &sink) }
                : nil
            var asked: Request?
            if case nil = plain {
                do throws(MessageError) {
                    asked = try tables.codec.decodeRequest(method, request)
                } catch {
                    throw CallRefusal(WireStatus(error))
                }
            }
            let slot = self.insertCall(connection, stream, method, &tables, &sink)
            self.countRequest(of: slot, request.byteCount)
            if caller != tables.connections[connection].identity {
                self.callIdentities[slot] = caller
                self.identities.use(caller)
            }
            if opening.timeoutMilliseconds > 0 {
                let timeout = Int64(clamping: min(opening.timeoutMilliseconds, 365 * 86_400_000))
                tables.calls[slot].hasDeadline = true
                tables.scheduleDeadline(.call(slot, tables.calls.generation(slot)), at: tables.now.monotonic + timeout)
            }
            do throws(CallRefusal) {
                if let plain {
                    self.order(slot, plain, &tables)
                } else if let asked {
                    try self.begin(slot, asked, forgivesToken: opening.forgivesToken, &tables, &views, &sink)
                }
            } catch {
                self.end(slot, error.status, &tables, &views, &sink)
            }
        } catch {
            self.noteRefused(method, connection, error.status, &tables)
            self.refuse(connection, stream, error.status, &tables, &sink)
        }
        return nil
    }

    /// Refuses a call before it has a slot: its stream number is free again at once.
    mutating func refuse(
        _ connection: Int32, _ stream: UInt32, _ status: WireStatus, _ tables: inout Tables, _ sink: inout some Sink
    ) {
        sink.spend(WorkMeter.refusal)
        tables.counters.callsOpened += 1
        tables.counters.callsRefused += 1
        tables.counters.callsEnded += 1
        if let reason = status.reason { tables.counters.refusalsByReason[reason, default: 0] += 1 }
        sink.sendRefusal(connection, stream: stream, status, &tables)
    }

    /// `isPart`: its stream is that of the call which carries it.
    mutating func insertCall(
        _ connection: Int32, _ stream: UInt32, _ method: Method, isPart: Bool = false, _ tables: inout Tables,
        _ sink: inout some Sink
    ) -> Int32 {
        let first = tables.connections[connection].firstCall
        let slot = tables.calls.insert(
            CallSlot(
                connection: connection, stream: stream, state: .unary(pending: -1), method: method,
                nextInConnection: first))
        if first >= 0 { tables.calls[first].previousInConnection = slot }
        tables.connections[connection].firstCall = slot
        tables.connections[connection].callCount += 1
        tables.counters.callsOpened += 1
        if method.isStreaming { tables.connections[connection].watchCount += 1 }
        if !isPart { sink.nameStream(of: slot, tables) }
        tables.noteCall(slot)
        return slot
    }

    /// Ends a call with a status: it leaves its view, and its number is free once the kernel has accepted the status.
    mutating func end(
        _ call: Int32, _ status: WireStatus, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        guard !tables.calls[call].isEnding else { return }
        if let part = tables.part(call) {
            return self.end(part.whole, Self.status(status, ofPart: part.number), &tables, &views, &sink)
        }
        if status.code == .ok { return self.endWell(call, &tables, &views, &sink) }
        tables.counters.callsRefused += 1
        if let reason = status.reason { tables.counters.refusalsByReason[reason, default: 0] += 1 }
        tables.noteEnd(call, status.reason?.rawValue ?? "\(status.code)")
        self.noteRefused(tables.calls[call].method, tables.calls[call].connection, status, &tables)
        self.detach(call, &tables, &views, &sink)
        tables.calls[call].state = .ending
        sink.sendEnd(of: call, status, &tables)
    }

    /// A notification that came to the main port was not taken. What comes to Apple's own port is noted with its answer.
    private mutating func noteRefused(
        _ method: Method, _ connection: Int32, _ status: WireStatus, _ tables: inout Tables
    ) {
        guard method == .submitNotification, !tables.connections[connection].flags.contains(.isIntake) else { return }
        let reason = status.reason?.rawValue ?? "\(status.code)"
        tables.noteRefusedNotification(connection, status.code.connectHTTPStatus, reason, status.message)
    }

    /// Ends a call that has sent everything, with OK.
    private mutating func endWell(
        _ call: Int32, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        tables.noteEnd(call, "OK")
        self.detach(call, &tables, &views, &sink)
        tables.calls[call].state = .ending
        sink.sendEnd(of: call, &tables)
    }

    /// Detaches a call from everything but its connection and its stream number.
    private mutating func detach(
        _ call: Int32, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        switch tables.calls[call].state {
        case .watch, .updates, .appChanges, .copy:
            views.leave(call, &tables, &sink)
        case .unary:
            self.dropPending(call, &tables)
            if tables.calls[call].flags.contains(.isWaiting) {
                sink.releaseBeats(for: call, &tables)
            }
        case .several:
            self.removeParts(of: call, &tables, &views, &sink)
        case .order:
            break
        case .ending:
            return
        }
        if tables.calls[call].method.isStreaming {
            tables.connections[tables.calls[call].connection].watchCount -= 1
        }
        self.waiting.remove(call)
        if !self.appSearch.isEmpty { self.appSearch.remove(call) }
        self.forgetRequest(of: call)
        if !tables.callTokens.isEmpty { tables.callTokens[call] = nil }
        if tables.calls[call].flags.contains(.isListed) { sink.unlist(call, &tables) }
        tables.calls[call].flags = []
    }

    /// Removes a call and frees its number.
    mutating func removeCall(
        _ call: Int32, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        self.detach(call, &tables, &views, &sink)
        if !self.callIdentities.isEmpty, let identity = self.callIdentities.removeValue(forKey: call) {
            self.identities.letGo(identity)
        }
        let slot = tables.calls[call]
        if slot.previousInConnection >= 0 {
            tables.calls[slot.previousInConnection].nextInConnection = slot.nextInConnection
        } else {
            tables.connections[slot.connection].firstCall = slot.nextInConnection
        }
        if slot.nextInConnection >= 0 {
            tables.calls[slot.nextInConnection].previousInConnection = slot.previousInConnection
        }
        tables.connections[slot.connection].callCount -= 1
        if let part = tables.part(call) {
            tables.carried.parts[call] = nil
            tables.carried.wholes[part.whole]?.removeAll { $0 == call }
        } else {
            sink.forgetStream(of: call, tables)
        }
        tables.calls.remove(call)
        tables.counters.callsEnded += 1
    }

    /// Sends a unary call's answer and its end.
    mutating func answer(
        _ call: Int32, _ response: Response, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        do throws(MessageError) {
            self.answer(call, encoded: try tables.codec.encode(response), &tables, &views, &sink)
        } catch {
            self.couldNotEncode(call, error, &tables, &views, &sink)
        }
    }

    mutating func couldNotEncode(
        _ call: Int32, _ error: MessageError, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        self.end(
            call, WireStatus(.internal, "the answer could not be encoded (\(error)); ask for less at once"), &tables,
            &views, &sink)
    }

    /// Sends a unary call's encoded answer and its end.
    mutating func answer(
        _ call: Int32, encoded: MessageCodec.Encoded, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        var payload = tables.payloads.insert(encoded.prefixed)
        if tables.payloads[payload].count - 5 > tables.settings.frameBytesMax {
            let found = tables.payloads[payload].count - 5
            tables.payloads.release(payload)
            self.end(
                call,
                WireStatus(
                    .frameTooLong,
                    "the answer has \(found) bytes, the limit is \(tables.settings.frameBytesMax); ask for a smaller page",
                    details: [.found(found), .limit(tables.settings.frameBytesMax), .setting("frame-bytes")]), &tables,
                &views, &sink)
            return
        }
        if sink.acceptsZlib(call, tables), let compressed = tables.codec.compressed() {
            tables.counters.valuesCompressed += 1
            let smaller = tables.payloads.insert(compressed.prefixed)
            tables.payloads.release(payload)
            payload = smaller
        }
        sink.send(call, payload, &tables)
        self.endWell(call, &tables, &views, &sink)
    }
}

/// Why a call is refused.
struct CallRefusal: Error {
    var status: WireStatus

    init(_ status: WireStatus) { self.status = status }

    init(_ reason: ErrorReason, _ message: String, details: [StatusDetail] = []) {
        self.status = WireStatus(reason, message, details: details)
    }
}

extension Method {
    /// Whether a whole request is taken before its credentials are known: a notification's own signature says who sent it, and the App
    /// Store does not send it again in parts.
    var isWholeBeforeCredentials: Bool { self == .submitNotification }

    /// The refusal of a request that is too long.
    var reasonOfTooLong: ErrorReason {
        switch self {
        case .checkCatalog, .loadCatalog: .catalogTooLong
        case .submitNotification: .appleTooLong
        default: .requestTooLong
        }
    }
}
