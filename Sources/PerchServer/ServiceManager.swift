import PerchBase
import PerchLoop
import PerchMetrics

/// Tells systemd how the service is, where it asked to be told: ready, reloading, stopping, and that all works.
///
/// That all works is said only when a question went through every loop and the store has committed something since the
/// last time, so a hang of any of them, or of the disk, ends in a restart. A disk that is full does not: a restart
/// would not mend it, and reads and streams go on.
final class ServiceManager {
    private let socket: NotifySocket?
    /// Half of what the manager waits for; nil where it does not.
    let watchdogInterval: Int64?
    private(set) var pings: UInt64 = 0
    private var lastStatus = ""

    init(_ supervision: Supervision, log: Log) {
        self.socket = supervision.notifySocket.flatMap { NotifySocket(path: $0) }
        if let path = supervision.notifySocket, self.socket == nil {
            log.warning("NOTIFY_SOCKET is neither a path nor an abstract name; nobody is told", LogField("value", path))
        }
        self.watchdogInterval =
            self.socket == nil ? nil : supervision.watchdogMicroseconds.map { max(1, $0 / 2) * 1_000 }
    }

    var isThere: Bool { self.socket != nil }

    func ready(_ status: String) {
        self.lastStatus = status
        self.socket?.send(["READY=1", "STATUS=\(status)"])
    }

    func reloading() { self.socket?.sendReloading() }

    func stopping(_ status: String) {
        self.lastStatus = status
        self.socket?.send(["STOPPING=1", "STATUS=\(status)"])
    }

    /// What `systemctl status` shows.
    func tell(_ status: String) {
        guard status != self.lastStatus else { return }
        self.lastStatus = status
        self.socket?.send(["STATUS=\(status)"])
    }

    func ping() {
        guard let socket = self.socket else { return }
        socket.send(["WATCHDOG=1"])
        self.pings += 1
    }
}
