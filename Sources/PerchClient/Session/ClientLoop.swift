import PerchBase
package import PerchLoop
import PerchTLS
import PerchWire
import Synchronization

/// The thread of clients: one for all clients of a process; a load test may create more.
///
/// All decisions and system calls of a client happen on this thread. Callers post commands into its inbox, and are
/// resumed from it. Sendable without a claim: `gate` is a lock, the rest is immutable.
package final class ClientLoop: Sendable {
    private let kind: Kind
    private let lastID = Atomic<UInt64>(0)
    private let gate = Mutex<Gate>(Gate())

    /// A thread with sockets, or a double that answers in the caller's task.
    private enum Kind: Sendable {
        case thread(Inbox<ClientCommand>)
        case double(any ClientDouble)
    }

    private struct Gate {
        var thread: LoopThread?
        var isStopped = false
    }

    /// The process's loop, started with the first client and never stopped: without clients it is a sleeping thread.
    package static func shared() throws(PerchError) -> ClientLoop { try Self.sharedResult.get() }

    private static let sharedResult = Result<ClientLoop, PerchError> { () throws(PerchError) in
        try ClientLoop(name: "perch-client")
    }

    package init(name: String, lookUp: @escaping AddressSource = NameLookup.addresses) throws(PerchError) {
        do throws(SystemError) {
            let loop = try EventLoop(name: name)
            let inbox = Inbox<ClientCommand>(wake: loop.wake)
            let driver = ClientDriver(loop: loop, inbox: inbox, lookUp: lookUp)
            let thread = try loop.start(driver)
            self.kind = .thread(inbox)
            self.gate.withLock { $0.thread = thread }
        } catch {
            throw PerchError(
                code: .resourceExhausted, reason: .loopFailed,
                message: "the thread for clients could not be started: \(error)")
        }
    }

    /// Creates a loop without a thread: `double` answers instead of a server.
    package init(double: any ClientDouble) {
        self.kind = .double(double)
    }

    /// Names a client, a call or a stream.
    func newID() -> ItemID {
        self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// May be called on any thread. After the end every request fails at once.
    func post(_ command: ClientCommand) {
        let isStopped = self.gate.withLock { gate in
            if !gate.isStopped, case .thread(let inbox) = self.kind { inbox.post(command) }
            return gate.isStopped
        }
        if isStopped { return command.refuse() }
        if case .double(let double) = self.kind { double.take(command) }
    }

    /// Ends the thread and all its clients. Must not be called on the shared loop.
    package func stop() {
        let thread = self.gate.withLock { gate in
            guard !gate.isStopped else { return nil as LoopThread? }
            gate.isStopped = true
            if case .thread(let inbox) = self.kind { inbox.post(.stop) }
            defer { gate.thread = nil }
            return gate.thread
        }
        thread?.join()
    }
}

/// Resolves a name. It may block, so it runs on a separate thread.
package typealias AddressSource = @Sendable (_ name: String, _ port: UInt16) throws(NameFault) -> [SocketAddress]

/// Commands of callers to the loop.
enum ClientCommand: Sendable {
    case add(client: ItemID, ClientConfiguration, ConnectionCell)
    case remove(client: ItemID)
    case item(client: ItemID, ItemCommand)
    /// The result of a name lookup, from its thread.
    case found(Destination, Result<[SocketAddress], NameFault>)
    case stop

    /// Refuses a command for a loop or client that has ended.
    func refuse() {
        switch self {
        case .add(_, _, let cell): for waiter in cell.close() { waiter.resume() }
        case .item(_, let command): command.refuse()
        case .remove, .found, .stop: break
        }
    }
}

/// Commands to one client.
enum ItemCommand: Sendable {
    case call(
        ItemID, Request, timeoutMilliseconds: Int64, metadata: [Metadata],
        CheckedContinuation<Result<Response, PerchError>, Never>)
    case cancel(ItemID)
    case watch(
        ItemID, Request, atLeast: Position?, last: WatchValue?, info: ValueInfo?, token: [UInt8], WatchSink)
    case unwatch(ItemID)
    case follow(ItemID, EventsRequest, includesOwn: Bool, UpdateCell)
    case resume(ItemID)
    case unfollow(ItemID)
    case openCopy(ItemID, AppEntitlementsRequest, CopyCore)
    case endCopy(ItemID)

    func refuse() {
        switch self {
        case .call(_, _, _, _, let caller): caller.resume(returning: .failure(.clientClosed))
        case .watch(_, _, _, let last, _, _, let sink):
            for waiter in sink.show(.failure(.final(.clientClosed), last: last), true) + sink.end() { waiter.resume() }
        case .follow(_, _, _, let cell): cell.end(.clientClosed)?.resume()
        case .openCopy(_, _, let copy): for waiter in copy.end(.clientClosed) { waiter.resume() }
        case .cancel, .unwatch, .resume, .unfollow, .endCopy: break
        }
    }
}

/// The configuration of a client, beside its core's settings.
struct ClientConfiguration: Sendable {
    var destination: Destination
    var settings: ClientSettings
    var authorization: PerchClientOptions.Authorization
    var tls: PerchClientOptions.TLS?
    var observer: (any PerchClientObserver)?
    /// The name that the server's certificate must have.
    var serverName: TLSServerName
    /// Of its pauses.
    var seed: UInt64
}
