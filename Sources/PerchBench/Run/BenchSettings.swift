import PerchBase

/// What is done to the server.
package enum Workload: String, Hashable, Sendable, CaseIterable {
    case hot, keyed, mux, catalog, storm, resume, idle, buy, mixed, scenario

    package var summary: String {
        switch self {
        case .hot: "N watchers of one account; each change goes to all of them."
        case .keyed: "N connections, each watching an account of its own; changes go to random ones."
        case .mux: "One connection with N watches; changes go to random ones."
        case .catalog: "N watchers of the same products; each change is an edit of the catalogue."
        case .storm: "N connections are made, opened and given their first value, as fast as it goes."
        case .resume: "N connections are lost, some accounts change, and all come back with their tokens."
        case .idle: "N connections stand still: what one costs in memory."
        case .buy: "M writers buy, each waiting for its answer: what a durable purchase costs."
        case .mixed:
            "All of it at once: hot and keyed watchers, some of products that stay as they are, churn and slow readers."
        case .scenario: "A scenario file is played for N accounts, each line by all of them at a rate."
        }
    }

    /// Whether the bare server says something about it.
    package var hasFloor: Bool { self != .mixed && self != .scenario }

    /// Whether it lasts as long as is wanted; else until it is done.
    package var hasWindow: Bool {
        switch self {
        case .storm, .resume, .scenario: false
        case .hot, .keyed, .mux, .catalog, .idle, .buy, .mixed: true
        }
    }

    /// Whether publishing and subscribing, which keeps no state, is the same work.
    package var hasRedis: Bool {
        switch self {
        case .hot, .keyed, .mux, .storm, .idle: true
        case .catalog, .resume, .buy, .mixed, .scenario: false
        }
    }
}

/// One bench, as it was asked for.
package struct BenchSettings: Sendable {
    package var workload: Workload
    package var watches: Int
    /// The watches are spread over so many connections.
    package var connections: Int
    /// Accounts; watch w looks at account w modulo this.
    package var keys: Int
    /// Connections that changes are sent on.
    package var writers = 1
    /// Changes a second, by a schedule that waits for nobody; nil for a closed loop.
    package var rate: Int?
    /// Of a closed loop: changes that have not reached all their watchers, or, without watchers, not been answered.
    package var outstanding = 1
    package var warmupNanoseconds: Int64 = 1_000_000_000
    package var durationNanoseconds: Int64 = 10_000_000_000
    /// How long nothing may come, after the last change, before what is still under way counts as lost.
    package var settleNanoseconds: Int64 = 5_000_000_000
    /// Of a catalogue: about so many bytes in the view of its products.
    package var viewBytes = 100_000
    /// Whether watchers accept compressed messages.
    package var acceptsZlib = false
    /// Of `resume`: accounts in a hundred that change while nobody is connected.
    package var changedPercent = 10
    /// Of `mixed`: connections that are broken and made again, a second.
    package var churnPerSecond = 0
    /// Of `mixed`: connections in a hundred that do not read while changes are made.
    package var slowPercent = 0
    package var seed: UInt64 = 1
    /// Rounds with each target.
    package var rounds = 1
    package var product = "bench.pass"
    /// Of `storm`: connections under way at a time.
    package var handshakes = Limits.benchHandshakesMax

    /// With the numbers that fit the workload.
    package init(_ workload: Workload, watches: Int = 1_000) {
        self.workload = workload
        self.watches = watches
        self.connections = watches
        self.keys = watches
        switch workload {
        case .hot: self.keys = 1
        case .keyed: self.outstanding = 256
        case .mux:
            self.connections = 1
            self.outstanding = 256
        case .catalog: self.keys = 1
        case .buy:
            self.watches = 0
            self.connections = 0
            self.keys = 10_000
            self.writers = 64
            self.outstanding = 64
        case .mixed:
            self.rate = 1_000
            self.churnPerSecond = 10
            self.slowPercent = 1
        case .scenario:
            self.keys = watches
            self.rate = 1_000
            self.warmupNanoseconds = 0
        case .storm, .resume, .idle: break
        }
    }

    /// A rate that a core keeps up with without haste: about 20,000 values a second.
    package var gentleRate: Int {
        let watchersOfKey = max(1, self.watches / max(1, self.keys))
        let values = self.workload == .catalog ? 1_000 : 20_000
        return max(1, values / watchersOfKey)
    }

    /// So many that a table for them seldom has to grow: those of the schedule, or what a closed loop may make.
    var changesExpected: Int {
        let seconds = Double(self.durationNanoseconds + self.warmupNanoseconds) / 1e9
        let perSecond = self.rate.map(Double.init) ?? 250_000
        return min(Limits.benchChangesMax, self.keys + Int(seconds * perSecond * 1.1) + 1_000)
    }

    /// Why these numbers cannot be; nil if they can.
    package var refusal: String? {
        if self.watches > Limits.benchWatchesMax {
            return "\(self.watches) watches are more than \(Limits.benchWatchesMax)"
        }
        if self.workload != .scenario, self.connections > self.watches {
            return "\(self.connections) connections would share \(self.watches) watches; give at least one to each"
        }
        if self.workload != .scenario, self.connections > 0,
            (self.watches + self.connections - 1) / self.connections > Limits.callsPerConnectionMax
        {
            return "\(self.watches) watches on \(self.connections) connections are more than the "
                + "\(Limits.callsPerConnectionMax) that a connection may have; give "
                + (self.workload == .mux ? "fewer, or take keyed with --connections" : "more connections")
        }
        if self.workload != .buy, self.workload != .scenario, self.watches == 0 {
            return "\(self.workload.rawValue) needs watchers"
        }
        if self.workload == .scenario, self.keys > Limits.benchPlayersMax {
            return "\(self.keys) accounts are more than the \(Limits.benchPlayersMax) that a scenario is played for"
        }
        if self.workload == .buy, self.keys < self.writers {
            return
                "\(self.writers) writers need an account each, and there are \(self.keys); give more accounts or fewer "
                + "writers"
        }
        if self.keys > 99_999_999 { return "\(self.keys) accounts are more than the 99999999 that have names here" }
        if let rate = self.rate, self.workload != .scenario {
            let changes = Double(rate) * Double(self.durationNanoseconds + self.warmupNanoseconds) / 1e9
            if changes > Double(Limits.benchChangesMax) {
                return "\(rate) changes a second for so long are more than the \(Limits.benchChangesMax) that a round "
                    + "keeps; make it shorter"
            }
        }
        return nil
    }
}
