import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Calls: from an opening to a watch, a question to the store, or a refusal; and their ends.
extension LoopCore {
    /// Opens a call for a transport: checks it, and begins or refuses it. `request` is the request message's bytes.
    mutating func open(
        _ connection: Int32, stream: UInt32, _ opening: borrowing Opening, request: borrowing RawSpan
    ) {
        self.transport.spend(WorkMeter.call)
        let method = opening.method
        do throws(CallRefusal) {
            let caller: UInt32
            do throws(CallRefusal) {
                caller = try self.caller(connection, opening.metadata)
            } catch {
                if self.credentialsFailed(connection) { return }
                throw error
            }
            if !self.tables.connections[connection].flags.contains(.isIntake) { try self.permit(method, caller) }
            guard request.byteCount <= method.requestBytesMax else {
                throw CallRefusal(
                    WireStatus(
                        method.reasonOfTooLong,
                        "the request has \(request.byteCount) bytes, the limit of \(method.path) is \(method.requestBytesMax)",
                        details: [.found(request.byteCount), .limit(method.requestBytesMax)]))
            }
            if method.isStreaming || request.byteCount > Limits.smallRequestBytes {
                try self.requireRoom(request.byteCount)
            }
            let plain =
                method == .operate || method == .purchase
                ? request.withUnsafeBytes { self.plainOrder($0, method, connection, stream, caller) } : nil
            var asked: Request?
            if case nil = plain {
                do throws(MessageError) {
                    asked = try self.tables.codec.decodeRequest(method, request)
                } catch {
                    throw CallRefusal(WireStatus(error))
                }
            }
            let slot = self.insertCall(connection, stream, method)
            self.keepRequest(of: slot, request.byteCount)
            if caller != self.tables.connections[connection].identity {
                self.service.callIdentities[slot] = caller
                self.service.identities.use(caller)
            }
            if opening.timeoutMilliseconds > 0 {
                let timeout = Int64(clamping: min(opening.timeoutMilliseconds, 365 * 86_400_000))
                self.tables.calls[slot].hasDeadline = true
                self.tables.scheduleDeadline(
                    .call(slot, self.tables.calls.generation(slot)), at: self.tables.now.monotonic + timeout)
            }
            do throws(CallRefusal) {
                if let plain {
                    self.order(slot, plain)
                } else if let asked {
                    try self.begin(slot, asked, forgivesToken: opening.forgivesToken)
                }
            } catch {
                self.end(slot, error.status)
            }
        } catch {
            self.noteRefused(method, connection, error.status)
            self.refuse(connection, stream, error.status)
        }
    }

    /// Refuses a call before it has a slot: its stream number is free again at once.
    mutating func refuse(_ connection: Int32, _ stream: UInt32, _ status: WireStatus) {
        self.transport.spend(WorkMeter.refusal)
        self.tables.counters.callsOpened += 1
        self.tables.counters.callsRefused += 1
        self.tables.counters.callsEnded += 1
        if let reason = status.reason { self.tables.counters.refusalsByReason[reason, default: 0] += 1 }
        self.transport.sendRefusal(connection, stream: stream, status, &self.tables)
    }

    /// `isPart`: its stream is that of the call which carries it.
    mutating func insertCall(
        _ connection: Int32, _ stream: UInt32, _ method: Method, isPart: Bool = false
    ) -> Int32 {
        let first = self.tables.connections[connection].firstCall
        let slot = self.tables.calls.insert(
            CallSlot(
                connection: connection, stream: stream, state: .unary(pending: -1), method: method,
                nextInConnection: first))
        if first >= 0 { self.tables.calls[first].previousInConnection = slot }
        self.tables.connections[connection].firstCall = slot
        self.tables.connections[connection].callCount += 1
        self.tables.counters.callsOpened += 1
        if method.isStreaming { self.tables.connections[connection].watchCount += 1 }
        if !isPart { self.transport.nameStream(of: slot, self.tables) }
        self.tables.noteCall(slot)
        return slot
    }

    /// Ends a call with a status: it leaves its view, and its number is free once the kernel has accepted the status.
    mutating func end(_ call: Int32, _ status: WireStatus) {
        guard !self.tables.calls[call].isEnding else { return }
        if let part = self.tables.part(call) { return self.end(part.whole, Self.status(status, ofPart: part.number)) }
        if status.code == .ok { return self.endWell(call) }
        self.tables.counters.callsRefused += 1
        if let reason = status.reason { self.tables.counters.refusalsByReason[reason, default: 0] += 1 }
        self.tables.noteEnd(call, status.reason?.rawValue ?? "\(status.code)")
        self.noteRefused(self.tables.calls[call].method, self.tables.calls[call].connection, status)
        self.detach(call)
        self.tables.calls[call].state = .ending
        self.transport.sendEnd(of: call, status, &self.tables)
    }

