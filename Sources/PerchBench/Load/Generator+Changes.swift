import PerchBase
import PerchLoop
import PerchModel
import PerchScenario
import PerchWire

// Sends changes; receives answers and values.
extension Generator {
    // MARK: Sending changes

    /// Sends a change of `key`; the last key is the catalogue.
    func change(_ key: Int, intended: Int64, at now: Int64) {
        // All changes of a key use one connection, so that their revisions rise in sending order.
        let writer = key % self.writers.count
        let index = self.ledger.begin(key: key, intended: intended)
        self.recorder.recordDue(intended: intended, at: now)
        if case .redis(let valueBytes, let runsScript) = self.dialect {
            return self.publish(index, key, writer, valueBytes, runsScript: runsScript)
        }
        let stream = self.writers[writer].takeStream(for: index)
        self.writers[writer].underWay += 1
        self.schedule.awaitedAnswers += 1
        if key == self.settings.keys {
            self.schedule.edition += 1
            self.appendCall(self.requests.edition, writer: writer, stream: stream, account: self.schedule.edition)
        } else {
            let call = self.stage == .seeding ? self.requests.first : self.requests.change
            self.appendCall(call, writer: writer, stream: stream, account: key, change: Int(index))
        }
    }

    /// The key of the next change.
    func nextKey() -> Int {
        switch self.settings.workload {
        case .catalog: self.settings.keys
        case .mixed:
            // One change in a hundred goes to the account with many watchers.
            self.schedule.random.below(100) == 0 ? 0 : self.schedule.random.below(self.settings.keys)
        default: self.settings.keys == 1 ? 0 : self.schedule.random.below(self.settings.keys)
        }
    }

    // MARK: Answers

    func answer(writer: Int, _ stream: UInt32, _ message: UnsafeRawBufferPointer, at now: Int64) {
        if self.isCounting(writer, stream) { return self.countersTold(message) }
        guard let change = self.carried(writer, stream), let revision = PushScan.revision(ofAnswer: message) else {
            self.giveUp("received an unreadable or unexpected answer on stream \(stream)")
            return
        }
        self.measures.lastProgress = now
        if self.results.messageLengths.answer == 0, let reason = self.whyUnpushed(message) {
            return self.giveUp(reason)
        }
        self.results.messageLengths.answer = message.count
        self.recorder.recordAnswer(intended: self.ledger.intended(change), at: now)
        self.ledger.answered(change, revision: revision) { self.recorder.recordReached($0, arrived: $1) }
    }

    /// The reason why the first change's result would not be pushed or written again by later changes. The bench would
    /// then wait for values that the server never sends, and count them as lost.
    private func whyUnpushed(_ message: UnsafeRawBufferPointer) -> String? {
        switch self.settings.workload {
        case .catalog, .idle, .storm: return nil
        default: if self.settings.change == .renewal { return nil }
        }
        // Answers of the baseline server contain a revision and filler bytes, but no transaction.
        guard case .operate(let answer)? = try? self.codec.decodeResponse(.operate, message.bytes) else { return nil }
        switch answer.purchaseResult {
        case .pending, .userCancelled:
            return
                "a purchase of \(self.settings.product) did not complete at once (\(answer.purchaseResult)); disable the "
                + "app's checks before purchases, which `perch get settings` shows"
        default: break
        }
        guard let type = answer.transaction?.value.productType, type != .nonRenewable else { return nil }
        if type == .consumable, self.settings.workload == .buy { return nil }
        return
            "\(self.settings.product) has the type \(type), and buying it again pushes nothing; choose a product of "
            + "type nonRenewable with --product"
    }

    private func carried(_ writer: Int, _ stream: UInt32) -> Int32? {
        guard Int(stream) < self.writers[writer].changes.count else { return nil }
        let change = self.writers[writer].changes[Int(stream)]
        return change >= 0 ? change : nil
    }

