import PerchBase

/// The kind of load.
package enum Workload: String, Hashable, Sendable, CaseIterable {
    case hot, keyed, mux, catalog, storm, resume, idle, buy, mixed, scenario

    package var summary: String {
        switch self {
        case .hot: "N watchers of one account. Each change goes to all of them."
        case .keyed: "N connections, each watching its own account. Changes go to random accounts."
        case .mux: "One connection with N watches. Changes go to random ones."
        case .catalog: "N watchers of the same products. Each change edits the catalogue."
        case .storm: "N clients connect and get their first value as fast as possible."
        case .resume: "N connections are lost, some accounts change, and all clients resume with their tokens."
        case .idle: "N idle connections. Shows the memory of each."
        case .buy: "M writers buy, each waiting for its answer. Shows the cost of a durable purchase."
        case .mixed:
            "Hot, keyed and products watchers together, with reconnects and slow readers."
        case .scenario: "N accounts play a scenario file, each line at a fixed rate."
        }
    }

    /// Whether the baseline server supports the workload.
    package var hasFloor: Bool { self != .mixed && self != .scenario }

    /// Whether the workload runs for a set duration; otherwise it runs until it is complete.
    package var hasWindow: Bool {
        switch self {
        case .storm, .resume, .scenario: false
        case .hot, .keyed, .mux, .catalog, .idle, .buy, .mixed: true
        }
    }

    /// Whether publish and subscribe, which keeps no state, is comparable work.
    package var hasRedis: Bool {
        switch self {
        case .hot, .keyed, .mux, .storm, .idle: true
        case .catalog, .resume, .buy, .mixed, .scenario: false
        }
    }
}

/// What each change of an account is.
package enum BenchChange: String, Sendable, CaseIterable {
    /// A purchase of a non-renewing product as client libraries send it: with an idempotency key and an account token.
    case purchase
    /// The same without the key.
    case keylessPurchase = "keyless-purchase"
    /// A renewal of the account's subscription, whose status is watched.
    case renewal
}

/// The settings of one bench.
package struct BenchSettings: Sendable {
    package var workload: Workload
    /// The protocol of the measured server's clients.
    package var transport = BenchTransport.perch
    package var watches: Int
    /// Connections over which the watches are spread.
    package var connections: Int
    /// Number of accounts; watch w follows account w modulo this.
    package var keys: Int
    /// Connections that send changes.
    package var writers = 1
    /// Changes a second by a fixed schedule (open loop); nil for a closed loop.
    package var rate: Int?
    /// Closed loop: changes that have not reached all their watchers, or, without watchers, have no answer.
    package var outstanding = 1
    package var warmupNanoseconds: Int64 = 1_000_000_000
    package var durationNanoseconds: Int64 = 10_000_000_000
    /// Silence after the last change after which missing events count as lost.
    package var settleNanoseconds: Int64 = Limits.benchStallMilliseconds * 1_000_000
    /// Approximate bytes of the catalogue's products view.
    package var viewBytes = 100_000
    /// Whether watchers accept compressed messages.
    package var acceptsZlib = false
    /// For `resume`: percentage of accounts that change while no watcher is connected.
    package var changedPercent = 10
    /// For `storm`: each connection reads a whole copy of the app's entitlements, instead of the value of one account.
    package var readsCopies = false
    /// For `mixed`: connections that are dropped and reconnected, a second.
    package var churnPerSecond = 0
    /// For `mixed`: percentage of connections that do not read during the load.
    package var slowPercent = 0
    package var seed: UInt64 = 1
    /// Rounds with each target.
    package var rounds = 1
    package var product = "bench.pass"
    package var change = BenchChange.purchase
    /// Whether the generator polls its sockets without sleeping while it measures, so that no latency is its own wake-up.
    package var polls = false
    /// For `storm`: connections in handshake at a time.
    package var handshakes = Limits.benchHandshakesMax

    /// Settings with the workload's defaults.
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
            // One connection has one wake-up for each batch, which would be most of the latency.
            self.polls = true
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

    /// A rate that one core sustains easily: about 20,000 values a second.
    package var gentleRate: Int {
        let watchersOfKey = max(1, self.watches / max(1, self.keys))
        let values = self.workload == .catalog ? 1_000 : 20_000
        return max(1, values / watchersOfKey)
    }

    /// Expected number of changes, by the schedule or the closed loop, so that tables rarely have to grow.
    var changesExpected: Int {
        let seconds = Double(self.durationNanoseconds + self.warmupNanoseconds) / 1e9
        let perSecond = self.rate.map(Double.init) ?? 250_000
        return min(Limits.benchChangesMax, self.keys + Int(seconds * perSecond * 1.1) + 1_000)
    }

    /// The reason why these settings are impossible; nil if they are valid.
    package var refusal: String? {
        if !self.transport.isAble(self.workload) {
            return
                "\(self.workload.rawValue) has requests that are too long for the bench over \(self.transport.rawValue); "
                + "use --transport perch"
        }
        if self.watches > Limits.benchWatchesMax {
            return "\(self.watches) watches exceed the limit of \(Limits.benchWatchesMax)"
        }
        if self.workload != .scenario, self.connections > self.watches {
            return
                "\(self.connections) connections would share \(self.watches) watches; each connection needs at "
                + "least one"
        }
        if self.workload != .scenario, self.connections > 0,
            (self.watches + self.connections - 1) / self.connections > Limits.callsPerConnectionMax
        {
            return "\(self.watches) watches on \(self.connections) connections exceed the "
                + "\(Limits.callsPerConnectionMax) watches that a connection may have; use "
                + (self.workload == .mux ? "fewer, or use keyed with --connections" : "more connections")
        }
        if self.workload != .buy, self.workload != .scenario, self.watches == 0 {
            return "\(self.workload.rawValue) needs watchers"
        }
        if self.workload == .scenario, self.keys > Limits.benchPlayersMax {
            return "\(self.keys) accounts exceed a scenario's limit of \(Limits.benchPlayersMax)"
        }
        if self.workload == .buy, self.keys < self.writers {
            return
                "\(self.writers) writers need \(self.writers) accounts, and there are \(self.keys); use more accounts or fewer "
                + "writers"
        }
        if self.keys > 99_999_999 { return "\(self.keys) accounts exceed the limit of 99999999" }
        if let rate = self.rate, self.workload != .scenario {
            let changes = Double(rate) * Double(self.durationNanoseconds + self.warmupNanoseconds) / 1e9
            if changes > Double(Limits.benchChangesMax) {
                return "\(rate) changes a second for this duration exceed the limit of \(Limits.benchChangesMax) of a "
                    + "round; use a shorter duration"
            }
        }
        return nil
    }
}
