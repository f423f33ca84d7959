import PerchBase
import PerchSimulation
import Testing

/// Runs the load of `pushcost` with tiny inputs, so that it keeps working.
@Suite struct `the load of one change after the other` {
    @Test(arguments: [1, 5, 20])
    func `each change is pushed once, on however many connections the watches are`(_ connections: Int) {
        let load = PushLoad(PushLoad.Setup(watches: 20, connections: connections, batch: 1))
        load.warmUp()
        let before = load.values
        load.run(changes: 40)
        #expect(load.values - before == 40)
        #expect(load.bytesWritten > 40 * 100)
    }

    /// The data of several changes is prefetched together: each change must be pushed all the same.
    @Test(arguments: [2, Limits.prefetchedAtOnce, Limits.prefetchedAtOnce + 1, 3 * Limits.prefetchedAtOnce + 5])
    func `each account's watcher gets its change, however many a tick has`(_ batch: Int) {
        let load = PushLoad(PushLoad.Setup(watches: batch, connections: 7, batch: batch))
        load.warmUp()
        let before = load.values
        load.run(changes: 10 * batch)
        // Two changes of one account in a tick are one value.
        let values = Int(load.values - before)
        #expect(values <= 10 * batch)
        #expect(values >= 5 * batch)
    }

    @Test func `changes of one turn are one value for each watcher of the account`() {
        var setup = PushLoad.Setup(watches: 30, connections: 30, batch: 8)
        setup.accounts = 1
        let load = PushLoad(setup)
        load.warmUp()
        let before = load.values
        load.run(changes: 24)
        #expect(load.values - before == 3 * 30)
    }

    @Test func `a turn of more changes than the store is asked at once is still one turn`() {
        var setup = PushLoad.Setup(watches: 4, connections: 4, batch: 3 * Limits.asksAtOnce + 1)
        setup.accounts = 1
        let load = PushLoad(setup)
        load.warmUp()
        let before = (values: load.values, writes: load.writes)
        load.run(changes: setup.batch)
        #expect(load.values - before.values == 4)
        // One for each watcher, and one for all the answers.
        #expect(load.writes - before.writes == 5)
    }

    @Test func `each connection of a storm gets one value`() {
        let load = PushLoad(PushLoad.Setup(watches: 10, connections: 0, batch: 8))
        load.warmUp()
        let before = load.values
        load.storm(connections: 20)
        #expect(load.values - before == 20)
    }

    @Test(arguments: [PushLoad.Change.keyedPurchase, .renewal])
    func `changes of other kinds are pushed once each too`(_ change: PushLoad.Change) {
        var setup = PushLoad.Setup(watches: 10, connections: 1, batch: 1)
        setup.change = change
        let load = PushLoad(setup)
        load.warmUp()
        let before = load.values
        load.run(changes: 25)
        #expect(load.values - before == 25)
    }
}
