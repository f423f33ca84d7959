import Foundation
import PerchBase
import PerchModel
import PerchWire
import Testing

@Suite struct `the table of errors` {
    @Test func `the table equals that of proto/README.md, with every reason and code`() throws {
        let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../proto/README.md")
        var printed: [String: Int32] = [:]
        var retries: [String: String] = [:]
        for line in try String(contentsOf: readme, encoding: .utf8).split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, cells[0].hasPrefix("`"), let code = cells[1].split(separator: " ").first,
                let number = Int32(code), cells[1].split(separator: " ").count == 2
            else { continue }
            let word = cells[0].replacing("`", with: "")
            printed[word] = number
            retries[word] = cells[2]
        }
        let table = Dictionary(uniqueKeysWithValues: ErrorReason.allCases.map { ($0.rawValue, $0.code.rawValue) })
        #expect(table == printed)
        #expect(
            retries == Dictionary(uniqueKeysWithValues: ErrorReason.allCases.map { ($0.rawValue, $0.retry.rawValue) }))
    }

    @Test(arguments: ErrorReason.allCases)
    func `a DRAIN keeps a client away for a minute where coming back is useless`(_ reason: ErrorReason) {
        let pause = reason.drainPause()
        let isFinal = !reason.retry.passesWithTime
        #expect((pause.after >= 60_000) == isFinal && (pause.after + pause.jitter > 0))
        let ends = reason.drainPause(endsAcceptedCredentials: true)
        let isOverNow = [.credentialsExpired, .credentialsRevoked, .certificateExpired].contains(reason)
        #expect(isOverNow ? ends.after == 0 : ends == pause)
    }

    @Test func `every refusal of the model is a word of the table`() {
        for reason in Refusal.Reason.allCases {
            let status = WireStatus(Refusal(reason, "because", field: "order.product_id", found: 3, limit: 2))
            let setting: [StatusDetail] =
                switch reason {
                case .recordLimit: [.setting("record-entries")]
                case .cursorTooOld: [.setting("cursor-revisions")]
                default: []
                }
            #expect(status.details == [.field("order.product_id"), .found(3), .limit(2)] + setting)
            #expect(status.reason?.rawValue == reason.rawValue)
            #expect(status.message == "because")
            #expect(status.code != .ok)
        }
    }

    @Test func `the errors of the layers keep their words and their numbers`() {
        let frame = WireStatus(FrameError.tooLong(kind: .call, declaredBytes: 5, limitBytes: 4))
        #expect(frame.reason == .frameTooLong)
        #expect(frame.details == [.found(5), .limit(4)])
        #expect(WireStatus(FrameError.unknownKind(11)).reason == .unknownKind)
        #expect(WireStatus(FrameError.reservedFlag(2)).reason == .reservedFlag)
        let text = WireStatus(MessageError.notUTF8(field: "a.b", atByte: 3))
        #expect(text.reason == .textNotUTF8)
        #expect(text.details == [.field("a.b"), .atByte(3)])
        #expect(WireStatus(MessageError.malformed(field: "a", atByte: 0, fault: .group)).reason == .messageMalformed)
        #expect(WireStatus(MessageError.tooDeep(field: "a", limit: 32)).reason == .messageTooDeep)
        #expect(WireStatus(MessageError.tooManyFields(message: "a", limit: 1)).reason == .messageTooManyFields)
        #expect(WireStatus(MessageError.tooManyItems(field: "a", count: 2, limit: 1)).reason == .messageTooManyItems)
        #expect(WireStatus(MessageError.hasNUL(field: "a", atByte: 0)).reason == .textHasNUL)
        #expect(WireStatus(MessageError.missing(field: "a")).reason == .fieldMissing)
        #expect(WireStatus(InflateError.tooLong(limitBytes: 1)).reason == .inflateLimit)
        #expect(WireStatus(InflateError.ratio(compressedBytes: 1, limitBytes: 1)).reason == .inflateRatio)
        for error in [InflateError.truncated(compressedBytes: 1), .trailingBytes(1), .corrupt(atByte: 1)] {
            #expect(WireStatus(error).reason == .inflateCorrupt)
        }
        #expect(WireStatus(TokenError.checksum(token: ResumeToken.name)).reason == .tokenMalformed)
        #expect(WireStatus(TokenError.checksum(token: EventCursor.name)).reason == .cursorMalformed)
        #expect(WireStatus(TokenError.checksum(token: PageToken.name)).reason == .cursorMalformed)
    }

    @Test func `a status converts to STATUS, to DRAIN and to the failure of a stream`() {
        let status = WireStatus(.callsLimit, "too many", details: [.limit(1)])
        #expect(status.status == Status(code: 8, message: "too many", reason: "CALLS_LIMIT", details: [.limit(1)]))
        #expect(status.drain().isFinal)
        #expect(status.drain().reason == "CALLS_LIMIT")
        #expect(status.failure == Failure(reason: "CALLS_LIMIT", message: "too many"))
        #expect(WireStatus.ok.status == Status())
    }
}

@Suite struct `methods` {
    @Test func `each path is one of the contract's, in the order of its services`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../proto/perch/v1")
        var contract: [String: Bool] = [:]
        for file in ["entitlement", "transaction", "test_store", "admin", "ingest", "watch"] {
            let text = try String(contentsOf: folder.appending(path: "\(file)_service.proto"), encoding: .utf8)
            var service = ""
            for line in text.split(separator: "\n") {
                let words = line.split(whereSeparator: { " (){;".contains($0) })
                if words.first == "service" { service = String(words[1]) }
                if words.first == "rpc" { contract["/perch.v1.\(service)/\(words[1])"] = words.contains("stream") }
            }
        }
        #expect(
            Dictionary(uniqueKeysWithValues: PerchWire.Method.allCases.map { ($0.path, $0.isStreaming) }) == contract)
    }

    @Test(arguments: PerchWire.Method.allCases)
    func `a method is found by its path and by nothing else`(_ method: PerchWire.Method) {
        #expect(Method(path: method.path) == method)
        #expect(Method(path: method.path + "/") == nil)
        #expect(Method(path: String(method.path.dropFirst())) == nil)
        #expect(Method(path: method.path.lowercased()) == nil)
    }

    @Test func `only catalogue and ingest methods take long requests`() {
        let long: [PerchWire.Method: Int] = [
            .loadCatalog: 4 * 1024 * 1024, .checkCatalog: 4 * 1024 * 1024, .submitTransaction: 4 * 1024 * 1024,
            .submitNotification: 129 * 1024,
        ]
        for method in PerchWire.Method.allCases { #expect(method.requestBytesMax == long[method] ?? 64 * 1024) }
    }
}
