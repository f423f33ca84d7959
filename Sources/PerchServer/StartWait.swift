import Glibc
import PerchBase
import PerchHTTP
import PerchLoop
import PerchMetrics
import PerchPostgres
import Synchronization

/// The wait of a node for its database at the start, at most `Limits.databaseStartMilliseconds`.
///
/// Meanwhile a thread of its own answers `/healthz` with yes and `/readyz` with the progress; clients are not accepted yet.
final class StartWait: LoopDriver {
    /// What `/readyz` says. Written by the thread that opens the store.
    final class Progress: Sendable {
        private let text = Mutex("waiting for the database of the store")

        func tell(_ text: String) { self.text.withLock { $0 = text } }
        var now: String { self.text.withLock { $0 } }
    }

    private let progress: Progress
    private var http: HTTPService?

    private init(_ listener: consuming Descriptor, on loop: EventLoop, _ progress: Progress) throws(SystemError) {
        self.progress = progress
        self.http = try HTTPService(listener, on: loop, wall: Clocks.wall) { [unowned self] question in
            let isHealth = question.request.path == Page.health.rawValue
            self.http?.answer(
                question.connection,
                isHealth ? HTTPResponse(.ok, "ok") : HTTPResponse(.serviceUnavailable, self.progress.now))
        }
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        self.http?.ready(tag: tag, readable: readable, writable: writable, hungUp: hungUp)
    }

    func turn(now: MonotonicTime) -> MonotonicTime? { self.http?.turn(now: now) }

    // MARK: Opening

    /// Opens the store, and waits for a database that is not there yet.
    static func open(
        _ location: PostgresLocation, node: NodeIdentity, memory: String?, _ listeners: Listeners,
        _ settings: ServerSettings, _ log: Log
    ) throws(PostgresOpenError) -> PostgresStorage {
        let began = Clocks.monotonic()
        var page: Waiting?
        defer { page?.end() }
        while true {
            let failure: PostgresOpenError
            do throws(PostgresOpenError) {
                return try PostgresStorage.open(location, node: node, memory: memory)
            } catch {
                failure = error
            }
            let waited = Clocks.monotonic().milliseconds(since: began)
            guard failure.isPassing, waited < Limits.databaseStartMilliseconds else { throw failure }
            if page == nil {
                page = Waiting(listeners, log)
                log.warning(
                    "waiting for the database of the store", LogField("reason", failure.description),
                    LogField("limit_s", Limits.databaseStartMilliseconds / 1_000))
            }
            page?.tell(failure, waited: waited, settings, log)
            SignalSource.endIfStopped { log.info("stopped while it waited for the database of the store") }
            usleep(UInt32(Limits.storageRetryMilliseconds) * 1_000)
        }
    }

    /// The thread that answers, and what was said so far.
    private final class Waiting {
        private let progress = Progress()
        private var loop: EventLoop?
        private var thread: LoopThread?
        private var toldMilliseconds: Int64 = 0

        init(_ listeners: Listeners, _ log: Log) {
            guard listeners.isHTTPOn else { return }
            do throws(SystemError) {
                let loop = try EventLoop(name: "perch-start")
                let driver = try StartWait(try listeners.openHTTP(), on: loop, self.progress)
                // Safe, because the driver was made here, is not used here again, and lives on its thread from now on.
                nonisolated(unsafe) let moved = driver
                self.thread = try loop.start(moved)
                self.loop = loop
            } catch {
                log.warning("/readyz is not answered while this node waits", LogField("reason", "\(error)"))
            }
        }

        func tell(_ failure: PostgresOpenError, waited: Int64, _ settings: ServerSettings, _ log: Log) {
            let text =
                "waiting for the database of the store for \(waited / 1_000) s, the limit is "
                + "\(Limits.databaseStartMilliseconds / 1_000) s: \(failure.kind)"
            self.progress.tell(text)
            guard waited - self.toldMilliseconds >= 5_000 else { return }
            self.toldMilliseconds = waited
            log.warning(text, LogField("reason", failure.description))
        }

        func end() {
            self.loop?.stop()
            self.thread?.join()
        }
    }
}

/// Where a node remembers the newest revision that it has shown: in `$STATE_DIRECTORY`, which systemd sets for a unit with
/// `StateDirectory=`, else in `perch` under `$XDG_STATE_HOME` or `~/.local/state`.
enum NodeMemory {
    /// Nil where no such directory can be made: then a restore is noticed by nodes that run, and by no start.
    static func directory(_ log: Log) -> String? {
        func variable(_ name: String) -> String? {
            guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
            return value
        }
        var directory = variable("STATE_DIRECTORY").map { String($0.prefix { $0 != ":" }) }
        if directory == nil, let home = variable("XDG_STATE_HOME") { directory = home + "/perch" }
        if directory == nil, let home = variable("HOME") { directory = home + "/.local/state/perch" }
        guard let directory else { return nil }
        for (place, character) in directory.enumerated() where character == "/" && place > 0 {
            mkdir(String(directory.prefix(place)), 0o755)
        }
        mkdir(directory, 0o700)
        guard access(directory, W_OK) == 0 else {
            log.warning(
                "a restore of the database goes unnoticed at a start: the directory for what was shown cannot be written",
                LogField("path", directory))
            return nil
        }
        return directory
    }
}
