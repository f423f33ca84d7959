import PerchBase
import PerchBench
import PerchLoop
import PerchModel
import PerchTesting
import PerchWire
import Testing
import TestingThreads

/// Tests the baseline server frame by frame.
@Suite(.onOwnThreads) struct `the baseline server` {
    /// A connection that waits for its answers.
    private final class Peer {
        private let descriptor: Descriptor
        private let poller: Poller
        private var decoder = FrameDecoder()
        let codec = MessageCodec()

        init(_ address: SocketAddress) throws {
            self.descriptor = try Sockets.connect(to: address)
            self.poller = try Poller()
            try self.poller.watch(self.descriptor.number, tag: 0, for: .writable)
            try #require(self.poller.wait(timeoutMilliseconds: 300_000) == 1)
            self.poller.change(self.descriptor.number, tag: 0, to: .readable)
        }

        func send(_ bytes: UnsafeRawBufferPointer) {
            var rest = bytes
            while !rest.isEmpty {
                guard case .wrote(let count) = Sockets.send(self.descriptor.number, rest) else {
                    self.poller.change(self.descriptor.number, tag: 0, to: .writable)
                    #expect(self.poller.wait(timeoutMilliseconds: 300_000) == 1, "the baseline server accepts nothing")
                    self.poller.change(self.descriptor.number, tag: 0, to: .readable)
                    continue
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }

        func call(_ request: Request, stream: UInt32) throws {
            self.send(try self.codec.encodeCall(request).frame(.call, stream: stream))
        }

        func next() throws -> Frame {
            while true {
                if let frame = try self.decoder.next() { return frame }
                try #require(self.poller.wait(timeoutMilliseconds: 300_000) == 1, "the baseline server sent nothing")
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let outcome = buffer.withUnsafeMutableBytes { Sockets.receive(self.descriptor.number, into: $0) }
                guard case .bytes(let count) = outcome else { throw SystemError(call: "recv", errno: Errno(0)) }
                self.decoder.append(Array(buffer[..<count]))
            }
        }

        /// A value with its position.
        func value() throws -> (stream: UInt32, scan: PushScan, bytes: Int) {
            let frame = try self.next()
            #expect(frame.header.kind == .message)
            let scan = try #require(frame.payload.withUnsafeBytes { PushScan($0) })
            return (frame.header.stream, scan, frame.payload.count)
        }

        func greet() throws {
            let hello = Hello(protocolVersion: 1, clientName: "test")
            self.send(try self.codec.encode(hello).frame(.hello, stream: 0))
            let welcome = try self.next()
            #expect(welcome.header.kind == .welcome)
            _ = try self.codec.decodeWelcome(welcome.payload.span.bytes)
        }

        func buy(_ account: String, stream: UInt32) throws -> UInt64 {
            try self.call(
                .operate(OperateRequest(account: account, operation: .buy(PurchaseOrder(productID: "p")))),
                stream: stream)
            return try self.answered(.operate, stream: stream)
        }

        func answered(_ method: Method, stream: UInt32) throws -> UInt64 {
            let answer = try self.next()
            #expect((answer.header.kind, answer.header.stream) == (.message, stream))
            _ = try self.codec.decodeResponse(method, answer.payload.span.bytes)
            let revision = answer.payload.withUnsafeBytes { PushScan.revision(ofAnswer: $0) }
            let status = try self.next()
            #expect((status.header.kind, status.header.stream) == (.status, stream))
            #expect(try self.codec.decodeStatus(status.payload.span.bytes) == Status())
            return try #require(revision)
        }
    }

    private static func start(valueBytes: Int, _ more: [String] = []) throws -> (ChildProcess, SocketAddress) {
        try Program.start(["bench", "floor-server", "--value-bytes", "\(valueBytes)"] + more)
    }

    private static func watch(_ account: String) -> Request {
        .currentEntitlementTask(CurrentEntitlementRequest(account: account, productID: "p"))
    }

    @Test func `the baseline server greets, opens, changes and answers with perch/1 frames`() throws {
        let (child, address) = try Self.start(valueBytes: 222)
        defer { child.kill() }
        let watcher = try Peer(address)
        try watcher.greet()
        try watcher.call(Self.watch("bench-000000007"), stream: 1)
        try watcher.call(Self.watch("bench-000000008"), stream: 2)
        var opened: [UInt32: [PushScan.State]] = [:]
        for _ in 0..<4 {
            let (stream, scan, bytes) = try watcher.value()
            opened[stream, default: []].append(try #require(scan.state))
            if scan.state == .success { #expect(bytes == 222) }
        }
        #expect(opened == [1: [.loading, .success], 2: [.loading, .success]])

        let writer = try Peer(address)
        try writer.greet()
        let revision = try writer.buy("bench-000000008", stream: 5)
        let (stream, scan, bytes) = try watcher.value()
        #expect((stream, scan.state, scan.revision, bytes) == (2, .success, revision, 222))
        // A change without watchers sends nothing: the next value belongs to the change after it.
        _ = try writer.buy("bench-000000009", stream: 5)
        let other = try writer.buy("bench-000000007", stream: 6)
        #expect(other == revision + 2)
        let next = try watcher.value()
        #expect((next.stream, next.scan.revision) == (1, other))
    }

    /// The value exceeds the copy limit and a socket's buffer.
    @Test func `sends a large value completely, and the newest value to a late reader`() throws {
        let (child, address) = try Self.start(valueBytes: 700_000)
        defer { child.kill() }
        let watcher = try Peer(address)
        try watcher.greet()
        try watcher.call(.productsTask(ProductsRequest(productIDs: ["a"])), stream: 1)
        #expect(try watcher.value().scan.state == .loading)
        #expect(try watcher.value().bytes == 700_000)
        let writer = try Peer(address)
        try writer.greet()
        var last: UInt64 = 0
        for _ in 0..<5 {
            try writer.call(.loadCatalog(LoadCatalogRequest(file: Array(repeating: 1, count: 300_000))), stream: 1)
            last = try writer.answered(.loadCatalog, stream: 1)
        }
        var seen: UInt64 = 0
        while seen < last {
            let (_, scan, bytes) = try watcher.value()
            #expect(bytes == 700_000)
            #expect(scan.revision > seen)
            seen = scan.revision
        }
        #expect(seen == last)
    }

    @Test(arguments: [15, 16, 129, 16_000]) func `answers with the requested number of bytes`(_ bytes: Int) throws {
        let (child, address) = try Self.start(valueBytes: 64, ["--answer-bytes", "\(bytes)"])
        defer { child.kill() }
        let writer = try Peer(address)
        try writer.greet()
        try writer.call(
            .operate(OperateRequest(account: "bench-000000001", operation: .buy(PurchaseOrder(productID: "p")))),
            stream: 1)
        let answer = try writer.next()
        #expect(answer.payload.count == bytes)
        // A reader that does not know the filler field reads only the position.
        guard case .operate(let response) = try writer.codec.decodeResponse(.operate, answer.payload.span.bytes) else {
            Issue.record("no answer to a purchase")
            return
        }
        #expect(response.position?.revision == 1)
    }

    @Test func `the baseline server stores each answered change, and counts its batches`() throws {
        let directory = TemporaryDirectory()
        let (child, address) = try Self.start(valueBytes: 64, ["--store", directory.path])
        defer { child.kill() }
        let writer = try Peer(address)
        try writer.greet()
        for stream in 1...3 { _ = try writer.buy("bench-000000007", stream: UInt32(stream)) }
        let log = try #require(ProcessFigures.text("\(directory.path)/floor.db-wal"))
        #expect(log.utf8.count > 8_000)
        try writer.call(.getServerStatus, stream: 4)
        let answer = try writer.next()
        guard
            case .getServerStatus(let status) = try writer.codec.decodeResponse(
                .getServerStatus, answer.payload.span.bytes)
        else {
            Issue.record("no status")
            return
        }
        let counters = ServerCounters(status.metrics)
        #expect((counters.changes, counters.commits) == (3, 3))
    }

    @Test func `reports why it cannot start`() throws {
        let child = try ChildProcess(
            path: Program.path, arguments: ["bench", "floor-server", "--store", "/nowhere/at/all"], environment: [:])
        var said: [UInt8] = []
        repeat {
            child.waitForOutput(milliseconds: 300_000)
            guard let more = child.read() else { break }
            said += more
        } while true
        #expect(String(decoding: said, as: UTF8.self).contains("the baseline server cannot serve"), "\(said)")
    }

    @Test func `the baseline server closes a connection with unknown input, and continues`() throws {
        let (child, address) = try Self.start(valueBytes: 64)
        defer { child.kill() }
        let stranger = try Peer(address)
        Array("GET / HTTP/1.1\r\n\r\n".utf8).withUnsafeBytes { stranger.send($0) }
        #expect(throws: SystemError.self) { try stranger.next() }
        let other = try Peer(address)
        try other.greet()
    }
}
