import PerchBase
import PerchStore
import PerchWire

/// Calls of apps that this node does not know. Another node of the store may have made them a moment ago.
///
/// One look serves all that wait for it, and a loop looks at most once in `Limits.feedPollMilliseconds`. So unknown names cost the
/// database less than the looks that a node without calls makes anyway.
struct AppSearch {
    struct Entry {
        var call: Int32
        var generation: UInt32
        var request: Request
        var forgivesToken: Bool
        /// Number of calls before it. Calls go on in this order.
        var order: UInt64
    }

    private var entries: [Int32: Entry] = [:]
    private var lastOrder: UInt64 = 0
    /// The last call that the look under way serves; nil: none is. A later call may be of an app that is newer than the look.
    private var served: UInt64?
    /// When the next look may begin, in milliseconds of the monotonic clock.
    private var allowed: Int64 = .min

    var isEmpty: Bool { self.entries.isEmpty }
    var count: Int { self.entries.count }

    /// When to look; nil: a look is under way, or no call waits.
    var nextTime: Int64? { self.entries.isEmpty || self.served != nil ? nil : self.allowed }

    mutating func add(_ call: Int32, generation: UInt32, _ request: Request, forgivesToken: Bool) {
        self.lastOrder += 1
        self.entries[call] = Entry(
            call: call, generation: generation, request: request, forgivesToken: forgivesToken, order: self.lastOrder)
    }

    mutating func remove(_ call: Int32) { self.entries[call] = nil }

    mutating func begin(at now: Int64) {
        self.served = self.lastOrder
        self.allowed = now + Limits.feedPollMilliseconds
    }

    /// Ends the look, and takes the calls that it served.
    mutating func end() -> [Entry] {
        let served = self.served ?? 0
        self.served = nil
        let found = self.entries.values.filter { $0.order <= served }.sorted { $0.order < $1.order }
        for entry in found { self.entries[entry.call] = nil }
        return found
    }

    /// Takes all calls. A look that is under way goes on and serves none of them.
    mutating func takeAll() -> [Entry] {
        let all = self.entries.values.sorted { $0.order < $1.order }
        self.entries = [:]
        return all
    }

    /// Traps if a call waits that is gone. For tests and the simulator.
    func checkInvariants(isTaken: (Entry) -> Bool) {
        for entry in self.entries.values { precondition(isTaken(entry), "a call that looks for its app is gone") }
    }
}

extension Service {
    /// Makes a call wait for the next look.
    mutating func searchApp(
        _ call: Int32, _ request: Request, forgivesToken: Bool, _ tables: inout Tables, _ views: inout some Source
    ) throws(CallRefusal) {
        guard tables.vouches else { throw CallRefusal(Self.outOfReach) }
        try self.requireRoom(WaitingCalls.bytesPerWaiter, tables, views)
        self.appSearch.add(call, generation: tables.calls.generation(call), request, forgivesToken: forgivesToken)
        self.lookForApps(&tables)
    }

    /// Looks for apps that other nodes have made, if calls wait for that and the last look is long enough ago.
    mutating func lookForApps(_ tables: inout Tables) {
        guard let time = self.appSearch.nextTime, time <= tables.now.monotonic else { return }
        self.appSearch.begin(at: tables.now.monotonic)
        tables.ask(.look, .look)
    }

    /// The changes before the look are applied. A call whose app is still unknown is refused.
    mutating func finishAppSearch(
        _ answer: consuming StoreAnswer, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        let found = self.appSearch.end()
        if case .refused(let refusal) = consume answer {
            for entry in found where tables.calls.isTaken(entry.call, generation: entry.generation) {
                self.end(entry.call, WireStatus(refusal), &tables, &views, &sink)
            }
            return
        }
        for entry in found where tables.calls.isTaken(entry.call, generation: entry.generation) {
            do throws(CallRefusal) {
                try self.begin(
                    entry.call, entry.request, forgivesToken: entry.forgivesToken, hasLooked: true, &tables, &views,
                    &sink)
            } catch {
                self.end(entry.call, error.status, &tables, &views, &sink)
            }
        }
    }

    /// The store is out of reach, so nobody can say whether there are such apps.
    mutating func endAppSearch(_ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink) {
        for entry in self.appSearch.takeAll()
        where tables.calls.isTaken(entry.call, generation: entry.generation) {
            self.end(entry.call, Self.outOfReach, &tables, &views, &sink)
        }
    }
}
