import CPerchPostgres
import PerchBase

/// Where a store on PostgreSQL is: a URL or a service of libpq, without a password.
package struct PostgresLocation: Hashable, Sendable {
    /// As the operator wrote it. It holds no secret.
    package let text: String
    /// libpq's parameters that the text sets, without hosts.
    private var parameters: [Parameter] = []
    /// In the order in which they are tried. Empty: libpq finds the host, by a service file or the environment.
    private(set) var hosts: [Host] = []
    /// The limits on an answer of the database count as many times as long. More than one in tests, of which none may fail because its
    /// machine stands still.
    package var patience: Int64 = 1

    private struct Parameter: Hashable, Sendable {
        var keyword: String
        var value: String
    }

    struct Host: Hashable, Sendable, CustomStringConvertible {
        /// A name, an address, or the directory of a socket.
        var name: String
        var port: String?

        var description: String { self.port.map { "\(self.name):\($0)" } ?? self.name }
    }

    /// Whether a `--store` setting names a database.
    package static func isDatabase(_ setting: String) -> Bool {
        setting.hasPrefix("postgres://") || setting.hasPrefix("postgresql://")
    }

    package init(_ text: String) throws(PostgresOpenError) {
        guard perch_pq_load() != 0 else { throw .noLibrary(String(cString: perch_pq_load_error())) }
        self.text = text
        var error: UnsafeMutablePointer<CChar>?
        guard let options = perch_pq_parse(text, &error) else {
            let reason = error.map { String(cString: $0).split(whereSeparator: \.isNewline).joined(separator: " ") }
            if let error { perch_pq_free(error) }
            throw .url(reason ?? "out of memory")
        }
        defer { perch_pq_options_free(options) }
        var (names, addresses, ports): ([String], [String], [String]) = ([], [], [])
        try withUnsafeBytes(of: &options.pointee.each) { (bytes) throws(PostgresOpenError) in
            for option in bytes.bindMemory(to: perch_pq_option.self).prefix(Int(options.pointee.count)) {
                let (keyword, value) = (String(cString: option.keyword), String(cString: option.value))
                switch keyword {
                case "password": throw .password
                case "host": names = Self.list(value)
                case "hostaddr": addresses = Self.list(value)
                case "port": ports = Self.list(value)
                case "options", "application_name", "fallback_application_name", "target_session_attrs", "replication",
                    "client_encoding":
                    throw .parameter(keyword)
                default: self.parameters.append(Parameter(keyword: keyword, value: value))
                }
            }
        }
        let count = max(names.count, addresses.count)
        guard names.isEmpty || addresses.isEmpty || names.count == addresses.count else {
            throw .url("host has \(names.count) entries and hostaddr \(addresses.count)")
        }
        guard ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil }) else {
            throw .url("a port is no number: \(ports.joined(separator: ","))")
        }
        guard ports.count <= 1 || ports.count == count else {
            throw .url("there are \(ports.count) ports for \(count) hosts")
        }
        for place in 0..<count {
            let port = ports.isEmpty ? nil : ports[ports.count == 1 ? 0 : place]
            let name = addresses.isEmpty ? names[place] : addresses[place]
            self.hosts.append(Host(name: name, port: port == "" ? nil : port))
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// The value of a parameter that the text sets.
    func value(_ keyword: String) -> String? { self.parameters.first { $0.keyword == keyword }?.value }

    /// libpq's parameters for each connection that may be tried, in order. Names are resolved now: libpq would block on a name for
    /// longer than any deadline.
    func attempts() throws(PostgresError) -> [(host: String, parameters: [(keyword: String, value: String)])] {
        var common = self.parameters.map { (keyword: $0.keyword, value: $0.value) }
        common.append(("application_name", "perch"))
        common.append(("client_encoding", "UTF8"))
        common.append(("options", self.sessionOptions))
        if self.value("connect_timeout") == nil { common.append(("tcp_user_timeout", "5000")) }
        guard !self.hosts.isEmpty else {
            return [(self.value("service").map { "service \($0)" } ?? "PostgreSQL", common)]
        }
        var result: [(host: String, parameters: [(keyword: String, value: String)])] = []
        var failures: [String] = []
        for host in self.hosts {
            var own = common
            if let port = host.port { own.append(("port", port)) }
            own.append(("host", host.name))
            if host.name.isEmpty || host.name.hasPrefix("/") || host.name.hasPrefix("@") {
                result.append((host.description, own))
                continue
            }
            let (addresses, error) = Self.resolve(host.name)
            if let error { failures.append("\(host.name): \(error)") }
            for address in addresses { result.append((host.description, own + [("hostaddr", address)])) }
        }
        guard !result.isEmpty else { throw .lost("no host was found: " + failures.joined(separator: "; ")) }
        return result
    }

    private static func resolve(_ name: String) -> (addresses: [String], error: String?) {
        var text = [CChar](repeating: 0, count: 1_024)
        var error: Int32 = 0
        let count = perch_pq_resolve(name, &text, Int32(text.count), &error)
        guard count > 0 else { return ([], String(cString: perch_pq_resolve_error(error))) }
        let parts = text.split(separator: 0, omittingEmptySubsequences: true).prefix(Int(count))
        return (parts.map { String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self) }, nil)
    }

    /// Settings of each session.
    ///
    /// Every search is by an index, and a new store has no statistics yet: without `enable_seqscan=off` a statement could be
    /// planned for an empty table and kept.
    private var sessionOptions: String {
        [
            "search_path=perch", "synchronous_commit=on", "default_transaction_read_only=off", "jit=off",
            "enable_seqscan=off",
            "lock_timeout=\(self.patience * Limits.databaseLockMilliseconds)",
            "statement_timeout=\(10 * self.patience * Limits.databaseAnswerMilliseconds)",
            "idle_in_transaction_session_timeout=\(self.patience * Limits.databaseIdleMilliseconds)",
            "client_min_messages=warning",
            // A node that loses its network between two messages of a batch keeps the lock, and no other timeout of PostgreSQL counts there.
            "tcp_keepalives_idle=1", "tcp_keepalives_interval=1", "tcp_keepalives_count=\(Limits.databaseProbesMax)",
            "tcp_user_timeout=\(Limits.databaseAnswerMilliseconds)",
            "standard_conforming_strings=on",
        ].map { "-c \($0)" }.joined(separator: " ")
    }
}
