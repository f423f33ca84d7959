import PerchBase

/// What the input of a tick may cost, in thousands of instructions.
///
/// A connection that has spent its part is read again in a later tick, so that one with much to ask, or two hundred of them, delay the
/// others by a few milliseconds. Nothing is refused and nothing is closed. The weights are measured with callgrind: the design note has the
/// table and the commands (`Tests/Scale/weights`).
struct WorkMeter {
    /// A frame of HTTP/2: 218 instructions.
    static let frame = 1
    /// The head of a request of HTTP: 23,300, with its stream and the end of that.
    static let head = 23
    /// A call of any transport: its request, its question to the store, and its answer. A purchase has 9,100.
    static let call = 9
    /// A refusal, or an answer that the transport makes itself: 22,000. Trailers with details are another.
    static let refusal = 22
    /// HELLO and WELCOME: 9,700.
    static let greeting = 10
    /// A token: 863,000 in OpenSSL for its signature, and 270,000 for its text and its claims.
    static let verification = 1_130
    /// Bytes of an answer, copied and written: 5.5 each.
    static let bytesPerUnit = 180
    /// A connection whose input was paused: the system call that writes its answers, which takes as long as 30,000 instructions.
    static let visit = 30

    private var spent = 0
    private var limit = 0
    /// What the next connection may spend.
    private var part = Limits.workPerConnection
    /// The connection whose input is read now.
    private var connection: Int32 = -1
    /// Connections that wait for a later tick, with input that was received before.
    private(set) var waiting: Set<Int32> = []

    /// A tick begins.
    mutating func begin() {
        self.spent = 0
        self.connection = -1
    }

    /// The input of a connection is read next: the input of one read may come in pieces.
    @inline(__always)
    mutating func read(_ connection: Int32) {
        guard connection != self.connection else { return }
        self.connection = connection
        // Whatever the others have spent, a connection gets its least.
        let left = min(self.part, Limits.workPerTurn - self.spent)
        self.limit = self.spent + max(left, Limits.workPerConnectionMin)
    }

    @inline(__always)
    mutating func spend(_ units: Int) { self.spent += units }

    /// The connection that is read has spent its part.
    @inline(__always)
    var isEmpty: Bool { self.spent >= self.limit }

    /// Input that was paused before is handled first, that of so many connections.
    mutating func beginPaused(_ count: Int) { self.part = Limits.workPausedPerTurn / count }

    /// Input that comes now is next.
    mutating func endPaused() { self.part = Limits.workPerConnection }

    /// Paused input has spent its part of the tick.
    var isPausedPartSpent: Bool { self.spent >= Limits.workPausedPerTurn }

    /// False: it waits already.
    mutating func wait(_ connection: Int32) -> Bool { self.waiting.insert(connection).inserted }

    @inline(__always)
    func waits(_ connection: Int32) -> Bool { !self.waiting.isEmpty && self.waiting.contains(connection) }

    /// The connection goes on, or is gone.
    @inline(__always)
    mutating func forget(_ connection: Int32) {
        if !self.waiting.isEmpty { self.waiting.remove(connection) }
    }
}

// Input that waits for a later tick.
extension Transport {
    /// Whether the rest of a connection's input waits for a later tick: it has spent its part of this one, or its first token
    /// would be one too many to verify. At least one frame is handled each time.
    @inline(__always)
    mutating func defersInput(
        _ index: Int32, isFirst: Bool, _ tables: inout Tables, _ service: inout some Gate
    ) -> Bool {
        if self.work.isEmpty, !isFirst { return self.defers(index, &tables) }
        guard service.hasVerifiedEnough,
            !tables.connections[index].flags.contains(.isIdentified), !self.work.waits(index)
        else { return false }
        return self.defers(index, &tables)
    }

    private mutating func defers(_ index: Int32, _ tables: inout Tables) -> Bool {
        self.pauseInput(index)
        tables.counters.inputsDeferred += 1
        return true
    }

    /// The rest of a connection's input is handled in a later tick. Until then its socket is not read.
    mutating func pauseInput(_ index: Int32) {
        if self.work.wait(index) { self.pausedInputs.append(index) }
    }

    /// Handles input that was received before a pause, the longest paused first. Beyond the part of a tick that it may cost, the rest
    /// stays paused: however many connections send ahead, a tick is short. Must be called at the beginning of a tick.
    mutating func takePausedInput(_ tables: inout Tables, _ views: inout some Source, _ service: inout some Gate) {
        let paused = self.pausedInputs
        guard !paused.isEmpty else { return }
        self.pausedInputs.removeAll()
        self.work.beginPaused(paused.count)
        let nothing: [UInt8] = []
        var place = 0
        while place < paused.count, !self.work.isPausedPartSpent {
            let connection = paused[place]
            place += 1
            self.work.forget(connection)
            guard tables.connections.isTaken(connection) else { continue }
            self.work.spend(WorkMeter.visit)
            self.received(connection, nothing.span.bytes, &tables, &views, &service)
        }
        self.work.endPaused()
        self.pausedInputs.insert(contentsOf: paused[place...], at: 0)
    }

    var hasPausedInput: Bool { !self.pausedInputs.isEmpty }
}
