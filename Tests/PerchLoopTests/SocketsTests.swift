import CPerchLinux
import Glibc
import PerchBase
import PerchLoop
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `sockets` {
    @Test func `a full socket accepts a part, then nothing, then the rest in order`() throws {
        var options = ConnectionOptions()
        options.sendBufferBytes = 8_192
        let pair = try SocketPair(listenerOptions: options)
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
        guard case .wrote(let first) = send(pair.server, bytes) else {
            Issue.record("the first send accepted nothing")
            return
        }
        #expect(first > 0 && first < bytes.count)
        var sent = first
        var last = SendOutcome.wrote(first)
        while sent < bytes.count, case .wrote = last {
            last = send(pair.server, Array(bytes[sent...]))
            if case .wrote(let count) = last { sent += count }
        }
        // A moment later the kernel may take a little more.
        #expect(last == .full)
        #expect(Sockets.unacknowledgedBytes(pair.server) > 0)

        var received: [UInt8] = []
        while received.count < bytes.count {
            received += receive(pair.client).bytes
            if sent < bytes.count, case .wrote(let count) = send(pair.server, Array(bytes[sent...])) { sent += count }
        }
        #expect(received == bytes)
    }

    @Test func `scattered pieces arrive as one stream`() throws {
        #expect(MemoryLayout<SendPiece>.size == MemoryLayout<iovec>.size)
        #expect(MemoryLayout<SendPiece>.offset(of: \.count) == MemoryLayout<iovec>.offset(of: \.iov_len))
        let pair = try SocketPair()
        let words: [[UInt8]] = [Array("who ".utf8), [], Array("owns ".utf8), Array("what".utf8)]
        let flat = words.flatMap { $0 }
        let outcome = flat.withUnsafeBytes { bytes in
            var offset = 0
            let pieces = words.map { word in
                defer { offset += word.count }
                return SendPiece(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + word.count]))
            }
            return pieces.withUnsafeBufferPointer { Sockets.sendVector(pair.client, $0) }
        }
        #expect(outcome == .wrote(flat.count))
        Sockets.shutdownWriting(pair.client)
        #expect(try receiveAll(pair.server).bytes == flat)
    }

    @Test func `more pieces than Linux accepts are sent in part`() throws {
        let pair = try SocketPair()
        let bytes = [UInt8](repeating: 7, count: Limits.piecesPerSend + 10)
        let outcome = bytes.withUnsafeBytes { bytes in
            let pieces = bytes.indices.map { SendPiece(UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + 1])) }
            return pieces.withUnsafeBufferPointer { Sockets.sendVector(pair.client, $0) }
        }
        #expect(outcome == .wrote(Limits.piecesPerSend))
    }

    @Test func `a peer that resets breaks the connection and raises no signal`() throws {
        let pair = try SocketPair()
        pair.reset(pair.client)
        try waitUntilReady(pair.server, .readable)
        #expect(receive(pair.server).outcome == .broken(.connectionReset))
        #expect(send(pair.server, [1]) == .broken(.brokenPipe))
        #expect(Sockets.peerAddress(pair.server) == nil)
        Sockets.shutdownWriting(pair.server)
    }

    @Test func `data sent before the writing side was shut down can still be read`() throws {
        let pair = try SocketPair()
        #expect(receive(pair.client).outcome == .empty)
        #expect(send(pair.server, Array("the reason".utf8)) == .wrote(10))
        Sockets.shutdownWriting(pair.server)
        let (last, bytes) = try receiveAll(pair.client)
        #expect(last == .end && bytes == Array("the reason".utf8))
        #expect(send(pair.client, [1]) == .wrote(1))
        try waitUntilReady(pair.server, .readable)
        #expect(receive(pair.server).bytes == [1])
    }

    @Test func `a connection inherits the options of its listener`() throws {
        var options = ConnectionOptions()
        options.sendBufferBytes = 50_000
        options.notSentLowWaterBytes = 12_345
        options.peerTimeoutMilliseconds = 54_321
        let pair = try SocketPair(listenerOptions: options)
        let plain = try SocketPair(listenerOptions: nil)
        #expect(Self.options(of: pair.server) == [1, 100_000, 12_345, 54_321])
        #expect(Self.options(of: plain.server) != Self.options(of: pair.server))
        try Sockets.prepare(plain.server, options)
        #expect(Self.options(of: plain.server) == Self.options(of: pair.server))
    }

    private static func options(of fd: Int32) -> [Int32] {
        var values: (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        _ = perch_get_no_delay(fd, &values.0)
        _ = perch_get_send_buffer(fd, &values.1)
        _ = perch_get_not_sent_low_water(fd, &values.2)
        _ = perch_get_user_timeout(fd, &values.3)
        return [values.0 == 0 ? 0 : 1, values.1, values.2, values.3]
    }

    @Test func `a refused connection reports that no process listens there`() throws {
        // Bound and not listening, so that no other test gets the port.
        let holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(holder) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(holder, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
        let free = Sockets.localAddress(holder)
        let client = try Sockets.connect(to: free)
        try waitUntilReady(client.number, .writable)
        #expect(Sockets.connectResult(client.number) == .failed(.connectionRefused))
        let error = SystemError(call: "connect", subject: free.description, errno: .connectionRefused)
        #expect(
            error.description
                == "connect \(free): Connection refused (errno 111); no process listens there: check that the server runs, and check the port"
        )
    }

    @Test func `a connection can be bound to another loopback address`() throws {
        let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        let client = try Sockets.connect(
            to: Sockets.localAddress(listener.number), from: .loopback(port: 0, lastByte: 9))
        try waitUntilReady(client.number, .writable)
        #expect(Sockets.connectResult(client.number) == .connected)
        #expect(Sockets.localAddress(client.number).hostDescription == "127.0.0.9")
        #expect(Sockets.peerAddress(client.number) == Sockets.localAddress(listener.number))
    }

    @Test func `an address in use is named in the refusal`() throws {
        let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        let address = Sockets.localAddress(listener.number)
        let error = SystemError(call: "listen", subject: address.description, errno: .addressInUse)
        #expect(throws: SystemError.self) { _ = try Sockets.listen(on: address, reusePort: false).release() }
        #expect(error.description.contains("another process has this address"))
    }

    /// Uses a very high number. Another thread of the child could open a file at any moment, and the kernel would give
    /// it the lowest free number.
    @Test func `using a closed descriptor traps instead of reaching another connection`() async {
        await #expect(processExitsWith: .failure) {
            let listener = fcntl(
                try Sockets.listen(on: .loopback(port: 0), reusePort: false).release(), F_DUPFD_CLOEXEC, 900)
            guard listener >= 900 else { exit(0) }
            Sockets.close(listener)
            Sockets.shutdownWriting(listener)
        }
        await #expect(processExitsWith: .failure) {
            let listener = fcntl(
                try Sockets.listen(on: .loopback(port: 0), reusePort: false).release(), F_DUPFD_CLOEXEC, 900)
            guard listener >= 900 else { exit(0) }
            Sockets.close(listener)
            Sockets.close(listener)
        }
    }
}
