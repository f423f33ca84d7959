import PerchBase
import PerchLoop
import Testing

/// The longest wait of a test; then it fails instead of hanging.
let patienceMilliseconds = 300_000

/// Two connected sockets on loopback, closed at the end.
final class SocketPair {
    let client: Int32
    let server: Int32
    private var closed: Set<Int32> = []

    init(listenerOptions: ConnectionOptions? = ConnectionOptions()) throws {
        let listener = try Sockets.listen(
            on: .loopback(port: 0), reusePort: false, options: listenerOptions)
        let poller = try Poller()
        try poller.watch(listener.number, tag: 1, for: .readable)
        let client = try Sockets.connect(to: Sockets.localAddress(listener.number))
        try #require(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1, "nobody knocked")
        var accepted: Int32 = -1
        let acceptor = try Acceptor(listener, tag: 2, on: Poller(), budget: ConnectionBudget(limit: 1))
        acceptor.ready(now: .zero) { fd, _ in accepted = fd }
        try #require(accepted >= 0)
        self.server = accepted
        self.client = client.release()
    }

    func close(_ fd: Int32) {
        self.closed.insert(fd)
        Sockets.close(fd)
    }

    func reset(_ fd: Int32) {
        self.closed.insert(fd)
        Sockets.reset(fd)
    }

    deinit {
        for fd in [self.client, self.server] where !self.closed.contains(fd) { Sockets.close(fd) }
    }
}

func send(_ fd: Int32, _ bytes: [UInt8]) -> SendOutcome {
    bytes.withUnsafeBytes { Sockets.send(fd, $0) }
}

/// Receives once, up to `capacity` bytes.
func receive(_ fd: Int32, capacity: Int = 65_536) -> (outcome: ReceiveOutcome, bytes: [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: capacity)
    let outcome = buffer.withUnsafeMutableBytes { Sockets.receive(fd, into: $0) }
    guard case .bytes(let count) = outcome else { return (outcome, []) }
    return (outcome, Array(buffer[..<count]))
}

/// Waits until `fd` is ready in one of the requested ways, or hung up.
func waitUntilReady(_ fd: Int32, _ interest: Poller.Interest) throws {
    let poller = try Poller()
    try poller.watch(fd, tag: 0, for: interest)
    try #require(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1, "descriptor \(fd) never became ready")
}

/// Receives until the end of the stream, or until it breaks.
func receiveAll(_ fd: Int32) throws -> (last: ReceiveOutcome, bytes: [UInt8]) {
    var all: [UInt8] = []
    while true {
        let (outcome, bytes) = receive(fd)
        all += bytes
        switch outcome {
        case .bytes: continue
        case .empty: try waitUntilReady(fd, .readable)
        case .end, .broken: return (outcome, all)
        }
    }
}
