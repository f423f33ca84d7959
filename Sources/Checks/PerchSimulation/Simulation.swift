import PerchBase
import PerchCore
import PerchIdentity
import PerchModel
import PerchStore
import PerchTesting
import PerchWire

/// The life of a server and its clients from a seed. The seed determines the next actor, the bytes delivered, the time
/// and the faults. The same seed gives the same life, byte for byte.
package final class Simulation {
    package struct Report: Sendable {
        package var seed: UInt64
        /// A checksum of every step and every byte sent to a client.
        package var hash: UInt32
        package var stepCount: Int
        package var messageCount: Int
        package var revision: UInt64
        package var breaches: [String]
        package var deaths: Deaths
        package var callers: Callers
        /// Changes of several accounts in one commit.
        package var familyChanges: Int
    }

    /// Calls with tokens, by outcome.
    package struct Callers: Sendable, Equatable {
        /// Calls that ended with their token, at its end or by revocation.
        package var expired = 0
        package var revoked = 0
        /// Calls that the token did not permit.
        package var denied = 0
    }

    /// The totals of many seeds.
    package struct Totals: Sendable, CustomStringConvertible {
        package private(set) var seeds = 0
        package private(set) var messages = 0
        package private(set) var revisions: UInt64 = 0
        package private(set) var brokenSeeds: [UInt64] = []
        package private(set) var deaths = Deaths()
        package private(set) var callers = Callers()
        package private(set) var familyChanges = 0

        package init() {}

        package mutating func add(_ report: Report) {
            self.seeds += 1
            self.messages += report.messageCount
            self.revisions += report.revision
            self.deaths.killed += report.deaths.killed
            self.deaths.cut += report.deaths.cut
            self.deaths.inCommit += report.deaths.inCommit
            self.deaths.failedSyncs += report.deaths.failedSyncs
            self.callers.expired += report.callers.expired
            self.callers.revoked += report.callers.revoked
            self.callers.denied += report.callers.denied
            self.familyChanges += report.familyChanges
            if !report.breaches.isEmpty { self.brokenSeeds.append(report.seed) }
        }

        package var description: String {
            "\(self.brokenSeeds.count) seeds with a breach, \(self.revisions) revisions, \(self.messages) messages; "
                + "\(self.deaths.killed) servers killed, \(self.deaths.cut) cut off from power, "
                + "\(self.deaths.inCommit) of them in a commit, \(self.deaths.failedSyncs) failed syncs; "
                + "\(self.familyChanges) changes of a family; calls whose token expired \(self.callers.expired), "
                + "was taken back \(self.callers.revoked), was not enough \(self.callers.denied)"
        }
    }

    /// Steps of a life by default.
    package static let usualSteps = 500

    let seed: UInt64
    let world: World
    var random: SeededRandom
    var promises = Promises()
    /// One of the two is the store.
    private let storage: MemoryStorage?
    private let disk: FaultyDisk?
    /// Whether servers of this life die. The other half of lives lasts longer and reaches slow events.
    private let diesAtAll: Bool
    private(set) var deaths = Deaths()
    /// Whether the disk of the current server has failed; the server then ends soon.
    private var hasStoreFailed: Bool { self.world.storeFailure != nil }
    /// Whether a disk failed and messages of that server may still be in flight.
    var hasDiskFailed: Bool { self.deaths.failedSyncs > 0 }
    /// The stalled loop, and its remaining ticks.
    private var held: (loop: Int, steps: Int)?
    private var customers: [SimulatedCustomer] = []
    private var hash: UInt32 = 0
    private var messageCount = 0
    private var keyCount: UInt16 = 0
    /// Nil if every client may do everything.
    let tokens: SimulatedTokens?
    var callers = Callers()
    private let mood: Mood
    /// Prints every step, to examine a failure.
    package var isTold = false

    /// Deaths of servers, by kind.
    package struct Deaths: Sendable, Equatable {
        package var killed = 0
        package var cut = 0
        /// Those during a commit.
        package var inCommit = 0
        package var failedSyncs = 0
    }

    /// The random source of the loops' sockets, shared with the closures of their conditions.
    private final class Mood {
        var random: SeededRandom
        var isCalm = false
        var isWithoutDescriptors = false

        init(_ random: SeededRandom) { self.random = random }
    }

    package init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        let mood = Mood(SeededRandom(seed: random.next()))
        self.mood = mood
        var setup = World.Setup()
        setup.loops = 1 + random.below(3)
        if random.below(4) == 0 {
            self.disk = FaultyDisk(seed: random.next())
            self.storage = nil
        } else {
            self.disk = nil
            self.storage = MemoryStorage(identity: World.identity)
        }
        setup.disk = self.disk
        setup.storage = self.storage
        self.diesAtAll = random.bool()
        setup.sendBufferBytes = random.element([700, 4_096, 128 * 1024])
        setup.settings = TestShop.settings(billingIssues: random.below(5) == 0, grace: random.bool())
        setup.cacheBytesMax = random.bool() ? 1 << 20 : 1_024
        // A store in memory has a cache only where the cache is under test.
        self.storage?.holdsRecords = setup.cacheBytesMax > 1_024
        if random.below(4) == 0 { setup.core.unsentBytesMax = 300 }
        let jsonBytes = random.below(6) == 0 ? 5_000 : 0
        let shareable: Set<String> = random.below(4) == 0 ? [] : SimulatedCustomer.shared
        setup.catalogue = TestShop.catalogue(jsonBytes: jsonBytes, shareable: shareable)
        self.tokens = random.below(3) == 0 ? SimulatedTokens() : nil
        if self.tokens != nil { setup.authenticator = SimulatedTokens.authenticator }
        var conditions = SimulatedLoop.Conditions()
        conditions.readBytes = { mood.isCalm ? 64 * 1024 : mood.random.element([1, 7, 40, 500, 64 * 1024]) }
        conditions.writeBytes = { mood.isCalm ? .max : mood.random.element([0, 1, 3, 5, 60, 600, .max, .max, .max]) }
        conditions.isWithoutDescriptors = { mood.isWithoutDescriptors }
        conditions.isSkipped = { mood.isCalm ? false : mood.random.below(4) == 0 }
        self.world = World(setup, conditions: conditions)
        let dearer = TestShop.catalogue(
            prices: ["gold": 21_990, "silver": 8_490], jsonBytes: jsonBytes, shareable: shareable)
        let fewer = TestShop.catalogue(
            names: ["gold": "Pure gold"], without: ["weekly"], shareable: shareable.subtracting(["silver"]))
        self.world.catalogueFiles = [
            [0]: (setup.catalogue, setup.settings),
            [1]: (dearer, setup.settings),
            [2]: (fewer, setup.settings),
            [3]: (
                setup.catalogue,
                TestShop.settings(storefront: "DEU", locale: "de", billingIssues: false, grace: true)
            ),
        ]
        self.random = random
        for number in 0..<(2 + self.random.below(4)) { self.customers.append(SimulatedCustomer(number, self)) }
    }

    /// The latest time on the clock of any server.
    var latestWall: Instant { self.world.latestWall }

    func nextKey() -> [UInt8] {
        self.keyCount += 1
        return [UInt8(self.keyCount >> 8), UInt8(self.keyCount & 0xFF)]
    }

    /// Runs this number of steps, then lets the simulation settle and checks it.
    package func run(steps: Int) -> Report {
        for step in 0..<steps {
            self.step()
            if step % 64 == 63 { self.checkTables() }
            if !self.promises.breaches.isEmpty { break }
        }
        if self.promises.breaches.isEmpty { self.comeToRest() }
        return Report(
            seed: self.seed, hash: self.hash, stepCount: steps, messageCount: self.messageCount,
            revision: self.world.history.revision, breaches: self.promises.breaches, deaths: self.deaths,
            callers: self.callers, familyChanges: self.world.history.familyChangeCount)
    }

    private func note(_ what: @autoclosure () -> String, _ numbers: Int...) {
        if self.isTold { print("[\(self.world.wall)] \(what()) \(numbers)") }
        var bytes: [UInt8] = []
        for number in numbers { withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) } }
        self.mix(bytes)
    }

    private func mix(_ bytes: [UInt8]) {
        self.hash = (self.hash << 5 | self.hash >> 27) ^ CRC32C.checksum(bytes)
    }

    private func step() {
        if self.hasStoreFailed, self.random.below(20) == 0 {
            // The process ends by itself within a second.
            self.bury(self.random.bool() ? .process : .power, inCommit: false)
        }
        switch self.random.below(200) {
        case ..<76: self.moveBytes()
        case ..<140: self.stepLoop()
        case ..<160:
            self.runStore()
        case ..<187:
            let number = self.random.below(self.customers.count)
            self.note("customer", 2, number)
            self.customers[number].act()
        case ..<196: self.passTime()
        case ..<198: self.fillDisk()
        default: self.goWrong()
        }
    }

    /// Often in two halves, between which loops turn and time passes.
    private func runStore() {
        self.note("store", 1, self.world.isStoreRunning ? 1 : 0)
        if self.world.isStoreRunning {
            self.world.finishStoreRun()
            return
        }
        self.world.beginStoreRun()
        if self.world.isDead { return self.bury(.process, inCommit: true) }
        if self.random.below(3) != 0 { self.world.finishStoreRun() }
    }

    // MARK: Faults

    /// The disk is full: for one commit, or until space is available again.
    private func fillDisk() {
        if let disk = self.disk {
            let isFull = disk.room == nil
            self.note(isFull ? "the disk is full" : "the disk has room again", 4, isFull ? 1 : 0)
            disk.room = isFull ? disk.bytes + self.random.below(40_000) : nil
        } else {
            self.note("the disk is full", 4)
            self.storage?.nextCommitFailure = .full("no space left")
        }
    }

    private func goWrong() {
        let what = self.random.below(10)
        self.note("something goes wrong", 8, what)
        switch what {
        case 0: self.mood.isWithoutDescriptors.toggle()
        case 1: self.held = (self.random.below(self.world.loops.count), 1 + self.random.below(60))
        case 2:
            // The whole process stops and continues.
            self.world.jump(Int64(self.random.below(600_000)))
        case 3: self.world.setMachineClock(by: Int64(self.random.below(3_600_000)))
        case 4: self.world.setMachineClock(by: -Int64(self.random.below(600_000)))
        default: if self.diesAtAll { self.endServer() }
        }
    }

    private func endServer() {
        guard let disk = self.disk else {
            self.bury(.process, inCommit: false)
            return
        }
        switch self.random.below(5) {
        case 0: self.bury(.process, inCommit: false)
        case 1: self.bury(.power, inCommit: false)
        case 2: disk.killProcess(syncsAhead: self.random.below(3))
        case 3: disk.killProcess(ahead: self.random.below(60))
        default:
            self.deaths.failedSyncs += 1
            disk.failNextSync()
        }
    }

    /// The server is dead, and another starts.
    private func bury(_ loss: FaultyDisk.Loss, inCommit: Bool) {
        // A process that died during a commit may have lost power in it.
        let loss = inCommit && self.random.bool() ? .power : loss
        self.note("the server dies", 9, loss == .power ? 1 : 0, inCommit ? 1 : 0)
        if loss == .power { self.deaths.cut += 1 } else { self.deaths.killed += 1 }
        if inCommit { self.deaths.inCommit += 1 }
        // The clock may repeat times that it showed while no lease could be written: see `StoreEngine.clockBound`.
        let shown = self.world.hasRunUnleased ? min(self.world.wall, self.world.engine.header.lease) : self.world.wall
        self.disk?.room = nil
        let committed = self.world.restart(after: loss)
        self.promises.restarted(self.world, committed: committed, wall: shown)
        for id in self.tokens?.forgotten(by: self.world.engine.revoked, at: self.latestWall) ?? [] {
            self.promises.breach("durable", "token \(id) was taken back, and is not after a restart")
        }
    }

    private func moveBytes() {
        let clients = self.world.clients.filter(\.isOpen)
        guard !clients.isEmpty else { return }
        let number = self.random.below(clients.count)
        let count = self.random.element([1, 9, 100, 4_000, Int.max])
        if self.random.bool() {
            _ = clients[number].socket.deliverToServer(upTo: count)
            self.note("to server", 5, number, count)
        } else {
            self.take(clients[number], clients[number].socket.deliverToClient(upTo: count))
        }
    }

    private func take(_ client: WireClient, _ bytes: [UInt8]) {
        self.note("to client", 6, Int(client.socket.number), bytes.count)
        self.mix(bytes)
        let before = client.events.count
        if !bytes.isEmpty || client.socket.isAtEndForClient { client.take(bytes) }
        self.messageCount += client.events.count - before
        if self.isTold { for event in client.events[before...] { print("    \(event)") } }
        client.forgetEvents()
        if !client.isOpen { self.world.forgetEndedClients() }
    }

    private func stepLoop() {
        let loop = self.random.below(self.world.loops.count)
        if let held = self.held {
            self.held = held.steps > 1 ? (held.loop, held.steps - 1) : nil
            if held.loop == loop { return }
        }
        let isInTurn = self.world.loops[loop].isInTurn
        self.note(isInTurn ? "finish turn" : "begin turn", 7, loop)
        if isInTurn {
            self.world.finishTurn(loop)
        } else {
            self.world.beginTurn(loop)
            if self.random.below(3) != 0 { self.world.finishTurn(loop) }
        }
    }

    private func passTime() {
        let bounds = [3, 50, 1_000, 1_000, 9_000, 70_000]
        var milliseconds = Int64(self.random.below(self.random.element(bounds)))
        // Often exactly to the next timer, or a millisecond beside it.
        if self.random.below(3) == 0, let wake = self.world.nextWake {
            milliseconds = max(0, min(wake, 120_000) + Int64(self.random.below(3)) - 1)
        }
        self.note("time", 3, Int(milliseconds))
        self.world.jump(milliseconds)
    }

    private func checkTables() {
        for loop in self.world.loops where !loop.isInTurn { loop.core.checkInvariants() }
    }

    // MARK: At rest

    /// Removes all faults and delivers everything in flight.
    private func comeToRest() {
        self.mood.isCalm = true
        self.mood.isWithoutDescriptors = false
        self.storage?.nextCommitFailure = nil
        self.disk?.heal()
        self.disk?.room = nil
        if self.hasStoreFailed { self.bury(.process, inCommit: false) }
        // A client that saw a later time waits for it.
        self.world.setMachineClock(by: max(0, self.latestWall.milliseconds(since: self.world.machine)))
        for client in self.world.clients {
            client.socket.isStalled = false
            client.socket.capacity = 128 * 1024
        }
        for loop in self.world.loops where loop.isInTurn { self.world.finishTurn(loop.index) }
        // A loop reads the clock at least every minute, since it may have been set.
        for loop in self.world.loops { self.world.turn(loop.index) }
        self.settle()
        let begin = self.latestWall
        // Retries the commits that found no space.
        for _ in 0..<4 {
            self.world.jump(1_000)
            self.settle()
        }
        self.checkTables()
        for customer in self.customers {
            customer.checkCallersAtRest(endedBefore: begin)
            self.promises.checkAtRest(customer.watches, self.world)
        }
        guard self.promises.breaches.isEmpty else { return }
        self.readAll()
        self.world.checkNothingIsLeft()
    }

    private func settle() {
        var rounds = 0
        var moved = true
        while moved {
            moved = false
            for client in self.world.clients where client.isOpen {
                if client.socket.deliverToServer() { moved = true }
                let bytes = client.socket.deliverToClient()
                if !bytes.isEmpty || client.socket.isAtEndForClient {
                    self.take(client, bytes)
                    moved = true
                }
            }
            for loop in self.world.loops where loop.hasWork(at: self.world.monotonic) {
                self.world.turn(loop.index)
                moved = true
            }
            if self.world.storeHasWork {
                if self.world.isStoreRunning { self.world.finishStoreRun() } else { self.world.runStore() }
                moved = true
            }
            rounds += 1
            precondition(rounds < 100_000, "seed \(self.seed) does not come to rest")
        }
    }

    /// Compares the last value of each watch with a read by another client.
    private func readAll() {
        let token = self.tokens?.make(.admin, account: nil, expires: self.world.wall.advanced(byMilliseconds: 60_000))
        let stranger = self.world.welcomedClient(authorization: token?.authorization ?? "")
        for taken in self.tokens?.acknowledged ?? [] where taken.expires > self.latestWall {
            let thief = self.world.connect()
            thief.hello(authorization: taken.authorization)
            self.world.settle()
            if thief.drains.map(\.reason) != ["CREDENTIALS_REVOKED"] {
                self.promises.breach("permission", "token \(taken.id) was taken back, and is taken")
            }
        }
        for customer in self.customers where customer.isConnected {
            for watch in customer.watches where watch.stream != nil && !self.promises.mayWaitForGood(watch, self.world)
            {
                guard let request = watch.subject.read else { continue }
                let response = self.world.answer(to: request, from: stranger).response
                let read: SeenValue? =
                    switch response {
                    case .getProducts(let state)?: state.value.map(SeenValue.products)
                    case .getSubscriptionStatus(let state)?: state.value.map(SeenValue.statuses)
                    case .getCurrentEntitlement(.success(let value, _))?: .entitlement(value)
                    default: nil
                    }
                if read != watch.said {
                    self.promises.breach("reliable", "\(watch.subject) is read otherwise than it was said last")
                }
            }
        }
    }
}
