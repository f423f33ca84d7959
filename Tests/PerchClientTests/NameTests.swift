import Glibc
import PerchBase
import PerchClient
import PerchLoop
import PerchTesting
import Synchronization
import Testing
import TestingThreads

/// A scripted name server that counts its lookups.
private final class NameBook: Sendable {
    private struct State {
        var answers: [Result<[SocketAddress], NameFault>] = []
        var asked = 0
        var isHeld = false
    }

    private let state = Mutex(State())
    /// A byte in it for each answer that may be given, where they are held back.
    private let gate: (reading: Int32, writing: Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no pipe for a test")
        self.gate = (ends[0], ends[1])
    }

    deinit {
        close(self.gate.reading)
        close(self.gate.writing)
    }

    /// Sets the answers in order; the last one repeats.
    func say(isHeld: Bool = false, _ answers: Result<[SocketAddress], NameFault>...) {
        self.state.withLock { state in
            state.answers = answers
            state.isHeld = isHeld
        }
    }

    var asked: Int { self.state.withLock { $0.asked } }

    /// Lets one answer go that is held back, or will be.
    func release() {
        var byte: UInt8 = 1
        precondition(write(self.gate.writing, &byte, 1) == 1, "a pipe takes a byte")
    }

    func look(_ name: String, _ port: UInt16) throws(NameFault) -> [SocketAddress] {
        precondition(name == "perch.test" && port == 7447, "\(name):\(port) was not asked for")
        let (answer, isHeld) = self.state.withLock { state in
            defer { state.asked += 1 }
            return (state.answers[min(state.asked, state.answers.count - 1)], state.isHeld)
        }
        var byte: UInt8 = 0
        if isHeld { precondition(read(self.gate.reading, &byte, 1) == 1, "a pipe gives a byte") }
        return try answer.get()
    }
}

@Suite(.onOwnThreads) struct `a server that is named` {
    private let book: NameBook
    private let stage: LoopbackStage
    private let address: SocketAddress

    init() throws {
        let book = NameBook()
        self.book = book
        self.stage = try LoopbackStage { name, port throws(NameFault) in try book.look(name, port) }
        self.address = try SocketAddress(parsing: self.stage.server.address)
    }

    private func client(connectTimeout: Duration = .seconds(300)) throws -> PerchClient {
        try self.stage.client(at: "perch.test:7447") { $0.connectTimeout = connectTimeout }
    }

    private let silent = [SilentPort(), SilentPort()]

    /// Where nobody listens.
    private func deserted(_ number: Int = 0) throws -> SocketAddress {
        try SocketAddress(parsing: self.silent[number].address)
    }

    @Test func `a server that is named is found`() async throws {
        self.book.say(.success([self.address]))
        #expect(try await self.client().apps().count == 1)
        #expect(self.book.asked == 1)
    }

    @Test func `a server that is named is tried at each of its addresses before anybody hears of a failure`()
        async throws
    {
        self.book.say(.success([try self.deserted(0), try self.deserted(1), self.address]))
        // Without waiting for a server, a failed try would be the end of the call.
        #expect(try await self.client().apps().count == 1)
        #expect(self.book.asked == 1)
    }

    @Test func `a server that is named is none where no address takes a connection, and the last is named`()
        async throws
    {
        let last = try self.deserted(1)
        self.book.say(.success([try self.deserted(0), last]))
        let error = await #expect(throws: PerchError.self) { try await self.client().apps() }
        #expect(error?.reason == .connectFailed && error?.isTransient == true)
        #expect(error?.message.contains("perch.test:7447 at \(last): connect answered Connection refused") == true)
    }

    @Test func `the name is resolved for each attempt, so a wrong name is reported only while it is wrong`()
        async throws
    {
        self.book.say(.failure(NameFault("perch.test", "not known here")), .success([self.address]))
        let client = try self.client()
        let error = await #expect(throws: PerchError.self) { try await client.apps() }
        #expect(error?.reason == .connectFailed && error?.code == .unavailable && error?.isTransient == true)
        #expect(error?.message.contains("cannot resolve \"perch.test\": not known here") == true)
        var states = client.subscriptionStatusTask(account: "anna", group: "premium").makeAsyncIterator()
        #expect(await states.next(where: { $0.value != nil }) != nil)
        #expect(self.book.asked == 2)
    }

    @Test func `a server that is named is asked for once by however many clients wait`() async throws {
        self.book.say(isHeld: true, .success([self.address]))
        let clients = [try self.client(), try self.client(), try self.client()]
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in clients { group.addTask { try await client.apps().count } }
            for client in clients {
                var states = client.connection.makeAsyncIterator()
                _ = await states.next(where: { $0 == .connecting })
            }
            self.book.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [1, 1, 1])
        #expect(self.book.asked == 1)
    }

    @Test func `a server that is named may be left while its name is looked up`() async throws {
        self.book.say(isHeld: true, .success([self.address]))
        let left = try self.client()
        let answer = Task(executorPreference: TestingThreads.shared) { try await left.apps() }
        var states = left.connection.makeAsyncIterator()
        _ = await states.next(where: { $0 == .connecting })
        left.close()
        let error = await #expect(throws: PerchError.self) { try await answer.value }
        #expect(error?.reason == .closed)
        // The next client gets the result of the first lookup.
        let client = try self.client()
        async let count = client.apps().count
        states = client.connection.makeAsyncIterator()
        _ = await states.next(where: { $0 == .connecting })
        self.book.release()
        #expect(try await count == 1)
        #expect(self.book.asked == 1)
    }

    @Test func `a slow name lookup is given up, and its answer serves a later attempt`() async throws {
        // On a busy machine the later attempt may take too long as well, and the name is looked up again. Then the next client has more
        // time.
        for milliseconds in [200, 1_000, 5_000, 25_000] {
            self.book.say(isHeld: true, .success([self.address]))
            let before = self.book.asked
            let client = try self.client(connectTimeout: .milliseconds(milliseconds))
            var states = client.subscriptionStatusTask(account: "anna", group: "premium").makeAsyncIterator()
            var connection = client.connection.makeAsyncIterator()
            let waiting = await connection.next { if case .waiting = $0 { true } else { false } }
            guard case .waiting(_, let reason)? = waiting else {
                Issue.record("\(String(describing: waiting))")
                return
            }
            #expect(reason.reason == .welcomeTimeout && reason.message.contains("\(milliseconds) ms"))
            self.book.say(.success([self.address]))
            self.book.release()
            let end = await connection.next { if case .connecting = $0 { false } else { true } }
            guard case .connected? = end, self.book.asked == before + 1 else { continue }
            #expect(await states.next(where: { $0.value != nil }) != nil)
            return
        }
        Issue.record("no attempt used the late answer")
    }

    @Test func `a silent first address is skipped for the next one`() async throws {
        let silent = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        self.book.say(.success([Sockets.localAddress(silent.number), self.address]))
        var states = try self.client(connectTimeout: .milliseconds(300)).subscriptionStatusTask(
            account: "anna", group: "premium"
        ).makeAsyncIterator()
        #expect(await states.next(where: { $0.value != nil }) != nil)
        #expect(self.book.asked >= 2 && silent.number >= 0, "the silent one listened all the time")
    }

    @Test(arguments: ["perch.test:0", "perch test:1", "300.1.1.1:1", "perch.test"])
    func `in words that cannot be a name is refused before anything is sent`(_ address: String) {
        let error = #expect(throws: PerchError.self) { try PerchClient(address: address) }
        #expect(error?.reason == .addressInvalid && error?.isTransient == false)
    }
}
