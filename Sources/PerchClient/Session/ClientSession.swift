import Glibc
import PerchBase
import PerchLoop
import PerchTLS
import PerchWire

/// One client on its loop: its core, its socket, and its waiting callers.
///
/// Owned by the loop's thread. It moves bytes and decides nothing.
final class ClientSession {
    let id: ItemID
    var core: ClientCore
    let connectionCell: ConnectionCell
    var callers: [ItemID: CheckedContinuation<Result<Response, PerchError>, Never>] = [:]
    var sinks: [ItemID: WatchSink] = [:]
    var cells: [ItemID: UpdateCell] = [:]
    var copies: [ItemID: CopyCore] = [:]
    /// It is in this tick's list of sessions.
    var isTouched = false
    var isClosed = false
    /// When it is stepped next.
    var wake = TimerHeap.ID.none
    var wakeTime: Int64?

    let configuration: ClientConfiguration
    private let poller: Poller
    let window: TLSWindow
    var socket: Socket?
    /// The core wants a connection, but the server's name is still being resolved.
    var awaitsAddresses = false
    /// Addresses that arrived after their attempt was given up, for the next attempt.
    var foundLate: [SocketAddress]?
    /// The remaining addresses of this attempt, in order, and the last one tried.
    private var places: ArraySlice<SocketAddress> = []
    private var place: SocketAddress?
    /// TLS of the socket, after it is connected; nil in plaintext.
    var secure: TLSClientSide?
    /// The TLS session that the next handshake can resume.
    var session: TLSSession?
    /// The TLS context that trusts the system's authorities without a client certificate; shared by all connections.
    var systemContext: TLSContext?

    struct Socket {
        var descriptor: Int32
        var tag: UInt64
        var isConnecting: Bool
        /// Whether the poller waits for the socket to become writable.
        var awaitsRoom: Bool
        /// The credentials for HELLO, read before the attempt.
        var authorization: String
        /// The TLS context, made from files read at the same time; nil for plaintext.
        var context: TLSContext?
    }

    init(
        _ id: ItemID, _ configuration: ClientConfiguration, _ connectionCell: ConnectionCell,
        poller: Poller, window: TLSWindow, codec: MessageCodec, now: ClientTime
    ) {
        self.window = window
        self.id = id
        self.configuration = configuration
        self.connectionCell = connectionCell
        self.poller = poller
        self.core = ClientCore(settings: configuration.settings, codec: codec, seed: configuration.seed, now: now)
    }

    func take(_ command: ItemCommand) {
        switch command {
        case .call(let id, let request, let timeout, let metadata, let caller):
            self.callers[id] = caller
            self.core.call(id, request, timeoutMilliseconds: timeout, metadata: metadata)
        case .cancel(let id):
            self.core.cancelCall(id)
        case .watch(let id, let request, let atLeast, let last, let info, let token, let sink):
            self.sinks[id] = sink
            self.core.watch(id, request, atLeast: atLeast, last: last, info: info, token: token)
        case .unwatch(let id):
            self.sinks[id] = nil
            self.core.unwatch(id)
        case .follow(let id, let request, let includesOwn, let cell):
            self.cells[id] = cell
            self.core.followEvents(id, request, includesOwn: includesOwn)
        case .resume(let id):
            self.core.resumeUpdates(id)
        case .unfollow(let id):
            self.cells[id] = nil
            self.core.unfollowUpdates(id)
        case .openCopy(let id, let request, let copy):
            self.copies[id] = copy
            self.core.openCopy(id, request)
        case .endCopy(let id):
            self.copies[id] = nil
            self.core.closeCopy(id)
        }
    }

    // MARK: The socket

    var isConnecting: Bool { self.socket?.isConnecting == true }

    /// Starts to connect to one of `addresses`, of which there is at least one.
    ///
    /// After a failed attempt, starts behind the failed address. Otherwise an address that never answers would use up
    /// every attempt.
    func go(to addresses: [SocketAddress]) {
        self.places = addresses[...]
        guard self.core.attempts.failure != nil, let failed = addresses.firstIndex(where: { $0 == self.place }) else {
            return
        }
        self.places = addresses[(failed + 1)...] + addresses[...failed]
    }

    /// The server's name leads nowhere.
    func isNowhere(_ fault: NameFault) {
        self.core.connectFailed(
            PerchError(
                code: .unavailable, reason: .connectFailed,
                message:
                    "no connection to \(self.configuration.destination): \(fault); is the name right, and does this machine's name server answer?"
            ))
    }

    /// Starts to connect to the next address; false if none is left, after telling the core.
    func connect(tag: UInt64) -> Bool {
        precondition(self.socket == nil, "a client connects twice")
        do throws(PerchError) {
            let authorization = try self.configuration.authorization.read()
            if let refusal = self.core.refusal(of: authorization) { throw refusal }
            let context = try self.context()
            var failure = "it has no address"
            while let place = self.places.popFirst() {
                self.place = place
                do throws(SystemError) {
                    let descriptor = try Sockets.connect(to: place)
                    try self.poller.watch(descriptor.number, tag: tag, for: [.readable, .writable])
                    self.socket = Socket(
                        descriptor: descriptor.release(), tag: tag, isConnecting: true, awaitsRoom: true,
                        authorization: authorization, context: context)
                    return true
                } catch {
                    failure = "\(error)"
                }
            }
            self.core.connectFailed(self.connectError(failure))
        } catch {
            self.core.connectFailed(error)
        }
        return false
    }

    private func connectError(_ text: String) -> PerchError {
        PerchError(
            code: .unavailable, reason: .connectFailed,
            message: "no connection to \(self.server): \(text); is the server running there?")
    }

