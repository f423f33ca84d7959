public import PerchBase
import PerchLoop
public import PerchModel
import PerchWire
import Synchronization

/// A copy, in this process, of every named entitlement of an app: a check is a lookup in memory.
///
/// The server pushes each change. Every entitlement has its end, so the copy ends it at the right moment by itself, also while the
/// server is away. A check needs no network and takes about as long as a lookup in a dictionary.
///
///     let copy = try client.copy(file: "/var/lib/shop/perch.copy")
///     try await copy.ready(timeout: .seconds(10))
///     if try copy.has("anna", "plus") { … }
///
/// The copy lives until `close`, or until it is released. A lost connection is made again, and the copy goes on where it was. If the
/// server cannot go on there, it sends a new copy; the old one answers until the new one is complete.
public final class EntitlementCopy: Sendable {
    let core: CopyCore
    private let client: PerchClient
    private let id: ItemID
    private let saving: Task<Void, Never>?

    init(_ client: PerchClient, _ core: CopyCore, request: AppEntitlementsRequest) {
        self.client = client
        self.core = core
        self.id = client.loop.newID()
        self.saving =
            core.path == nil
            ? nil
            : Task.detached { await core.saveUntilCancelled() }
        var request = request
        request.resumeToken = core.token
        client.post(.openCopy(self.id, request, core))
    }

    deinit {
        self.saving?.cancel()
        self.client.post(.endCopy(self.id))
    }

    /// Ends the stream, and writes the file if there is one. Later checks throw `CLOSED`.
    public func close() {
        self.saving?.cancel()
        self.client.post(.endCopy(self.id))
        self.core.close()
    }

    // MARK: Waiting

    /// Whether the copy is complete, so that it answers.
    public var isReady: Bool { self.core.isWhole }

    /// Returns when the copy is complete and has every change that it missed. While the server is away, what the file has is enough.
    ///
    /// Throws the reason why it cannot be, or `DEADLINE` after `timeout`.
    public func ready(timeout: Duration? = nil) async throws(PerchError) {
        try await self.core.wait(for: nil, timeout: timeout)
    }

    /// Returns when the copy has everything up to a position, such as that of a purchase which was made a moment ago.
    ///
    /// Throws `TOKEN_OTHER_STORE` for a position of another history than the server's, `DEADLINE` after `timeout`, and `error` if the
    /// copy gets no more changes.
    public func wait(for position: Position, timeout: Duration? = nil) async throws(PerchError) {
        try await self.core.wait(for: position, timeout: timeout)
    }

    // MARK: Questions

    /// Whether an account has an entitlement now.
    ///
    /// `account` is the caller's key of the account, or another key of it. Throws `ENTITLEMENT_UNKNOWN` for a name that the app does not
    /// have, or that the copy was not asked to hold, because a typing error must not read as "no"; `ACCOUNT_KEY` for a key that no
    /// account can have; `COPY_NOT_READY` before the copy is complete; and `OTHER_SHARD` where a copy of one shard cannot know.
    public func has(_ account: String, _ name: String) throws(PerchError) -> Bool {
        if let has = self.core.has(account, name) { return has }
        return try self.core.entitlement(account, name) != nil
    }

    /// An account's entitlement of a name; nil: it does not have it now. Throws as `has` does.
    public func entitlement(_ account: String, _ name: String) throws(PerchError) -> CopiedEntitlement? {
        try self.core.entitlement(account, name)
    }

    /// When an account's entitlement ends by itself; `Instant.distantFuture` if it never does, and nil if the account does not have it.
    ///
    /// Before a renewal of which nothing is known yet it is the end of the period, which the entitlement outlasts while it is awaited.
    public func until(_ account: String, _ name: String) throws(PerchError) -> Instant? {
        try self.core.entitlement(account, name)?.until
    }

    /// The names that can be asked for: those that the copy was asked to hold, or else those of the app's file of entitlements and those that
    /// were granted beside it.
    public var names: [String] { self.core.names }

    /// The number of accounts that have something.
    public var count: Int { self.core.count }

    /// Up to where the copy has everything; nil before it is complete.
    public var position: Position? { self.core.position }

    /// How long ago the copy was as new as the server, by the monotonic clock; nil before it ever was. While it is connected that is little more
    /// than one heartbeat at most. Entitlements end on time whatever the age; purchases and refunds since then are unknown.
    public var age: Duration? { self.core.age }

    /// Why the copy gets no more changes, such as credentials that the server refuses; nil while it does, also over lost connections.
    ///
    /// A copy that was complete goes on to answer with what it has, and each entitlement ends on time. Waiting throws this error, and
    /// `changes` end with it. Close the copy, and make another one once the cause is gone.
    public var error: PerchError? { self.core.error }

