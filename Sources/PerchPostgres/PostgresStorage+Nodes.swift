import PerchBase
import PerchModel
package import PerchStore

// Heartbeats, the other nodes, notifications.
extension PostgresStorage: StoreSharing {
    package var sharing: (any StoreSharing)? { self }
    package var sinceBeat: Int64 {
        (Monotonic.milliseconds() - self.reach.lastBeat) / self.location.patience
    }
    package var descriptor: Int32 { self.side?.socket ?? -1 }
    package var connectionNumber: Int { self.reach.sideNumber }
    package var clockOffset: Int64 { self.reach.clock.offset }

    package var obstacle: ReachObstacle { self.reach.obstacle }
    package var clockJump: Int64 { self.reach.clock.jump }
    package var nodeID: Int64 { self.node.id }
    package var databaseFigures: DatabaseFigures { self.figures }

    package func beat(_ state: NodeState) {
        let now = Monotonic.milliseconds()
        do throws(PostgresError) {
            if self.side?.isOpen != true {
                guard now >= self.reach.notBefore else { return }
                _ = try self.connectedSide()
            }
            guard let side = self.side else { return }
            for text in try side.takeNotifications() { self.heard(text) }
            if let sent = self.reach.beatSent {
                if let rows = try side.finish() { try self.finished(rows, sent: sent) }
                // The session hangs, as one that waits for a standby: a new one may find another primary.
                if self.reach.beatSent != nil, now - sent > self.location.patience * Limits.databaseAnswerMilliseconds {
                    self.unconfirmed(on: side)
                    throw .lost("a heartbeat was not confirmed in time")
                }
            }
            guard self.reach.beatSent == nil, now >= self.reach.nextBeat else { return }
            try self.sendBeat(side, state, now: now)
        } catch {
            self.dropSide(error)
        }
    }

    package var sendsForMilliseconds: Int64 { max(0, self.reach.sendsUntil - Monotonic.milliseconds()) }

    package func keepCode(_ name: [UInt8], _ sealed: [UInt8]) throws(StorageError) {
        let values: [Value] = [
            .bytes(name), .integer(Limits.consoleCodeMilliseconds), .bytes(sealed),
            .integer(Int64(Limits.consoleCodesKept)),
        ]
        _ = try self.request([Command(.keepCode, values)])
    }

    package func takeCode(_ name: [UInt8]) throws(StorageError) -> [UInt8]? {
        let rows = try self.request([Command(.takeCode, [.bytes(name)])])[0]
        return rows.isEmpty ? nil : rows.bytes(0, 0)
    }

    /// Once a second, what this node has shown is noted on its own machine.
    func remember() {
        guard let path = self.opened.memory else { return }
        let shown = ShownPlace(epoch: self.currentHeader.epoch, revision: self.shown.revision, mark: self.shown.mark)
        guard shown != self.reach.remembered else { return }
        // A file that another node of this machine has written with a later revision stays.
        if let known = ShownPlace(path: path), (known.epoch, known.revision) > (shown.epoch, shown.revision) { return }
        if shown.write(to: path) { self.reach.remembered = shown }
    }

    private func sendBeat(_ side: Connection, _ state: NodeState, now: Int64) throws(PostgresError) {
        self.reach.beatWarnings = side.warnings
        var commands = [
            Command(
                .beat,
                [
                    .integer(self.node.id), .number(self.applied.revision), .integer(Int64(state.calls)),
                    .integer(state.isDraining ? 1 : 0),
                ]), Command(.nodes),
        ]
        self.reach.beatWantsToSend = state.wantsToSend && !state.isDraining
        if self.reach.beatWantsToSend {
            commands.append(Command(.takeSender, [.integer(self.node.id), .integer(Limits.senderLeaseMilliseconds)]))
        }
        if now >= self.reach.nextSweep { commands += self.sweep(now) }
        try side.start(commands)
        self.reach.nextBeat = now + Limits.heartbeatMilliseconds
        self.reach.beatSent = now
    }

    /// Deletes old changes of the feed, and nodes that are gone. The node that has run longest does it for all.
    private func sweep(_ now: Int64) -> [Command] {
        self.reach.nextSweep = now + 60_000
        guard self.nodes.first(where: { !$0.isGone })?.id ?? self.node.id == self.node.id else { return [] }
        let wall = now + self.reach.clock.offset
        let kept = self.applied.revision > Limits.feedRevisionsMin ? self.applied.revision - Limits.feedRevisionsMin : 0
        return [
            Command(.trimFeed, [.number(kept), .integer(wall - Limits.feedMilliseconds)]),
            Command(
                .forgetNodes,
                [
                    .integer(wall - self.opened.shift - Limits.nodeForgottenMilliseconds), .integer(wall),
                    .integer(self.node.id),
                ]),
        ]
    }

    private func finished(_ rows: [Rows], sent: Int64) throws(PostgresError) {
        guard let side = self.side, side.warnings == self.reach.beatWarnings else {
            throw .lost("a heartbeat was not confirmed by the standby: \(self.side?.lastWarning ?? "")")
        }
        guard rows.count >= 2, !rows[0].isEmpty else {
            // Another node took this one for gone.
            self.reach.beatSent = nil
            try self.join()
            return
        }
        self.reach.clock.measure(
            database: rows[0].int64(0, 0) + self.opened.shift, sent: sent, received: Monotonic.milliseconds())
        self.figures.heartbeats += 1
        self.beatArrived(sent)
        self.remember()
        self.nodes = Self.nodes(rows[1])
        if self.reach.beatWantsToSend, rows.count > 2, !rows[2].isEmpty {
            // From when it was sent: the database counts from later on, so this node ends first.
            self.reach.sendsUntil = sent + Limits.senderLeaseMilliseconds - Limits.senderLeaseMarginMilliseconds
        }
        if self.schema < Schema.version, !Self.hasNodeOfVersionBefore(rows[1]) {
            self.main?.post([Command(.finishUpgrade, [.integer(self.opened.shift)])])
        }
    }

    private static func hasNodeOfVersionBefore(_ rows: Rows) -> Bool {
        (0..<rows.count).contains {
            rows.int64($0, 9) < Schema.version && rows.int64($0, 4) < Limits.versionGoneMilliseconds
        }
    }

    static func nodes(_ rows: Rows) -> [NodeReport] {
        (0..<rows.count).map { row in
            NodeReport(
                id: rows.int64(row, 0), name: rows.text(row, 1), version: rows.text(row, 2),
                started: Instant(milliseconds: rows.int64(row, 3)), silentMilliseconds: rows.int64(row, 4),
                appliedRevision: rows.uint64(row, 5), calls: Int(rows.int64(row, 7)),
                isDraining: rows.int64(row, 8) != 0)
        }
    }

    /// `epoch:revision`: a revision that is durable everywhere.
    private func heard(_ text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let epoch = UInt32(parts[0]), let revision = UInt64(parts[1]),
            epoch == self.currentHeader.epoch
        else { return }
        self.announced = max(self.announced, revision)
        self.sealed = max(self.sealed, revision)
    }
}