    /// The caller's name for the server, with the last tried address if that was a host name.
    var server: String {
        guard let place = self.place else { return "\(self.configuration.destination)" }
        if case .address = self.configuration.destination { return "\(self.configuration.destination)" }
        return "\(self.configuration.destination) at \(place)"
    }

    /// The socket is writable, or hung up. If it failed and another address remains, closes the socket and returns its
    /// tag.
    func finishConnecting() -> UInt64? {
        guard var socket = self.socket else { return nil }
        switch Sockets.connectResult(socket.descriptor) {
        case .underWay:
            break
        case .connected:
            socket.isConnecting = false
            self.socket = socket
            if let context = socket.context {
                self.beginSecure(context)
            } else {
                self.core.connected(authorization: socket.authorization)
            }
        case .failed(let errno):
            guard self.places.isEmpty else { return self.disconnect() }
            self.core.connectFailed(self.connectError("connect answered \(errno)"))
        }
        return nil
    }

    /// Reads available bytes, up to `Limits.clientReadBytesPerTurn`.
    func read(into buffer: UnsafeMutableRawBufferPointer) {
        var total = 0
        while let socket = self.socket, total < Limits.clientReadBytesPerTurn {
            switch Sockets.receive(socket.descriptor, into: buffer) {
            case .bytes(let count):
                total += count
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if self.secure == nil { self.core.received(bytes.bytes) } else { self.open(bytes) }
                if count < buffer.count { return }
            case .empty:
                return
            case .end:
                self.ended("the server closed the connection without a reason")
                return
            case .broken(let errno):
                self.ended("the connection broke: \(errno)")
                return
            }
        }
    }

    /// Sends pending output as far as the socket accepts it.
    func flush() {
        guard let socket = self.socket, !socket.isConnecting else { return }
        let descriptor = socket.descriptor
        let fault = self.secure == nil ? Self.send(&self.core.output, to: descriptor) : self.sendSecure(descriptor)
        if let fault {
            self.core.output.removeAll()
            // Bytes from the server are read first: they may have the reason.
            self.breakAfterReading(fault)
            return
        }
        let awaitsRoom = !self.core.output.isEmpty || self.secure?.output.isEmpty == false
        if awaitsRoom != socket.awaitsRoom {
            self.socket?.awaitsRoom = awaitsRoom
            self.poller.change(
                socket.descriptor, tag: socket.tag, to: awaitsRoom ? [.readable, .writable] : .readable)
        }
    }

    /// Sends from the front of `output`, as far as the socket accepts it, and removes what was sent. Returns why the
    /// connection is over, if it is.
    static func send(_ output: inout [UInt8], to descriptor: Int32) -> Errno? {
        var sent = 0
        loop: while sent < output.count {
            let outcome = output.withUnsafeBytes { bytes in
                Sockets.send(descriptor, UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            }
            switch outcome {
            case .wrote(let count): sent += count
            case .full: break loop
            case .broken(let errno): return errno
            }
        }
        if sent == output.count { output = [] } else { output.removeSubrange(..<sent) }
        return nil
    }

    private func breakAfterReading(_ errno: Errno) {
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            self.read(into: buffer)
        }
        self.ended("the connection broke: \(errno)")
    }

    /// The connection is over.
    private func ended(_ text: String) {
        // During a handshake the core has no connection yet.
        if let secure = self.secure, !secure.isEstablished {
            self.core.ended(self.failure(TLSError(.protocolError, "\(text) in the middle of the handshake")))
        } else {
            self.core.ended(text)
        }
    }

    /// Closes the socket, if there is one, and returns its tag.
    func disconnect() -> UInt64? {
        guard let socket = self.socket else { return nil }
        self.endSecure(socket.descriptor)
        self.socket = nil
        Sockets.close(socket.descriptor)
        return socket.tag
    }
}

extension PerchClientOptions.Authorization {
    /// The credentials for HELLO. A file is read with one open and one read, which do not block noticeably.
    package func read() throws(PerchError) -> String {
        switch self {
        case .none: return ""
        case .value(let value): return value
        case .file(let path):
            func refusal(_ what: String) -> PerchError {
                PerchError(
                    code: .unauthenticated, reason: .authorizationUnreadable,
                    message: "the file with the credentials, \(path), \(what)")
            }
            let number = SystemCall.result("open") { Int(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) }
            guard number >= 0 else { throw refusal("cannot be opened: \(Errno(Int32(-number)))") }
            let descriptor = Descriptor(owning: Int32(number))
            let fd = descriptor.number
            let limit = Limits.clientAuthorizationBytesMax
            var bytes = [UInt8](repeating: 0, count: limit + 1)
            let count = bytes.withUnsafeMutableBytes { buffer in
                SystemCall.result("read") { Glibc.read(fd, buffer.baseAddress, buffer.count) }
            }
            guard count >= 0 else { throw refusal("cannot be read: \(Errno(Int32(-count)))") }
            let line = bytes[..<count].withoutByteOrderMark.prefix { $0 != 0x0A && $0 != 0x0D }
            guard line.count <= limit else { throw refusal("begins with a line over the limit of \(limit) bytes") }
            guard !line.isEmpty else { throw refusal("begins with an empty line; write the credentials there") }
            guard let text = String(validating: line, as: UTF8.self), !text.utf8.contains(0) else {
                throw refusal("is not UTF-8 text")
            }
            // `perch token create` writes only the token.
            return text.utf8.contains(UInt8(ascii: " ")) ? text : "Bearer " + text
        }
    }
}
