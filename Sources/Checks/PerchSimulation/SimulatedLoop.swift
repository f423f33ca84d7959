import PerchBase
package import PerchCore
package import PerchIdentity
package import PerchStore

/// An event for a loop, from the store or the server, in one order.
package enum LoopArrival: Sendable {
    case store(StoreEvent)
    case control(ticket: UInt64, ControlAnswer)
    /// New keys and identities.
    case trust(Authenticator)
    case drain
    /// This node has been cut off from its store for long.
    case sendAway
    case clockWentOn
}

/// Drives one core as the server's epoll driver does, in the same order, with simulated sockets.
///
/// A tick has two halves, because the store may commit between them: `begin` reads the clock, `finish` reads the events
/// of other threads.
package final class SimulatedLoop {
    package var core: LoopCore
    package let index: Int
    package var inbox: [LoopArrival] = []
    package var backlog: [SimulatedSocket] = []
    /// Requests of the core to the store, until `World` takes them.
    package var asks: [StoreRequest] {
        get { self.core.asks }
        set { self.core.asks = newValue }
    }
    package var controls: [(ticket: UInt64, request: ControlRequest)] = []
    /// Monotonic milliseconds of the next tick that the core needs; nil for none.
    package private(set) var wake: Int64?
    package private(set) var isInTurn = false
    package private(set) var hasDrained = false
    /// Connection numbers in the order of writes in the last tick.
    package private(set) var written: [Int32] = []
    /// By connection number.
    private var sessions: [Session?] = []

    private struct Session {
        var socket: SimulatedSocket
        var reading = true
        var writing = false
    }

    package init(_ core: consuming LoopCore) {
        self.index = core.loop
        self.core = core
    }

    /// Whether a tick would have work.
    package func hasWork(at monotonic: Int64) -> Bool {
        !self.inbox.isEmpty || !self.backlog.isEmpty || self.isInTurn || (self.wake.map { $0 <= monotonic } ?? false)
            || self.sessions.contains { session in
                session.map { ($0.reading && $0.socket.isReadable) || ($0.writing && $0.socket.isWritable) } ?? false
            }
    }

    /// Upper bounds for a read and a write, and the sockets that are ready.
    package struct Conditions {
        package var readBytes: () -> Int = { Limits.readBytes }
        package var writeBytes: () -> Int = { .max }
        package var isSkipped: () -> Bool = { false }
        /// The process has no free descriptor: the loop accepts with the spare one and closes.
        package var isWithoutDescriptors: () -> Bool = { false }

        package init() {}
    }

    package func begin(_ now: Moment, _ conditions: Conditions) {
        precondition(!self.isInTurn, "a turn began inside a turn")
        self.isInTurn = true
        self.core.begin(now)
        self.core.takePausedInput()
        self.execute()
        for socket in self.backlog {
            if conditions.isWithoutDescriptors() {
                socket.close()
                continue
            }
            let accepted = self.core.accepted(
                socket: socket.number, isLoopback: socket.address == nil, address: socket.address ?? .thisMachine,
                isIntake: socket.isIntake)
            let connection = Int(accepted)
            while self.sessions.count <= connection { self.sessions.append(nil) }
            self.sessions[connection] = Session(socket: socket)
            if let certificate = socket.certificate { self.core.authenticated(accepted, as: certificate) }
            self.execute()
        }
        self.backlog.removeAll()
        for connection in self.sessions.indices {
            guard let session = self.sessions[connection], !conditions.isSkipped() else { continue }
            let index = Int32(connection)
            if session.writing, session.socket.isWritable { self.core.writable(index) }
            // As in the server's driver, the readiness from epoll holds for the whole tick unless the core stopped
            // reading.
            if session.reading, session.socket.isReadable, self.core.wantsInput(index) {
                switch session.socket.read(upTo: max(1, conditions.readBytes())) {
                case .bytes(let bytes): self.receive(index, bytes)
                case .end: self.core.peerEnded(index)
                case .broken: self.core.broken(index)
                }
            } else if session.socket.isReset {
                self.core.broken(index)
            }
            self.execute()
        }
    }

    /// Delivers answers as a loop with its own store does, and interrupts the core as often as possible.
    private func receive(_ connection: Int32, _ bytes: [UInt8]) {
        var taken = 0
        repeat {
            let rest = bytes.span.bytes.extracting(taken...)
            taken += self.core.received(connection, rest, untilAsks: self.core.asks.count + 1)
        } while taken < bytes.count
    }

    package func finish(_ conditions: Conditions) {
        precondition(self.isInTurn, "a turn ended that had not begun")
        let arrivals = self.inbox
        self.inbox.removeAll()
        for arrival in arrivals {
            switch arrival {
            case .store(let event): self.core.handle(event)
            case .control(let ticket, let answer): self.core.handle(control: ticket, answer)
            case .trust(let authenticator): self.core.trust(authenticator)
            case .drain: self.core.beginDrain()
            case .sendAway: self.core.sendAway()
            case .clockWentOn: break
            }
        }
        self.core.endInput()
        self.execute()
        self.written.removeAll()
        while true {
            let count = self.core.planWrites()
            if count == 0 { break }
            for index in 0..<count { self.write(index, conditions) }
            self.execute()
        }
        self.wake = self.core.endTurn()
        self.execute()
        self.isInTurn = false
    }

    private func write(_ index: Int, _ conditions: Conditions) {
        let write = self.core.plannedWrite(index)
        guard let socket = self.sessions[Int(write.connection)]?.socket, socket.number == write.socket else {
            preconditionFailure("a write to connection \(write.connection), which is gone")
        }
        self.written.append(socket.number)
        var allowed = conditions.writeBytes()
        var taken = 0
        for segment in 0..<write.segmentCount {
            let bytes = self.core.segment(segment, of: write)
            guard let count = socket.send(bytes, atMost: allowed) else {
                self.core.wrote(index, .broken)
                return
            }
            taken += count
            allowed -= count
            if count < bytes.count { break }
        }
        self.core.wrote(index, .wrote(taken))
    }

    private func execute() {
        guard !self.core.effects.isEmpty else { return }
        let effects = self.core.effects
        self.core.effects.removeAll()
        for effect in effects {
            switch effect {
            case .listen(let connection, let socket, let reading, let writing):
                guard let session = self.sessions[Int(connection)], session.socket.number == socket else { continue }
                self.sessions[Int(connection)]?.reading = reading
                self.sessions[Int(connection)]?.writing = writing
            case .shutDownWriting(_, let number):
                self.sessions.first { $0?.socket.number == number }??.socket.shutDownWriting()
            case .close(let connection, let number):
                guard let session = self.sessions[Int(connection)], session.socket.number == number else {
                    preconditionFailure("connection \(connection) was closed twice")
                }
                session.socket.close()
                self.sessions[Int(connection)] = nil
            case .control(let ticket, let request): self.controls.append((ticket, request))
            case .drained: self.hasDrained = true
            }
        }
    }
}
