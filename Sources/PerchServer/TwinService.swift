import PerchApple
import PerchBase
import PerchHTTP
import PerchLoop
import PerchMetrics
import PerchModel
import PerchStore
import PerchTLS
import PerchTwin

/// The listener of the twin, on the control loop: a proxy that takes CONNECT for Apple's host names and answers in their place, the App
/// Store Server API over plain HTTP for callers that name this address, and the OCSP responder. It never connects anywhere.
final class TwinService {
    static let listenerTag: UInt64 = 3
    /// Tags of connections begin here and are never reused.
    static let firstConnectionTag: UInt64 = 1 << 48
    /// Tickets of its questions to the store begin here.
    private static let firstTicket: UInt64 = 1 << 62

    /// Whether a question to the store was the twin's. The greatest number is that of notes of the audit trail.
    static func isTicket(_ ticket: UInt64) -> Bool { (self.firstTicket..<UInt64.max).contains(ticket) }

    let address: SocketAddress

    private let loop: EventLoop
    private let acceptor: Acceptor
    private let parts: Parts
    private let hosts = HostRule(.loopback)
    private let window = TLSWindow()
    private var connections: [UInt64: Connection] = [:]
    private var nextTag = TwinService.firstConnectionTag
    private var nextTicket = TwinService.firstTicket
    private var waiting: [UInt64: Waiting] = [:]
    private var isAccepting = true
    private var nextPoll = MonotonicTime.zero
    private var looksUnderWay = 0

    /// What the service works with.
    struct Parts {
        var desk: TwinDesk
        var authority: TwinAuthority
        var context: TLSContext
        /// The clock of the store, and that of the machine.
        var clock: () -> Instant
        var machine: () -> Instant
        /// Asks the store; its answer comes to `answered` with the ticket.
        var ask: (UInt64, StoreRequest.Body) -> Void
        var log: Log
        /// Delivers notifications; nil where no address is given.
        var post: TwinPost?
    }

    private struct Connection {
        var socket: Int32
        var parser = HTTPMessageParser(limitBytes: Limits.twinRequestBytesMax)
        /// The host of CONNECT; nil before one.
        var host: TwinHost?
        var tls: TLSConnection?
        var isShakingHands = false
        /// Bytes for the socket, ciphertext where there is TLS.
        var output: [UInt8] = []
        /// A request is being answered: the next one waits.
        var isAnswering = false
        /// Ends when its output is sent.
        var isLast = false
        /// It has room for an image.
        var isUpload = false
        var deadline: MonotonicTime
        var interest: Poller.Interest = .readable
        /// Its peer does not read: no further request of it is read either.
        var isFull: Bool { self.output.count > Limits.twinRequestBytesMax }
    }

    /// A request that waits for the store.
    private struct Waiting {
        /// Nil of a look for notifications.
        var connection: UInt64?
        var keepsAlive: Bool
        var isHead: Bool
        var isOrder = false
        var then: (StoreAnswer) throws(TwinError) -> TwinStep
    }

    init(_ listener: consuming Descriptor, on loop: EventLoop, _ parts: Parts) throws(SystemError) {
        self.acceptor = try Acceptor(
            listener, tag: Self.listenerTag, on: loop.poller,
            budget: ConnectionBudget(limit: Limits.twinConnectionsMax))
        self.address = self.acceptor.address
        self.loop = loop
        self.parts = parts
        // Before anything is asked of the store: see `TwinDesk.look`.
        self.look(now: loop.now)
    }

    deinit {
        for connection in self.connections.values {
            connection.tls?.free()
            Sockets.close(connection.socket)
        }
    }

    // MARK: Events of the loop