    /// The changes of accounts, from now on.
    public var changes: CopyChanges { CopyChanges(self) }
}

/// An entitlement in a copy.
public struct CopiedEntitlement: Hashable, Sendable {
    /// Its name in the app.
    public var name: String
    /// What the app calls this kind of it; empty for none.
    public var tier: String
    /// When it ends by itself, by the app's clock; `Instant.distantFuture`: never.
    public var until: Instant
    /// Why the account has it.
    public var reason: EntitlementReason

    /// Creates an entitlement from its parts, for tests.
    public init(name: String, tier: String = "", until: Instant = .distantFuture, reason: EntitlementReason = .granted)
    {
        self.name = name
        self.tier = tier
        self.until = until
        self.reason = reason
    }
}

/// One of several processes that share the accounts of an app among them.
public struct CopyShard: Hashable, Sendable {
    /// Its number, from 0.
    public var number: Int
    /// How many there are, at most 256.
    public var count: Int

    /// Creates the shard `number` of `count`.
    public init(_ number: Int, of count: Int) {
        self.number = number
        self.count = count
    }

    /// The shard that has an account: the CRC-32 of its key, modulo `count`.
    public static func number(of account: String, count: Int) -> Int {
        account.utf8Span.span.withUnsafeBytes { Int(CopyMachine.shard(of: $0, UInt32(max(count, 1)))) }
    }
}

/// What a copy does when its `age` is too high. A limit below 15 s is reached at times while all is well, because a server that has nothing
/// to say speaks every 10 s.
public enum StaleCopy: Hashable, Sendable {
    /// It goes on to answer.
    case keep
    /// It answers that nobody has anything, once its age is above this.
    case deny(after: Duration)
    /// Checks throw `COPY_STALE`, once its age is above this.
    case refuse(after: Duration)
}

/// A change in a copy.
public enum CopyChange: Hashable, Sendable {
    /// An account's entry was replaced. Entitlements by name, as they were when the change came.
    case account(String, before: [String: CopiedEntitlement], after: [String: CopiedEntitlement])
    /// Another copy has replaced this one: any account may have changed.
    case replaced
}

/// The changes of a copy, as they come. An iteration keeps one entry for each changed account: a slow consumer sees an account's
/// newest change, and never more entries than accounts. What ends by time alone is no change.
public struct CopyChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = CopyChange
    /// The sequence fails with the reason why the copy ended.
    public typealias Failure = PerchError

    private let copy: EntitlementCopy

    init(_ copy: EntitlementCopy) { self.copy = copy }

    /// Starts an iteration: changes from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(self.copy) }

    /// One consumer's place.
    public final class Iterator: AsyncIteratorProtocol {
        private let copy: EntitlementCopy
        private let queue = CopyQueue()

        init(_ copy: EntitlementCopy) {
            self.copy = copy
            copy.core.listen(self.queue)
        }

        deinit { self.copy.core.unlisten(self.queue) }

        /// The next change. Nil when the task is cancelled.
        public func next() async throws(PerchError) -> CopyChange? { try await self.queue.next() }

        /// The next change, on the caller's actor.
        public func next(isolation actor: isolated (any Actor)?) async throws(PerchError) -> CopyChange? {
            try await self.queue.next()
        }
    }
}

extension PerchClient {
    /// A copy of every named entitlement of the app in this process. It answers from memory once it is complete.
    ///
    /// - `names`: only these, at most 1,024; empty for all.
    /// - `shard`: only a part of the accounts, for processes that share them. A copy of one shard is asked by the account's own key.
    /// - `file`: keeps the copy over a restart, so that it answers at once, also without a server. A file that cannot be used is
    ///   fetched anew.
    /// - `stale`: what checks answer when the copy is too old.
    public func copy(
        names: [String] = [], shard: CopyShard? = nil, file: String? = nil, stale: StaleCopy = .keep
    ) throws(PerchError) -> EntitlementCopy {
        if let shard, !(0..<shard.count).contains(shard.number) || shard.count > 256 {
            throw PerchError(
                code: .invalidArgument, reason: .fieldInvalid,
                message:
                    "there is no shard \(shard.number) of \(shard.count); shards are numbered from 0, and at most 256")
        }
        let (number, count) = (UInt32(shard?.number ?? 0), UInt32(shard?.count ?? 0))
        let request = AppEntitlementsRequest(app: self.app, names: names, shard: number, shardCount: count)
        let subject = CopyFile.Subject(
            app: "\(self.app.bundleID) \(self.app.environment.rawValue)", names: names, shard: number,
            shardCount: count)
        return EntitlementCopy(
            self, CopyCore(subject, path: file, stale: stale, observer: self.observer), request: request)
    }
}
