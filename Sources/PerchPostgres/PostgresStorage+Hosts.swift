import PerchBase
import PerchModel
import PerchStore

// Which server of a cluster a node uses: the one whose history contains what was shown.
extension PostgresStorage {
    /// The servers that write, the best first.
    struct Writers {
        var connections: [Connection] = []
        /// A host of the list did not answer as a standby or as a server that writes: it may be the better one.
        var isComplete = true
        /// Not one host answered at all, so the network of this node may be gone.
        var isSilent = false
    }

    /// Connects to each host of the list. A server that took over has a greater timeline than the primary before it, so the order of
    /// the list does not count between two that write.
    static func writers(_ location: PostgresLocation) throws(PostgresOpenError) -> Writers {
        let attempts: [(host: String, parameters: [(keyword: String, value: String)])]
        do throws(PostgresError) {
            attempts = try location.attempts()
        } catch {
            throw .unreachable(place: location.text, error.description)
        }
        var found = Writers()
        var failures: [PostgresOpenError] = []
        var silent = 0
        for attempt in attempts {
            // Another address of a host that is here already.
            if found.connections.contains(where: { $0.host == attempt.host }) { continue }
            // A better host is looked for, but not waited for.
            let limit =
                found.connections.isEmpty ? Limits.databaseConnectMilliseconds : Limits.databaseOtherHostMilliseconds
            do throws(PostgresOpenError) {
                found.connections.append(
                    try Self.connect(attempt.host, attempt.parameters, within: limit, patience: location.patience))
            } catch {
                failures.append(error)
                // What writes there is unknown, whether nobody answers or nobody may be asked.
                switch error {
                case .unreachable(_, let reason):
                    found.isComplete = false
                    if reason.contains(PostgresError.silence) { silent += 1 }
                case .setting: found.isComplete = false
                default: break
                }
            }
        }
        found.isSilent = !failures.isEmpty && silent == attempts.count
        guard found.connections.isEmpty else {
            found.connections = found.connections.enumerated().sorted {
                ($1.element.timeline, $0.offset) < ($0.element.timeline, $1.offset)
            }.map(\.element)
            return found
        }
        // A standby says less than the reason of a primary that is down; a refusal says most.
        let rank = { (error: PostgresOpenError) -> Int in
            switch error {
            case .readOnly: 0
            // Another host may come.
            case .setting: 1
            case .unreachable: 2
            default: 3
            }
        }
        throw failures.max { rank($0) < rank($1) } ?? .unreachable(place: location.text, "no host is named")
    }

    /// The best server that writes, for a node that starts: the first whose log has what the nodes of this machine have shown.
    ///
    /// Where none has it, and a host of the list is out of reach, that one may: an old primary would begin a second history.
    static func connect(
        _ location: PostgresLocation, memory directory: String? = nil
    ) throws(PostgresOpenError) -> Connection {
        let found = try Self.writers(location)
        var best: Connection?
        var lacking: (main: Connection, shown: ShownPlace)?
        defer { for main in found.connections where main !== best { main.close() } }
        for main in found.connections where best == nil {
            if location.hosts.count > 1, let shown = try Self.lacking(main, main.host, memory: directory) {
                lacking = lacking ?? (main, shown)
            } else {
                best = main
            }
        }
        if let best { return best }
        guard let lacking else { throw .unreachable(place: location.text, "no host writes") }
        guard found.isComplete else {
            throw .lacksShown(
                place: lacking.main.host, revision: lacking.shown.revision, epoch: lacking.shown.epoch)
        }
        best = lacking.main
        return lacking.main
    }

    /// How the history behind a connection relates to that of this node.
    enum Fit {
        case same
        /// It lacks what this node has read. `wasShown`: clients have seen some of that.
        case lacks(revision: UInt64, wasShown: Bool)
        case otherEpoch(Int64)
        case otherStore
    }

