import PerchBase
import PerchLoop

// The same load for Redis: a channel for each account, a message for each change. Redis keeps no state, so a
// subscription gets a confirmation instead of a value, and cannot be resumed.
//
// All lengths are fixed, so messages are parsed by offsets. The generator must not be slower with Redis than with
// Perch.
extension Generator {
    /// `*3 $7 message $15 bench-000000007 $N payload`, each with CR LF.
    private static let messageStart = Array("*3\r\n$7\r\nmessage\r\n$15\r\n".utf8)
    private static let channelCount = "bench-".utf8.count + CallTemplate.digitCount
    /// Digits of the change's number at the start of a payload.
    private static let numberCount = 12

    func subscriptions(of index: Int) -> [UInt8] {
        var out: [UInt8] = []
        let first = Int(self.connections[index].firstWatch)
        for watch in first..<first + Int(self.connections[index].watchCount) {
            out += Array("*2\r\n$9\r\nSUBSCRIBE\r\n$15\r\n".utf8)
            out += Array((CallTemplate.account(self.ledger.key(ofWatch: watch)) + "\r\n").utf8)
        }
        return out
    }

    /// Publishes a change. Its number serves as revision, because Redis has none.
    func publish(_ change: Int32, _ key: Int, _ writer: Int, _ valueBytes: Int, runsScript: Bool) {
        let count = max(Self.numberCount, valueBytes)
        self.ledger.answered(change, revision: UInt64(change) + 1) { self.recorder.recordReached($0, arrived: $1) }
        let digits = String(Int(change) + 1)
        let account = CallTemplate.account(key)
        var text = "*3\r\n$7\r\nPUBLISH\r\n$15\r\n\(account)\r\n$\(count)\r\n"
        if runsScript {
            let product = self.settings.product
            let token = Requests.accountToken(of: account)
            text = "*7\r\n$5\r\nFCALL\r\n$3\r\nbuy\r\n$1\r\n1\r\n$15\r\n\(account)\r\n"
            text += "$\(product.utf8.count)\r\n\(product)\r\n$36\r\n\(token)\r\n$\(count)\r\n"
        }
        text += String(repeating: "0", count: Self.numberCount - digits.count) + digits
        self.writers[writer].out.append(contentsOf: text.utf8)
        self.writers[writer].out.append(contentsOf: repeatElement(UInt8(ascii: "f"), count: count - Self.numberCount))
        self.writers[writer].out.append(contentsOf: [13, 10])
        self.writers[writer].inOrder.append(change)
        self.writers[writer].underWay += 1
        self.schedule.awaitedAnswers += 1
    }

    /// Handles complete replies in order and returns their length.
    func replies(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: Int64) -> Int {
        var at = 0
        while at < bytes.count, self.connections[index].phase != .closed {
            let isWriter = self.connections[index].isWriter
            let next =
                isWriter
                ? self.published(index, bytes, at, now) : self.message(index, bytes, at, now)
            guard let next else { break }
            at = next
        }
        return at
    }

    /// Parses `:N`, the number of receivers.
    private func published(_ writer: Int, _ bytes: UnsafeRawBufferPointer, _ at: Int, _ now: Int64) -> Int? {
        guard let end = Self.lineEnd(bytes, at) else { return nil }
        guard bytes[at] == UInt8(ascii: ":"), let change = self.writers[writer].takeFirst() else {
            self.giveUp(
                "redis answered \(String(decoding: UnsafeRawBufferPointer(rebasing: bytes[at..<end]), as: UTF8.self))")
            return nil
        }
        self.measures.lastProgress = now
        self.writers[writer].underWay -= 1
        self.schedule.awaitedAnswers -= 1
        self.recorder.recordAnswer(intended: self.ledger.intended(change), at: now)
        if !self.ledger.isWatched(change) { self.schedule.underWay -= 1 }
        return end + 2
    }

    private func message(_ index: Int, _ bytes: UnsafeRawBufferPointer, _ at: Int, _ now: Int64) -> Int? {
        let start = Self.messageStart.count
        guard bytes.count - at > start else { return nil }
        let isMessage = bytes[at + 5] == UInt8(ascii: "7")
        guard isMessage else { return self.subscribed(index, bytes, at, now) }
        // The channel, CR LF, then the payload's length on its own line.
        let channel = at + start
        guard let lengthEnd = Self.lineEnd(bytes, channel + Self.channelCount + 2) else { return nil }
        var length = 0
        for place in channel + Self.channelCount + 3..<lengthEnd { length = 10 * length + Int(bytes[place]) - 48 }
        let payload = lengthEnd + 2
        guard bytes.count - payload >= length + 2 else { return nil }
        let number = Self.number(bytes, payload, Self.numberCount)
        let key = Self.number(bytes, channel + Self.channelCount - CallTemplate.digitCount, CallTemplate.digitCount)
        // The connection has one watch, or one for each account.
        let watch = self.connections[index].watchCount == 1 ? self.connections[index].firstWatch : Int32(key)
        self.measures.lastProgress = now
        self.results.messageLengths.value = length
        self.ledger.value(watch, revision: UInt64(number), asOf: 0, at: now) {
            self.recorder.recordReached($0, arrived: $1)
        }
        return payload + length + 2
    }

    /// Parses `*3 $9 subscribe $15 bench-000000007 :1`, after which published messages arrive.
    private func subscribed(_ index: Int, _ bytes: UnsafeRawBufferPointer, _ at: Int, _ now: Int64) -> Int? {
        var (line, lines) = (at, 0)
        while lines < 6 {
            guard let end = Self.lineEnd(bytes, line) else { return nil }
            line = end + 2
            lines += 1
        }
        self.measures.lastProgress = now
        let done = self.connections[index].watchCount - self.connections[index].awaited
        self.ledger.unchanged(self.connections[index].firstWatch + done)
        self.firstCame(index, at: now)
        return line
    }

    /// The position of the line's CR.
    private static func lineEnd(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        var at = start
        while at + 1 < bytes.count {
            if bytes[at] == 13, bytes[at + 1] == 10 { return at }
            at += 1
        }
        return nil
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int {
        var number = 0
        for place in start..<start + count { number = 10 * number + Int(bytes[place] & 15) }
        return number
    }
}

extension Generator.Writer {
    /// Removes the oldest change of those that are answered in order.
    mutating func takeFirst() -> Int32? {
        guard self.inOrderNext < self.inOrder.count else { return nil }
        let change = self.inOrder[self.inOrderNext]
        self.inOrderNext += 1
        if self.inOrderNext == self.inOrder.count {
            self.inOrder.removeAll(keepingCapacity: true)
            self.inOrderNext = 0
        }
        return change
    }
}
