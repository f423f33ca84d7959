import Glibc
import PerchBase
import PerchLoop
import PerchTLS
import PerchTesting
import Synchronization

/// A server of a test: one connection after another, each with blocking reads and writes.
final class TestServer: Sendable {
    /// What it does once the head of a request has come.
    enum Behaviour: Sendable {
        case answers(String)
        /// A head, and then bytes without end.
        case endless
        /// Says nothing and keeps the connection.
        case silent
        /// A head and a part of the body, and then nothing.
        case stalls
        /// A head that promises more than comes.
        case breaksOff
    }

    let port: Int
    private let listener: Int32
    private let behaviours: Mutex<[Behaviour]>
    private let heads = Mutex<[String]>([])
    private let thread = Mutex<LoopThread?>(nil)
    private let tls: TLSContext?

    /// Each connection takes the next behaviour; the last one stays.
    init(_ behaviours: [Behaviour], tls: MadeCertificate? = nil) throws {
        self.behaviours = Mutex(behaviours)
        self.tls = try tls.map {
            try TLSContext(
                server: TLSContext.ServerFiles(certificates: $0.certificate, key: $0.key),
                tickets: TicketKeys(wall: Instant(milliseconds: 0)))
        }
        self.listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let status = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        precondition(status, "no listener of a test: errno \(errno)")
        self.port = Int(UInt16(bigEndian: address.sin_port))
        let thread = try LoopThread(name: "test-server") { [self] in self.run() }
        self.thread.withLock { $0 = thread }
    }

    /// The heads of the requests so far.
    var requests: [String] { self.heads.withLock { $0 } }

    func stop() {
        shutdown(self.listener, Int32(SHUT_RDWR))
        self.thread.withLock { $0?.join() }
        close(self.listener)
    }

    private func run() {
        while true {
            let peer = accept(self.listener, nil, nil)
            guard peer >= 0 else { return }
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            self.serve(peer)
            close(peer)
        }
    }

    private func serve(_ peer: Int32) {
        guard let stream = Stream(peer, self.tls), let head = stream.head() else { return }
        self.heads.withLock { $0.append(head) }
        let behaviour = self.behaviours.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        switch behaviour {
        case .answers(let text): _ = stream.write(text)
        case .endless:
            let piece = String(repeating: "x", count: 16_384)
            _ = stream.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
            while stream.write(piece) {}
        case .silent: _ = stream.head()
        case .stalls:
            _ = stream.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            _ = stream.head()
        case .breaksOff: _ = stream.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        }
    }

    static func answer(_ status: String, _ headers: String = "", body: String = "") -> Behaviour {
        .answers(
            "HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
    }

    /// One connection, with TLS or without.
    private final class Stream {
        private let peer: Int32
        private let window = TLSWindow()
        private let connection: TLSConnection?
        /// Plaintext that came with the end of the handshake.
        private var early: [UInt8] = []

        init?(_ peer: Int32, _ context: TLSContext?) {
            self.peer = peer
            guard let context else {
                self.connection = nil
                return
            }
            guard let connection = try? self.window.accept(context) else { return nil }
            self.connection = connection
            while true {
                guard let bytes = self.receive() else { return nil }
                let step = bytes.withUnsafeBytes { bytes in
                    self.window.take(bytes)
                    let step = self.window.handshake(connection)
                    if step == .done { self.early = self.drain(connection).plaintext }
                    return step
                }
                guard self.flush() else { return nil }
                switch step {
                case .wantsInput: continue
                case .failed: return nil
                default: return
                }
            }
        }

        deinit { self.connection?.free() }

        /// What comes up to an empty line; nil: the connection has ended.
        func head() -> String? {
            var text = ""
            while !text.contains("\r\n\r\n") {
                guard let bytes = self.plaintext() else { return nil }
                text += String(decoding: bytes, as: UTF8.self)
            }
            return text
        }

        func write(_ text: String) -> Bool {
            guard let connection = self.connection else { return self.send(Array(text.utf8)) }
            _ = Array(text.utf8).withUnsafeBytes { self.window.write(connection, $0) }
            return self.flush()
        }

        private func plaintext() -> [UInt8]? {
            guard let connection = self.connection else { return self.receive() }
            if !self.early.isEmpty {
                defer { self.early = [] }
                return self.early
            }
            guard let bytes = self.receive() else { return nil }
            let (plaintext, isOpen) = bytes.withUnsafeBytes { bytes in
                self.window.take(bytes)
                return self.drain(connection)
            }
            return isOpen || !plaintext.isEmpty ? plaintext : nil
        }

        /// All plaintext of what was taken.
        private func drain(_ connection: TLSConnection) -> (plaintext: [UInt8], isOpen: Bool) {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let step = buffer.withUnsafeMutableBytes { self.window.read(connection, into: $0) }
                switch step {
                case .bytes(let count): all += buffer[..<count]
                case .wantsInput: return (all, true)
                default: return (all, false)
                }
            }
        }

        private func flush() -> Bool {
            let bytes = Array(self.window.output)
            self.window.clearOutput()
            return self.send(bytes)
        }

        private func receive() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = recv(self.peer, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }

        private func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { bytes in
                    Glibc.send(self.peer, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }
}
