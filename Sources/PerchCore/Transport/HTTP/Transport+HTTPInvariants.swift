import PerchBase
import PerchWire

// The invariants of HTTP connections between two ticks. Linear; for tests and the simulator.
extension Transport {
    /// Bytes that the tables of the HTTP family hold.
    var httpBytes: Int {
        self.http.connections.memoryBytes + self.http.streams.memoryBytes
            + self.http.table.memoryBytes
    }

    /// What streams have unsent, beside what connections have.
    var httpUnsentCount: Int32 {
        var count: Int32 = 0
        for stream in 0..<self.http.streams.extent where self.http.streams.isTaken(stream) {
            var unsent = self.http.streams[stream].firstUnsent
            while unsent >= 0 {
                count += 1
                unsent = self.unsent[unsent].next
            }
        }
        return count
    }

    var httpCallCount: Int {
        var count = 0
        for stream in 0..<self.http.streams.extent where self.http.streams.isTaken(stream) {
            if self.http.streams[stream].call >= 0 { count += 1 }
        }
        return count
    }

    func checkHTTP(_ refer: (PayloadHandle) -> Void, _ tables: borrowing Tables) {
        for head in self.http.heads.values { refer(head) }
        refer(self.http.bookmark)
        for forms in tables.payloads.forms.values {
            let all = forms.all
            for index in all.indices { refer(all[index]) }
            for envelope in forms.envelopes.values { refer(envelope) }
        }
        var streams: Int32 = 0
        for index in 0..<tables.connections.extent where tables.connections.isTaken(index) {
            let http = tables.connections[index].http
            precondition(
                (http >= 0)
                    == (tables.connections[index].wire.isHTTP && tables.connections[index].phase == .open),
                "connection \(index) speaks HTTP and is none, or the other way round")
            if http >= 0 { streams += self.checkHTTPStreams(of: index, refer, tables) }
        }
        precondition(streams == self.http.streams.count, "a stream has no connection")
        precondition(Int(streams) == self.http.table.count, "a stream is not found by its number")
    }

    private func checkHTTPStreams(of index: Int32, _ refer: (PayloadHandle) -> Void, _ tables: borrowing Tables)
        -> Int32
    {
        let http = self.http.connections[tables.connections[index].http]
        var (count, ready, blocked): (Int32, Int32, Int32) = (0, 0, 0)
        var (unsentBytes, heldBytes) = (0, self.http.blocks[index]?.count ?? 0)
        var healthWatches: Int32 = 0
        var previous: Int32 = -1
        var stream = http.firstStream
        while stream >= 0 {
            let slot = self.http.streams[stream]
            precondition(slot.connection == index && slot.previous == previous, "the streams of \(index) are torn")
            precondition(self.http.stream(index, slot.id) == stream, "stream \(slot.id) is not found")
            refer(slot.pinned)
            var unsent = slot.firstUnsent
            var last: Int32 = -1
            while unsent >= 0 {
                let entry = self.unsent[unsent]
                refer(entry.payload)
                unsentBytes += tables.payloads[entry.payload].count
                last = unsent
                unsent = entry.next
            }
            precondition(last == slot.lastUnsent, "what stream \(slot.id) has unsent is torn")
            let (isReady, isBlocked) = (slot.flags.contains(.isReady), slot.flags.contains(.isBlocked))
            precondition(!isReady || !isBlocked, "stream \(slot.id) is ready and blocked")
            precondition(
                isReady || isBlocked || slot.flags.contains(.waitsForBody)
                    || (slot.firstUnsent < 0 && slot.pinned.isNone),
                "stream \(slot.id) has pending output and is in no list")
            if slot.call >= 0 {
                precondition(
                    tables.calls.isTaken(slot.call) && tables.calls[slot.call].connection == index,
                    "the call of stream \(slot.id) is gone")
                precondition(
                    isReady || isBlocked || !tables.calls[slot.call].flags.contains(.hasUnsentLoading),
                    "stream \(slot.id) has a pending first message and is in no list")
            }
            if isReady { ready += 1 }
            if isBlocked {
                blocked += 1
                precondition(
                    Int64(http.initialWindow) + Int64(slot.credit) <= 0, "stream \(slot.id) is blocked for nothing")
            }
            heldBytes += self.http.requests[stream]?.heldBytes ?? 0
            if self.http.healthWatches[stream] != nil { healthWatches += 1 }
            count += 1
            previous = stream
            stream = slot.next
        }
        var listed: Int32 = 0
        var lastReady: Int32 = -1
        stream = http.firstReady
        while stream >= 0 {
            precondition(
                self.http.streams[stream].flags.contains(.isReady)
                    && self.http.streams[stream].previousReady == lastReady, "the ready streams are torn")
            let needsNoWindow = self.http.streams[stream].flags.contains(.needsNoWindow)
            precondition(
                !needsNoWindow || lastReady < 0
                    || self.http.streams[lastReady].flags.contains(.needsNoWindow),
                "an end that needs no window stands behind a stream that needs one")
            listed += 1
            lastReady = stream
            stream = self.http.streams[stream].nextReady
        }
        precondition(lastReady == http.lastReady && listed == ready, "\(listed) streams are listed, \(ready) are ready")
        precondition(count == http.streamCount, "\(count) streams, \(http.streamCount) counted")
        precondition(blocked == http.blockedCount, "\(blocked) streams are blocked, \(http.blockedCount) counted")
        precondition(unsentBytes == http.unsentBytes, "\(unsentBytes) bytes are unsent, \(http.unsentBytes) counted")
        precondition(
            heldBytes == Int(http.heldBytes), "\(heldBytes) bytes of requests are held, \(http.heldBytes) counted")
        precondition(
            healthWatches == http.healthWatchCount,
            "\(healthWatches) watches of health, \(http.healthWatchCount) counted")
        return count
    }
}
