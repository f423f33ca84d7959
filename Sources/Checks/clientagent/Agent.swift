import Glibc
import PerchBase
import PerchClient
import PerchJSON
import PerchModel
import Synchronization

/// The copies of the Swift client as an agent of `Tests/Clients/run`: proto/clients/README.md describes its commands.
///
/// It reads commands and writes answers, one JSON object a line.
final class Agent: Sendable {
    private struct Inside {
        var clients: [String: PerchClient] = [:]
        var copies: [String: EntitlementCopy] = [:]
        var gates: [String: Gate] = [:]
        /// Closed, perhaps not to the end.
        var closing: [PerchClient] = []
    }

    private let inside = Mutex(Inside())
    private let output = Mutex(())

    /// Ends with the input.
    static func run() async {
        let agent = Agent()
        // The thread that clients share and the runtime's timers stay, and are no client's that is left.
        _ = try? ClientLoop.shared()
        try? await Task.sleep(for: .milliseconds(1))
        await withTaskGroup { group in
            while let line = readLine() {
                guard let command = try? JSONReader.read(Array(line.utf8)) else { continue }
                // What may wait does so beside the others, which come in their order.
                if ["ready", "reach", "ending"].contains(command["do"]?.string) {
                    group.addTask { await agent.act(command) }
                } else {
                    await agent.act(command)
                }
            }
            for client in agent.inside.withLock({ Array($0.clients.values) }) { client.close() }
        }
    }