    /// A notification that came to the main port was not taken. What comes to Apple's own port is noted with its answer.
    private mutating func noteRefused(_ method: Method, _ connection: Int32, _ status: WireStatus) {
        guard method == .submitNotification, !self.tables.connections[connection].flags.contains(.isIntake) else {
            return
        }
        let reason = status.reason?.rawValue ?? "\(status.code)"
        self.tables.noteRefusedNotification(connection, status.code.connectHTTPStatus, reason, status.message)
    }

    /// Ends a call that has sent everything, with OK.
    private mutating func endWell(_ call: Int32) {
        self.tables.noteEnd(call, "OK")
        self.detach(call)
        self.tables.calls[call].state = .ending
        self.transport.sendEnd(of: call, &self.tables)
    }

    /// Detaches a call from everything but its connection and its stream number.
    private mutating func detach(_ call: Int32) {
        switch self.tables.calls[call].state {
        case .watch(let view):
            self.views.leaveView(call, view, &self.tables, &self.transport)
        case .updates:
            self.views.leaveUpdates(call, &self.tables, &self.transport)
        case .appChanges:
            self.views.leaveAppChanges(call, &self.tables, &self.transport)
        case .unary:
            self.dropPending(call)
            if self.tables.calls[call].flags.contains(.isWaiting) {
                self.transport.releaseBeats(for: call, &self.tables)
            }
        case .several:
            self.removeParts(of: call)
        case .order:
            break
        case .ending:
            return
        }
        if self.tables.calls[call].method.isStreaming {
            self.tables.connections[self.tables.calls[call].connection].watchCount -= 1
        }
        self.service.waiting.remove(call)
        if !self.service.appSearch.isEmpty { self.service.appSearch.remove(call) }
        self.forgetRequest(of: call)
        if !self.tables.callTokens.isEmpty { self.tables.callTokens[call] = nil }
        if self.tables.calls[call].flags.contains(.isListed) { self.transport.unlist(call, &self.tables) }
        self.tables.calls[call].flags = []
    }

    /// Removes a call and frees its number.
    mutating func removeCall(_ call: Int32) {
        self.detach(call)
        if !self.service.callIdentities.isEmpty, let identity = self.service.callIdentities.removeValue(forKey: call) {
            self.service.identities.letGo(identity)
        }
        let slot = self.tables.calls[call]
        if slot.previousInConnection >= 0 {
            self.tables.calls[slot.previousInConnection].nextInConnection = slot.nextInConnection
        } else {
            self.tables.connections[slot.connection].firstCall = slot.nextInConnection
        }
        if slot.nextInConnection >= 0 {
            self.tables.calls[slot.nextInConnection].previousInConnection = slot.previousInConnection
        }
        self.tables.connections[slot.connection].callCount -= 1
        if let part = self.tables.part(call) {
            self.tables.carried.parts[call] = nil
            self.tables.carried.wholes[part.whole]?.removeAll { $0 == call }
        } else {
            self.transport.forgetStream(of: call, self.tables)
        }
        self.tables.calls.remove(call)
        self.tables.counters.callsEnded += 1
    }

    /// Sends a unary call's answer and its end.
    mutating func answer(_ call: Int32, _ response: Response) {
        do throws(MessageError) {
            self.answer(call, encoded: try self.tables.codec.encode(response))
        } catch {
            self.couldNotEncode(call, error)
        }
    }

    mutating func couldNotEncode(_ call: Int32, _ error: MessageError) {
        self.end(
            call, WireStatus(.internal, "the answer could not be encoded (\(error)); ask for less at once"))
    }

    /// Sends a unary call's encoded answer and its end.
    mutating func answer(_ call: Int32, encoded: MessageCodec.Encoded) {
        var payload = self.tables.payloads.insert(encoded.prefixed)
        if self.tables.payloads[payload].count - 5 > self.tables.settings.frameBytesMax {
            let found = self.tables.payloads[payload].count - 5
            self.tables.payloads.release(payload)
            self.end(
                call,
                WireStatus(
                    .frameTooLong,
                    "the answer has \(found) bytes, the limit is \(self.tables.settings.frameBytesMax); ask for a smaller page",
                    details: [.found(found), .limit(self.tables.settings.frameBytesMax), .setting("frame-bytes")]))
            return
        }
        if self.transport.acceptsZlib(call, self.tables), let compressed = self.tables.codec.compressed() {
            self.tables.counters.valuesCompressed += 1
            let smaller = self.tables.payloads.insert(compressed.prefixed)
            self.tables.payloads.release(payload)
            payload = smaller
        }
        self.transport.send(call, payload, &self.tables)
        self.endWell(call)
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
