import PerchBase

// The middle of a tick: service and views decide, and the transport learns which connections have output.
extension LoopCore {
    /// Ends the input of a tick: handles due timers, and computes every listed view once.
    package mutating func endInput() {
        self.runTimers()
        self.service.wakeWaiters(&self.tables, &self.views, &self.transport)
        self.views.askForAppChanges(&self.tables, &self.transport)
        self.views.sweepOn(&self.tables)
        self.tellHealth()
        let answered = self.transport.listedConnections.count
        self.views.computeViews(&self.tables, &self.transport)
        self.putWatchersFirst(after: answered)
        self.releaseGroups()
    }

    /// Writes to the watchers before the callers of this tick, if there are few watchers. They get the change one write
    /// earlier; its caller already knows it.
    private mutating func putWatchersFirst(after answered: Int) {
        let watchers = self.transport.listedConnections.count - answered
        guard answered > 0, watchers > 0, watchers <= Limits.watchersBeforeAnswers else { return }
        self.transport.listedConnections[..<answered].reverse()
        self.transport.listedConnections[answered...].reverse()
        self.transport.listedConnections.reverse()
    }

    /// Sends the BEAT of groups that waited for the end of a sweep.
    private mutating func releaseGroups() {
        guard !self.transport.heldGroups.isEmpty, !self.views.isSweeping else { return }
        for connection in self.transport.heldGroups where self.tables.connections.isTaken(connection) {
            self.transport.list(connection, &self.tables)
        }
        self.transport.heldGroups.removeAll()
    }
}
