import PerchBase
import PerchLoop
import PerchModel
import PerchScenario
import PerchWire

// Steps from line to line, with each account's requests and data.
extension ScenarioLoad {
    var hasDue: Bool {
        self.passing.passage >= 0 && self.passing.passage < self.program.passages.count && !self.isCommonUnderWay
            && !self.program.passages[self.passing.passage].isCommon && self.passing.nextPlayer < self.players.count
    }

    private var current: ScenarioProgram.Passage { self.program.passages[self.passing.passage] }

    private var isCommonUnderWay: Bool {
        self.passing.commonIndex < self.program.passages[self.passing.passage].common.count
    }

    func step(at now: Int64) {
        self.connectMore()
        guard !self.isDone else { return }
        if self.passing.nextLink < self.links.count || self.passing.handshaking > 0 {
            self.watchProgress(at: now, "opening connections")
            return
        }
        if self.passing.passage < 0 { self.beginPassage(0, at: now) }
        while self.passing.passage < self.program.passages.count, !self.isDone {
            self.keepSchedule(at: now)
            guard self.isPassageOver else {
                self.failLate(at: now)
                guard self.isPassageOver else { return }
                continue
            }
            self.beginPassage(self.passing.passage + 1, at: now)
        }
        guard !self.isDone else { return }
        if !self.passing.isEnding { self.beginEnding() }
        if self.passing.pongs == self.players.count { self.isDone = true }
        self.watchProgress(at: now, "reading the remaining data")
    }

    private func watchProgress(at now: Int64, _ what: String) {
        guard now - self.measures.lastProgress > Limits.benchStallMilliseconds * 1_000_000 else { return }
        self.giveUp("no progress for \(Limits.benchStallMilliseconds / 1_000) s while \(what)")
    }

    private func beginPassage(_ index: Int, at now: Int64) {
        self.passing.passage = index
        guard index < self.program.passages.count else { return }
        self.passing.passageBegan = now
        self.measures.lastProgress = now
        self.passing.commonIndex = 0
        self.passing.nextPlayer = 0
        self.passing.nextDue = now
        self.passing.floor = self.passing.reached
        self.passing.settled = self.players.count { $0.state == .failed }
        for player in self.players.indices where self.players[player].state != .failed {
            self.players[player].state = .waiting
        }
        if self.passing.settled == self.players.count {
            self.giveUp("every account differs from the first one")
            return
        }
        if self.current.isCommon {
            // Before the request, because its results may overtake the answer.
            for player in self.players.indices where self.players[player].state == .waiting {
                self.arm(player, intended: now)
            }
        }
        self.askCommon(at: now)
        if self.current.isCommon {
            for player in self.players.indices where self.players[player].state == .busy { self.settleIfDone(player) }
        }
    }

    private var isPassageOver: Bool { !self.isCommonUnderWay && self.passing.settled == self.players.count }

    /// Follows the schedule, whatever happened to earlier accounts.
    private func keepSchedule(at now: Int64) {
        guard self.hasDue else { return }
        if self.passing.nextPlayer == 0 {
            // The schedule starts when the app's requests have been answered.
            self.passing.passageBegan = self.commonEnded(at: now)
        }
        let rate = Int64(self.settings.rate ?? 1)
        while self.passing.nextPlayer < self.players.count {
            let due = self.passing.passageBegan + Int64(self.passing.nextPlayer) * 1_000_000_000 / rate
            self.passing.nextDue = due
            guard due <= now else { return }
            let player = self.passing.nextPlayer
            self.passing.nextPlayer += 1
            guard self.players[player].state == .waiting else { continue }
            self.recorder.lag.record(now - due)
            self.measures.lastProgress = now
            self.takeLine(player, intended: due, at: now)
        }
    }

    private func commonEnded(at now: Int64) -> Int64 { self.current.common.isEmpty ? self.passing.passageBegan : now }

    private func takeLine(_ player: Int, intended: Int64, at now: Int64) {
        self.arm(player, intended: intended)
        let link = self.storeCount + player
        for key in self.current.closed {
            let stream = self.players[player].watches[key].stream
            guard stream != 0 else { continue }
            self.players[player].watches[key] = Watching()
            self.links[link].targets[Int(stream)] = .none
            self.sendFrame(link, .cancel, stream: stream, [])
        }
        for (key, request) in self.current.opened {
            let stream = self.takeStream(link, for: .watch(key))
            self.players[player].watches[key] = Watching(stream: stream)
            guard let own = self.personal(request, player) else { continue }
            self.send(link, .call, stream: stream) { codec throws(MessageError) in try codec.encodeCall(own) }
        }
        self.players[player].asked = intended
        self.askNext(player)
        self.settleIfDone(player)
    }

