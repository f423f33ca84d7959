import CPerchPostgres
import Glibc
import PerchBase

/// One command of a pipeline.
enum Command {
    case query(Query, [Value])
    /// A statement that is run once a connection, so that it is not prepared.
    case text(String, [Value])

    init(_ query: Query, _ values: [Value] = []) { self = .query(query, values) }
}

/// One session of PostgreSQL, in pipeline mode. Belongs to the store's thread. Every wait has a deadline.
///
/// After an error with `endsConnection` the session is closed, and every later request is `lost`.
final class Connection {
    /// Another text for another server, and after its restart.
    var server = ""
    /// As the list of hosts has it.
    var host = ""
    /// Rises with each server that takes over.
    var timeline: Int64 = 0
    /// A synchronous standby has to confirm its commits.
    var needsStandby = false
    /// Its limits are as many times as long.
    private let patience: Int64
    /// Nil once closed.
    private var handle: OpaquePointer?
    private let notices: UnsafeMutablePointer<perch_pq_notices>
    /// Results that are still to come, in order.
    private var owed: [Owed] = []
    private var owedStart = 0
    /// Rows of commands that `start` has sent.
    private var taken: [Rows] = []

    private enum Owed {
        case result
        /// Of a command whose result nobody reads.
        case ignored
        case sync
    }

    /// Connects, with values of libpq's parameters.
    init(
        _ parameters: [(keyword: String, value: String)], within milliseconds: Int64, patience: Int64
    ) throws(PostgresError) {
        let deadline = Monotonic.milliseconds() + patience * milliseconds
        self.patience = patience
        self.notices = .allocate(capacity: 1)
        self.notices.initialize(to: perch_pq_notices())
        let keywords = CStrings(parameters.map(\.keyword))
        let values = CStrings(parameters.map(\.value))
        guard let handle = perch_pq_connect(keywords.pointers, values.pointers, self.notices) else {
            throw .lost("libpq has no memory for a connection")
        }
        self.handle = handle
        do throws(PostgresError) {
            var step = PERCH_PQ_WRITES
            while step != PERCH_PQ_DONE {
                try self.wait(forWriting: step == PERCH_PQ_WRITES, until: deadline)
                step = perch_pq_connect_poll(handle)
                if step == PERCH_PQ_FAILED { throw self.lost() }
            }
            guard perch_pq_begin_pipeline(handle) != 0 else { throw self.lost() }
        } catch {
            let isTaken = self.isTaken
            self.close()
            guard isTaken, error.message.contains(PostgresError.silence) else { throw error }
            throw .lost("PostgreSQL \(PostgresError.stillness)")
        }
    }

