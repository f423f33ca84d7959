import Glibc
import PerchBase
import PerchClient
import PerchConsole
import PerchLoop
import PerchTLS

/// Asks a server for the head of its console, in the way that a browser will ask for the page. It blocks its thread.
struct ConsoleProbe {
    private let server: String
    private let tls: (context: TLSContext, name: TLSServerName)?
    private let timeoutMilliseconds: Int64
    private let deadline: MonotonicTime

    init(server: String, tls: (context: TLSContext, name: TLSServerName)?, timeoutMilliseconds: Int64) {
        self.server = server
        self.tls = tls
        self.timeoutMilliseconds = timeoutMilliseconds
        self.deadline = Clocks.monotonic().advanced(byNanoseconds: timeoutMilliseconds * 1_000_000)
    }

    /// Throws if a browser would not get the page.
    func check() throws {
        switch try self.status() {
        case 200: return
        case 404:
            throw CommandFailure(
                .failure,
                "the server at \(self.server) serves no console. Start it with `perch serve --console on`; beyond loopback "
                    + "that needs credentials, such as --token-keys.")
        case 421:
            throw CommandFailure(
                .failure,
                "the server at \(self.server) has another name. Name it as 127.0.0.1 or localhost with --server, or start "
                    + "it with --allow-host NAME.")
        case 400 where self.tls == nil:
            throw CommandFailure(
                .failure,
                "the server at \(self.server) refuses plaintext. Give --tls, and --tls-ca FILE where this machine does not "
                    + "trust its certificate.")
        case let status?:
            throw CommandFailure(
                .failure, "the server at \(self.server) answers HEAD \(ConsoleFiles.entrance) with status \(status).")
        case nil:
            throw CommandFailure(
                .failure,
                "the program at \(self.server) does not answer HTTP. Start a server with `perch serve`, or name another with "
                    + "--server HOST:PORT.")
        }
    }

    // MARK: One request

    /// The status of the answer; nil where the answer is not HTTP.
    private func status() throws -> Int? {
        let socket = try self.connected()
        let request = Array(
            "HEAD \(ConsoleFiles.entrance) HTTP/1.1\r\nHost: \(self.server)\r\nConnection: close\r\n\r\n".utf8)
        let line: [UInt8]
        if let tls = self.tls {
            var client = try self.reported { () throws(TLSError) in
                try TLSClientSide(TLSWindow(), tls.context, to: tls.name, speaksHTTP: true)
            }
            defer { client.free() }
            line = try self.line(of: &client, request, on: socket.number)
        } else {
            try self.send(request, on: socket.number)
            line = try self.line(on: socket.number)
        }
        let words = line.split(separator: 0x20)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8) else { return nil }
        return Int(String(decoding: words[1], as: UTF8.self))
    }

    private func connected() throws -> Descriptor {
        var reason = "it has no address"
        do {
            for place in try Destination(parsing: self.server).addresses() {
                do throws(SystemError) {
                    let socket = try Sockets.connect(to: place)
                    try? self.wait(socket.number, for: POLLOUT)
                    switch Sockets.connectResult(socket.number) {
                    case .connected: return socket
                    case .underWay: reason = "no answer within \(self.timeoutMilliseconds) ms"
                    case .failed(let code): reason = "\(code)"
                    }
                } catch {
                    reason = "\(error)"
                }
            }
        } catch {
            reason = "\(error)"
        }
        throw PerchError(
            code: .unavailable, reason: .connectFailed,
            message: "no connection to \(self.server): \(reason); is the server running there?")
    }

    /// The first line of a plaintext answer.
    private func line(on socket: Int32) throws -> [UInt8] {
        var heard: [UInt8] = []
        while !heard.contains(0x0A), heard.count < Limits.headerListBytesMax {
            guard let bytes = try self.receive(on: socket) else { break }
            heard += bytes
        }
        return Array(heard.prefix { $0 != 0x0D && $0 != 0x0A })
    }

    /// The first line of an answer over TLS. The request goes out once the handshake is over.
    private func line(of client: inout TLSClientSide, _ request: [UInt8], on socket: Int32) throws -> [UInt8] {
        var heard: [UInt8] = []
        var isAsked = false
        while !heard.contains(0x0A), heard.count < Limits.headerListBytesMax {
            if client.isEstablished, !isAsked {
                isAsked = true
                if let error = request.withUnsafeBytes({ client.seal($0) }) { throw self.failure(error) }
            }
            try self.send(client.output, on: socket)
            client.output = []
            guard let bytes = try self.receive(on: socket) else { break }
            let event = bytes.withUnsafeBytes { received in
                client.received(received, established: {}, taken: { heard += Array($0) })
            }
            if case .failed(let error) = event { throw self.failure(error) }
            if event == .closed { break }
        }
        return Array(heard.prefix { $0 != 0x0D && $0 != 0x0A })
    }

    private func send(_ bytes: [UInt8], on socket: Int32) throws {
        var sent = 0
        while sent < bytes.count {
            let outcome = bytes.withUnsafeBytes { Sockets.send(socket, UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch outcome {
            case .wrote(let count): sent += count
            case .full: try self.wait(socket, for: POLLOUT)
            // What the server said before is still to be read.
            case .broken: return
            }
        }
    }

    /// Bytes that came; nil at the end of the connection.
    private func receive(on socket: Int32) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Limits.headerListBytesMax)
        while true {
            switch buffer.withUnsafeMutableBytes({ Sockets.receive(socket, into: $0) }) {
            case .bytes(let count): return Array(buffer[..<count])
            case .end, .broken: return nil
            case .empty: try self.wait(socket, for: POLLIN)
            }
        }
    }

    private func wait(_ socket: Int32, for event: Int32) throws {
        var entry = pollfd(fd: socket, events: Int16(event), revents: 0)
        let rest = (self.deadline.nanoseconds - Clocks.monotonic().nanoseconds) / 1_000_000
        guard rest > 0, poll(&entry, 1, Int32(clamping: rest)) != 0 else {
            throw PerchError(
                code: .deadlineExceeded, reason: "DEADLINE",
                message: "the server at \(self.server) did not answer within \(self.timeoutMilliseconds) ms")
        }
    }

    private func reported<Value>(_ body: () throws(TLSError) -> Value) throws -> Value {
        do throws(TLSError) {
            return try body()
        } catch {
            throw self.failure(error)
        }
    }

    private func failure(_ error: TLSError) -> CommandFailure {
        CommandFailure(.failure, "TLS: \(self.server): \(error)")
    }
}
