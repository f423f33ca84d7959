import PerchBase
import PerchLoop
import PerchMetrics

/// Notifies systemd of the service's state, if it asked: ready, reloading, stopping, and watchdog pings.
///
/// A ping is sent only if every loop has answered a question and the store has committed since the last ping. So a hang
/// of any thread, or of the disk, ends in a restart. A full disk does not: a restart would not help, and reads and
/// streams continue.
final class ServiceManager {
    private let socket: NotifySocket?
    /// Half of the manager's watchdog interval; nil without a watchdog.
    let watchdogInterval: Int64?
    private(set) var pings: UInt64 = 0
    private var lastStatus = ""

    init(_ supervision: Supervision, log: Log) {
        self.socket = supervision.notifySocket.flatMap { NotifySocket(path: $0) }
        if let path = supervision.notifySocket, self.socket == nil {
            log.warning(
                "NOTIFY_SOCKET is neither a path nor an abstract name; no notification is sent", LogField("value", path)
            )
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
