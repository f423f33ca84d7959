internal import CPerchLinux
internal import Glibc
internal import PerchBase

/// Socket options of a connection.
///
/// A listener passes them on: Linux copies all four to each accepted connection, which saves four system calls a
/// connection.
package struct ConnectionOptions: Hashable, Sendable {
    /// SO_SNDBUF; Linux doubles it.
    package var sendBufferBytes = Limits.sendBufferBytes
    /// TCP_NOTSENT_LOWAT: above this many unsent bytes the connection is not writable.
    package var notSentLowWaterBytes = Limits.notSentLowWaterBytes
    /// TCP_USER_TIMEOUT: how long a peer may leave bytes unacknowledged.
    package var peerTimeoutMilliseconds = Limits.peerTimeoutMilliseconds

    package init() {}
}

/// One of several memory ranges that `Sockets.sendVector` sends. Its layout is Linux's `struct iovec`, which other
/// targets need not import.
package struct SendPiece {
    package var base: UnsafeRawPointer?
    package var count: Int

    package init(base: UnsafeRawPointer?, count: Int) {
        self.base = base
        self.count = count
    }

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.init(base: bytes.baseAddress, count: bytes.count)
    }
}

package enum SendOutcome: Equatable, Sendable {
    /// The kernel accepted this many bytes. Fewer than given means that its buffer is full: wait for `writable`.
    case wrote(Int)
    /// The kernel accepted no bytes: wait for `writable`.
    case full
    /// The connection has ended and no more data will arrive. Close it.
    case broken(Errno)
}

package enum ReceiveOutcome: Equatable, Sendable {
    case bytes(Int)
    /// The peer has shut down its writing side; it may still read.
    case end
    /// No data is available: wait for `readable`.
    case empty
    /// The connection has ended. Close it.
    case broken(Errno)
}

package enum ConnectOutcome: Equatable, Sendable {
    case connected
    case underWay
    case failed(Errno)
}

