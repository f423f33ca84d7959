import PerchBase
import PerchWire

/// A parsed request of HTTP/1.1.
struct HTTP1Request {
    /// A refused request. The connection is closed, because the start of the next request is unknown.
    struct Fault: Error {
        var status: Int
        var text: String

        init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }
    }

    enum Body: Equatable {
        case none
        case length(Int)
        case chunked
    }

    var head = RequestHead()
    var body = Body.none
    var headCount = 0
    var keepsAlive = true

    /// Reads a head. Nil while it is not complete.
    ///
    /// Strict where two parsers could see two different requests: bare line ends, folded fields, white space before a
    /// colon, lengths that contradict each other.
    init?(from bytes: UnsafeRawBufferPointer) throws(Fault) {
        guard let end = try Self.end(of: bytes) else { return nil }
        self.headCount = end
        var lines = Self.lines(UnsafeRawBufferPointer(rebasing: bytes[..<(end - 2)]))
        guard let first = lines.first else { throw Fault(400, "the request has no first line") }
        lines.removeFirst()
        let isOld = try self.takeRequestLine(first)
        self.keepsAlive = !isOld
        var hosts = 0
        var length: Int?
        var isChunked = false
        for line in lines {
            let (name, value) = try Self.field(line)
            switch String(decoding: name, as: UTF8.self) {
            case "host": hosts += 1
            case "content-length":
                guard let number = RequestHead.number(value), number <= 1 << 40 else {
                    throw Fault(400, "Content-Length is no number")
                }
                guard length == nil || length == Int(number) else { throw Fault(400, "two Content-Length differ") }
                length = Int(number)
            case "transfer-encoding":
                guard !isChunked, equalFolded(value, "chunked"), !isOld else {
                    throw Fault(400, "Transfer-Encoding is taken as `chunked` alone, once, in HTTP/1.1")
                }
                isChunked = true
            case "connection":
                for option in RequestHead.items(value) {
                    let text = String(decoding: option, as: UTF8.self).lowercased()
                    if text == "close" { self.keepsAlive = false }
                }
            default: break
            }
            name.withUnsafeBytes { self.head.take($0, value) }
            if let text = self.head.malformed { throw Fault(400, text) }
        }
        guard hosts == 1 || hosts == 0 && isOld else {
            throw Fault(400, "the request has \(hosts) Host fields, not one")
        }
        if isChunked, length != nil { throw Fault(400, "Content-Length stands beside Transfer-Encoding") }
        self.body = isChunked ? .chunked : length.map { .length($0) } ?? .none
        if self.head.marks.contains(.hasUnknownExpectation) {
            throw Fault(417, "Expect has one meaning: 100-continue")
        }
        guard isOld else { return }
        self.head.marks.insert(.isOld)
        // HTTP/1.0 does not know it.
        self.head.marks.remove(.expectsContinue)
    }

    /// The number of bytes up to and with the empty line; nil while it has not come.
    private static func end(of bytes: UnsafeRawBufferPointer) throws(Fault) -> Int? {
        var place = 0
        while place < bytes.count {
            if bytes[place] == 10 {
                guard place > 0, bytes[place - 1] == 13 else { throw Fault(400, "a line ends without CR") }
                if place == 1 { throw Fault(400, "an empty line precedes the request") }
                if bytes[place - 2] == 10 { return place + 1 }
            } else if place > 0, bytes[place - 1] == 13 {
                throw Fault(400, "a CR is not the end of a line")
            }
            place += 1
            if place > Limits.headerListBytesMax {
                throw Fault(
                    431, "the head is longer than \(Limits.headerListBytesMax) bytes, the limit; send fewer fields")
            }
        }
        return nil
    }

    private static func lines(_ bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        var lines: [UnsafeRawBufferPointer] = []
        var start = 0
        for place in 0..<bytes.count where bytes[place] == 10 {
            lines.append(UnsafeRawBufferPointer(rebasing: bytes[start..<(place - 1)]))
            start = place + 1
        }
        return lines
    }

    /// True for HTTP/1.0.
    private mutating func takeRequestLine(_ line: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        let words = line.split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty }) else {
            throw Fault(
                400, "a request begins with a line such as `POST /perch.v1.EntitlementService/GetProducts HTTP/1.1`")
        }
        let version = UnsafeRawBufferPointer(rebasing: words[2])
        // A higher minor version is spoken as the highest that is known (RFC 9110, section 2.5).
        guard version.count == 8, version.starts(with: "HTTP/1.".utf8), (48...57).contains(version[7]) else {
            throw Fault(version.starts(with: "HTTP/".utf8) ? 505 : 400, "HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here")
        }
        let isOld = version[7] == 48
        self.head.takeVerb(UnsafeRawBufferPointer(rebasing: words[0]))
        var target = Array(words[1])
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Fault(400, "the target has bytes that must be percent-encoded")
        }
        if target.count >= 7, target[..<7].withUnsafeBytes({ equalFolded($0, "http://") }) {
            // The authority of an absolute target replaces the Host field (RFC 9112, section 3.2.2).
            let rest = target[7...]
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            self.head.authority = Array(rest[..<end])
            target = Array(rest[end...])
            if target.first != UInt8(ascii: "/") { target.insert(UInt8(ascii: "/"), at: 0) }
        }
        // `OPTIONS *` and `CONNECT host:port` have targets of their own, and are answered with 405.
        guard target != [UInt8(ascii: "*")] || self.head.verb != .options, self.head.verb != .connect else {
            return isOld
        }
        guard target.first == UInt8(ascii: "/") else { throw Fault(400, "the target does not begin with `/`") }
        self.head.path = target
        return isOld
    }

    /// A field's name in lower case, and its value without white space around it.
    private static func field(
        _ line: UnsafeRawBufferPointer
    ) throws(Fault) -> (name: [UInt8], value: UnsafeRawBufferPointer) {
        guard let first = line.first, first != 32, first != 9 else {
            throw Fault(400, "a field goes on in a second line")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
            throw Fault(400, "a field has no name and colon")
        }
        var name: [UInt8] = []
        for byte in line[..<colon] {
            let lower = (65...90).contains(byte) ? byte + 32 : byte
            guard RequestHead.isFieldNameByte(lower) else { throw Fault(400, "the name of a field is not a word") }
            name.append(lower)
        }
        let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else {
            throw Fault(400, "the value of a field has control characters")
        }
        return (name, RequestHead.trimmed(value))
    }

    /// Complete chunks at the front of a body, so that each byte is looked at once however slowly they come.
    struct Chunks: BitwiseCopyable {
        /// Bytes of the complete chunks with their heads, and of their contents.
        var place: Int32 = 0
        var count: Int32 = 0
        /// Where the trailers after the last chunk begin; 0: it has not come.
        var trailers: Int32 = 0
        var isWhole = false

        /// Goes over the chunks that became complete since the last call. `bytes` is the body from its first byte.
        mutating func advance(in bytes: UnsafeRawBufferPointer, limit: Int) throws(Fault) {
            while !self.isWhole {
                if self.trailers > 0 {
                    guard try self.takeTrailer(bytes) else { return }
                    continue
                }
                guard let (length, content) = try HTTP1Request.chunk(bytes, at: Int(self.place)) else { return }
                guard Int(self.count) + length <= limit else {
                    throw Fault(413, "the body is longer than \(limit) bytes, the limit")
                }
                guard length > 0 else {
                    (self.place, self.trailers) = (Int32(content), Int32(content))
                    continue
                }
                let end = content + length
                guard end + 2 <= bytes.count else { return }
                guard bytes[end] == 13, bytes[end + 1] == 10 else {
                    throw Fault(400, "a chunk does not end with its line end")
                }
                (self.place, self.count) = (Int32(end + 2), self.count + Int32(length))
            }
        }

        /// Goes over one field behind the last chunk, or over the empty line that ends the body. The fields are checked and
        /// dropped: no method has any. False: the line is not complete.
        private mutating func takeTrailer(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Bool {
            let start = Int(self.place)
            let stop = min(bytes.count, Int(self.trailers) + Limits.headerListBytesMax)
            guard let end = bytes[start..<stop].firstIndex(of: 10) else {
                guard stop == bytes.count else {
                    throw Fault(
                        431, "the trailers are longer than \(Limits.headerListBytesMax) bytes, the limit; send fewer")
                }
                return false
            }
            guard end > start, bytes[end - 1] == 13 else { throw Fault(400, "a line of the trailers ends without CR") }
            self.place = Int32(end + 1)
            if end == start + 1 {
                self.isWhole = true
            } else {
                _ = try HTTP1Request.field(UnsafeRawBufferPointer(rebasing: bytes[start..<(end - 1)]))
            }
            return true
        }

        /// The contents of a whole body.
        func contents(of bytes: UnsafeRawBufferPointer) throws(Fault) -> [UInt8] {
            var contents: [UInt8] = []
            contents.reserveCapacity(Int(self.count))
            var place = 0
            while let (length, content) = try HTTP1Request.chunk(bytes, at: place), length > 0 {
                contents.append(contentsOf: bytes[content..<content + length])
                place = content + length + 2
            }
            return contents
        }
    }

    /// The length of the chunk whose head begins at `place`, and where its content begins. Nil while the head is not complete.
    private static func chunk(
        _ bytes: UnsafeRawBufferPointer, at place: Int
    ) throws(Fault) -> (length: Int, content: Int)? {
        guard let end = self.lineEnd(bytes, from: place) else {
            guard bytes.count - place < 64 else { throw Fault(400, "the head of a chunk is longer than 64 bytes") }
            return nil
        }
        guard end >= place + 2, bytes[end - 1] == 13 else { throw Fault(400, "the head of a chunk ends without CR") }
        let line = bytes[place..<(end - 1)]
        var digits = line.prefix { $0 != UInt8(ascii: ";") }
        // An extension is skipped. A CR in it would end the line for others.
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else {
            throw Fault(400, "the head of a chunk has control characters")
        }
        if digits.endIndex < line.endIndex {
            while let last = digits.last, last == 32 || last == 9 { digits.removeLast() }
        }
        guard (1...8).contains(digits.count), let length = Int(String(decoding: digits, as: UTF8.self), radix: 16),
            digits.allSatisfy({ (48...57).contains($0) || (65...70).contains($0) || (97...102).contains($0) })
        else { throw Fault(400, "the length of a chunk is no hexadecimal number") }
        return (length, end + 1)
    }

    private static func lineEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var place = start
        let stop = min(bytes.count, start + 64)
        while place < stop {
            if bytes[place] == 10 { return place }
            place += 1
        }
        return nil
    }
}

