import Glibc
import PerchTesting
import Synchronization

/// A PostgreSQL server of the tests, in a temporary directory, as an ordinary user. It never touches the system's.
///
/// One serves all tests of a process, and hands out databases. It ends with the process, even if that is killed: a shell waits for
/// the end of its pipe, stops the server by its process ID, and removes the directory.
package final class PostgresServer: Sendable {
    package let directory: String
    private let pool = Mutex(Pool())

    private struct Pool {
        var free: [String] = []
        var count = 0
    }

    /// The server of this process, started by the first test that needs it.
    package static let shared = PostgresServer()

    /// Where PostgreSQL's programs are; newest version first.
    package static let programs: String = {
        let versions = TemporaryDirectory.names(in: "/usr/lib/postgresql").compactMap(Int.init).sorted(by: >)
        guard let newest = versions.first else {
            preconditionFailure("tests of PostgreSQL need its server: .ci/prepare postgres installs it")
        }
        return "/usr/lib/postgresql/\(newest)/bin"
    }()

    /// `settings`: lines of postgresql.conf.
    package init(settings: [String] = []) {
        self.directory = Self.makeDirectory()
        let asUser = getuid() == 0 ? "setpriv --reuid=nobody --regid=nogroup --clear-groups " : ""
        if getuid() == 0 { Self.shell("chown nobody:nogroup \(self.directory)") }
        let data = "\(self.directory)/data"
        Self.shell(
            "cd / && \(asUser)\(Self.programs)/initdb -D \(data) -U perch --auth=trust --no-sync --wal-segsize=4 --encoding=UTF8 "
                + "--no-locale >\(self.directory)/initdb.log 2>&1")
        let lines = [
            "listen_addresses = ''", "unix_socket_directories = '\(self.directory)'", "max_connections = 100",
            "shared_buffers = 32MB", "min_wal_size = 8MB", "max_wal_size = 64MB", "log_line_prefix = '%m %p '",
        ]
        TemporaryDirectory.write(
            Array((lines + settings).map { $0 + "\n" }.joined().utf8), to: "\(self.directory)/perch.conf")
        Self.shell("cat \(self.directory)/perch.conf >>\(data)/postgresql.conf")
        // In bash, since sh closes no descriptor above 9. Without descriptors of this process, so that who waits for its output or its locks does not wait for the server. No
        // `wait`: a test's process may have blocked the signal that ends it.
        let command = """
            cd / && exec >/dev/null 2>&1
            for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -le 2 ] || eval "exec $fd>&-"; done
            \(asUser)\(Self.programs)/postgres -D \(data) >\(self.directory)/server.log 2>&1 &
            read line
            kill -INT "$(head -n 1 \(data)/postmaster.pid)"
            while [ -e \(data)/postmaster.pid ]; do sleep 0.05; done
            rm -rf \(self.directory)
            """
        // Its end of the pipe closes with this process. No child of this process inherits it.
        guard popen("exec bash -c '\(command)'", "we") != nil else { preconditionFailure("no shell: errno \(errno)") }
        var attempts = 0
        while !self.run("SELECT 1", in: "postgres") {
            attempts += 1
            precondition(
                attempts < Self.patience, "PostgreSQL did not start within minutes: see \(self.directory)/server.log")
            usleep(50_000)
        }
    }

    /// Five minutes, which only end what hangs.
    private static let patience = 6_000

    private static func makeDirectory() -> String {
        // Memory is faster to sync than a disk.
        var room = statvfs()
        let isRoomy = statvfs("/dev/shm", &room) == 0 && room.f_bavail * room.f_frsize > 1 << 30
        var template = Array("\(isRoomy ? "/dev/shm" : "/tmp")/perch-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("no temporary directory: errno \(errno)") }
        return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private static func shell(_ command: String) {
        let pipe = popen(command, "we")
        precondition(pipe != nil && pclose(pipe) == 0, "failed: \(command)")
    }

    /// Runs SQL as the superuser. False: it failed.
    @discardableResult
    package func run(_ sql: String, in database: String) -> Bool {
        let pipe = popen(
            "\(Self.programs)/psql -h \(self.directory) -U perch -d \(database) -qAtX -v ON_ERROR_STOP=1 >/dev/null "
                + "2>>\(self.directory)/psql.log", "we")
        guard let pipe else { return false }
        fputs(sql, pipe)
        return pclose(pipe) == 0
    }

    /// From now on commits wait for a standby that does not exist. Returns when one does: sessions learn of a setting from the
    /// checkpointer, which reads it some time after a reload.
    package func makeCommitsWait(in database: String) {
        self.run("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'", in: database)
        self.run("SELECT pg_reload_conf()", in: database)
        let psql = "PGAPPNAME=probe \(Self.programs)/psql -h \(self.directory) -U perch -d \(database) -qAtX"
        let waits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'probe'"
        Self.shell(
            """
            while :; do
                \(psql) -c "SELECT pg_logical_emit_message(true, 'probe', '')" >/dev/null 2>&1 & probe=$!
                while kill -0 $probe 2>/dev/null; do
                    if [ "$(\(psql) -c "SELECT count(*) \(waits)")" = 1 ]; then
                        \(psql) -c "SELECT pg_terminate_backend(pid) \(waits)" >/dev/null && exit 0
                    fi
                done
            done
            """)
    }

    /// Commits wait for no standby any more. Returns when one does not.
    package func letCommitsReturn(in database: String) {
        self.run("ALTER SYSTEM RESET synchronous_standby_names", in: database)
        self.run("SELECT pg_reload_conf()", in: database)
        self.run("SELECT pg_logical_emit_message(true, 'probe', '')", in: database)
    }

    /// The URL of a database for `user`.
    package func url(_ database: String, user: String = "perch") -> String {
        "postgres://\(user)@/\(database)?host=\(self.directory)"
    }

    /// A database without tables. `giveBack` empties it for another test.
    package func takeDatabase() -> String {
        let (name, isNew) = self.pool.withLock { (pool) -> (String, Bool) in
            if let name = pool.free.popLast() { return (name, false) }
            pool.count += 1
            return ("perch_\(pool.count)", true)
        }
        if isNew { precondition(self.run("CREATE DATABASE \(name)", in: "postgres"), "no database could be made") }
        return name
    }

    package func giveBack(_ database: String) {
        guard self.run("DROP SCHEMA IF EXISTS perch CASCADE", in: database) else { return }
        self.pool.withLock { $0.free.append(database) }
    }
}