/// TCP without blocking: every socket created here is non-blocking and close-on-exec. Safe from any thread; by
/// convention a socket belongs to one loop.
package enum Sockets {
    /// Opens a listener. With `reusePort`, several loops listen on the same address, and the kernel spreads the
    /// connections.
    ///
    /// `[::]`, and so `:7447`, accepts IPv4 as well.
    package static func listen(
        on address: SocketAddress, reusePort: Bool, backlog: Int = Limits.listenBacklog,
        options: ConnectionOptions? = ConnectionOptions()
    ) throws(SystemError) -> Descriptor {
        let number = try SystemCall.check("socket", about: address.description) { Int(perch_socket(address.inC)) }
        let descriptor = Descriptor(owning: Int32(number))
        let fd = descriptor.number
        // A restart must not wait for connections of the last process in TIME_WAIT.
        _ = try SystemCall.check("SO_REUSEADDR") { Int(perch_set_reuse_address(fd)) }
        if reusePort { _ = try SystemCall.check("SO_REUSEPORT") { Int(perch_set_reuse_port(fd)) } }
        if !address.isIPv4 { _ = try SystemCall.check("IPV6_V6ONLY") { Int(perch_set_both_families(fd)) } }
        if let options { try Self.prepare(fd, options) }
        _ = try SystemCall.check("bind", about: address.description) { Int(perch_bind(fd, address.inC)) }
        _ = try SystemCall.check("listen", about: address.description) {
            Int(Glibc.listen(fd, Int32(clamping: backlog)))
        }
        return descriptor
    }

    /// Starts to connect. When the socket becomes writable or hangs up, `connectResult` returns the result.
    ///
    /// `source` binds to a local address. With port 0 the kernel chooses a port for the pair of addresses, so that each
    /// source address has its own 28,000.
    package static func connect(
        to address: SocketAddress, from source: SocketAddress? = nil, options: ConnectionOptions? = ConnectionOptions()
    ) throws(SystemError) -> Descriptor {
        let number = try SystemCall.check("socket", about: address.description) { Int(perch_socket(address.inC)) }
        let descriptor = Descriptor(owning: Int32(number))
        let fd = descriptor.number
        if let options { try Self.prepare(fd, options) }
        if let source {
            if source.port == 0 {
                _ = try SystemCall.check("IP_BIND_ADDRESS_NO_PORT") { Int(perch_set_bind_without_port(fd)) }
            }
            _ = try SystemCall.check("bind", about: source.description) { Int(perch_bind(fd, source.inC)) }
        }
        let result = SystemCall.result("connect") { Int(perch_connect(fd, address.inC)) }
        guard result >= 0 || result == -Int(EINPROGRESS) else {
            throw SystemError(call: "connect", subject: address.description, errno: Errno(Int32(-result)))
        }
        return descriptor
    }

    /// The state of a connection attempt. A failure is reported once.
    package static func connectResult(_ fd: Int32) -> ConnectOutcome {
        var code: Int32 = 0
        let result = SystemCall.result("SO_ERROR") { Int(perch_take_error(fd, &code)) }
        if result < 0 { return .failed(Errno(Int32(-result))) }
        if code != 0 { return .failed(Errno(code)) }
        var peer = perch_address()
        return SystemCall.result("getpeername") { Int(perch_peer_address(fd, &peer)) } < 0 ? .underWay : .connected
    }

    /// Sets the options of a connection that did not inherit them from a listener.
    package static func prepare(_ fd: Int32, _ options: ConnectionOptions) throws(SystemError) {
        _ = try SystemCall.check("TCP_NODELAY") { Int(perch_set_no_delay(fd)) }
        _ = try SystemCall.check("TCP_NOTSENT_LOWAT") {
            Int(perch_set_not_sent_low_water(fd, Int32(clamping: options.notSentLowWaterBytes)))
        }
        _ = try SystemCall.check("SO_SNDBUF") {
            Int(perch_set_send_buffer(fd, Int32(clamping: options.sendBufferBytes)))
        }
        _ = try SystemCall.check("TCP_USER_TIMEOUT") {
            Int(perch_set_user_timeout(fd, Int32(clamping: options.peerTimeoutMilliseconds)))
        }
    }

    /// Sends with one system call, which may accept only a part. A closed peer raises no signal.
    package static func send(_ fd: Int32, _ bytes: UnsafeRawBufferPointer) -> SendOutcome {
        Self.sendOutcome(SystemCall.result("send") { perch_send(fd, bytes.baseAddress, bytes.count) })
    }

    /// Sends scattered bytes like `send`. Only the first `Limits.piecesPerSend` pieces are sent; the rest counts as a
    /// partial send.
    package static func sendVector(_ fd: Int32, _ pieces: UnsafeBufferPointer<SendPiece>) -> SendOutcome {
        let count = min(pieces.count, Limits.piecesPerSend)
        return Self.sendOutcome(
            SystemCall.result("sendmsg") { perch_send_vector(fd, pieces.baseAddress, count) })
    }

    private static func sendOutcome(_ result: Int) -> SendOutcome {
        if result >= 0 { return .wrote(result) }
        // Other expected codes: ECONNRESET, EPIPE, ETIMEDOUT, EHOSTUNREACH and similar for a lost peer; ENOBUFS and
        // ENOMEM, where closing frees memory.
        return result == -Int(EAGAIN) ? .full : .broken(Errno(Int32(-result)))
    }

    /// Receives with one system call. `buffer` must not be empty, because an empty result would look like the end.
    package static func receive(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) -> ReceiveOutcome {
        precondition(buffer.count > 0, "a receive into an empty buffer")
        let result = SystemCall.result("recv") { perch_receive(fd, buffer.baseAddress, buffer.count) }
        if result > 0 { return .bytes(result) }
        if result == 0 { return .end }
        return result == -Int(EAGAIN) ? .empty : .broken(Errno(Int32(-result)))
    }

    /// Shuts down the writing side; data already sent still arrives. Then read until `end`, for a bounded time, and
    /// close. Closing with unread input resets the connection, and the peer loses unread data.
    package static func shutdownWriting(_ fd: Int32) {
        // ENOTCONN is a legitimate race: the peer has reset the connection meanwhile.
        _ = SystemCall.result("shutdown") { Int(perch_shutdown_writing(fd)) }
    }

    /// Closes a socket, which removes it from any poller. An event of the current iteration may still carry its tag.
    package static func close(_ fd: Int32) {
        Descriptor.close(fd)
    }

    /// Resets the connection: unsent data is dropped and the kernel keeps no state.
    package static func reset(_ fd: Int32) {
        _ = SystemCall.result("SO_LINGER") { Int(perch_set_reset_on_close(fd)) }
        Descriptor.close(fd)
    }

    /// The local address; for a listener on port 0 it has the real port.
    package static func localAddress(_ fd: Int32) -> SocketAddress {
        var address = perch_address()
        let result = SystemCall.result("getsockname") { Int(perch_local_address(fd, &address)) }
        precondition(result == 0, "getsockname answered \(Errno(Int32(-result)))")
        return SocketAddress(address)
    }

    /// The peer's address; nil if the connection has ended.
    package static func peerAddress(_ fd: Int32) -> SocketAddress? {
        var address = perch_address()
        let result = SystemCall.result("getpeername") { Int(perch_peer_address(fd, &address)) }
        return result == 0 ? SocketAddress(address) : nil
    }

    /// Bytes that are unsent or that the peer has not acknowledged. Zero means that all data reached the peer's kernel.
    /// A constant number means that the peer has stopped reading.
    package static func unacknowledgedBytes(_ fd: Int32) -> Int {
        var bytes: Int32 = 0
        let result = SystemCall.result("SIOCOUTQ") { Int(perch_unacknowledged_bytes(fd, &bytes)) }
        return result == 0 ? Int(bytes) : 0
    }
}