    func fit(of main: Connection) throws(PostgresError) -> Fit {
        let results = try main.run([
            .text("SELECT identity, epoch FROM store WHERE id = 1", []),
            Command(.markOf, [.number(self.applied.revision)]),
        ])
        guard !results[0].isEmpty, Self.identity(results[0].bytes(0, 0)) == self.opened.identity else {
            return .otherStore
        }
        let epoch = results[0].int64(0, 1)
        guard epoch == Int64(self.currentHeader.epoch) else { return .otherEpoch(epoch) }
        if self.applied.revision == 0 { return .same }
        if !results[1].isEmpty, results[1].uint64(0, 0) == self.applied.mark { return .same }
        let shown = try main.run([Command(.markOf, [.number(self.shown.revision)])])[0]
        let hasShown = self.shown.revision == 0 || !shown.isEmpty && shown.uint64(0, 0) == self.shown.mark
        return .lacks(revision: self.applied.revision, wasShown: !hasShown)
    }

    /// The server that a node goes on with after a lost connection.
    ///
    /// An old primary may still write. It is refused where the node has seen a later timeline, and where it lacks what was shown
    /// while another host may have it.
    func reconnect() throws(PostgresError) -> Connection {
        var found: Writers
        do throws(PostgresOpenError) {
            found = try Self.writers(self.location)
        } catch {
            self.reach.obstacle = error.isSilence ? .silence : .refusal
            throw .lost(error.description)
        }
        // A host that is out of reach may have more than those that are here.
        let isPartial = self.location.hosts.count > 1 && !found.isComplete
        var chosen: Connection?
        var lacking: (main: Connection, fit: Fit)?
        var refused = PostgresError.lost("no host writes")
        for main in found.connections {
            guard chosen == nil else {
                main.close()
                continue
            }
            if isPartial, main.timeline < self.reach.timeline {
                refused = .lost(
                    "\(main.host) is an old primary: its timeline is \(main.timeline), this node has seen \(self.reach.timeline)"
                )
                main.close()
                continue
            }
            try main.prepareAll()
            let fit = try self.fit(of: main)
            if case .same = fit {
                chosen = main
            } else if lacking == nil {
                lacking = (main, fit)
            } else {
                main.close()
            }
        }
        defer { lacking?.main.close() }
        if let chosen {
            self.reach.timeline = max(self.reach.timeline, chosen.timeline)
            return chosen
        }
        guard let lacking else { throw refused }
        guard !isPartial || lacking.main.timeline > self.reach.timeline else {
            throw .lost(
                "\(lacking.main.host) lacks what this node has shown, and a host that is out of reach may have it")
        }
        // It has taken over without that, or an earlier state was restored.
        throw try self.misfit(lacking.fit, lacking.main)
    }

    /// Whether the database behind a new connection has the history that this node has shown.
    func verify(_ main: Connection) throws(PostgresError) {
        let fit = try self.fit(of: main)
        if case .same = fit { return }
        throw try self.misfit(fit, main)
    }

    /// The error of another history. The epoch rises if clients have seen what is lost.
    private func misfit(_ fit: Fit, _ main: Connection) throws(PostgresError) -> PostgresError {
        switch fit {
        case .same, .otherStore:
            return PostgresError(state: PostgresError.otherStore, message: "it is another store")
        case .otherEpoch(let epoch):
            return PostgresError(
                state: PostgresError.otherHistory,
                message: "its epoch is \(epoch), this node began with \(self.currentHeader.epoch)")
        case .lacks(let revision, let wasShown):
            if wasShown { try Self.raiseEpoch(main, from: Int64(self.currentHeader.epoch)) }
            let whom = wasShown ? "this node has shown" : "this node has read and nobody was shown"
            return PostgresError(
                state: PostgresError.otherHistory, message: "it lacks revision \(revision), which \(whom)")
        }
    }

    /// Makes the tokens of the lost history invalid, once for all nodes that miss it.
    static func raiseEpoch(_ main: Connection, from epoch: Int64) throws(PostgresError) {
        _ = try main.run([
            .text("BEGIN", []), .text("SELECT id FROM store WHERE id = 1 FOR UPDATE", []),
            .text("UPDATE store SET \(Schema.raisedEpoch) WHERE id = 1 AND epoch = $1::bigint", [.integer(epoch)]),
            .text("COMMIT", []),
        ])
    }
}
