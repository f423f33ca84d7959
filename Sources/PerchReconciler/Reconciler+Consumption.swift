import PerchApple
import PerchBase
import PerchModel
import PerchStore

// Answers about purchases whose customers want refunds. The store has them, so a kill forgets none: they are looked for again.
extension Reconciler {
    mutating func askForQuestions(_ app: Int) {
        self.works[app].questions.next = nil
        self.effects.append(
            .ask(
                .items(
                    .consumption, groups: [ItemKey.appGroup(self.works[app].app.number)],
                    after: self.works[app].questions.after, limit: Limits.reconcileQuestionsAtOnce),
                ticket: self.begin(.questions(app))))
    }

    mutating func tookQuestions(_ answer: StoreAnswer, _ app: Int, _ now: Instant) {
        self.works[app].questions.next = now.advanced(byMilliseconds: Limits.reconcileQuestionsMilliseconds)
        guard case .items(let items, let hasMore) = answer else { return }
        for item in items {
            guard let asked = ConsumptionCase(item) else { continue }
            self.took(asked, item.key, app, now)
        }
        self.works[app].questions.after = hasMore ? items.last?.key.key ?? [] : []
        guard !hasMore else {
            self.works[app].questions.next = now
            return
        }
        self.works[app].report.questions = self.works[app].questions.seen
        self.works[app].report.nextDeadline = self.works[app].questions.earliestDeadline
        self.works[app].questions.seen = [:]
        self.works[app].questions.earliestDeadline = nil
    }

    private mutating func took(_ asked: ConsumptionCase, _ key: ItemKey, _ app: Int, _ now: Instant) {
        let id = asked.transaction
        guard now < asked.deadline else {
            if asked.state == .answered, self.works[app].questions.answering.removeValue(forKey: id) != nil {
                self.tell(.problem("an answer about the purchase \(id) did not reach the App Store in time"), app)
            }
            self.works[app].questions.answering[id] = nil
            guard now.milliseconds(since: asked.deadline) > Limits.reconcileForgetMilliseconds else { return }
            self.effects.append(.ask(.mutate(.item(.drop(key))), ticket: self.begin(.told(app))))
            return
        }
        self.works[app].questions.seen[asked.state, default: 0] += 1
        if asked.state != .sent {
            self.works[app].questions.earliestDeadline = min(
                self.works[app].questions.earliestDeadline ?? asked.deadline, asked.deadline)
        }
        guard asked.state == .answered, let answer = asked.answer else { return }
        if let again = self.works[app].questions.answering[id] {
            // It is under way, or its time has not come.
            guard let again, again <= now else { return }
        }
        self.works[app].questions.answering[id] = .some(nil)
        self.send(.consumption(id, answer), app, .answer(app, asked))
    }

    mutating func tookReply(_ reply: AppleAPIAnswer?, to asked: ConsumptionCase, _ app: Int, _ now: Instant) {
        let error = reply?.error
        guard let reply, error?.isRetryable != true, let answer = asked.answer else {
            self.works[app].questions.answering[asked.transaction] = now.advanced(
                byMilliseconds: Limits.reconcileAnswerMilliseconds)
            return
        }
        self.works[app].questions.answering[asked.transaction] = nil
        let refusal = reply.error.map { "\($0.code) \(printable($0.message))" }
        if let refusal {
            self.tell(.problem("the App Store refuses the answer about \(asked.transaction): \(refusal)"), app)
        } else {
            self.tell(.settled("the App Store took the answer about a purchase"), app)
        }
        self.effects.append(
            .ask(
                .mutate(
                    .reported(
                        .answered(asked.transaction, answer, refusing: refusal), app: self.works[app].app.number)),
                ticket: self.begin(.told(app))))
    }
}
