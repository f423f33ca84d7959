import PerchBase
import PerchModel
import PerchStore
import PerchWire

// Calls: from a CALL frame to a watch, a question to the store, or a refusal; and their ends.
extension LoopCore {
    /// A CALL frame on a free stream number.
    mutating func open(_ header: FrameHeader, _ body: borrowing RawSpan, _ connection: Int32) {
        guard Int(self.connections[connection].callCount) < self.settings.callsPerConnectionMax else {
            self.refuse(
                connection, header.stream,
                WireStatus(
                    .callsLimit,
                    "this connection has \(self.connections[connection].callCount) calls, the limit is \(self.settings.callsPerConnectionMax); end some, or open another connection",
                    details: [
                        .found(self.connections[connection].callCount),
                        .limit(self.settings.callsPerConnectionMax), .setting("calls-per-connection"),
                    ]))
            return
        }
        if self.draining {
            self.refuse(connection, header.stream, Self.shuttingDown)
            return
        }
        if header.isCompressed {
            do throws(InflateError) {
                let inflated = try self.codec.inflate(body, limit: self.frameBytesMax(of: connection))
                // The codec's buffer is its own until the next inflate: decoding does not inflate.
                self.open(header.stream, RawSpan(_unsafeBytes: inflated), connection)
            } catch {
                // What cannot be inflated may hide anything: the framing is broken.
                var status = WireStatus(error)
                if status.reason == .inflateLimit {
                    let isIdentified = self.connections[connection].flags.contains(.isIdentified)
                    status.details.append(.setting(isIdentified ? "frame-bytes" : "unidentified-frame-bytes"))
                }
                self.close(connection, status)
            }
        } else {
            self.open(header.stream, body, connection)
        }
    }

    private mutating func open(_ stream: UInt32, _ body: borrowing RawSpan, _ connection: Int32) {
        do throws(CallRefusal) {
            let call: Call
            do throws(MessageError) {
                call = try self.codec.decodeCall(body)
            } catch {
                throw CallRefusal(WireStatus(error))
            }
            guard let method = call.method else {
                throw CallRefusal(
                    WireStatus(
                        .unknownMethod,
                        "there is no method \(String(call.path.prefix(128))); proto/perch lists what there is"))
            }
            let caller: UInt32
            do throws(CallRefusal) {
                caller = try self.caller(connection, call.metadata)
            } catch {
                if self.credentialsFailed(connection) { return }
                throw error
            }
            try self.permit(method, caller)
            guard call.request.count <= method.requestBytesMax else {
                throw CallRefusal(
                    WireStatus(
                        method.requestBytesMax == Limits.requestBytesMax ? .requestTooLong : .catalogTooLong,
                        "the request has \(call.request.count) bytes, the limit of \(method.path) is \(method.requestBytesMax)",
                        details: [.found(call.request.count), .limit(method.requestBytesMax)]))
            }
            if method.isStreaming || call.request.count > Limits.smallRequestBytes {
                try self.requireRoom(call.request.count)
            }
            let order = method == .operate ? self.codec.decodeOrder(body.extracting(call.request)) : nil
            var request: Request?
            if case nil = order {
                do throws(MessageError) {
                    request = try self.codec.decodeRequest(method, body.extracting(call.request))
                } catch {
                    throw CallRefusal(WireStatus(error))
                }
            }
            let slot = self.insertCall(connection, stream, method)
            self.keepRequest(of: slot, call.request.count)
            if caller != self.connections[connection].identity {
                self.callIdentities[slot] = caller
                self.identities.use(caller)
            }
            if call.timeoutMilliseconds > 0 {
                let timeout = Int64(clamping: min(call.timeoutMilliseconds, 365 * 86_400_000))
                self.calls[slot].hasDeadline = true
                self.scheduleDeadline(
                    .call(slot, self.calls.generation(slot)), at: self.now.monotonic + timeout)
            }
            do throws(CallRefusal) {
                if let order {
                    try self.order(slot, order)
                } else if let request {
                    try self.begin(slot, request)
                }
            } catch {
                self.end(slot, error.status)
            }
        } catch {
            self.refuse(connection, stream, error.status)
        }
    }

    /// A refusal of a call that never got a slot: its stream number is free again at once.
    private mutating func refuse(_ connection: Int32, _ stream: UInt32, _ status: WireStatus) {
        self.counters.callsOpened += 1
        self.counters.callsRefused += 1
        self.counters.callsEnded += 1
        if let reason = status.reason { self.counters.refusalsByReason[reason, default: 0] += 1 }
        let payload = self.encodedStatus(status)
        self.owe(connection, .status, stream: stream, payload)
    }

    mutating func encodedStatus(_ status: WireStatus) -> PayloadHandle {
        self.encoded { codec throws(MessageError) in try codec.encode(status.status) }
    }

    private mutating func insertCall(_ connection: Int32, _ stream: UInt32, _ method: Method) -> Int32 {
        let first = self.connections[connection].firstCall
        let slot = self.calls.insert(
            CallSlot(connection: connection, stream: stream, method: method, kind: .unary, nextInConnection: first))
        if first >= 0 { self.calls[first].previousInConnection = slot }
        self.connections[connection].firstCall = slot
        self.connections[connection].callCount += 1
        self.counters.callsOpened += 1
        if method.isStreaming { self.connections[connection].watchCount += 1 }
        self.nameStream(of: slot)
        self.noteCall(slot)
        return slot
    }

