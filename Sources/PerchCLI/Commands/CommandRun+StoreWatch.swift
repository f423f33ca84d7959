import PerchBase
import PerchClient
import PerchModel

// `perch store watch`: a live transaction manager.
//
// Four kinds of streams feed it: the statuses of each group of an account, its intents, its messages, and its
// transactions. Pending purchases and new accounts have no stream. The command reads them after each push, and every ten
// seconds.
extension CommandRun {
    private static let lookAgain: Duration = .seconds(10)
    private static let drawAtMostEvery: Duration = .milliseconds(100)

    func watchStore() async throws -> ExitCode {
        Interruption.remember()
        var filter = StoreBoard.Filter()
        filter.products = Set(self.settings.texts("product"))
        filter.states = Set(self.settings.texts("state"))
        let order = self.settings.text("sort").flatMap { BoardScreen.Order(rawValue: $0) } ?? .product
        let hub = BoardHub(
            self.printer, filter: filter, order: order, place: self.settings.text("server") ?? "",
            count: self.settings.number("count"))
        return try await self.withClient { client in
            await hub.stands(try await client.clock())
            let keyboard = hub.isLive ? Keyboard() : nil
            defer { keyboard?.restore() }
            if keyboard != nil { await hub.takesKeys() }
            if hub.isLive { try self.console.data("\u{1B}[?1049h\u{1B}[?25l") }
            let ending: Result<ExitCode, any Error>
            do {
                ending = .success(try await self.follow(client, hub, keyboard))
            } catch is BoardHub.Finished {
                ending = .success(.success)
            } catch {
                ending = .failure(error)
            }
            if hub.isLive {
                // The last picture stays readable on the restored screen.
                let last = await hub.frame(of: self.console.size)
                try self.console.data("\u{1B}[?25h\u{1B}[?1049l" + last.map { $0 + "\n" }.joined())
            }
            let code = try ending.get()
            if code == .interrupted { self.console.talk("perch: interrupted") }
            return code
        }
    }