    /// Whether the machine of the server, as another one of the network, took the connection.
    private var isTaken: Bool {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let found = withUnsafeMutableBytes(of: &address) {
            getpeername(self.socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        return found == 0 && Int32(address.ss_family) != AF_UNIX
    }

    deinit {
        self.close()
        self.notices.deallocate()
    }

    var isOpen: Bool { self.handle != nil }
    /// For a poller.
    var socket: Int32 { self.handle.map { perch_pq_socket($0) } ?? -1 }
    /// The process that the server named when the session began. A pooler invents one.
    var backendPID: Int32 { self.handle.map { perch_pq_backend_pid($0) } ?? 0 }
    var serverVersion: Int32 { self.handle.map { perch_pq_server_version($0) } ?? 0 }
    /// Warnings so far, and the last one.
    var warnings: Int { Int(self.notices.pointee.warnings) }
    var lastWarning: String {
        withUnsafeBytes(of: self.notices.pointee.last) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    func close() {
        if let handle = self.handle { perch_pq_finish(handle) }
        self.handle = nil
        self.owed = []
        self.owedStart = 0
    }

    /// Runs commands as one pipeline, and returns the rows of each.
    ///
    /// The commands after one that failed do not run. An open transaction stays open, in its failed state.
    func run(_ commands: [Command], within milliseconds: Int64 = Limits.databaseAnswerMilliseconds)
        throws(PostgresError)
        -> [Rows]
    {
        let deadline = Monotonic.milliseconds() + self.patience * milliseconds
        do throws(PostgresError) {
            try self.queue(commands, as: .result)
            var results = self.taken
            self.taken = []
            var failure: PostgresError?
            try self.flush(until: deadline)
            while let next = self.nextOwed() {
                switch next {
                case .sync:
                    try self.takeSync(until: deadline)
                case .result, .ignored:
                    let rows: Rows?
                    do throws(PostgresError) {
                        rows = try self.takeResult(until: deadline)
                    } catch  where !error.isLost {
                        if case .result = next { failure = failure ?? error }
                        if error.endsConnection { throw error }
                        continue
                    }
                    if case .result = next, let rows { results.append(rows) }
                }
            }
            if let failure { throw failure }
            return results
        } catch {
            if error.endsConnection { self.close() }
            throw error
        }
    }

    /// Sends commands without waiting, and drops their results.
    func post(_ commands: [Command]) {
        do throws(PostgresError) {
            try self.queue(commands, as: .ignored)
            if let handle = self.handle, perch_pq_flush(handle) < 0 { throw self.lost() }
        } catch {
            self.close()
        }
    }

    /// Sends commands. `finish` takes their rows once they are here; `run` returns them before its own.
    func start(_ commands: [Command]) throws(PostgresError) {
        do throws(PostgresError) {
            try self.queue(commands, as: .result)
            if let handle = self.handle, perch_pq_flush(handle) < 0 { throw self.lost() }
        } catch {
            self.close()
            throw error
        }
    }

    /// The rows of the commands that were started; nil while some have not arrived. Never waits.
    func finish() throws(PostgresError) -> [Rows]? {
        guard let handle = self.handle else { throw .lost("the connection is closed") }
        do throws(PostgresError) {
            guard perch_pq_flush(handle) >= 0, perch_pq_consume(handle) == 1 else { throw self.lost() }
            while self.owedStart < self.owed.count {
                if perch_pq_is_busy(handle) != 0 { return nil }
                guard let next = self.nextOwed() else { break }
                if case .sync = next {
                    try self.takeSync(until: 0)
                } else if let rows = try self.takeResult(until: 0), case .result = next {
                    self.taken.append(rows)
                }
            }
            _ = self.nextOwed()
            defer { self.taken = [] }
            return self.taken
        } catch {
            self.close()
            throw error
        }
    }

    /// Prepares every statement of `Query`.
    func prepareAll() throws(PostgresError) {
        do throws(PostgresError) {
            guard let handle = self.handle else { throw .lost("the connection is closed") }
            for query in Query.allCases {
                guard perch_pq_send_prepare(handle, query.name, query.sql) == 1 else { throw self.lost() }
                self.owed.append(.result)
            }
            try self.endPipeline()
            _ = try self.run([])
        } catch {
            self.close()
            throw error
        }
    }

    /// Reads what has arrived. Returns the texts of notifications.
    func takeNotifications() throws(PostgresError) -> [String] {
        guard let handle = self.handle else { throw .lost("the connection is closed") }
        guard perch_pq_consume(handle) == 1 else {
            let error = self.lost()
            self.close()
            throw error
        }
        var texts: [String] = []
        var text = [CChar](repeating: 0, count: 128)
        while perch_pq_next_notification(handle, &text, Int32(text.count)) != 0 {
            texts.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return texts
    }

    // MARK: The pipeline

    private func queue(_ commands: [Command], as owed: Owed) throws(PostgresError) {
        guard let handle = self.handle else { throw .lost("the connection is closed") }
        for command in commands {
            let isSent: Bool
            switch command {
            case .query(let query, let values):
                let parameters = Parameters(values)
                isSent =
                    perch_pq_send(
                        handle, query.name, nil, Int32(values.count), parameters.bytes, parameters.offsets,
                        parameters.lengths) == 1
            case .text(let sql, let values):
                let parameters = Parameters(values)
                isSent =
                    perch_pq_send(
                        handle, nil, sql, Int32(values.count), parameters.bytes, parameters.offsets, parameters.lengths)
                    == 1
            }
            guard isSent else { throw self.lost() }
            self.owed.append(owed)
        }
        if !commands.isEmpty { try self.endPipeline() }
    }

    private func endPipeline() throws(PostgresError) {
        guard let handle = self.handle, perch_pq_sync(handle) == 1 else { throw self.lost() }
        self.owed.append(.sync)
    }

    private func nextOwed() -> Owed? {
        guard self.owedStart < self.owed.count else {
            self.owed.removeAll(keepingCapacity: true)
            self.owedStart = 0
            return nil
        }
        defer { self.owedStart += 1 }
        return self.owed[self.owedStart]
    }

    /// The rows of the next command, or its error; nil where an earlier one of its pipeline failed.
    private func takeResult(until deadline: Int64) throws(PostgresError) -> Rows? {
        var rows: Rows?
        var failure: PostgresError?
        while let result = try self.takeHandle(until: deadline) {
            switch perch_pq_result_outcome(result) {
            case PERCH_PQ_ROWS: rows = Rows(result)
            case PERCH_PQ_ABORTED: perch_pq_clear(result)
            default:
                failure = PostgresError(
                    state: String(cString: perch_pq_result_sqlstate(result)),
                    message: Self.oneLine(perch_pq_result_message(result)))
                perch_pq_clear(result)
            }
        }
        if let failure { throw failure }
        return rows
    }

    private func takeSync(until deadline: Int64) throws(PostgresError) {
        guard let result = try self.takeHandle(until: deadline) else { throw .lost("a pipeline ended too early") }
        defer { perch_pq_clear(result) }
        guard perch_pq_result_outcome(result) == PERCH_PQ_SYNC else { throw self.lost() }
    }

    private func takeHandle(until deadline: Int64) throws(PostgresError) -> OpaquePointer? {
        guard let handle = self.handle else { throw .lost("the connection is closed") }
        while perch_pq_is_busy(handle) != 0 {
            try self.wait(forWriting: perch_pq_flush(handle) == 1, until: deadline)
            guard perch_pq_consume(handle) == 1 else { throw self.lost() }
        }
        return perch_pq_result(handle)
    }

    private func flush(until deadline: Int64) throws(PostgresError) {
        guard let handle = self.handle else { throw .lost("the connection is closed") }
        while true {
            switch perch_pq_flush(handle) {
            case 0: return
            case 1:
                try self.wait(forWriting: true, until: deadline)
                // A server that does not read because it cannot write: take what it has written.
                guard perch_pq_consume(handle) == 1 else { throw self.lost() }
            default: throw self.lost()
            }
        }
    }

    /// Waits until the socket can be read, or written if that is wanted.
    private func wait(forWriting: Bool, until deadline: Int64) throws(PostgresError) {
        // An attempt that failed at once has no socket.
        guard self.socket >= 0 else { throw self.lost() }
        while true {
            let left = deadline - Monotonic.milliseconds()
            guard left > 0 else { throw .lost("PostgreSQL \(PostgresError.silence)") }
            var socket = pollfd(
                fd: self.socket, events: Int16(POLLIN) | (forWriting ? Int16(POLLOUT) : 0), revents: 0)
            let count = poll(&socket, 1, Int32(clamping: left))
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .lost("poll failed with errno \(errno)") }
        }
    }

    private func lost() -> PostgresError {
        guard let handle = self.handle else { return .lost("the connection is closed") }
        let message = Self.oneLine(perch_pq_error_message(handle))
        return .lost(message.isEmpty ? "the connection was lost" : message)
    }

    private static func oneLine(_ text: UnsafePointer<CChar>) -> String {
        String(cString: text).split(whereSeparator: \.isNewline)
            .map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
            .joined(separator: "; ")
    }
}

/// The clock of deadlines.
enum Monotonic {
    static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Strings for C, with a null pointer at the end.
final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        self.count = strings.count
        self.pointers = .allocate(capacity: strings.count + 1)
        for (place, string) in strings.enumerated() {
            (self.pointers + place).initialize(to: UnsafePointer(strdup(string)))
        }
        (self.pointers + strings.count).initialize(to: nil)
    }

    deinit {
        for place in 0..<self.count { free(UnsafeMutablePointer(mutating: self.pointers[place])) }
        self.pointers.deallocate()
    }
}