    /// Ends a call with a status: it leaves its view, and its number is free when the status is taken.
    mutating func end(_ call: Int32, _ status: WireStatus) {
        guard self.calls[call].kind != .ending else { return }
        if status.code == .ok { return self.endWell(call) }
        self.counters.callsRefused += 1
        if let reason = status.reason { self.counters.refusalsByReason[reason, default: 0] += 1 }
        self.noteEnd(call, status.reason?.rawValue ?? "\(status.code)")
        self.detach(call)
        self.calls[call].kind = .ending
        let payload = self.encodedStatus(status)
        self.owe(self.calls[call].connection, .status, stream: self.calls[call].stream, payload, endsCall: call)
    }

    /// Ends a call that has said all it had to.
    private mutating func endWell(_ call: Int32) {
        self.noteEnd(call, "OK")
        self.detach(call)
        self.calls[call].kind = .ending
        self.payloads.retain(self.okStatus)
        self.owe(self.calls[call].connection, .status, stream: self.calls[call].stream, self.okStatus, endsCall: call)
    }

    /// Takes a call away from everything but its connection and its stream number.
    private mutating func detach(_ call: Int32) {
        let connection = self.calls[call].connection
        switch self.calls[call].kind {
        case .watch:
            self.leaveView(call)
        case .updates:
            self.leaveUpdates(call)
        case .unary:
            self.dropPending(call)
            if self.calls[call].flags.contains(.isWaiting) { self.connections[connection].waitingCount -= 1 }
        case .order:
            self.calls[call].target = -1
        case .ending:
            return
        }
        if self.calls[call].method.isStreaming { self.connections[connection].watchCount -= 1 }
        self.waiting.remove(call)
        self.forgetRequest(of: call)
        if !self.callTokens.isEmpty { self.callTokens[call] = nil }
        if self.calls[call].flags.contains(.isListed) { self.unlistCall(call, connection) }
        self.calls[call].flags = []
    }

    /// The call is over and its number free.
    mutating func removeCall(_ call: Int32) {
        self.detach(call)
        if !self.callIdentities.isEmpty, let identity = self.callIdentities.removeValue(forKey: call) {
            self.identities.letGo(identity)
        }
        let slot = self.calls[call]
        if slot.previousInConnection >= 0 {
            self.calls[slot.previousInConnection].nextInConnection = slot.nextInConnection
        } else {
            self.connections[slot.connection].firstCall = slot.nextInConnection
        }
        if slot.nextInConnection >= 0 {
            self.calls[slot.nextInConnection].previousInConnection = slot.previousInConnection
        }
        self.connections[slot.connection].callCount -= 1
        self.forgetStream(of: call)
        self.calls.remove(call)
        self.counters.callsEnded += 1
    }

    private mutating func unlistCall(_ call: Int32, _ connection: Int32) {
        let (previous, next) = (self.calls[call].previousDirty, self.calls[call].nextDirty)
        if previous >= 0 {
            self.calls[previous].nextDirty = next
        } else {
            self.connections[connection].firstDirty = next
        }
        if next >= 0 {
            self.calls[next].previousDirty = previous
        } else {
            self.connections[connection].lastDirty = previous
        }
        self.calls[call].nextDirty = -1
        self.calls[call].previousDirty = -1
        self.calls[call].flags.remove(.isListed)
    }

    /// A unary call's answer: MESSAGE, then STATUS.
    mutating func answer(_ call: Int32, _ response: Response) {
        do throws(MessageError) {
            self.answer(call, encoded: try self.codec.encode(response))
        } catch {
            self.couldNotEncode(call, error)
        }
    }

    mutating func couldNotEncode(_ call: Int32, _ error: MessageError) {
        self.end(
            call, WireStatus(.internal, "the answer could not be encoded (\(error)); ask for less at once"))
    }

    /// The same, with the bytes of the answer.
    mutating func answer(_ call: Int32, encoded: MessageCodec.Encoded) {
        let connection = self.calls[call].connection
        var payload = self.payloads.insert(encoded.prefixed)
        if self.payloads[payload].count - 5 > self.settings.frameBytesMax {
            let found = self.payloads[payload].count - 5
            self.payloads.release(payload)
            self.end(
                call,
                WireStatus(
                    .frameTooLong,
                    "the answer has \(found) bytes, the limit is \(self.settings.frameBytesMax); ask for a smaller page",
                    details: [.found(found), .limit(self.settings.frameBytesMax), .setting("frame-bytes")]))
            return
        }
        if self.connections[connection].flags.contains(.acceptsZlib), let compressed = self.codec.compressed() {
            self.counters.valuesCompressed += 1
            let smaller = self.payloads.insert(compressed.prefixed)
            self.payloads.release(payload)
            payload = smaller
        }
        self.owe(connection, .message, stream: self.calls[call].stream, payload)
        self.endWell(call)
    }

    /// Puts a watch or a stream of events on its connection's list of those that have something to write.
    @inline(__always)
    mutating func listCall(_ call: Int32) {
        let connection = self.calls[call].connection
        if !self.calls[call].flags.contains(.isListed) {
            self.calls[call].flags.insert(.isListed)
            self.calls[call].nextDirty = -1
            let last = self.connections[connection].lastDirty
            self.calls[call].previousDirty = last
            if last >= 0 { self.calls[last].nextDirty = call } else { self.connections[connection].firstDirty = call }
            self.connections[connection].lastDirty = call
        }
        self.list(connection)
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
