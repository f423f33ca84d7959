import PerchBase
import PerchClient
import PerchLoop
import PerchModel
import PerchWire

import struct PerchClient.ValueInfo

extension CommandRun {
    /// `perch watch …`: ends at an interrupt, at --count, at --timeout, or when the server refuses the stream.
    func watch() async throws -> ExitCode {
        try await self.withClient { client in
            try await withThrowingTaskGroup(of: ExitCode?.self) { group in
                group.addTask { try await self.followStream(client) }
                group.addTask {
                    try await self.followConnection(client) { text in
                        self.console.talk("perch: \(text.isEmpty ? "connected again" : text)")
                    }
                }
                if let timeout = self.settings.number("timeout") {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(timeout))
                        guard let count = self.settings.number("count") else { return .success }
                        self.console.talk(
                            "perch: \(counted(count, "value")) did not come within "
                                + exactly(milliseconds: timeout))
                        return .unavailable
                    }
                }
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let code = ended { return code }
                }
                return .success
            }
        }
    }

    private func followStream(_ client: PerchClient) async throws -> ExitCode {
        switch self.invocation.action {
        case .watchProducts:
            try await self.follow(
                client.productsTask(
                    self.texts("ID"), locale: self.settings.text("locale") ?? "",
                    storefront: self.settings.text("storefront") ?? "")
            ) {
                .productsTask($0)
            } text: {
                $0.products($1, $2)
            }
        case .watchStatus:
            let group = self.texts("GROUP").first
            let account = self.text("ACCOUNT")
            let task =
                group.map { client.subscriptionStatusTask(account: account, group: $0) }
                ?? client.subscriptionStatusTaskOfAllGroups(account: account)
            try await self.follow(task) {
                .subscriptionStatusTask($0)
            } text: {
                $0.statuses($1, $2, group: group)
            }
        case .watchEntitlement:
            let product = self.text("PRODUCT")
            try await self.follow(client.currentEntitlementTask(account: self.text("ACCOUNT"), product: product)) {
                .currentEntitlementTask($0)
            } text: {
                $0.entitlement($1, $2, product: product)
            }
        case .watchIntents:
            try await self.follow(client.purchaseIntents(account: self.text("ACCOUNT"))) {
                .purchaseIntents($0)
            } text: {
                $0.intents($1, $2)
            }
        case .watchMessages:
            try await self.follow(client.messages(account: self.text("ACCOUNT"))) {
                .messages($0)
            } text: {
                $0.storeMessages($1, $2)
            }
        case .watchEntitlements:
            try await self.follow(client.entitlementsTask(account: self.text("ACCOUNT"))) {
                .entitlementsTask($0)
            } text: {
                $0.named($1, $2)
            }
        case .watchUpdates:
            try await self.followUpdates(client)
        case .watchChanges:
            try await self.followChanges(client)
        default:
            preconditionFailure("\(self.invocation.action) is no watch")
        }
        return .success
    }

    /// Prints each state of a stream, then keeps its token. A command killed between the two prints a value twice, and
    /// never skips one.
    private func follow<Value>(
        _ task: EntitlementTask<Value>, answer: (TaskState<Value>) -> Response,
        text: (TextWriter, Value, ValueInfo) -> [String]
    ) async throws {
        let resumption = try Resumption(since: self.settings.text("since"), tokenFile: self.settings.text("token-file"))
        var left = self.settings.number("count") ?? .max
        for await state in resumption.token.map({ task.since($0) }) ?? task {
            let wall = Clocks.wall()
            if case .loading = state, !resumption.beginsAnew { continue }
            if case .unchanged(let info) = state {
                try self.printer.print(answer(state.message)) {
                    $0.unchanged(info)
                }
                try resumption.keep(info.token)
                continue
            }
            if case .failure(let failure, _) = state, failure.isFinal {
                throw resumption.failure(
                    failure.error ?? PerchError(code: .unknown, reason: failure.reason, message: failure.message))
            }
            try self.printer.print(answer(state.message)) { writer in
                writer.state(state, wall: wall) { text(writer, $0, $1) }
            }
            if case .loading = state { continue }
            if case .success(_, let info) = state { try resumption.keep(info.token) }
            left -= 1
            if left == 0 { return }
        }
    }

    private func followUpdates(_ client: PerchClient) async throws {
        let resumption = try EventResumption(
            since: self.settings.text("since"), tokenFile: self.settings.text("token-file"))
        let cursor = resumption.cursor.map { UpdateCursor(bytes: $0) }
        var left = self.settings.number("count") ?? .max
        do {
            for try await update in client.transactionUpdates(account: self.text("ACCOUNT"), after: cursor) {
                try self.printer.print(.transactionUpdates(update.message)) { $0.update(update) }
                if let cursor = update.cursor { try resumption.keep(cursor.bytes) }
                left -= 1
                if left == 0 { return }
            }
        } catch let error as PerchError {
            throw resumption.failure(error)
        }
    }

    private func followChanges(_ client: PerchClient) async throws {
        let resumption = try EventResumption(
            since: self.settings.text("since"), tokenFile: self.settings.text("token-file"))
        let cursor = resumption.cursor.map { UpdateCursor(bytes: $0) }
        var left = self.settings.number("count") ?? .max
        var filter = AppChangeFilter()
        filter.causes = self.settings.texts("cause").compactMap { word in
            Cause.names.firstIndex(of: word).map { Cause(rawValue: Int32($0)) }
        }
        filter.groups = self.settings.texts("group")
        filter.products = self.settings.texts("product")
        filter.entitlementsOnly = self.settings.flag("entitlements-only")
        let changes = client.appChanges(
            after: cursor, fromOldest: self.settings.flag("from-oldest"), filter: filter)
        do {
            for try await change in changes {
                try self.printer.print(.appChanges(change.message)) { $0.change(change) }
                try resumption.keep(change.cursor.bytes)
                left -= 1
                if left == 0 { return }
            }
        } catch let error as PerchError {
            throw resumption.failure(error)
        }
    }

    /// Reports a lost connection with its reason, and a new one with an empty text. A server that never answered is an
    /// error; the command waits for one that did.
    func followConnection(_ client: PerchClient, say: (_ text: String) async -> Void) async throws -> ExitCode? {
        var wasConnected = false
        var isAway = false
        for await state in client.connection {
            switch state {
            case .connected:
                if isAway { await say("") }
                wasConnected = true
                isAway = false
            case .waiting(let until, let reason):
                guard wasConnected else { throw reason }
                let pause = roughly(milliseconds: max(1, until.milliseconds(since: Clocks.wall())))
                await say("\(reason); trying again in \(pause)")
                isAway = true
            case .refused(let reason):
                throw reason
            case .idle, .connecting, .closed:
                break
            }
        }
        return nil
    }
}
