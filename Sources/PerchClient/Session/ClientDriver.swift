import PerchBase
import PerchLoop
import PerchTLS
import PerchWire

/// Steps the cores of all clients of a loop: sockets, inbox and clock on one side, callers on the other.
///
/// `ClientLoop` creates it, and the loop's thread owns it. A tick handles ready sockets, the inbox and timers, then the
/// actions and the output of each affected client. It resumes all callers last, so that all values of a group are there
/// before a task sees one of them.
final class ClientDriver: LoopDriver {
    private let loop: EventLoop
    private let inbox: Inbox<ClientCommand>
    private let codec = MessageCodec()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    private let window = TLSWindow()
    private var commands: [ClientCommand] = []
    private var sessions: [ItemID: ClientSession] = [:]
    /// Sessions by the tags of their sockets; tags are never reused.
    private var bySocket: [UInt64: ClientSession] = [:]
    private var lastTag: UInt64 = 0
    private let lookUp: AddressSource
    /// Running name lookups, and the clients that wait for them. Each name has one thread, however many clients ask.
    private var lookups: [Destination: [ItemID]] = [:]
    /// Sessions with events in this tick.
    private var touched: [ClientSession] = []
    /// When sessions must be stepped; the payload is the client.
    private var wakes = TimerHeap()
    private var woken: [CheckedContinuation<Void, Never>] = []
    private var answered: [(CheckedContinuation<Result<Response, PerchError>, Never>, Result<Response, PerchError>)] =
        []

    init(loop: EventLoop, inbox: Inbox<ClientCommand>, lookUp: @escaping AddressSource) {
        self.lookUp = lookUp
        self.loop = loop
        self.inbox = inbox
    }

    deinit { self.buffer.deallocate() }

