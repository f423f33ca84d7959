import PerchBase
import PerchWire

// Reads the server's own counters before and after the load: `GetServerStatus`, on the first writer's connection.
//
// This happens outside of the window, because the call costs a server more than a change does.
extension Generator {
    struct Counting {
        enum State { case idle, asked, done }

        var state = State.idle
        /// The stage that asked.
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

    /// Whether this stage has the counters or cannot get them; asks for them otherwise. No change may be under way,
    /// because unpushed changes would be counted only in part.
    func hasCounted() -> Bool {
        guard self.countsServer else { return true }
        guard self.results.counting.stage != self.stage else { return self.results.counting.state == .done }
        self.results.counting.stage = self.stage
        self.results.counting.state = .asked
        self.results.counting.stream = self.writers[0].takeStream(for: -1)
        self.appendCall(self.requests.status, writer: 0, stream: self.results.counting.stream, account: 0)
        return false
    }

    /// Whether a message, or the end of a call, belongs to the counters.
    @inline(__always)
    func isCounting(_ writer: Int, _ stream: UInt32) -> Bool {
        self.results.counting.state == .asked && writer == 0 && stream == self.results.counting.stream
    }

    func countersTold(_ message: UnsafeRawBufferPointer) {
        guard case .getServerStatus(let status)? = try? self.codec.decodeResponse(.getServerStatus, message.bytes)
        else { return }
        let counters = ServerCounters(status.metrics)
        if self.stage < .settling {
            self.results.counting.before = counters
        } else {
            self.results.counting.after = counters
        }
    }

    /// The server answered or refused; it may refuse clients without permission.
    func countersEnded() {
        self.results.counting.state = .done
        self.writers[0].free.append(self.results.counting.stream)
    }
}

extension Generator.Writer {
    /// Assigns `change` to a free stream, and returns the stream.
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
