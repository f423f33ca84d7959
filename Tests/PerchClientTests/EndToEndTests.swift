import PerchBase
import PerchClient
import PerchModel
import PerchTesting
import Testing
import TestingThreads

/// Clients and a server on loopback.
@Suite(.onOwnThreads) struct `end to end` {
    private let stage: LoopbackStage

    init() throws { self.stage = try LoopbackStage() }

    @Test func `a purchase of one client is pushed to another, in all streams`() async throws {
        let app = try self.stage.client()
        let backend = try self.stage.client()
        let statuses = backend.subscriptionStatusTask(account: "anna", group: "premium")
        let entitlement = backend.currentEntitlementTask(account: "anna", product: "gold")
        var statusStates = statuses.makeAsyncIterator()
        var entitlementStates = entitlement.makeAsyncIterator()
        #expect(await statusStates.next(where: { $0.value != nil })?.value?.statuses == [])
        #expect(await entitlementStates.next(where: { $0.value != nil })?.value == .some(nil))

        let purchase = try await app.purchase("gold", account: "anna")
        let transaction = try #require(purchase.transaction)
        let status = try #require(await statusStates.next())
        #expect(status.value?.effective?.transaction == transaction && status.info?.cause == .purchase)
        #expect(entitlement.last == .some(transaction), "what belongs together is there together")
        #expect(await entitlementStates.next()?.value == .some(transaction))

        let read = try await backend.currentEntitlement(
            account: "anna", product: "gold", atLeast: purchase.position)
        #expect(read.value == transaction)
        #expect(try await backend.currentEntitlements(account: "anna").value == [transaction])
    }

    @Test func `an iterator whose task was cancelled is over, for every task`() async throws {
        let client = try self.stage.client()
        let task = client.currentEntitlementTask(account: "anna", product: "gold")
        let updates = client.transactionUpdates(account: "anna")
        // Another iteration continues, so the stream stays open.
        var other = task.makeAsyncIterator()
        _ = await other.next(where: { $0.info != nil })
        let cancelled = Task(executorPreference: TestingThreads.shared) { () async throws -> (Bool, Bool) in
            var states = task.makeAsyncIterator()
            var events = updates.makeAsyncIterator()
            while await states.next() != nil {}
            #expect(try await events.next() == nil)
            return try await Task.detached(executorPreference: TestingThreads.shared) {
                [states, events] () async throws -> (Bool, Bool) in
                var states = states
                var events = events
                return (await states.next() == nil, try await events.next() == nil)
            }.value
        }
        cancelled.cancel()
        let (statesAreOver, eventsAreOver) = try await cancelled.value
        #expect(statesAreOver && eventsAreOver)
        _ = try await client.purchase("gold", account: "anna")
        #expect(await other.next()?.value??.value.productID == "gold")
    }

