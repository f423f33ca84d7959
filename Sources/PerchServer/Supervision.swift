import Glibc
import PerchBase
import PerchLoop

/// What the service manager that started this process says in the environment: where to be told of its state, how often
/// to hear that it lives, and the listeners that it opened. Nothing, where nobody did.
package struct Supervision: Hashable, Sendable {
    /// `NOTIFY_SOCKET`.
    package var notifySocket: String?
    /// `WATCHDOG_USEC`, where `WATCHDOG_PID` is this process or nobody.
    package var watchdogMicroseconds: Int64?
    /// Descriptors from 3 on, where `LISTEN_PID` is this process.
    package var listeners: [Listener] = []
    /// `JOURNAL_STREAM`: device and inode of what journald reads.
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

    /// A variable that means nothing is as good as none: the manager that wrote it will notice.
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

    /// Whether journald reads what is written to a descriptor: the variable alone also reaches a program whose output was
    /// sent elsewhere.
    func journalReads(_ descriptor: Int32) -> Bool {
        guard let stream = self.journalStream else { return false }
        var status = stat()
        return fstat(descriptor, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }
}