// HTTP/1.1: one request at a time, in order.
extension Transport {
    /// Takes whole requests from the front of `bytes`. While one is answered, the next waits.
    mutating func takeHTTP1(
        _ index: Int32, _ bytes: borrowing RawSpan, untilAsks asksMax: Int, _ tables: inout Tables,
        _ views: inout some Source, _ service: inout some Gate
    ) -> (bytes: Int, isStopped: Bool) {
        let buffer = bytes.withUnsafeBytes { UnsafeRawBufferPointer($0) }
        var offset = 0
        while tables.connections.isTaken(index), tables.connections[index].phase == .open,
            !tables.connections[index].flags.contains(.isReadPaused)
        {
            let http = tables.connections[index].http
            if self.http.connections[http].flags.contains(.isResponding) {
                guard buffer.count - offset <= Limits.httpAheadBytesMax else {
                    self.broken(index, &tables, &views, &service)
                    return (buffer.count, false)
                }
                return (offset, false)
            }
            if self.http.connections[http].flags.contains(.isLeaving) { return (buffer.count, false) }
            // Empty lines before a request are skipped (RFC 9112, section 2.2).
            while offset + 1 < buffer.count, buffer[offset] == 13, buffer[offset + 1] == 10 { offset += 2 }
            let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
            guard !rest.isEmpty else {
                if tables.connections[index].flags.contains(.peerHasEnded) {
                    self.remove(index, &tables, &views, &service)
                }
                return (offset, false)
            }
            do throws(HTTP1Request.Fault) {
                guard let count = try self.takeHTTP1Request(index, rest, &tables, &views, &service) else {
                    guard tables.connections[index].flags.contains(.peerHasEnded) else { return (offset, false) }
                    throw HTTP1Request.Fault(400, "the connection ended within a request")
                }
                offset += count
            } catch {
                self.refuseHTTP1(index, error, &tables)
                return (buffer.count, false)
            }
            if tables.asks.count >= asksMax, offset < buffer.count { return (offset, true) }
        }
        let isOver = !tables.connections.isTaken(index) || !tables.connections[index].phase.takesFrames
        return (isOver ? buffer.count : offset, false)
    }

