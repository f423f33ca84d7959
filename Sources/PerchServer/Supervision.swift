import Glibc
import PerchBase
import PerchLoop

/// The environment variables of the service manager that started this process: the notification socket, the watchdog
/// interval, and the listeners that it opened. Empty without a manager.
package struct Supervision: Hashable, Sendable {
    /// `NOTIFY_SOCKET`.
    package var notifySocket: String?
    /// `WATCHDOG_USEC`, if `WATCHDOG_PID` is this process or missing.
    package var watchdogMicroseconds: Int64?
    /// Descriptors from 3 on, if `LISTEN_PID` is this process.
    package var listeners: [Listener] = []
    /// `JOURNAL_STREAM`: device and inode of the stream that journald reads.
    package var journalStream: String?

    package struct Listener: Hashable, Sendable {
        package var number: Int32
        package var name: String

        package init(number: Int32, name: String) {
            self.number = number
            self.name = name
        }
    }

    /// Nobody supervises.
    package init() {}

    /// An invalid variable counts as missing, because the manager that wrote it will notice.
    package init(environment: [String: String], processID: Int32) {
        self.notifySocket = environment["NOTIFY_SOCKET"]
        self.journalStream = environment["JOURNAL_STREAM"]
        let watched = environment["WATCHDOG_PID"]
        if watched == nil || watched == String(processID), let text = environment["WATCHDOG_USEC"],
            let microseconds = Int64(text), microseconds > 0
        {
            self.watchdogMicroseconds = microseconds
        }
        if environment["LISTEN_PID"] == String(processID), let text = environment["LISTEN_FDS"],
            let count = Int(text), (1...Limits.inheritedListenersMax).contains(count)
        {
            let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
            self.listeners = (0..<count).map { index in
                let name = index < names.count ? String(names[index]) : ""
                return Listener(number: Int32(3 + index), name: name.isEmpty ? "unknown" : name)
            }
        }
    }

    /// Whether journald reads a descriptor. The variable alone is not enough: it also reaches a program whose output
    /// was redirected.
    func journalReads(_ descriptor: Int32) -> Bool {
        guard let stream = self.journalStream else { return false }
        var status = stat()
        return fstat(descriptor, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }
}
