import Glibc
import PerchBase
import PerchLoop
import PerchWire

/// One client on its loop: its core, its socket, and who waits for what.
///
/// Owned by the loop's thread. It moves bytes and decides nothing.
final class ClientSession {
    let id: ItemID
    var core: ClientCore
    let connectionCell: LatestCell<ConnectionState>
    var callers: [ItemID: CheckedContinuation<Result<Response, PerchError>, Never>] = [:]
    var sinks: [ItemID: WatchSink] = [:]
    var cells: [ItemID: UpdateCell] = [:]
    /// It is among those of this turn.
    var isTouched = false
    var isClosed = false
    /// When it is stepped next.
    var wake = TimerHeap.ID.none
    var wakeTime: Int64?

    private let configuration: ClientConfiguration
    private let poller: Poller
    private var socket: Socket?

    private struct Socket {
        var descriptor: Int32
        var tag: UInt64
        var isConnecting: Bool
        /// What the poller was last asked for.
        var awaitsRoom: Bool
        /// For HELLO, read before the connection was begun.
        var authorization: String
    }

    init(
        _ id: ItemID, _ configuration: ClientConfiguration, _ connectionCell: LatestCell<ConnectionState>,
        poller: Poller, codec: MessageCodec, now: ClientTime
    ) {
        self.id = id
        self.configuration = configuration
        self.connectionCell = connectionCell
        self.poller = poller
        self.core = ClientCore(settings: configuration.settings, codec: codec, seed: configuration.seed, now: now)
    }

    func take(_ command: ItemCommand) {
        switch command {
        case .call(let id, let request, let timeout, let caller):
            self.callers[id] = caller
            self.core.call(id, request, timeoutMilliseconds: timeout)
        case .cancel(let id):
            self.core.cancelCall(id)
        case .watch(let id, let request, let atLeast, let last, let info, let sink):
            self.sinks[id] = sink
            self.core.watch(id, request, atLeast: atLeast, last: last, info: info)
        case .unwatch(let id):
            self.sinks[id] = nil
            self.core.unwatch(id)
        case .follow(let id, let request, let includesOwn, let cell):
            self.cells[id] = cell
            self.core.followUpdates(id, request, includesOwn: includesOwn)
        case .resume(let id):
            self.core.resumeUpdates(id)
        case .unfollow(let id):
            self.cells[id] = nil
            self.core.unfollowUpdates(id)
        }
    }

    // MARK: The socket

    var isConnecting: Bool { self.socket?.isConnecting == true }

    /// Begins to connect; false where that has failed already, which the core was told.
    func connect(tag: UInt64) -> Bool {
        precondition(self.socket == nil, "a client connects twice")
        do {
            let authorization = try self.configuration.authorization.read()
            let descriptor = try Sockets.connect(to: self.configuration.address)
            try self.poller.watch(descriptor.number, tag: tag, for: [.readable, .writable])
            self.socket = Socket(
                descriptor: descriptor.release(), tag: tag, isConnecting: true, awaitsRoom: true,
                authorization: authorization)
            return true
        } catch let error as PerchError {
            self.core.connectFailed(error)
        } catch {
            self.core.connectFailed(self.connectError("\(error)"))
        }
        return false
    }

    private func connectError(_ text: String) -> PerchError {
        PerchError(
            code: .unavailable, reason: PerchError.connectFailed,
            message: "no connection to \(self.configuration.address): \(text); is the server running there?")
    }

    /// The socket has become writable, or hung up.
    func finishConnecting() {
        guard var socket = self.socket else { return }
        switch Sockets.connectResult(socket.descriptor) {
        case .underWay:
            break
        case .connected:
            socket.isConnecting = false
            self.socket = socket
            self.core.connected(authorization: socket.authorization)
        case .failed(let errno):
            self.core.connectFailed(self.connectError("connect answered \(errno)"))
        }
    }

    /// Takes what has come, up to `Limits.clientReadBytesPerTurn`.
    func read(into buffer: UnsafeMutableRawBufferPointer) {
        var total = 0
        while let socket = self.socket, total < Limits.clientReadBytesPerTurn {
            switch Sockets.receive(socket.descriptor, into: buffer) {
            case .bytes(let count):
                total += count
                self.core.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
                if count < buffer.count { return }
            case .empty:
                return
            case .end:
                self.core.ended("the server closed the connection without a reason")
                return
            case .broken(let errno):
                self.core.ended("the connection broke: \(errno)")
                return
            }
        }
    }

    /// Sends what there is, as far as there is room.
    func flush() {
        guard var socket = self.socket, !socket.isConnecting else { return }
        var sent = 0
        loop: while sent < self.core.output.count {
            let outcome = self.core.output.withUnsafeBytes { bytes in
                Sockets.send(socket.descriptor, UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            }
            switch outcome {
            case .wrote(let count): sent += count
            case .full: break loop
            case .broken(let errno):
                // What the server said before is read first: it may be why.
                self.core.output.removeAll()
                self.breakAfterReading(errno)
                return
            }
        }
        if sent == self.core.output.count { self.core.output = [] } else { self.core.output.removeSubrange(..<sent) }
        let awaitsRoom = !self.core.output.isEmpty
        if awaitsRoom != socket.awaitsRoom {
            socket.awaitsRoom = awaitsRoom
            self.socket = socket
            self.poller.change(
                socket.descriptor, tag: socket.tag, to: awaitsRoom ? [.readable, .writable] : .readable)
        }
    }

    private func breakAfterReading(_ errno: Errno) {
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            self.read(into: buffer)
        }
        self.core.ended("the connection broke: \(errno)")
    }

    /// Closes the socket, if there is one; its tag.
    func disconnect() -> UInt64? {
        guard let socket = self.socket else { return nil }
        self.socket = nil
        Sockets.close(socket.descriptor)
        return socket.tag
    }
}

extension PerchClientOptions.Authorization {
    /// What HELLO carries. A file is read by one open and one read, which take no time on the disks that secrets are on.
    package func read() throws(PerchError) -> String {
        switch self {
        case .none: return ""
        case .value(let value): return value
        case .file(let path):
            func refusal(_ what: String) -> PerchError {
                PerchError(
                    code: .unauthenticated, reason: PerchError.authorizationUnreadable,
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
            let line = bytes[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
            guard line.count <= limit else { throw refusal("begins with a line over the limit of \(limit) bytes") }
            guard !line.isEmpty else { throw refusal("begins with an empty line; write the credentials there") }
            guard let text = String(validating: line, as: UTF8.self), !text.utf8.contains(0) else {
                throw refusal("is not UTF-8 text")
            }
            return text
        }
    }
}
