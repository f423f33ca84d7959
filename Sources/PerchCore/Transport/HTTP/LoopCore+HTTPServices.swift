import PerchBase
import PerchJSON
import PerchWire

// gRPC's own services: health and reflection. They need no credentials, and touch no account.
extension LoopCore {
    private enum Serving: UInt64 {
        case serving = 1
        case notServing = 2
        case unknown = 3

        var name: String {
            switch self {
            case .serving: "SERVING"
            case .notServing: "NOT_SERVING"
            case .unknown: "SERVICE_UNKNOWN"
            }
        }
    }

    /// One request message of a service.
    mutating func serve(_ stream: Int32, _ service: HTTPService, _ message: [UInt8]) {
        switch service {
        case .healthCheck:
            guard let name = self.healthService(stream, message) else { return }
            let serving = self.serving(name)
            guard serving != .unknown else {
                return self.transport.sendHTTPEnd(
                    stream, WireStatus(code: .notFound, "there is no service \(name)"), endsCall: -1, &self.tables)
            }
            self.say(stream, serving)
            self.transport.sendHTTPEnd(stream, .ok, endsCall: -1, &self.tables)
        case .healthList:
            guard self.healthService(stream, message) != nil else { return }
            self.say(stream, self.healthList(isJSON: self.transport.http.streams[stream].flags.contains(.isJSON)))
            self.transport.sendHTTPEnd(stream, .ok, endsCall: -1, &self.tables)
        case .healthWatch:
            guard let name = self.healthService(stream, message) else { return }
            guard !self.isLeavingHTTP(self.transport.http.streams[stream].connection) else {
                self.say(stream, .notServing)
                return self.transport.sendHTTPEnd(stream, self.shuttingDown, endsCall: -1, &self.tables)
            }
            let http = self.tables.connections[self.transport.http.streams[stream].connection].http
            let count = Int(self.transport.http.connections[http].healthWatchCount)
            guard count < Limits.healthWatchesMax else {
                return self.transport.sendHTTPEnd(
                    stream,
                    WireStatus(
                        .callsBytesLimit,
                        "this connection has \(count) watches of health, the limit is \(Limits.healthWatchesMax); end some",
                        details: [.found(count), .limit(Limits.healthWatchesMax)]), endsCall: -1, &self.tables)
            }
            self.transport.http.connections[http].healthWatchCount += 1
            // A service that is unknown may come: the stream stays open.
            let serving = self.serving(name)
            self.transport.http.healthWatches[stream] = (name, serving.rawValue)
            self.say(stream, serving)
        case .reflection, .reflectionAlpha:
            let index = self.transport.http.streams[stream].connection
            let owed = self.transport.http.connections[self.tables.connections[index].http].owedBytes
            guard owed <= Limits.reflectionOwedBytesMax else {
                self.transport.forgetHTTPRequest(stream, &self.tables)
                return self.transport.sendHTTPEnd(
                    stream,
                    WireStatus(
                        .callsBytesLimit,
                        "answers of \(owed) bytes wait on this connection, the limit for reflection is \(Limits.reflectionOwedBytesMax); read them first",
                        details: [.found(owed), .limit(Limits.reflectionOwedBytesMax)]), endsCall: -1, &self.tables)
            }
            guard let answer = Self.reflect(message) else { return self.refuseService(stream) }
            self.transport.work.spend(answer.count / WorkMeter.bytesPerUnit)
            self.say(stream, answer)
            // A client that never ends its request is given no answers without end.
            let count = self.transport.http.requests[stream]?.messageCount ?? 0
            if count >= Limits.reflectionRequestsMax {
                self.transport.forgetHTTPRequest(stream, &self.tables)
                self.transport.sendHTTPEnd(
                    stream,
                    WireStatus(code: .resourceExhausted, "\(count) requests came on one call, the limit; call again"),
                    endsCall: -1, &self.tables)
            } else if self.transport.http.streams[stream].flags.contains(.peerHasEnded),
                self.transport.http.requests[stream]?.body.isEmpty == true
            {
                self.endHTTPRequest(stream)
            }
        }
    }

    private mutating func say(_ stream: Int32, _ message: [UInt8]) {
        let payload = self.tables.payloads.insert(Transport.prefixed(message, flags: 0))
        self.transport.oweHTTP(stream, .answer, payload, &self.tables)
    }

    private mutating func refuseService(_ stream: Int32) {
        self.transport.forgetHTTPRequest(stream, &self.tables)
        self.transport.sendHTTPEnd(
            stream, WireStatus(.messageMalformed, "the request is no message of this method"), endsCall: -1,
            &self.tables)
    }

    // MARK: Health

    /// The service that a request names; empty for the server. Nil: it was refused.
    private mutating func healthService(_ stream: Int32, _ message: [UInt8]) -> String? {
        if self.transport.http.streams[stream].flags.contains(.isJSON) {
            let document = message.isEmpty ? Array("{}".utf8) : message
            guard let request = try? JSONReader.read(document), let members = request.members,
                members.allSatisfy({ $0.key == "service" && ($0.value.string?.utf8.count ?? 129) <= 128 })
            else {
                self.refuseService(stream)
                return nil
            }
            return members.first?.value.string ?? ""
        }
        var name = ""
        var fields = ProtobufFields(message[...])
        while let field = fields.next() {
            if field.field == 1, case .piece(let text) = field.value { name = String(decoding: text, as: UTF8.self) }
        }
        guard !fields.isBroken, name.utf8.count <= 128 else {
            self.refuseService(stream)
            return nil
        }
        return name
    }

