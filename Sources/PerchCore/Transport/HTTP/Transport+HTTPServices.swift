import PerchBase
import PerchJSON
import PerchWire

// gRPC's own services: health and reflection. They need no credentials, and touch no account.
extension Transport {
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
    mutating func serve(
        _ stream: Int32, _ asked: HTTPService, _ message: [UInt8], _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) {
        switch asked {
        case .healthCheck:
            guard let name = self.healthService(stream, message, &tables) else { return }
            let serving = self.serving(name, tables)
            guard serving != .unknown else {
                return self.sendHTTPEnd(
                    stream, WireStatus(code: .notFound, "there is no service \(name)"), endsCall: -1, &tables)
            }
            self.say(stream, serving, &tables)
            self.sendHTTPEnd(stream, .ok, endsCall: -1, &tables)
        case .healthList:
            guard self.healthService(stream, message, &tables) != nil else { return }
            self.say(
                stream, self.healthList(isJSON: self.http.streams[stream].flags.contains(.isJSON), tables), &tables)
            self.sendHTTPEnd(stream, .ok, endsCall: -1, &tables)
        case .healthWatch:
            guard let name = self.healthService(stream, message, &tables) else { return }
            guard !self.isLeavingHTTP(self.http.streams[stream].connection, tables) else {
                self.say(stream, .notServing, &tables)
                return self.sendHTTPEnd(stream, self.shuttingDown(tables), endsCall: -1, &tables)
            }
            let http = tables.connections[self.http.streams[stream].connection].http
            let count = Int(self.http.connections[http].healthWatchCount)
            guard count < Limits.healthWatchesMax else {
                return self.sendHTTPEnd(
                    stream,
                    WireStatus(
                        .callsBytesLimit,
                        "this connection has \(count) watches of health, the limit is \(Limits.healthWatchesMax); end some",
                        details: [.found(count), .limit(Limits.healthWatchesMax)]), endsCall: -1, &tables)
            }
            self.http.connections[http].healthWatchCount += 1
            // A service that is unknown may come: the stream stays open.
            let serving = self.serving(name, tables)
            self.http.healthWatches[stream] = (name, serving.rawValue)
            self.say(stream, serving, &tables)
        case .reflection, .reflectionAlpha:
            let index = self.http.streams[stream].connection
            let unsent = self.http.connections[tables.connections[index].http].unsentBytes
            guard unsent <= Limits.reflectionUnsentBytesMax else {
                self.forgetHTTPRequest(stream, &tables)
                return self.sendHTTPEnd(
                    stream,
                    WireStatus(
                        .callsBytesLimit,
                        "answers of \(unsent) bytes wait on this connection, the limit for reflection is \(Limits.reflectionUnsentBytesMax); read them first",
                        details: [.found(unsent), .limit(Limits.reflectionUnsentBytesMax)]), endsCall: -1, &tables)
            }
            guard let answer = Self.reflect(message) else { return self.refuseService(stream, &tables) }
            self.work.spend(answer.count / WorkMeter.bytesPerUnit)
            self.say(stream, answer, &tables)
            // A client that never ends its request is given no answers without end.
            let count = self.http.requests[stream]?.messageCount ?? 0
            if count >= Limits.reflectionRequestsMax {
                self.forgetHTTPRequest(stream, &tables)
                self.sendHTTPEnd(
                    stream,
                    WireStatus(code: .resourceExhausted, "\(count) requests came on one call, the limit; call again"),
                    endsCall: -1, &tables)
            } else if self.http.streams[stream].flags.contains(.peerHasEnded),
                self.http.requests[stream]?.body.isEmpty == true
            {
                self.endHTTPRequest(stream, &tables, &views, &service)
            }
        }
    }

    private mutating func say(_ stream: Int32, _ message: [UInt8], _ tables: inout Tables) {
        let payload = tables.payloads.insert(Transport.prefixed(message, flags: 0))
        self.keepUnsentHTTP(stream, .answer, payload, &tables)
    }