    private var time: ClientTime {
        ClientTime(monotonic: self.loop.now.nanoseconds / 1_000_000, wall: Clocks.wall())
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        // The poller may still report a socket that was closed in this tick.
        guard let session = self.bySocket[tag] else { return }
        self.touch(session)
        if session.isConnecting {
            guard writable || hungUp, let tag = session.finishConnecting() else { return }
            self.bySocket[tag] = nil
            self.connect(session)
        } else if readable || hungUp {
            session.read(into: self.buffer)
        }
    }

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.inbox.take(into: &self.commands)
        for command in self.commands { self.take(command) }
        self.commands.removeAll(keepingCapacity: true)
        let time = self.time
        while let due = self.wakes.popDue(at: time.monotonic) {
            guard let session = self.sessions[due.payload] else { continue }
            session.wakeTime = nil
            self.touch(session)
        }
        var index = 0
        while index < self.touched.count {
            let session = self.touched[index]
            index += 1
            session.core.tick(time)
            self.perform(session)
            session.flush()
            // Performs the actions that follow from a failed connection.
            self.perform(session)
            self.schedule(session)
            session.isTouched = false
        }
        self.touched.removeAll(keepingCapacity: true)
        self.resumeAll()
        return self.wakes.nextTime.map { MonotonicTime.zero.advanced(byMilliseconds: $0) }
    }

    private func resumeAll() {
        let woken = self.woken
        let answered = self.answered
        self.woken.removeAll(keepingCapacity: true)
        self.answered.removeAll(keepingCapacity: true)
        for (caller, result) in answered { caller.resume(returning: result) }
        for waiter in woken { waiter.resume() }
    }

    private func touch(_ session: ClientSession) {
        session.core.advance(to: self.time)
        guard !session.isTouched else { return }
        session.isTouched = true
        self.touched.append(session)
    }

    private func schedule(_ session: ClientSession) {
        let wake = session.isClosed ? nil : session.core.nextWake
        guard wake != session.wakeTime else { return }
        self.wakes.cancel(session.wake)
        session.wakeTime = wake
        session.wake = wake.map { self.wakes.schedule(at: $0, payload: session.id) } ?? .none
    }

    // MARK: Commands

    private func take(_ command: ClientCommand) {
        switch command {
        case .add(let client, let configuration, let cell):
            let session = ClientSession(
                client, configuration, cell, poller: self.loop.poller, window: self.window, codec: self.codec,
                now: self.time)
            self.sessions[client] = session
        case .remove(let client):
            guard let session = self.sessions.removeValue(forKey: client) else { return }
            self.close(session)
        case .item(let client, let command):
            guard let session = self.sessions[client] else {
                command.refuse()
                return
            }
            self.touch(session)
            session.take(command)
        case .found(let destination, let result):
            for client in self.lookups.removeValue(forKey: destination) ?? [] {
                guard let session = self.sessions[client] else { continue }
                guard session.awaitsAddresses else {
                    // The client gave up in the meantime. Keeping the late answer lets its next attempt succeed even if
                    // every lookup is slow.
                    session.foundLate = try? result.get()
                    continue
                }
                self.touch(session)
                self.found(result, for: session)
            }
        case .stop:
            for client in self.sessions.keys.sorted() { self.take(.remove(client: client)) }
            self.loop.stop()
        }
    }

    // MARK: Connecting

    private func beginConnecting(_ session: ClientSession) {
        session.awaitsAddresses = true
        switch session.configuration.destination {
        case .address(let address):
            self.found(.success([address]), for: session)
        case .name, .several:
            if let addresses = session.foundLate {
                session.foundLate = nil
                self.found(.success(addresses), for: session)
            } else {
                self.findAddresses(for: session)
            }
        }
    }

    private func findAddresses(for session: ClientSession) {
        let destination = session.configuration.destination
        if let waiting = self.lookups[destination] {
            if !waiting.contains(session.id) { self.lookups[destination] = waiting + [session.id] }
            return
        }
        self.lookups[destination] = [session.id]
        let (inbox, lookUp) = (self.inbox, self.lookUp)
        do throws(SystemError) {
            try LoopThread.startDetached(name: "perch-lookup") {
                let result = Result { () throws(NameFault) in try destination.addresses(by: lookUp) }
                inbox.post(.found(destination, result))
            }
        } catch {
            self.take(.found(destination, .failure(NameFault("\(destination)", "\(error)"))))
        }
    }

    private func found(_ result: Result<[SocketAddress], NameFault>, for session: ClientSession) {
        session.awaitsAddresses = false
        switch result {
        case .success(let addresses):
            session.go(to: addresses)
            self.connect(session)
        case .failure(let fault):
            session.isNowhere(fault)
        }
    }

    private func connect(_ session: ClientSession) {
        self.lastTag += 1
        if session.connect(tag: self.lastTag) { self.bySocket[self.lastTag] = session }
    }

    private func close(_ session: ClientSession) {
        self.touch(session)
        session.core.close()
        session.isClosed = true
    }

    // MARK: Actions

    private func perform(_ session: ClientSession) {
        // An action can cause the next one: a connection may fail at once.
        while !session.core.actions.isEmpty {
            let actions = session.core.actions
            session.core.actions.removeAll(keepingCapacity: true)
            for action in actions { self.perform(action, session) }
        }
    }

    private func perform(_ action: ClientAction, _ session: ClientSession) {
        switch action {
        case .connect:
            self.beginConnecting(session)
        case .disconnect:
            session.awaitsAddresses = false
            if let tag = session.disconnect() { self.bySocket[tag] = nil }
        case .connection(let state):
            self.woken += session.connectionCell.set(state, disconnectedSince: session.core.away?.since.wall)
            if let observer = session.configuration.observer {
                observer.connectionChanged(to: state)
                if let line = ClientLogLine(state) { observer.log(line) }
            }
        case .finish(let id, let result):
            guard let caller = session.callers.removeValue(forKey: id) else {
                preconditionFailure("call \(id) has ended without a waiter")
            }
            self.answered.append((caller, result))
        case .show(let id, let state, let isNews):
            guard let sink = session.sinks[id] else { return }
            self.woken += sink.show(state, isNews)
            if case .failure(let failure, _) = state, let observer = session.configuration.observer {
                observer.log(ClientLogLine(failure))
            }
        case .endWatch(let id):
            guard let sink = session.sinks.removeValue(forKey: id) else { return }
            self.woken += sink.end()
        case .events(let id, let items):
            guard let cell = session.cells[id] else { return }
            let (waiter, pauses) = cell.append(items)
            if let waiter { self.woken.append(waiter) }
            if pauses { session.core.pauseUpdates(id) }
        case .endUpdates(let id, let error):
            guard let cell = session.cells.removeValue(forKey: id) else { return }
            if let waiter = cell.end(error) { self.woken.append(waiter) }
        case .copyPart(let id, let part):
            guard let copy = session.copies[id] else { return }
            let (waiters, fault) = copy.take(part, now: self.time.monotonic)
            self.woken += waiters
            guard let fault else { return }
            if copy.beginsAnew(after: fault) {
                session.core.beginCopyAnew(id)
            } else {
                session.copies[id] = nil
                self.woken += copy.end(.breach("\(fault)"))
                session.core.copyIsUnreadable(id)
            }
        case .copyHeard(let id, let revision, let server):
            guard let copy = session.copies[id] else { return }
            self.woken += copy.heard(revision, server: server, now: self.time.monotonic)
        case .copyLost(let id, let reason):
            self.woken += session.copies[id]?.lost(reason) ?? []
        case .endCopy(let id, let error):
            guard let copy = session.copies.removeValue(forKey: id) else { return }
            self.woken += copy.end(error)
        }
    }
}