    /// Takes one request if it is here as a whole; the number of its bytes.
    private mutating func takeHTTP1Request(
        _ index: Int32, _ bytes: UnsafeRawBufferPointer, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) throws(HTTP1Request.Fault) -> Int? {
        let http = tables.connections[index].http
        self.http.connections[http].wanted = 0
        let request: HTTP1Request
        if let known = self.http.heads1.removeValue(forKey: index) {
            request = known
        } else {
            guard let parsed = try HTTP1Request(from: bytes) else { return nil }
            request = parsed
            self.work.spend(WorkMeter.head + parsed.headCount / WorkMeter.bytesPerUnit)
            // Before valid credentials a body is short. A refusal comes again when the request is whole.
            if parsed.body != .none {
                _ = service.identifyByHead(index, parsed.head, &tables, &self)
            }
        }
        let limit = self.httpBodyBytesMax(index, request.head, tables, service)
        let rest = UnsafeRawBufferPointer(rebasing: bytes[request.headCount...])
        var body: [UInt8] = []
        var count = request.headCount
        switch request.body {
        case .none: break
        case .length(let length):
            guard length <= limit else {
                self.refuseHTTP1(
                    index, HTTP1Request.Fault(413, "the body has \(length) bytes, the limit is \(limit)"),
                    head: request.head, &tables)
                return bytes.count
            }
            self.http.connections[http].wanted = Int32(request.headCount + length)
            guard rest.count >= length else {
                if request.head.marks.contains(.expectsContinue) { self.sayContinue(index, &tables) }
                self.http.heads1[index] = request
                return nil
            }
            body = Array(rest[..<length])
            count += length
        case .chunked:
            self.http.connections[http].wanted = -1
            do throws(HTTP1Request.Fault) {
                try self.http.connections[http].chunks.advance(in: rest, limit: limit)
            } catch {
                self.refuseHTTP1(index, error, head: request.head, &tables)
                return bytes.count
            }
            let chunks = self.http.connections[http].chunks
            guard chunks.isWhole else {
                if request.head.marks.contains(.expectsContinue) { self.sayContinue(index, &tables) }
                self.http.heads1[index] = request
                return nil
            }
            body = try chunks.contents(of: rest)
            count += Int(chunks.place)
        }
        self.http.connections[http].wanted = 0
        self.http.connections[http].chunks = HTTP1Request.Chunks()
        self.http.connections[http].flags.remove(.hasSaidContinue)
        tables.counters.framesIn += 1
        let stream = self.beginHTTP1(index, request, isLast: bytes.count == count, &tables)
        self.beginHTTPRequest(stream, request.head, &tables, &views, &service)
        if self.isOpenHTTP1(index, stream, tables) {
            self.takeHTTPBody(stream, body.span.bytes, &tables, &views, &service)
        }
        if self.isOpenHTTP1(index, stream, tables) { self.endHTTPRequest(stream, &tables, &views, &service) }
        return count
    }