    private func say(_ body: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        json.beginObject()
        body(&json)
        json.endObject()
        guard let bytes = try? json.finish() else { preconditionFailure("an answer that is too long") }
        self.output.withLock { _ in
            Main.put(bytes + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
        }
    }

    private func act(_ command: JSONValue) async {
        let id = command["id"]?.integer ?? 0
        do throws(PerchError) {
            try await self.carryOut(command, id)
        } catch {
            self.say { json in
                json.key("id")
                json.integer(id)
                json.key("error")
                Self.write(error, to: &json)
            }
        }
    }

    private static func write(_ error: PerchError, to json: inout JSONWriter) {
        json.beginObject()
        json.key("reason")
        json.string(error.reason.rawValue)
        json.key("code")
        json.string("\(error.code)")
        json.key("final")
        json.boolean(!error.isTransient)
        json.key("mayHaveHappened")
        json.boolean(error.mayHaveHappened)
        json.key("message")
        json.string(error.message)
        json.key("details")
        json.beginObject()
        for (key, value) in error.details.sorted(by: { $0.key < $1.key }) {
            json.key(key)
            json.string(value)
        }
        json.endObject()
        json.endObject()
    }

    private func answer(_ id: Int64, _ body: (inout JSONWriter) -> Void = { _ in }) {
        self.say { json in
            json.key("id")
            json.integer(id)
            json.key("answer")
            json.beginObject()
            body(&json)
            json.endObject()
        }
    }

    private func copy(of command: JSONValue) -> EntitlementCopy {
        guard let copy = self.inside.withLock({ $0.copies[command["copy"]?.string ?? ""] }) else {
            preconditionFailure("a command for a copy that was not opened")
        }
        return copy
    }

    private func carryOut(_ command: JSONValue, _ id: Int64) async throws(PerchError) {
        let (account, name) = (command["account"]?.string ?? "", command["name"]?.string ?? "")
        let timeout = command["timeout"]?.double.map { Duration.milliseconds(Int64($0 * 1_000)) }
        switch command["do"]?.string {
        case "open":
            let client = try Self.client(command)
            self.inside.withLock { $0.clients[command["client"]?.string ?? ""] = client }
            self.answer(id)
        case "copy":
            try self.open(command)
            self.answer(id)
        case "close":
            if let name = command["copy"]?.string {
                self.inside.withLock { $0.copies[name] }?.close()
            } else {
                let client = self.inside.withLock { inside in
                    let client = inside.clients[command["client"]?.string ?? ""]
                    if let client { inside.closing.append(client) }
                    return client
                }
                client?.close()
            }
            self.answer(id)
        case "hold":
            self.gate(of: command).hold()
            self.answer(id)
        case "go":
            self.gate(of: command).open()
            self.answer(id)
        case "has":
            let has = try self.copy(of: command).has(account, name)
            self.answer(id) { json in
                json.key("has")
                json.boolean(has)
            }
        case "held":
            let held = try Self.held(account, self.copy(of: command))
            self.answer(id) { json in
                json.key("held")
                Self.write(held, to: &json)
            }
        case "whole": try self.whole(self.copy(of: command), id)
        case "ready":
            try await self.copy(of: command).ready(timeout: timeout)
            self.answer(id)
        case "reach":
            try await self.copy(of: command).wait(for: Self.position(command["position"]), timeout: timeout)
            self.answer(id)
        case "ending":
            let copy = self.copy(of: command)
            var lastYes = 0.0
            while true {
                let before = Self.wallMilliseconds
                guard try copy.has(account, name) else { break }
                lastYes = before
                try? await Task.sleep(for: .milliseconds(5))
            }
            self.answer(id) { json in
                json.key("lastYes")
                json.integer(Int64(lastYes))
                json.key("firstNo")
                json.integer(Int64(Self.wallMilliseconds))
            }
        case "left":
            let closed = self.inside.withLock { inside in
                defer { inside.closing = [] }
                return inside.closing
            }
            for client in closed { await client.run() }
            self.answer(id) { json in
                json.key("descriptors")
                json.integer(Self.descriptors)
            }
        default: preconditionFailure("an unknown command")
        }
    }

    // MARK: Clients and copies

    private static func client(_ command: JSONValue) throws(PerchError) -> PerchClient {
        guard let url = command["url"]?.string, let scheme = url.firstIndex(of: "/") else {
            preconditionFailure("no address")
        }
        var options = PerchClientOptions()
        options.observer = Log()
        if let path = command["tokenFile"]?.string { options.authorization = .file(path: path) }
        if let token = command["token"]?.string { options.authorization = .value(token) }
        if let path = command["authority"]?.string { options.tls = .init(trust: .file(path: path)) }
        return try PerchClient(address: String(url[url.index(scheme, offsetBy: 2)...]), options: options)
    }

    private func open(_ command: JSONValue) throws(PerchError) {
        let name = command["copy"]?.string ?? ""
        guard let client = self.inside.withLock({ $0.clients[command["client"]?.string ?? ""] }) else {
            preconditionFailure("a copy of a client that was not opened")
        }
        let shard = command["shard"]?.array.map { CopyShard(Int($0[0].integer ?? 0), of: Int($0[1].integer ?? 0)) }
        let stale = command["denyAfter"]?.double.map { StaleCopy.deny(after: .microseconds(Int64($0 * 1e6))) }
        let copy = try client.copy(
            names: command["names"]?.array?.compactMap(\.string) ?? [], shard: shard, file: command["file"]?.string,
            stale: stale ?? .keep)
        let gate = Gate()
        let changes = copy.changes.makeAsyncIterator()
        Task {
            // What accounts had, to tell what differs in a copy that has replaced another; nil before there is one.
            var known = Self.content(of: copy)?.names
            while let change = try? await changes.next() {
                switch change {
                case .account(let account, let before, let after):
                    self.say(name, account, before.keys.sorted(), after.keys.sorted())
                    known?[account] = after.isEmpty ? nil : after.keys.sorted()
                case .replaced:
                    let found = Self.content(of: copy) ?? ([:], [])
                    if let known {
                        // The key of an account that was merged is no account any more.
                        let accounts = Set(known.keys).union(found.names.keys).subtracting(found.aliases).sorted()
                        for account in accounts where known[account] != found.names[account] {
                            self.say(name, account, known[account] ?? [], found.names[account] ?? [])
                        }
                    }
                    known = found.names
                }
                await gate.pass()
            }
        }
        self.inside.withLock { inside in
            inside.copies[name] = copy
            inside.gates[name] = gate
        }
    }

    /// The names that each account has, and other keys of accounts; nil before the copy is complete.
    private static func content(of copy: EntitlementCopy) -> (names: [String: [String]], aliases: Set<String>)? {
        guard let snapshot = copy.snapshot() else { return nil }
        var (names, aliases): ([String: [String]], Set<String>) = ([:], [])
        snapshot.forEach { account in
            let active = account.active(at: snapshot.now).map(\.name).sorted()
            if !active.isEmpty { names[account.key] = active }
            aliases.formUnion(account.aliases)
        }
        return (names, aliases)
    }

    /// Reports a change of an account.
    private func say(_ copy: String, _ account: String, _ before: [String], _ after: [String]) {
        self.say { json in
            json.key("watch")
            json.string(copy)
            json.key("change")
            json.string(account)
            for (key, names) in [("before", before), ("after", after)] {
                json.key(key)
                json.beginArray()
                for name in names { json.string(name) }
                json.endArray()
            }
        }
    }

    private func gate(of command: JSONValue) -> Gate {
        guard let gate = self.inside.withLock({ $0.gates[command["watch"]?.string ?? ""] }) else {
            preconditionFailure("a command for a copy that was not opened")
        }
        return gate
    }

    private static func position(_ value: JSONValue?) -> Position {
        func number(_ key: String) -> Int64 { value?[key]?.string.flatMap { Int64($0) } ?? value?[key]?.integer ?? 0 }
        return Position(
            revision: UInt64(number("revision")), asOf: Instant(milliseconds: number("asOfMs")),
            epoch: UInt32(number("epoch")))
    }

    // MARK: What a copy has

    private static func held(_ account: String, _ copy: EntitlementCopy) throws(PerchError) -> [CopiedEntitlement] {
        var held: [CopiedEntitlement] = []
        for name in copy.names.sorted() {
            if let entitlement = try copy.entitlement(account, name) { held.append(entitlement) }
        }
        return held
    }

    private static func write(_ held: [CopiedEntitlement], to json: inout JSONWriter) {
        json.beginObject()
        for entitlement in held {
            json.key(entitlement.name)
            json.beginObject()
            json.key("tier")
            json.string(entitlement.tier)
            json.key("until")
            if entitlement.until == .distantFuture { json.null() } else { json.integer(entitlement.until.milliseconds) }
            json.endObject()
        }
        json.endObject()
    }

    private func whole(_ copy: EntitlementCopy, _ id: Int64) throws(PerchError) {
        var accounts: [(String, [CopiedEntitlement])] = []
        var keys: [String] = []
        copy.snapshot()?.forEach { keys.append($0.key) }
        for key in keys { accounts.append((key, try Self.held(key, copy))) }
        self.answer(id) { json in
            json.key("accounts")
            json.beginObject()
            for (key, held) in accounts {
                json.key(key)
                Self.write(held, to: &json)
            }
            json.endObject()
            json.key("names")
            json.beginArray()
            for name in copy.names { json.string(name) }
            json.endArray()
            json.key("age")
            json.integer((copy.age ?? .zero).components.seconds)
            json.key("position")
            guard let position = copy.position else { return json.null() }
            json.beginObject()
            json.key("revision")
            json.string(String(position.revision))
            json.key("epoch")
            json.integer(position.epoch)
            json.endObject()
        }
    }

    private static var wallMilliseconds: Double { Figures.seconds(CLOCK_REALTIME) * 1_000 }

    private static var descriptors: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}

/// What the client logs, as lines of the agent's own log.
private struct Log: PerchClientObserver {
    func log(_ line: ClientLogLine) { Main.put(Array("\(line.level): \(line.message)\n".utf8), to: STDERR_FILENO) }
}

/// Holds a reader of changes.
private final class Gate: Sendable {
    private let isOpen = Mutex(true)

    func hold() { self.isOpen.withLock { $0 = false } }
    func open() { self.isOpen.withLock { $0 = true } }

    func pass() async {
        while !self.isOpen.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
    }
}