    private func serving(_ name: String) -> Serving {
        guard name.isEmpty || ContractDescriptors.shared.services.contains(name) else { return .unknown }
        return self.transport.draining || self.tables.storeFailure != nil ? .notServing : .serving
    }

    private mutating func say(_ stream: Int32, _ serving: Serving) {
        guard !self.transport.http.streams[stream].flags.contains(.isJSON) else {
            return self.say(stream, Array(#"{"status":"\#(serving.name)"}"#.utf8))
        }
        var message = ProtobufText()
        message.number(1, serving.rawValue)
        self.say(stream, message.bytes)
    }

    /// The health of the server, under the empty name, and of each service.
    private func healthList(isJSON: Bool) -> [UInt8] {
        let names = [""] + ContractDescriptors.shared.services
        guard isJSON else {
            var answer = ProtobufText()
            for name in names {
                answer.message(1) { entry in
                    entry.text(1, name)
                    entry.message(2) { $0.number(1, self.serving(name).rawValue) }
                }
            }
            return answer.bytes
        }
        let members = names.map { #""\#($0)":{"status":"\#(self.serving($0).name)"}"# }
        return Array(#"{"statuses":{\#(members.joined(separator: ","))}}"#.utf8)
    }

    /// Sends a changed health status to its watches.
    mutating func tellHealth() {
        let isNotServing = self.transport.draining || self.tables.storeFailure != nil
        // Once a tick: with thousands of watches a look at each would be most of the loop's work.
        guard isNotServing != self.transport.http.saysNotServing else { return }
        self.transport.http.saysNotServing = isNotServing
        for stream in self.transport.http.healthWatches.keys.sorted() {
            guard let watch = self.transport.http.healthWatches[stream] else { continue }
            let serving = self.serving(watch.service)
            guard serving.rawValue != watch.told else { continue }
            self.transport.http.healthWatches[stream]?.told = serving.rawValue
            self.say(stream, serving)
        }
    }

    /// Sends NOT_SERVING to the health watches of a leaving connection and ends them, so that they do not delay its end.
    mutating func endHealthWatches(of index: Int32) {
        guard !self.transport.http.healthWatches.isEmpty else { return }
        for stream in self.transport.http.healthWatches.keys.sorted()
        where self.transport.http.streams[stream].connection == index {
            self.forgetHealthWatch(stream)
            self.say(stream, .notServing)
            self.transport.sendHTTPEnd(stream, self.shuttingDown, endsCall: -1, &self.tables)
        }
    }

    mutating func forgetHealthWatch(_ stream: Int32) {
        guard self.transport.http.healthWatches.removeValue(forKey: stream) != nil else { return }
        let http = self.tables.connections[self.transport.http.streams[stream].connection].http
        self.transport.http.connections[http].healthWatchCount -= 1
    }

    // MARK: Reflection

    /// The answer to one request of reflection. Both versions have the same bytes. Nil: it cannot be read.
    private static func reflect(_ message: [UInt8]) -> [UInt8]? {
        var answer = ProtobufText()
        answer.piece(2, message)
        var isAnswered = false
        var fields = ProtobufFields(message[...])
        while let field = fields.next() {
            guard case .piece(let piece) = field.value else { continue }
            let name = String(decoding: piece, as: UTF8.self)
            switch field.field {
            case 1: answer.piece(1, piece)
            case 3: Self.describe(ContractDescriptors.shared.files(named: name), "file \(name)", &answer)
            case 4:
                Self.describe(ContractDescriptors.shared.files(containing: name), "symbol \(name)", &answer)
            case 5: Self.fault("extension", &answer)
            case 6:
                if ContractDescriptors.shared.files(containing: name).isEmpty {
                    Self.fault("type \(name)", &answer)
                } else {
                    answer.message(5) { $0.text(1, name) }
                }
            case 7:
                answer.message(6) { list in
                    for service in ContractDescriptors.shared.services { list.message(1) { $0.text(1, service) } }
                }
            default: continue
            }
            if field.field > 1 { isAnswered = true }
        }
        guard !fields.isBroken else { return nil }
        if !isAnswered { Self.fault("request of that kind", &answer, code: 12) }
        return answer.bytes
    }

    private static func describe(_ files: [[UInt8]], _ what: String, _ answer: inout ProtobufText) {
        guard !files.isEmpty else { return Self.fault(what, &answer) }
        answer.message(4) { response in
            for file in files { response.piece(1, file) }
        }
    }

    private static func fault(_ what: String, _ answer: inout ProtobufText, code: UInt64 = 5) {
        answer.message(7) { error in
            error.number(1, code)
            error.text(2, "there is no \(what)")
        }
    }
}