    private func arm(_ player: Int, intended: Int64) {
        self.players[player].state = .busy
        self.players[player].intended = intended
        self.players[player].askIndex = 0
        self.players[player].missing = self.current.expected.count
        for key in self.players[player].watches.indices {
            self.players[player].watches[key].progress = 0
            self.players[player].watches[key].unlike = nil
        }
    }

    private func settleIfDone(_ player: Int) {
        guard self.players[player].state == .busy, self.players[player].missing == 0,
            self.players[player].askIndex >= self.current.own.count
        else { return }
        self.players[player].state = .done
        self.passing.settled += 1
    }

    // MARK: Asking

    private func personal(_ request: Request, _ player: Int) -> Request? {
        let digits = String(player)
        let suffix = "-" + String(repeating: "0", count: max(0, CallTemplate.digitCount - digits.count)) + digits
        return request.personal(self.players[player].likeness, suffix: suffix, atLeast: self.passing.reached)
    }

    private func askCommon(at now: Int64) {
        guard self.isCommonUnderWay else { return }
        guard let request = self.personal(self.current.common[self.passing.commonIndex].request, 0) else {
            preconditionFailure("a request of the app refers to an account's transaction")
        }
        let stream = self.takeStream(0, for: .common)
        self.send(0, .call, stream: stream) { codec throws(MessageError) in try codec.encodeCall(request) }
    }

    private func askNext(_ player: Int) {
        let asks = self.current.own
        guard self.players[player].askIndex < asks.count else { return }
        let ask = asks[self.players[player].askIndex]
        guard let request = self.personal(ask.request, player) else {
            return self.fail(player, "this account never received the transaction of this line")
        }
        let link = ask.asker == .app ? self.storeCount + player : player % self.storeCount
        let stream = self.takeStream(link, for: .ask(player: player))
        self.send(link, .call, stream: stream) { codec throws(MessageError) in try codec.encodeCall(request) }
    }

    func answered(_ target: Target, _ bytes: RawSpan, at now: Int64) throws(MessageError) {
        self.measures.lastProgress = now
        switch target {
        case .common:
            guard self.isCommonUnderWay else { return }
            let ask = self.current.common[self.passing.commonIndex]
            self.reach(try self.codec.decodeResponse(ask.request.method, bytes).position)
            self.recorder.recordAnswer(intended: self.passing.passageBegan, at: now)
        case .ask(let player):
            guard self.players[player].state == .busy, self.players[player].askIndex < self.current.own.count else {
                return
            }
            let ask = self.current.own[self.players[player].askIndex]
            let response = try self.codec.decodeResponse(ask.request.method, bytes)
            self.reach(response.position)
            self.recorder.recordAnswer(intended: self.players[player].asked, at: now)
            switch ask.answer {
            case .success(let first):
                guard !self.players[player].likeness.matches(response, first) else { return }
                self.fail(player, "the answer was \(response.words), the first account's was \(first.words)")
            case .failure(let refusal):
                self.fail(player, "it succeeded, the first account was refused with \(refusal.reason)")
            }
        case .none, .watch: break
        }
    }

    private func reach(_ position: Position?) {
        guard let position else { return }
        self.passing.reached = max(self.passing.reached, position)
    }

    /// Handles the end of a call.
    func ended(_ link: Int, _ stream: UInt32, _ target: Target, _ status: Status, at now: Int64) {
        self.links[link].targets[Int(stream)] = .none
        self.links[link].free.append(stream)
        self.measures.lastProgress = now
        switch target {
        case .none: break
        case .watch(let key):
            self.results.refusals[status.reason, default: 0] += 1
            self.fail(link - self.storeCount, "the server ended \(self.program.keys[key]) with \(status.reason)")
        case .common:
            guard self.isCommonUnderWay else { return }
            if status.code != 0, case .success = self.current.common[self.passing.commonIndex].answer {
                self.giveUp(
                    "line \(self.current.line), `\(self.current.text)`, was refused with \(status.reason): \(status.message)"
                )
                return
            }
            self.passing.commonIndex += 1
            self.askCommon(at: now)
        case .ask(let player):
            guard self.players[player].state == .busy else { return }
            if status.code != 0 {
                let expected: String?
                switch self.current.own[self.players[player].askIndex].answer {
                case .failure(let refusal): expected = refusal.reason
                case .success: expected = nil
                }
                guard expected == status.reason else {
                    self.results.refusals[status.reason, default: 0] += 1
                    self.fail(
                        player,
                        "it was refused with \(status.reason), the first account "
                            + (expected.map { "with \($0)" } ?? "was not"))
                    return
                }
                self.recorder.recordAnswer(intended: self.players[player].asked, at: now)
            }
            self.players[player].askIndex += 1
            self.players[player].asked = now
            self.askNext(player)
            self.settleIfDone(player)
        }
    }

