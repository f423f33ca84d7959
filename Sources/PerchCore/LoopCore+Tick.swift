import PerchBase

// The middle of a tick, in which service and views decide, and the transport learns who has something to write.
extension LoopCore {
    /// Ends the input of a turn: what is due is raised, and every listed view is computed, once.
    package mutating func endInput() {
        self.runTimers()
        self.wakeWaiters()
        self.sweepOn()
        let answered = self.transport.listedConnections.count
        self.computeViews()
        self.putWatchersFirst(after: answered)
        self.releaseGroups()
    }

    /// Lets those who watch be written to before those who were answered in this turn, if they are few: the change is theirs
    /// one write earlier, and who made it knows of it.
    private mutating func putWatchersFirst(after answered: Int) {
        let watchers = self.transport.listedConnections.count - answered
        guard answered > 0, watchers > 0, watchers <= Limits.watchersBeforeAnswers else { return }
        self.transport.listedConnections[..<answered].reverse()
        self.transport.listedConnections[answered...].reverse()
        self.transport.listedConnections.reverse()
    }

    /// Groups that waited for the end of a sweep get their BEAT.
    private mutating func releaseGroups() {
        guard !self.transport.heldGroups.isEmpty, !self.isSweeping else { return }
        for connection in self.transport.heldGroups where self.connections.isTaken(connection) { self.list(connection) }
        self.transport.heldGroups.removeAll()
    }
}