    private mutating func refuseService(_ stream: Int32, _ tables: inout Tables) {
        self.forgetHTTPRequest(stream, &tables)
        self.sendHTTPEnd(
            stream, WireStatus(.messageMalformed, "the request is no message of this method"), endsCall: -1,
            &tables)
    }

    // MARK: Health

    /// The service that a request names; empty for the server. Nil: it was refused.
    private mutating func healthService(_ stream: Int32, _ message: [UInt8], _ tables: inout Tables) -> String? {
        if self.http.streams[stream].flags.contains(.isJSON) {
            let document = message.isEmpty ? Array("{}".utf8) : message
            guard let request = try? JSONReader.read(document), let members = request.members,
                members.allSatisfy({ $0.key == "service" && ($0.value.string?.utf8.count ?? 129) <= 128 })
            else {
                self.refuseService(stream, &tables)
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
            self.refuseService(stream, &tables)
            return nil
        }
        return name
    }

    private func serving(_ name: String, _ tables: borrowing Tables) -> Serving {
        guard name.isEmpty || ContractDescriptors.shared.services.contains(name) else { return .unknown }
        return self.draining || tables.storeFailure != nil ? .notServing : .serving
    }

    private mutating func say(_ stream: Int32, _ serving: Serving, _ tables: inout Tables) {
        guard !self.http.streams[stream].flags.contains(.isJSON) else {
            return self.say(stream, Array(#"{"status":"\#(serving.name)"}"#.utf8), &tables)
        }
        var message = ProtobufText()
        message.number(1, serving.rawValue)
        self.say(stream, message.bytes, &tables)
    }

    /// The health of the server, under the empty name, and of each service.
    private func healthList(isJSON: Bool, _ tables: borrowing Tables) -> [UInt8] {
        let names = [""] + ContractDescriptors.shared.services
        guard isJSON else {
            var answer = ProtobufText()
            for name in names {
                answer.message(1) { entry in
                    entry.text(1, name)
                    entry.message(2) { $0.number(1, self.serving(name, tables).rawValue) }
                }
            }
            return answer.bytes
        }
        let members = names.map { #""\#($0)":{"status":"\#(self.serving($0, tables).name)"}"# }
        return Array(#"{"statuses":{\#(members.joined(separator: ","))}}"#.utf8)
    }

    /// Sends a changed health status to its watches.
    mutating func tellHealth(_ tables: inout Tables) {
        let isNotServing = self.draining || tables.storeFailure != nil
        // Once a tick: with thousands of watches a look at each would be most of the loop's work.
        guard isNotServing != self.http.saysNotServing else { return }
        self.http.saysNotServing = isNotServing
        for stream in self.http.healthWatches.keys.sorted() {
            guard let watch = self.http.healthWatches[stream] else { continue }
            let serving = self.serving(watch.service, tables)
            guard serving.rawValue != watch.told else { continue }
            self.http.healthWatches[stream]?.told = serving.rawValue
            self.say(stream, serving, &tables)
        }
    }

    /// Sends NOT_SERVING to the health watches of a leaving connection and ends them, so that they do not delay its end.
    mutating func endHealthWatches(of index: Int32, _ tables: inout Tables) {
        guard !self.http.healthWatches.isEmpty else { return }
        for stream in self.http.healthWatches.keys.sorted()
        where self.http.streams[stream].connection == index {
            self.forgetHealthWatch(stream, &tables)
            self.say(stream, .notServing, &tables)
            self.sendHTTPEnd(stream, self.shuttingDown(tables), endsCall: -1, &tables)
        }
    }

    mutating func forgetHealthWatch(_ stream: Int32, _ tables: inout Tables) {
        guard self.http.healthWatches.removeValue(forKey: stream) != nil else { return }
        let http = tables.connections[self.http.streams[stream].connection].http
        self.http.connections[http].healthWatchCount -= 1
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