    // MARK: Values

    func pushed(_ player: Int, _ key: Int, _ response: Response, at now: Int64) {
        guard self.players[player].state != .failed, response.isTold(to: self.links[self.storeCount + player].clientID)
        else { return }
        self.measures.lastProgress = now
        let isFirst = !self.players[player].watches[key].hasValue
        self.players[player].watches[key].hasValue = true
        let expected = self.passing.passage < self.program.passages.count ? self.current.expected[key] ?? [] : []
        let progress = self.players[player].watches[key].progress
        let isOld = response.valuePosition.map {
            $0.revision <= self.passing.floor.revision && $0.asOf <= self.passing.floor.asOf
        }
        guard self.players[player].state == .busy, progress < expected.count, isFirst || isOld != true else {
            self.fail(
                player, "\(self.program.keys[key]) sent \(response.words), but nothing more to the first account")
            return
        }
        guard let place = self.place(of: response, in: expected, from: progress, player) else {
            guard response.valuePosition != nil else {
                self.fail(
                    player,
                    "\(self.program.keys[key]) sent \(response.words), but \(expected[progress].words) to the first account"
                )
                return
            }
            // A value that the first account skipped. Only the last value must match.
            self.players[player].watches[key].unlike = response
            return
        }
        self.results.conflated += place - progress
        self.players[player].watches[key].progress = place + 1
        if isFirst {
            self.recorder.recordFirst(intended: self.players[player].intended, at: now)
        } else {
            self.recorder.recordReached([self.players[player].intended].span, arrived: now)
        }
        guard place + 1 == expected.count else { return }
        self.players[player].missing -= 1
        self.settleIfDone(player)
    }

    /// The index of the expected value that matches. A state may skip some of them; events must all arrive.
    private func place(of response: Response, in expected: [Response], from start: Int, _ player: Int) -> Int? {
        guard response.valuePosition != nil else {
            return self.players[player].likeness.matches(response, expected[start]) ? start : nil
        }
        return (start..<expected.count).reversed().first {
            self.players[player].likeness.matches(response, expected[$0])
        }
    }

    // MARK: Ending

    func fail(_ player: Int, _ why: String) {
        guard self.players[player].state != .failed else { return }
        let wasSettled = self.players[player].state == .done
        self.players[player].state = .failed
        self.results.failed += 1
        if !wasSettled { self.passing.settled += 1 }
        guard self.results.findings.count < Limits.benchFindingsMax else { return }
        let place =
            self.passing.passage >= 0 && self.passing.passage < self.program.passages.count
            ? "line \(self.current.line), `\(self.current.text)`" : "after the last line"
        self.results.findings.append("account \(player), \(place): \(why)")
    }

    /// Fails accounts that have received nothing for too long.
    private func failLate(at now: Int64) {
        guard !self.hasDue, now - self.measures.lastProgress > self.settings.settleNanoseconds else { return }
        guard !self.isCommonUnderWay else {
            return self.giveUp("line \(self.current.line), `\(self.current.text)`, was not answered")
        }
        let patience = duration(nanoseconds: Double(self.settings.settleNanoseconds))
        for player in self.players.indices where self.players[player].state == .busy {
            let silent = self.current.expected.keys.sorted().first {
                self.players[player].watches[$0].progress < self.current.expected[$0, default: []].count
            }
            // A missing answer counts with its waiting time.
            guard let silent else {
                self.recorder.recordMissedAnswer(intended: self.players[player].asked, at: now)
                self.fail(player, "no answer within \(patience)")
                continue
            }
            if self.players[player].watches[silent].hasValue {
                self.recorder.recordPush(intended: self.players[player].intended, arrived: now)
            } else {
                self.recorder.recordMissedFirst(intended: self.players[player].intended, at: now)
            }
            let wanted = self.current.expected[silent]?.last?.words ?? ""
            let said = self.players[player].watches[silent].unlike.map { ", but \($0.words)" } ?? ""
            self.fail(player, "\(self.program.keys[silent]) did not send within \(patience): \(wanted)\(said)")
        }
    }

    /// Sends a PING: its answer arrives after all pending data.
    private func beginEnding() {
        self.passing.isEnding = true
        for player in self.players.indices {
            self.sendFrame(self.storeCount + player, .ping, stream: 0, Array("scenario".utf8))
        }
    }
}