    private func follow(_ client: PerchClient, _ hub: BoardHub, _ keyboard: Keyboard?) async throws -> ExitCode {
        try await withThrowingTaskGroup(of: ExitCode?.self) { group in
            group.addTask {
                try await self.followAccounts(client, hub)
                return nil
            }
            group.addTask {
                try await self.followConnection(client) { text in
                    await hub.lost(text)
                    if !hub.isLive, !text.isEmpty { self.console.talk("perch: \(text)") }
                }
            }
            group.addTask {
                while !Interruption.isAsked { try await Task.sleep(for: Self.drawAtMostEvery) }
                return .interrupted
            }
            if hub.isLive {
                group.addTask {
                    while true {
                        if let keyboard, await hub.press(keyboard.pressed()) { return .success }
                        try await hub.draw()
                        try await Task.sleep(for: Self.drawAtMostEvery)
                    }
                }
            }
            if let timeout = self.settings.number("timeout") {
                group.addTask {
                    try await Task.sleep(for: .milliseconds(timeout))
                    return self.settings.number("count") == nil ? .success : .unavailable
                }
            }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let code = ended { return code }
            }
            return .success
        }
    }

    // MARK: Accounts

    /// Follows the named accounts, or all of the app, new ones included.
    private func followAccounts(_ client: PerchClient, _ hub: BoardHub) async throws {
        let named = self.texts("ACCOUNT")
        let (ticks, tick) = Self.signals()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                while true {
                    tick.yield()
                    try await Task.sleep(for: Self.lookAgain)
                }
            }
            var looks: [String: AsyncStream<Void>.Continuation] = [:]
            defer { for look in looks.values { look.finish() } }
            var isFull = false
            for await _ in ticks {
                var accounts = named
                if named.isEmpty {
                    for try await account in client.accounts() {
                        guard accounts.count < Limits.storeWatchAccountsMax else {
                            if !isFull, !hub.isLive {
                                self.console.talk(
                                    "perch: the first \(Limits.storeWatchAccountsMax) accounts are watched; "
                                        + "name others to see them")
                            }
                            isFull = true
                            break
                        }
                        accounts.append(account)
                    }
                }
                for account in accounts where looks[account] == nil {
                    let (signals, look) = Self.signals()
                    looks[account] = look
                    group.addTask {
                        try await Self.ending(tick) {
                            try await self.followAccount(account, client, hub, signals, look)
                        }
                    }
                }
                for look in looks.values { look.yield() }
                await hub.stands(try await client.clock())
            }
        }
    }

    /// A stream of signals that merges those that wait.
    private static func signals() -> (AsyncStream<Void>, AsyncStream<Void>.Continuation) {
        AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Ends the wait of a task group's body for signals when one of its tasks fails.
    private static func ending(
        _ signal: AsyncStream<Void>.Continuation, _ work: () async throws -> Void
    ) async throws {
        do {
            try await work()
        } catch {
            signal.finish()
            throw error
        }
    }

    /// The streams of one account. Each of `signals` asks for a read of the whole account. Signals that come during a
    /// read cause one more.
    private func followAccount(
        _ account: String, _ client: PerchClient, _ hub: BoardHub, _ signals: AsyncStream<Void>,
        _ look: AsyncStream<Void>.Continuation
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await Self.ending(look) {
                    try await self.follow(client.purchaseIntents(account: account), hub, .intents, account) {
                        (intents, _) in BoardRow.rows(of: intents, account: account)
                    }
                }
            }
            group.addTask {
                try await Self.ending(look) {
                    try await self.follow(client.messages(account: account), hub, .messages, account) { (messages, _) in
                        BoardRow.rows(of: messages, account: account)
                    }
                }
            }
            group.addTask {
                try await Self.ending(look) {
                    // Unfinished ones first: they are no news.
                    for try await update in client.transactionUpdates(account: account, includingOwn: true) {
                        if update.kind != .unfinished { try await hub.happened(update, account: account) }
                        look.yield()
                    }
                }
            }
            var groups: Set<String> = []
            for await _ in signals {
                guard let found = try await self.inspected(account, client) else { continue }
                try await hub.set(
                    BoardRow.rows(of: found.value, account: account), of: .details, account: account,
                    asOf: found.position.asOf)
                for id in found.value.groups.map(\.id) where groups.insert(id).inserted {
                    group.addTask {
                        try await Self.ending(look) {
                            let statuses = client.subscriptionStatusTask(account: account, group: id)
                            try await self.follow(statuses, hub, .group(id), account) { statuses, info in
                                look.yield()
                                return BoardRow.rows(
                                    of: statuses, account: account, group: id, forecast: info.forecast)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Nil for an account that does not exist yet, and while there is no connection. The next push or read answers.
    private func inspected(
        _ account: String, _ client: PerchClient
    ) async throws(PerchError) -> Positioned<AccountDetails>? {
        do throws(PerchError) {
            return try await client.inspect(account: account)
        } catch {
            guard error.code == .notFound || error.code == .unavailable || error.code == .deadlineExceeded else {
                throw error
            }
            return nil
        }
    }

    private func follow<Value>(
        _ task: EntitlementTask<Value>, _ hub: BoardHub, _ source: StoreBoard.Source, _ account: String,
        rows: (Value, ValueInfo) -> [BoardRow]
    ) async throws {
        for await state in task {
            switch state {
            case .loading, .unchanged: break
            case .failure(let failure, _):
                guard !failure.isFinal else {
                    throw failure.error ?? PerchError(code: .unknown, reason: failure.reason, message: failure.message)
                }
                await hub.fail(failure, of: source, account: account)
            case .success(let value, let info):
                try await hub.set(rows(value, info), of: source, account: account, asOf: info.position.asOf)
            }
        }
    }
}