    /// Asks for the body of a request whose head is in order, once.
    private mutating func sayContinue(_ index: Int32, _ tables: inout Tables) {
        let http = tables.connections[index].http
        guard self.http.connections[http].flags.insert(.hasSaidContinue).inserted else { return }
        self.keepUnsentControl(index, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), &tables)
    }

    private func isOpenHTTP1(_ index: Int32, _ stream: Int32, _ tables: borrowing Tables) -> Bool {
        tables.connections.isTaken(index) && tables.connections[index].http >= 0
            && self.http.streams.isTaken(stream)
            && !self.http.streams[stream].flags.contains(.peerHasEnded)
    }

    /// `isLast`: no further request came with this one.
    private mutating func beginHTTP1(_ index: Int32, _ request: HTTP1Request, isLast: Bool, _ tables: inout Tables)
        -> Int32
    {
        let http = tables.connections[index].http
        self.http.connections[http].flags.insert(.isResponding)
        if !request.keepsAlive { self.http.connections[http].flags.insert(.isLastResponse) }
        if isLast {
            self.http.connections[http].flags.remove(.hasNextRequest)
        } else {
            self.http.connections[http].flags.insert(.hasNextRequest)
        }
        return self.insertHTTPStream(index, 1, request.head, &tables)
    }

    /// Whether a connection of HTTP/1 ends with the response whose head is written now. An old connection does so unless another
    /// request has come: what follows the response that says `close` is lost (RFC 9112, section 9.6).
    mutating func isLastHTTP1Response(_ index: Int32, _ tables: inout Tables) -> Bool {
        let http = tables.connections[index].http
        let flags = self.http.connections[http].flags
        if flags.contains(.isAged), !flags.contains(.hasNextRequest),
            !tables.connections[index].flags.contains(.hasPartialInput)
        {
            self.http.connections[http].flags.insert(.isLastResponse)
        }
        return self.http.connections[http].flags.contains(.isLastResponse)
    }

    /// The longest body: a request's limit, and its prefix.
    private func httpBodyBytesMax(
        _ index: Int32, _ head: RequestHead, _ tables: borrowing Tables, _ service: borrowing some Gate
    ) -> Int {
        var limit = Limits.requestBytesMax
        if case .method(let method)? = self.target(of: head, index, tables) {
            limit = method.requestBytesMax
            if method.isWholeBeforeCredentials { return limit + 5 }
        }
        // On a server without credentials the head alone identifies a client, as on HTTP/2.
        if !tables.connections[index].flags.contains(.isIdentified),
            !self.isIdentifiedByConnection(index, tables, service)
        {
            limit = min(limit, tables.settings.unidentifiedFrameBytesMax)
        }
        return limit + 5
    }

    /// The target of a request, on whichever port it came.
    private func target(of head: RequestHead, _ index: Int32, _ tables: borrowing Tables) -> HTTPTarget? {
        let isIntake = tables.connections[index].flags.contains(.isIntake)
        if isIntake { return head.path == Self.notificationsPath ? .method(.submitNotification) : nil }
        return Self.namedTarget(head.path)
    }

    /// Answers a request that breaks HTTP/1.1, and closes the connection. `head`: nil where it is not known.
    private mutating func refuseHTTP1(
        _ index: Int32, _ fault: HTTP1Request.Fault, head: RequestHead? = nil, _ tables: inout Tables
    ) {
        var isNotification = false
        if let head, head.verb == .post, case .method(.submitNotification)? = self.target(of: head, index, tables) {
            isNotification = true
        }
        // On the App Store's own port the answer is noted.
        if isNotification, !tables.connections[index].flags.contains(.isIntake) {
            let reason: ErrorReason = fault.status == 413 ? .appleTooLong : .httpProtocol
            tables.noteRefusedNotification(index, fault.status, reason.rawValue, fault.text)
        }
        tables.counters.refusalsByReason[.httpProtocol, default: 0] += 1
        let http = tables.connections[index].http
        self.http.connections[http].flags.formUnion([.isResponding, .isLastResponse])
        let stream = self.insertHTTPStream(index, 1, RequestHead(), &tables)
        self.http.streams[stream].flags.insert(.peerHasEnded)
        if isNotification { self.http.streams[stream].flags.insert(.isNotification) }
        self.respond(stream, fault.status, fault.text, &tables)
    }

    /// A response is written: the next request is taken, or the connection ends.
    mutating func endHTTP1Response(_ index: Int32, _ tables: inout Tables) {
        let http = tables.connections[index].http
        guard http >= 0 else { return }
        self.http.connections[http].flags.remove(.isResponding)
        let hasMore = tables.connections[index].flags.contains(.hasPartialInput)
        if !self.http.connections[http].flags.isDisjoint(with: [.isLastResponse, .isLeaving])
            || tables.connections[index].flags.contains(.peerHasEnded) && !hasMore
        {
            self.http.connections[http].flags.insert(.isLeaving)
            return
        }
        if hasMore { self.pauseInput(index) }
    }

    /// The client of HTTP/1.1 has shut down its writing side. It may still read, so requests under way are answered first.
    mutating func http1PeerEnded(
        _ index: Int32, _ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate
    ) {
        let http = tables.connections[index].http
        guard http >= 0, !self.http.connections[http].flags.contains(.isLeaving) else {
            return self.remove(index, &tables, &views, &service)
        }
        guard self.http.connections[http].flags.contains(.isResponding) else {
            guard tables.connections[index].flags.contains(.hasPartialInput) else {
                return self.remove(index, &tables, &views, &service)
            }
            self.pauseInput(index)
            return self.listen(index, &tables)
        }
        let stream = self.http.connections[http].firstStream
        // Whether it has gone altogether shows when it is written to. A stream says something at once.
        if stream >= 0, self.http.healthWatches[stream] != nil { return self.remove(index, &tables, &views, &service) }
        self.listen(index, &tables)
        self.markBookmarks(index, &tables)
    }

    /// Whether kept input of a connection that does not speak perch/1 must be read again.
    func isHTTPPartialDue(_ index: Int32, _ partial: [UInt8], from before: Int, _ tables: borrowing Tables) -> Bool {
        switch tables.connections[index].wire {
        case .http2:
            guard before >= HTTP2FrameHeader.byteCount else { return true }
            let length = partial[0..<3].reduce(0) { $0 << 8 | Int($1) }
            return partial.count >= HTTP2FrameHeader.byteCount + length
        case .http1:
            guard tables.connections[index].http >= 0 else { return true }
            let http = self.http.connections[tables.connections[index].http]
            if http.flags.contains(.isResponding) {
                return before == partial.count || partial.count > Limits.httpAheadBytesMax
            }
            // Nothing more comes: what is here is a request, or the part of one.
            if tables.connections[index].flags.contains(.peerHasEnded) { return true }
            if http.wanted > 0 { return partial.count >= Int(http.wanted) }
            // A head ends with a line, and so does a body in chunks: nothing else is worth a look.
            return before == partial.count || partial.count > Limits.headerListBytesMax && http.wanted == 0
                || (http.wanted < 0 ? partial[before...].contains(10) : Self.endsHead(partial, from: before))
        case .unknown, .perch1: return true
        }
    }

    /// Whether a head may end within the bytes from `start`, or breaks a rule there: with an empty line, or a line end without
    /// CR. So a head that comes line by line is parsed once.
    private static func endsHead(_ bytes: [UInt8], from start: Int) -> Bool {
        for place in start..<bytes.count where bytes[place] == 10 {
            guard place > 0, bytes[place - 1] == 13 else { return true }
            if place < 2 || bytes[place - 2] == 10 { return true }
        }
        return false
    }

    /// The final bytes of an HTTP connection; nil for perch/1.
    mutating func httpFarewell(_ index: Int32, _ status: WireStatus, _ tables: inout Tables) -> [UInt8]? {
        let http = tables.connections[index].http
        guard tables.connections[index].wire.isHTTP, http >= 0 || tables.connections[index].phase == .greeting
        else {
            return nil
        }
        if tables.connections[index].wire == .http2 {
            // SETTINGS come first, also where nothing follows them.
            let settings = http >= 0 ? [] : HTTP2.settings(streamsMax: tables.settings.callsPerConnectionMax)
            return settings + self.goAway(index, status, tables)
        }
        if http >= 0 {
            // A response is under way, so nothing else can be written.
            guard !self.http.connections[http].flags.contains(.isResponding) else { return [] }
        }
        return self.httpClosing(status, &tables)
    }

    /// A whole response of HTTP/1.1, after which the connection ends.
    mutating func httpClosing(_ status: WireStatus, _ tables: inout Tables) -> [UInt8] {
        let body = status.connectJSON
        let code = status.reason == .httpProtocol ? 400 : status.code.connectHTTPStatus
        let fields =
            [
                ("content-type", "application/json"), ("content-length", "\(body.count)"), ("connection", "close"),
                ("x-content-type-options", "nosniff"),
            ]
            + Transport.errorFields(status) + self.commonFields(code, &tables)
        let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Array("HTTP/1.1 \(code) \(Transport.phrase(code))\r\n\(lines)\r\n".utf8) + body
    }
}