    /// Handles the end of a call: an answered change, or a watch that the server ended.
    func ended(_ index: Int, _ stream: UInt32, _ status: Status) {
        guard self.connections[index].isWriter else {
            self.results.refusals[status.reason.isEmpty ? "code \(status.code)" : status.reason, default: 0] += 1
            if self.stage < .measuring {
                self.giveUp(
                    "the server ended a watch with \(status.reason): \(status.message)",
                    ServerRefusal(code: status.code, reason: status.reason))
            }
            return
        }
        if self.isCounting(index, stream) { return self.countersEnded() }
        guard let change = self.carried(index, stream) else { return }
        self.writers[index].changes[Int(stream)] = -1
        self.writers[index].free.append(stream)
        self.writers[index].underWay -= 1
        self.schedule.awaitedAnswers -= 1
        if status.code != 0 {
            self.results.refusals[status.reason, default: 0] += 1
            self.recorder.recordRefusal(intended: self.ledger.intended(change))
            self.results.lastRefusal = ServerRefusal(code: status.code, reason: status.reason)
            self.ledger.failed(change)
            self.schedule.underWay -= 1
            if self.stage < .warming {
                let isUnsold = status.reason == "PURCHASE_PRODUCT_UNAVAILABLE"
                self.giveUp(
                    "the server refused a purchase with \(status.reason): \(status.message)"
                        + (isUnsold ? "; choose a nonRenewable product that it sells with --product" : ""),
                    ServerRefusal(code: status.code, reason: status.reason))
            }
        } else if self.stage < .warming || !self.ledger.isWatched(change) {
            // The account has no watchers, so its answer completes the change.
            self.schedule.underWay -= 1
        }
    }

    // MARK: Values

    @inline(__always)
    func pushed(
        _ index: Int, _ stream: UInt32, _ message: UnsafeRawBufferPointer, _ isCompressed: Bool, at now: Int64
    ) {
        let watch = self.connections[index].firstWatch + Int32(truncatingIfNeeded: stream) - 1
        guard stream >= 1, stream <= UInt32(self.connections[index].watchCount) else {
            self.giveUp("received a value on stream \(stream), which was never opened")
            return
        }
        if self.settings.readsCopies { return self.partCame(index, watch, message, at: now) }
        let scan = isCompressed ? self.scanInflated(message) : PushScan(message)
        if let scan, scan.isBookmark { return }
        guard let scan, let state = scan.state else {
            self.giveUp("received an unreadable message of \(message.count) bytes")
            return
        }
        self.measures.lastProgress = now
        switch state {
        case .loading: return
        case .failure: self.results.refusals["failure", default: 0] += 1
        case .unchanged:
            self.results.unchanged += 1
            self.ledger.unchanged(watch)
        case .success:
            self.results.messageLengths.value = message.count
            let isTimed = !self.connections[index].wasSlow
            self.ledger.value(watch, revision: scan.revision, asOf: scan.asOf, at: now) {
                self.recorder.recordReached($0, arrived: $1, isTimed: isTimed)
            }
        }
        if !self.joining.tokens.isEmpty, scan.tokenCount > 0 {
            let range = scan.tokenStart..<scan.tokenStart + scan.tokenCount
            self.joining.tokens[Int(watch)] =
                isCompressed ? Array(self.input.lastInflated.plain[range]) : Array(message[range])
        }
        if self.connections[index].awaited > 0 { self.firstCame(index, at: now) }
    }

    /// A part of a copy. The copy is the first value, and is there with the part that ends it.
    private func partCame(_ index: Int, _ watch: Int32, _ message: UnsafeRawBufferPointer, at now: Int64) {
        self.measures.lastProgress = now
        guard message.first == Self.fieldOfCopyEnd, self.connections[index].awaited > 0 else { return }
        self.ledger.unchanged(watch)
        self.firstCame(index, at: now)
    }

    /// The key of `AppEntitlementsResponse.end`.
    private static let fieldOfCopyEnd: UInt8 = 3 << 3 | 2

    func firstCame(_ index: Int, at now: Int64) {
        self.connections[index].awaited -= 1
        guard self.connections[index].awaited == 0 else { return }
        self.joining.handshaking -= 1
        self.joining.established += 1
        self.recorder.recordFirst(intended: self.connections[index].intended, at: now)
    }

    /// Inflates a message, unless the last one had the same bytes: ten thousand watchers of one view get the same. The
    /// token's place refers to `lastInflated.plain`.
    private func scanInflated(_ message: UnsafeRawBufferPointer) -> PushScan? {
        if self.input.lastInflated.bytes.count == message.count,
            self.input.lastInflated.bytes.withUnsafeBytes({ $0.elementsEqual(message) })
        {
            return self.input.lastInflated.scan
        }
        guard let plain = try? self.codec.inflate(message.bytes), let scan = PushScan(plain) else { return nil }
        self.input.lastInflated = (Array(message), self.joining.tokens.isEmpty ? [] : Array(plain), scan)
        return scan
    }
}
