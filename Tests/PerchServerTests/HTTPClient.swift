import PerchLoop
import Testing

/// A client of one connection.
final class HTTPClient {
    let socket: Int32
    private(set) var received = ""
    private(set) var hasEnded = false

    init(_ address: SocketAddress) throws {
        let descriptor = try Sockets.connect(to: address)
        self.socket = descriptor.release()
        try self.wait(.writable)
    }

    deinit { Sockets.close(self.socket) }

    func send(_ text: String) { Array(text.utf8).withUnsafeBytes { _ = Sockets.send(self.socket, $0) } }

    /// Reads the available bytes without waiting; returns whether the end was reached.
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        switch buffer.withUnsafeMutableBytes({ Sockets.receive(self.socket, into: $0) }) {
        case .bytes(let count): self.received += String(decoding: buffer[..<count], as: UTF8.self)
        case .empty: return false
        case .end, .broken: self.hasEnded = true
        }
        return true
    }

    func wait(_ interest: Poller.Interest = .readable) throws {
        let poller = try Poller()
        try poller.watch(self.socket, tag: 0, for: interest)
        try #require(poller.wait(timeoutMilliseconds: 300_000) == 1)
    }

    func readAll(until text: String) throws {
        while !self.received.contains(text), !self.hasEnded {
            try self.wait()
            _ = self.read()
        }
    }
}
