import PerchBase
import PerchWire

// The server's own counters, before the load and after it: `GetServerStatus`, on the first writer's connection.
//
// Outside of the window, since to tell them costs a server more than a change does.
extension Generator {
    struct Counting {
        enum State { case idle, asked, told }

        var state = State.idle
        /// Of which stage it was asked.
        var stage = Stage.joining
        var stream: UInt32 = 0
        var before: ServerCounters?
        var after: ServerCounters?
    }

    private var countsServer: Bool {
        guard case .perch = self.dialect else { return false }
        switch self.settings.workload {
        case .hot, .keyed, .mux, .catalog, .buy, .mixed: return true
        case .storm, .resume, .idle, .scenario: return false
        }
    }

    /// Whether this stage knows what has been counted, or is not going to; asks where nobody has. Nothing else may be under
    /// way: what has been changed and not been pushed yet would be counted by halves.
    func hasCounted() -> Bool {
        guard self.countsServer else { return true }
        guard self.counting.stage != self.stage else { return self.counting.state == .told }
        self.counting.stage = self.stage
        self.counting.state = .asked
        self.counting.stream = self.writers[0].takeStream(for: -1)
        self.requests.status.append(to: &self.writers[0].out, stream: self.counting.stream)
        return false
    }

    /// Whether a message or the end of a call belongs to it.
    @inline(__always)
    func isCounting(_ writer: Int, _ stream: UInt32) -> Bool {
        self.counting.state == .asked && writer == 0 && stream == self.counting.stream
    }

    func countersTold(_ message: UnsafeRawBufferPointer) {
        guard case .getServerStatus(let status)? = try? self.codec.decodeResponse(.getServerStatus, message.bytes)
        else { return }
        let counters = ServerCounters(status.metrics)
        if self.stage < .settling { self.counting.before = counters } else { self.counting.after = counters }
    }

    /// Told, or refused: a server need not tell everybody.
    func countersEnded() {
        self.counting.state = .told
        self.writers[0].free.append(self.counting.stream)
    }
}

extension Generator.Writer {
    /// A free stream, which carries `change` from now on.
    @inline(__always)
    mutating func takeStream(for change: Int32) -> UInt32 {
        if let free = self.free.popLast() {
            self.changes[Int(free)] = change
            return free
        }
        self.changes.append(change)
        return UInt32(self.changes.count - 1)
    }
}