    @Test func `a call of a task that was cancelled before it asked does nothing`() async throws {
        let client = try self.stage.client()
        for _ in 0..<20 {
            let task = Task(executorPreference: TestingThreads.shared) {
                while !Task.isCancelled { await Task.yield() }
                return try await client.purchase("coins", account: "anna")
            }
            task.cancel()
            await #expect {
                _ = try await task.value
            } throws: { error in
                (error as? PerchError)?.code == .cancelled && (error as? PerchError)?.mayHaveHappened == false
            }
        }
        #expect(try await client.transactions(account: "anna").page().transactions.isEmpty)
    }

    @Test func `a place in the events is that of the iteration that was begun last`() async throws {
        let client = try self.stage.client()
        let other = try self.stage.client()
        let updates = client.transactionUpdates(account: "anna")
        var first = updates.makeAsyncIterator()
        for _ in 0..<3 { _ = try await other.purchase("coins", account: "anna") }
        for _ in 0..<3 { _ = try await first.next() }
        #expect(updates.cursor != nil)
        var second = updates.makeAsyncIterator()
        #expect(updates.cursor == nil, "the unfinished ones come first")
        _ = try await second.next()
        _ = try await other.purchase("coins", account: "anna")
        let fourth = try await first.next()
        #expect(fourth?.cursor != nil && updates.cursor != fourth?.cursor, "the second has not come that far")
    }

    @Test func `the changes of an app are delivered once each, and go on from a cursor`() async throws {
        let client = try self.stage.client()
        let other = try self.stage.client()
        var changes = client.appChanges(fromOldest: true).makeAsyncIterator()
        let first = try #require(try await changes.next())
        #expect(first.account == nil && first.cause == .catalog)
        for account in ["anna", "bert", "carl"] { _ = try await other.purchase("gold", account: account) }
        var heard: [AppChange] = []
        while heard.count < 3 { heard.append(try #require(try await changes.next())) }
        #expect(heard.map(\.account) == ["anna", "bert", "carl"])
        #expect(heard[0].groups.map(\.id) == ["premium"])
        #expect(heard[0].entitlements.first?.transaction?.value.productID == "gold")
        var filter = AppChangeFilter()
        filter.products = ["gold"]
        let rest = client.appChanges(after: heard[0].cursor, filter: filter)
        var again = rest.makeAsyncIterator()
        #expect(try await again.next() == heard[1])
        #expect(try await again.next() == heard[2])
        #expect(rest.cursor == heard[2].cursor)
        var none = client.appChanges(after: UpdateCursor(bytes: [1])).makeAsyncIterator()
        await #expect(throws: PerchError.self) { try await none.next() }
    }

    @Test func `the connection's states are delivered as long as a consumer reads them`() async throws {
        var states = try self.stage.client().connection.makeAsyncIterator()
        #expect(await states.next() == .idle)
        let waiting = Task(executorPreference: TestingThreads.shared) { [states] in
            var states = states
            return await states.next()
        }
        waiting.cancel()
        #expect(await waiting.value == nil, "it was not closed")
    }

    @Test func `a customer's transactions are listed, finished, refunded and delivered as events`() async throws {
        let client = try self.stage.client()
        let other = try self.stage.client()
        var updates = other.transactionUpdates(account: "anna").makeAsyncIterator()
        for _ in 0..<5 { _ = try await client.buy("coins", account: "anna") }
        var told: [TransactionID] = []
        while told.count < 5 { told.append(try #require(try await updates.next()).transaction.value.id) }

        let pages = client.transactions(account: "anna", pageSize: 2)
        var listed: [TransactionID] = []
        for try await transaction in pages { listed.append(transaction.value.id) }
        #expect(listed == told && listed.count == 5)
        #expect(try await pages.page().transactions.count == 2)

        try await client.finish(listed[0], account: "anna")
        let refund = try await client.operate(.refund(.transaction(listed[1]), reason: .other, share: .full))
        #expect(refund.transaction?.value.revocation != nil)
        #expect(try await updates.next(where: { $0.kind == .revoked })?.transaction.value.id == listed[1])
        var unfinished: [TransactionID] = []
        for try await transaction in client.unfinished(account: "anna") { unfinished.append(transaction.value.id) }
        #expect(unfinished == Array(listed[1...]))
        #expect(try await client.latestTransaction(account: "anna", product: "coins").value?.value.id == listed[4])
    }

    @Test func `streams go on over connections that break, without a word, and calls are repeated`() async throws {
        let client = try self.stage.client { $0.waitsForServer = true }
        let shop = try self.stage.client { $0.waitsForServer = true }
        var states = client.currentEntitlementTask(account: "anna", product: "licence").makeAsyncIterator()
        var updates = client.transactionUpdates(account: "anna").makeAsyncIterator()
        #expect(await states.next(where: { $0.value != nil })?.value == .some(nil))
        for _ in 0..<20 {
            self.stage.server.breakConnections()
            _ = try await shop.buy("coins", account: "anna")
        }
        _ = try await shop.buy("licence", account: "anna")
        #expect(await states.next()?.value??.value.productID == "licence", "no state between")
        var products: [String] = []
        var ids: Set<TransactionID> = []
        while products.last != "licence" {
            let update = try #require(try await updates.next())
            products.append(update.transaction.value.productID)
            ids.insert(update.transaction.value.id)
        }
        #expect(products.count == 21 && ids.count == 21)
    }

    @Test func `the call is cancelled when its consuming task is cancelled, breaks off, or is dropped`() async throws {
        let client = try self.stage.client()
        let task = client.subscriptionStatusTask(account: "anna", group: "premium")
        let consumer = Task(executorPreference: TestingThreads.shared) {
            var count = 0
            for await _ in task { count += 1 }
            return count
        }
        await self.stage.server.reaches { $0.calls == 1 }
        consumer.cancel()
        #expect(await consumer.value <= 2)
        await self.stage.server.reaches { $0.calls == 0 }

        let server = self.stage.server
        let holder = Task(executorPreference: TestingThreads.shared) {
            var states = task.makeAsyncIterator()
            while await states.next() != nil {}
            // The call is cancelled although the iterator still exists.
            await server.reaches { $0.calls == 0 }
            withExtendedLifetime(states) {}
        }
        await server.reaches { $0.calls == 1 }
        holder.cancel()
        await holder.value

        for await state in task where state.value != nil { break }
        await self.stage.server.reaches { $0.calls == 0 }

        do {
            var reader = task.makeAsyncIterator()
            let second = task.makeAsyncIterator()
            let updates = client.transactionUpdates(account: "anna").makeAsyncIterator()
            await self.stage.server.reaches { $0.calls == 2 }
            while let state = await reader.next(), state.value == nil {}
            withExtendedLifetime((reader, second, updates)) {}
        }
        await self.stage.server.reaches { $0.calls == 0 }
        #expect(task.last?.statuses == [], "the last value stays")
    }

    @Test func `a cancelled call ends, whatever its state`() async throws {
        let client = try self.stage.client()
        let updates = Task(executorPreference: TestingThreads.shared) { () throws(PerchError) -> Int in
            var count = 0
            for try await _ in client.transactionUpdates(account: "nobody") { count += 1 }
            return count
        }
        await self.stage.server.reaches { $0.calls == 1 }
        updates.cancel()
        #expect(try await updates.value == 0)

        // A position that never comes keeps a read waiting.
        let ahead = Position(revision: 1_000_000, asOf: Instant(milliseconds: 0))
        let read = Task(executorPreference: TestingThreads.shared) { () async -> PerchError? in
            do throws(PerchError) {
                _ = try await client.currentEntitlement(account: "anna", product: "gold", atLeast: ahead)
                return nil
            } catch {
                return error
            }
        }
        await self.stage.server.reaches { $0.calls == 1 }
        read.cancel()
        #expect(await read.value?.code == .cancelled)
        await self.stage.server.reaches { $0.calls == 0 }

        // The server answers a moment before the deadline. Where the machine stands still just then, the client ends the call itself.
        var late: PerchError?
        for _ in 0..<20 where late?.reason != "BEHIND" {
            late = await #expect(throws: PerchError.self) {
                try await client.currentEntitlement(
                    account: "anna", product: "gold", atLeast: ahead, timeout: .milliseconds(600))
            }
            #expect(late?.reason == "BEHIND" || late?.reason == .deadline)
        }
        #expect(late?.reason == "BEHIND")
    }

    @Test func `a slow consumer of events loses none, and holds no more than the limit`() async throws {
        let shop = try self.stage.client()
        let client = try self.stage.client()
        let updates = client.transactionUpdates(account: "anna")
        var iterator = updates.makeAsyncIterator()
        _ = try await shop.buy("coins", account: "anna")
        _ = try await iterator.next()
        let count = Limits.clientEventsMax * 2 + 100
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<count / 8 {
                        do { _ = try await shop.buy("coins", account: "anna") } catch { Issue.record(error) }
                    }
                }
            }
        }
        // The stream was given up when its consumer had enough.
        await self.stage.server.reaches { $0.calls == 0 }
        var ids: [TransactionID] = []
        for _ in 0..<count / 8 * 8 { ids.append(try #require(try await iterator.next()).transaction.value.id) }
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        #expect(updates.cursor != nil)

        // Another client continues from its cursor.
        var rest = shop.transactionUpdates(
            account: "anna", after: updates.cursor, includingOwn: true
        ).makeAsyncIterator()
        let next = try await client.buy("coins", account: "anna")
        #expect(try await rest.next()?.transaction == next.transaction)
    }

    @Test func `a copy has each grant, waits for a position, and goes on after a lost connection`() async throws {
        let client = try self.stage.client()
        _ = try await client.grantEntitlement("plus", to: "anna")
        let copy = try client.copy()
        try await copy.ready(timeout: .seconds(300))
        #expect(try copy.has("anna", "plus") && copy.count == 1)
        let changes = copy.changes.makeAsyncIterator()
        let granted = try await client.grantEntitlement("plus", to: "bob")
        try await copy.wait(for: granted.position, timeout: .seconds(300))
        #expect(try copy.has("bob", "plus") && copy.until("bob", "plus") == .distantFuture)
        let change = try await changes.next()
        #expect(
            change
                == .account("bob", before: [:], after: ["plus": CopiedEntitlement(name: "plus", reason: .granted)]))

        self.stage.server.breakConnections()
        let later = try await client.revokeGrant("plus", of: "bob")
        try await copy.wait(for: later, timeout: .seconds(300))
        #expect(try !copy.has("bob", "plus") && copy.has("anna", "plus"))
        let unknown = #expect(throws: PerchError.self) { try copy.has("anna", "plsu") }
        #expect(unknown?.reason == .entitlementUnknown && unknown?.message.contains("plus") == true)
        copy.close()
        let closed = #expect(throws: PerchError.self) { try copy.has("anna", "plus") }
        #expect(closed?.reason == .closed)
    }

    @Test func `a client that ends takes its connection, its streams and its calls with it`() async throws {
        var client: PerchClient? = try self.stage.client()
        let task = try #require(client).subscriptionStatusTask(account: "anna", group: "premium")
        var states = task.makeAsyncIterator()
        #expect(await states.next(where: { $0.value != nil }) != nil)
        client?.close()
        guard case .failure(let failure, let last)? = await states.next() else {
            Issue.record("the stream ended without its reason")
            return
        }
        #expect(failure.isFinal && failure.reason == .closed && last != nil)
        #expect(await states.next() == nil)
        await self.stage.server.reaches { $0.connections == 0 }
        let error = await #expect(throws: PerchError.self) { try await client?.buy("coins", account: "anna") }
        #expect(error?.reason == .closed)
        var connection = try #require(client).connection.makeAsyncIterator()
        #expect(await connection.next() == .closed)
        #expect(await connection.next() == nil)

        client = try self.stage.client()
        _ = try await client?.buy("coins", account: "anna")
        await self.stage.server.reaches { $0.connections == 1 }
        client = nil
        await self.stage.server.reaches { $0.connections == 0 }
    }

    @Test func `without a server a call fails at once with the reason, and a stream waits`() async throws {
        let port = SilentPort()
        let address = port.address
        let client = try PerchClient(address: address, on: self.stage.loop)
        let error = await #expect(throws: PerchError.self) { try await client.apps() }
        #expect(error?.code == .unavailable && error?.reason == .connectFailed)
        #expect(error?.message.contains(address) == true && error?.message.contains("refused") == true)
        let task = client.subscriptionStatusTask(account: "anna", group: "premium")
        var states = task.makeAsyncIterator()
        #expect(await states.next() == .loading)
        var connection = client.connection.makeAsyncIterator()
        let waiting = await connection.next { if case .waiting = $0 { true } else { false } }
        guard case .waiting(_, let reason)? = waiting else { return }
        #expect(reason.reason == .connectFailed)
        withExtendedLifetime((states, port)) {}
    }

    @Test func `the client leaves a stopping server and reports its reason`() async throws {
        let client = try self.stage.client()
        let task = client.subscriptionStatusTask(account: "anna", group: "premium")
        var states = task.makeAsyncIterator()
        #expect(await states.next(where: { $0.value != nil }) != nil)
        self.stage.server.drain()
        var connection = client.connection.makeAsyncIterator()
        let waiting = await connection.next { if case .waiting = $0 { true } else { false } }
        guard case .waiting(_, let reason)? = waiting else { return }
        #expect(reason.reason == "SHUTTING_DOWN" && task.last?.statuses == [])
        withExtendedLifetime(states) {}
    }

    @Test func `a stream that is refused ends with why, and can be tried again`() async throws {
        let client = try self.stage.client()
        let task = client.currentEntitlementTask(account: "", product: "gold")
        for _ in 0..<2 {
            var states: [EntitlementTaskState<Verified<Transaction>?>] = []
            for await state in task { states.append(state) }
            guard case .failure(let failure, last: nil)? = states.last else {
                Issue.record("\(states)")
                return
            }
            #expect(failure.isFinal && failure.reason == "ACCOUNT_KEY" && failure.error?.code == .invalidArgument)
        }
    }

    @Test func `time is moved, and seen`() async throws {
        let client = try self.stage.client()
        let bought = try await client.buy("gold", account: "anna")
        try await client.operate(.setAutoRenew(.transaction(try #require(bought.transaction).value.id), isOn: false))
        var states = client.subscriptionStatusTask(account: "anna", group: "premium").makeAsyncIterator()
        #expect(await states.next(where: { $0.value != nil })?.value?.effective != nil)
        let moved = try await client.setClock(.advance(toNextBoundaryOf: "anna"))
        #expect(moved.clock.now >= (bought.transaction?.value.expirationDate ?? .distantFuture))
        let expired = try #require(await states.next())
        #expect(expired.value?.statuses.first?.state == .expired && expired.value?.effective == nil)
        #expect(try await client.setClock(.freeze).clock.isFrozen)
        #expect(try await client.clock().isFrozen)
        let back = await #expect(throws: PerchError.self) { try await client.setClock(.advance(by: .seconds(-5))) }
        #expect(back?.code == .failedPrecondition || back?.code == .invalidArgument)
    }

    @Test func `many tasks at once, on connections that break under them, all come to an end`() async throws {
        let clients = try (0..<3).map { _ in try self.stage.client { $0.waitsForServer = true } }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let client = clients[number % 3]
                group.addTask {
                    let task = client.subscriptionStatusTask(account: "a\(number % 5)", group: "premium")
                    let consumer = Task(executorPreference: TestingThreads.shared) {
                        for await state in task where state.value != nil { break }
                    }
                    do {
                        _ = try await client.buy("coins", account: "a\(number % 5)")
                    } catch { Issue.record(error) }
                    if number % 2 == 0 { consumer.cancel() }
                    await consumer.value
                }
                if number % 10 == 0 { self.stage.server.breakConnections() }
            }
        }
        await self.stage.server.reaches { $0.calls == 0 }
        var bought = 0
        for account in 0..<5 {
            for try await _ in clients[0].transactions(account: "a\(account)") { bought += 1 }
        }
        #expect(bought == 60, "each was bought once, however often it was sent")
    }
}

extension PerchClient {
    /// Buys one of a product outside the app.
    fileprivate func buy(_ product: String, account: String) async throws(PerchError) -> OperationResult {
        try await self.operate(.buy(PurchaseOrder(productID: product)), account: account)
    }
}