    /// Returns whether the tag is one of the service's.
    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) -> Bool {
        if tag == Self.listenerTag {
            self.acceptor.ready(now: self.loop.now) { socket, _ in self.accept(socket) }
            return true
        }
        guard tag >= Self.firstConnectionTag else { return false }
        if writable { self.goOn(tag) }
        if readable { self.read(tag) } else if hungUp { self.end(tag) }
        return true
    }

    /// Checks the deadlines; returns the next one.
    func turn(now: MonotonicTime) -> MonotonicTime? {
        var next = self.isAccepting ? self.acceptor.turn(now: now) : nil
        if self.parts.post != nil {
            self.look(now: now)
            next = min(next ?? self.nextPoll, self.nextPoll)
        }
        for (tag, connection) in self.connections {
            if connection.deadline <= now {
                self.end(tag)
            } else {
                next = min(next ?? connection.deadline, connection.deadline)
            }
        }
        return next
    }

    // MARK: Deliveries

    /// Looks what has happened, where it is time.
    private func look(now: MonotonicTime) {
        guard let post = self.parts.post, now >= self.nextPoll else { return }
        self.nextPoll = now.advanced(byMilliseconds: Limits.twinPollMilliseconds)
        guard self.looksUnderWay == 0 else { return }
        for app in self.parts.desk.apps {
            if self.parts.desk.isHeldUp(app) { self.parts.log.repeated(.warning, TwinDesk.heldUp(app)) }
            self.looksUnderWay += 1
            self.look(
                on: self.parts.desk.look(at: app, wall: self.parts.clock()) { [desk = self.parts.desk] in
                    post.note($0) { desk.notes }
                })
        }
    }

    /// `isOrder`: the look precedes a mishap, and is none of those that are counted.
    private func look(on step: TwinStep, isOrder: Bool = false) {
        switch step {
        case .ask(let body, let then):
            self.ask(
                body, Waiting(connection: nil, keepsAlive: false, isHead: false, isOrder: isOrder, then: then))
        case .answer:
            if !isOrder { self.looksUnderWay -= 1 }
            self.deliver()
        }
    }

    // MARK: Mishaps

    /// Orders a mishap of one app, and says how many wait or why not.
    func order(
        _ kind: MishapKind, times: UInt32, milliseconds: Int64, path: String, of bundleID: String,
        then: @escaping (Result<Int, MishapRefusal>) -> Void
    ) {
        guard let app = self.parts.desk.apps.first(where: { $0.bundleID == bundleID }) else {
            return then(.failure(.noTwin))
        }
        if let mishap = TwinMishap(kind, times: times, path: path, app: bundleID) {
            return then(self.parts.desk.add(mishap).map { .success($0) } ?? .failure(.tooMany))
        }
        guard let mishap = DeliveryMishap(kind, times: times, milliseconds: milliseconds) else {
            preconditionFailure("the method checks \(kind), \(times) and \(milliseconds)")
        }
        self.order(mishap, of: app, then: then)
    }

    private func order(
        _ mishap: DeliveryMishap, of app: TwinApp, then: @escaping (Result<Int, MishapRefusal>) -> Void
    ) {
        guard let post = self.parts.post, self.parts.desk.delivers(app) else { return then(.failure(.noDeliveries)) }
        let desk = self.parts.desk
        let step = desk.order(
            mishap, for: app, wall: self.parts.clock(), note: { post.note($0) { desk.notes } },
            then: { then($0.map { .success($0) } ?? .failure(.tooMany)) })
        self.look(on: step, isOrder: true)
    }

    /// Why no mishap is taken.
    enum MishapRefusal: Error, CustomStringConvertible {
        case noTwin, noDeliveries, tooMany

        var description: String {
            switch self {
            case .noTwin: "this server is the App Store of no backend; start it with --twin-listen and --twin-directory"
            case .noDeliveries: "this server delivers no notifications; start it with --twin-notify"
            case .tooMany: "\(Limits.twinMishapsMax) mishaps of the app wait, the limit; let some happen first"
            }
        }
    }

    private func deliver() {
        while let post = self.parts.post, let delivery = self.parts.desk.nextDelivery(wall: self.parts.clock()) {
            post.send(delivery)
        }
    }

    /// An attempt to deliver has ended.
    func delivered(_ delivery: TwinDelivery, _ result: SendAttemptResult) {
        guard let post = self.parts.post else { return }
        let desk = self.parts.desk
        desk.delivered(delivery, result, wall: self.parts.clock()) { post.note($0) { desk.notes } }
        self.deliver()
    }

    private func probe() {
        while let post = self.parts.post, let probe = self.parts.desk.nextProbe(wall: self.parts.clock()) {
            post.send(probe)
        }
    }

    /// A request of a performance test has ended.
    func probed(_ probe: TwinProbe, _ result: SendAttemptResult, body: [UInt8], milliseconds: Int64) {
        self.parts.desk.probed(probe, result, body: body, milliseconds: milliseconds)
        self.probe()
    }

    /// Ends what sends. Must be called once, after the loop.
    func stop() { self.parts.post?.stop() }

    private func ask(_ body: StoreRequest.Body, _ waiting: Waiting) {
        let ticket = self.nextTicket
        self.nextTicket += 1
        self.waiting[ticket] = waiting
        self.parts.ask(ticket, body)
    }

    /// The store has answered a question.
    func answered(_ ticket: UInt64, _ answer: StoreAnswer) {
        guard let waiting = self.waiting.removeValue(forKey: ticket) else { return }
        let step = self.parts.desk.resume(waiting.then, with: answer)
        guard let connection = waiting.connection else { return self.look(on: step, isOrder: waiting.isOrder) }
        self.go(on: step, connection, keepsAlive: waiting.keepsAlive, isHead: waiting.isHead)
        self.goOn(connection)
    }

    func stopAccepting() {
        guard self.isAccepting else { return }
        self.isAccepting = false
        self.acceptor.leave()
    }

    private func accept(_ socket: Int32) {
        let tag = self.nextTag
        self.nextTag += 1
        do {
            try self.loop.poller.watch(socket, tag: tag, for: .readable)
        } catch {
            Sockets.close(socket)
            self.acceptor.connectionClosed()
            return
        }
        self.connections[tag] = Connection(socket: socket, deadline: self.deadline)
    }

    private var deadline: MonotonicTime { self.loop.now.advanced(byMilliseconds: Limits.twinIdleMilliseconds) }

    private func end(_ tag: UInt64) {
        guard let connection = self.connections.removeValue(forKey: tag) else { return }
        connection.tls?.free()
        Sockets.close(connection.socket)
        self.acceptor.connectionClosed()
    }

    // MARK: Bytes

    private func read(_ tag: UInt64) {
        guard let socket = self.connections[tag]?.socket else { return }
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
            switch Sockets.receive(socket, into: buffer) {
            case .bytes(let count):
                self.received(tag, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            case .empty: break
            case .end, .broken: self.end(tag)
            }
        }
        self.goOn(tag)
    }

    /// Answers and sends, and again where only what was not sent had stopped it.
    private func goOn(_ tag: UInt64) {
        var wasFull: Bool
        repeat {
            self.parse(tag)
            wasFull = self.connections[tag]?.isFull == true
            self.flush(tag)
        } while wasFull && self.connections[tag]?.isFull == false
    }

    private func received(_ tag: UInt64, _ bytes: UnsafeRawBufferPointer) {
        // A client whose system leads Apple's names here begins with TLS, and without CONNECT.
        if let connection = self.connections[tag], connection.tls == nil, !connection.parser.hasBytes,
            bytes.first == Self.handshakeRecord, let tls = try? self.window.accept(self.parts.context)
        {
            self.connections[tag]?.tls = tls
            self.connections[tag]?.isShakingHands = true
        }
        guard let tls = self.connections[tag]?.tls else {
            self.connections[tag]?.parser.append(bytes)
            return
        }
        self.window.take(bytes)
        if self.connections[tag]?.isShakingHands == true {
            switch self.window.handshake(tls) {
            case .done: self.connections[tag]?.isShakingHands = false
            case .wantsInput: return self.takeOutput(tag)
            case .failed(let error):
                self.parts.log.warning(
                    "a client refused the twin's TLS certificate, or speaks no TLS: \(error); it must trust twin-root.pem"
                )
                self.takeOutput(tag)
                self.connections[tag]?.isLast = true
                return
            }
        }
        withUnsafeTemporaryAllocation(byteCount: Limits.tlsRecordBytes, alignment: 1) { buffer in
            while true {
                switch self.window.read(tls, into: buffer) {
                case .bytes(let count):
                    self.connections[tag]?.parser.append(
                        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
                case .wantsInput: return self.takeOutput(tag)
                case .closed, .failed:
                    self.takeOutput(tag)
                    self.connections[tag]?.isLast = true
                    return
                }
            }
        }
    }

    /// Moves what OpenSSL wrote behind the connection's output: the window belongs to all connections.
    private func takeOutput(_ tag: UInt64) {
        self.connections[tag]?.output.append(contentsOf: self.window.output)
        self.window.clearOutput()
    }

    private func write(_ tag: UInt64, _ bytes: [UInt8]) {
        guard let tls = self.connections[tag]?.tls else {
            self.connections[tag]?.output.append(contentsOf: bytes)
            return
        }
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Limits.tlsRecordBytes))
                guard self.window.write(tls, part) == .done else {
                    self.connections[tag]?.isLast = true
                    break
                }
                rest = rest.dropFirst(part.count)
            }
        }
        self.takeOutput(tag)
    }

    private func flush(_ tag: UInt64) {
        guard let connection = self.connections[tag] else { return }
        if !connection.output.isEmpty {
            switch connection.output.withUnsafeBytes({ Sockets.send(connection.socket, $0) }) {
            case .wrote(let count): self.connections[tag]?.output.removeFirst(count)
            case .full: break
            case .broken: return self.end(tag)
            }
        }
        guard let now = self.connections[tag] else { return }
        if now.output.isEmpty, now.isLast { return self.end(tag) }
        var interest: Poller.Interest = now.isAnswering || now.isFull ? [] : .readable
        if !now.output.isEmpty { interest.insert(.writable) }
        guard interest != now.interest else { return }
        self.connections[tag]?.interest = interest
        self.loop.poller.change(now.socket, tag: tag, to: interest)
    }

    // MARK: Requests

    /// Answers what has come, one request at a time.
    private func parse(_ tag: UInt64) {
        while let connection = self.connections[tag], !connection.isAnswering, !connection.isLast,
            !connection.isShakingHands, !connection.isFull
        {
            guard self.makeRoom(tag) else {
                return self.refuse(
                    tag, 503, "\(Limits.twinUploadsMax) images are being uploaded, the limit; try again")
            }
            do throws(HTTPRefusal) {
                guard let message = try self.connections[tag]?.parser.next() else { return }
                self.connections[tag]?.deadline = self.deadline
                self.handle(message, tag, host: connection.host)
            } catch {
                let refusal = HTTPResponse(error)
                self.send(tag, refusal.status.rawValue, refusal.contentType, refusal.body, keepsAlive: false)
            }
        }
    }

    /// Gives the connection room for an image where one is uploaded, and takes it back behind it. False: too many upload.
    private func makeRoom(_ tag: UInt64) -> Bool {
        guard let connection = self.connections[tag] else { return true }
        let uploads = connection.parser.rest.starts(with: Self.upload)
        guard uploads != connection.isUpload else { return true }
        if uploads, self.connections.values.count(where: \.isUpload) >= Limits.twinUploadsMax { return false }
        var parser = HTTPMessageParser(
            limitBytes: uploads ? Limits.twinImageBytesMax : Limits.twinRequestBytesMax)
        parser.append(connection.parser.rest)
        self.connections[tag]?.parser = parser
        self.connections[tag]?.isUpload = uploads
        return true
    }

    private static let upload = Array("PUT /inApps/v1/messaging/image/".utf8)

    /// The first byte of a handshake record.
    private static let handshakeRecord: UInt8 = 0x16

    private func handle(_ message: HTTPMessage, _ tag: UInt64, host tunnel: TwinHost?) {
        let authority = message.field("host") ?? ""
        var host = tunnel
        if host == nil, self.connections[tag]?.tls != nil {
            host = HostRule.host(of: Array(authority.utf8)).flatMap { TwinHost(named: $0) }
        }
        if message.method == "CONNECT", self.connections[tag]?.tls == nil { return self.tunnel(message, tag) }
        var target = message.target[...]
        // As a client writes it for a proxy.
        if target.lowercased().hasPrefix("http://") {
            target = target.dropFirst("http://".count)
            target = target.firstIndex(of: "/").map { target[$0...] } ?? "/"
        }
        if host == nil, let text = self.hosts.refusal(of: Array(authority.utf8)) {
            return self.refuse(tag, 421, text)
        }
        if target == "/ocsp", host == nil { return self.vouch(message, tag) }
        if target == "/counts", host == nil {
            return self.send(tag, 200, "application/json", self.parts.desk.counts, keepsAlive: message.keepsAlive)
        }
        if target == "/mishaps", host == nil { return self.spoil(message, tag) }
        guard var request = Self.request(message, target, host ?? .local) else {
            return self.refuse(tag, 400, "the path or the query is not percent-encoded UTF-8")
        }
        request.authorization = message.field("authorization")
        request.body = message.body
        self.connections[tag]?.isAnswering = true
        let step = self.parts.desk.begin(
            request, wall: self.parts.clock(), machine: self.parts.machine(), now: self.loop.now)
        self.go(on: step, tag, keepsAlive: message.keepsAlive, isHead: message.method == "HEAD")
    }

    private func go(on step: TwinStep, _ tag: UInt64, keepsAlive: Bool, isHead: Bool) {
        switch step {
        case .ask(let body, let then):
            self.ask(body, Waiting(connection: tag, keepsAlive: keepsAlive, isHead: isHead, then: then))
        case .answer(let response):
            self.probe()
            if !response.reason.isEmpty {
                self.parts.log.info(
                    "the twin refused a request: \(response.reason)", LogField("status", response.status))
            }
            var more: [String] = []
            if let instant = response.retryAfter { more.append("Retry-After: \(instant.milliseconds)") }
            self.connections[tag]?.isAnswering = false
            self.send(
                tag, response.status, response.body.isEmpty ? nil : "application/json", isHead ? [] : response.body,
                keepsAlive: keepsAlive, more)
        }
    }

    /// Answers CONNECT, and begins TLS in the place of one of Apple's hosts.
    private func tunnel(_ message: HTTPMessage, _ tag: UInt64) {
        let name = String(message.target.prefix { $0 != ":" })
        guard let host = TwinHost(named: name), message.target.hasSuffix(":443") else {
            let names = TwinAuthority.hosts.joined(separator: ", ")
            return self.refuse(
                tag, 403, "the twin stands for \(names), port 443, and connects nowhere; send other requests elsewhere")
        }
        do throws(TLSError) {
            let tls = try self.window.accept(self.parts.context)
            let early = self.connections[tag]?.parser.rest ?? []
            self.write(tag, Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8))
            self.connections[tag]?.host = host
            self.connections[tag]?.tls = tls
            self.connections[tag]?.isShakingHands = true
            self.connections[tag]?.parser = HTTPMessageParser(limitBytes: Limits.twinRequestBytesMax)
            if !early.isEmpty { early.withUnsafeBytes { self.received(tag, $0) } }
        } catch {
            self.refuse(tag, 503, "TLS cannot begin: \(error)")
        }
    }

    private func vouch(_ message: HTTPMessage, _ tag: UInt64) {
        guard message.method == "POST",
            let answer = self.parts.authority.answer(ocsp: message.body, at: self.parts.machine())
        else { return self.refuse(tag, 400, "send an OCSP request about a certificate of the twin, by POST") }
        self.send(tag, 200, "application/ocsp-response", answer, keepsAlive: message.keepsAlive)
    }

    /// Takes an order of a mishap. Its type keeps web pages out: a browser asks before it sends JSON elsewhere.
    private func spoil(_ message: HTTPMessage, _ tag: UInt64) {
        guard message.method == "POST", message.field("content-type") == "application/json" else {
            return self.refuse(tag, 400, Self.mishapForms)
        }
        if let mishap = TwinMishap(message.body) {
            guard self.parts.desk.add(mishap) != nil else { return self.refuse(tag, 503, "\(MishapRefusal.tooMany)") }
            self.send(tag, 202, nil, [], keepsAlive: message.keepsAlive)
        } else if let mishap = DeliveryMishap(message.body) {
            self.connections[tag]?.isAnswering = true
            self.order(mishap, of: self.parts.desk.apps[...], tag, keepsAlive: message.keepsAlive)
        } else {
            self.refuse(tag, 400, Self.mishapForms)
        }
    }

    /// Orders the mishap of one app after the other.
    private func order(_ mishap: DeliveryMishap, of apps: ArraySlice<TwinApp>, _ tag: UInt64, keepsAlive: Bool) {
        guard let app = apps.first else {
            self.connections[tag]?.isAnswering = false
            self.send(tag, 202, nil, [], keepsAlive: keepsAlive)
            return self.goOn(tag)
        }
        self.order(mishap, of: app) { result in
            switch result {
            case .success: self.order(mishap, of: apps.dropFirst(), tag, keepsAlive: keepsAlive)
            case .failure(let refusal):
                self.connections[tag]?.isAnswering = false
                self.refuse(tag, refusal == .tooMany ? 503 : 400, "\(refusal)")
                self.goOn(tag)
            }
        }
    }

    private static let mishapForms =
        "post JSON such as {\"answer\": 429, \"times\": 3} (429, 500 or 503, with a path if wanted) or {\"deliver\": \"lose\", \"times\": 3} (lose, double, reorder, or delay with milliseconds)"

    private func refuse(_ tag: UInt64, _ status: Int, _ text: String) {
        self.send(tag, status, HTTPResponse.plainText, Array("\(text)\n".utf8), keepsAlive: false)
    }

    private func send(
        _ tag: UInt64, _ status: Int, _ contentType: String?, _ body: [UInt8], keepsAlive: Bool, _ more: [String] = []
    ) {
        var head = ["HTTP/1.1 \(status) \(Self.phrases[status] ?? "Answer")", "Date: \(self.parts.machine().httpDate)"]
        if let contentType { head.append("Content-Type: \(contentType)") }
        head += ["Content-Length: \(body.count)", "Connection: \(keepsAlive ? "keep-alive" : "close")"] + more
        self.write(tag, Array((head + ["", ""]).joined(separator: "\r\n").utf8) + body)
        if !keepsAlive { self.connections[tag]?.isLast = true }
    }

    private static let phrases = [
        200: "OK", 202: "Accepted", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        409: "Conflict", 421: "Misdirected Request", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
    ]

    /// A request of the API from the target of its line; nil where that is not percent-encoded UTF-8.
    private static func request(_ message: HTTPMessage, _ target: Substring, _ host: TwinHost) -> TwinRequest? {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Self.decoded(parts[0], plusIsSpace: false) else { return nil }
        var request = TwinRequest(method: message.method, path: path, host: host)
        for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0], plusIsSpace: true),
                let value = Self.decoded(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
            else { return nil }
            request.query.append(TwinRequest.Field(name: name, value: value))
        }
        return request
    }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                rest = rest.dropFirst(2)
                bytes.append(value)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
