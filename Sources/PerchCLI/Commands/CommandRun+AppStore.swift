import PerchBase
import PerchClient
import PerchModel
import PerchWire

extension CommandRun {
    /// `perch apple reconcile`
    func reconcile() async throws -> ExitCode {
        let (isRehearsal, isWhole) = (self.settings.flag("dry-run"), self.settings.flag("everything"))
        var problem = ""
        try await self.withClient { client in
            var run = try await client.reconcile(isRehearsal: isRehearsal, isWhole: isWhole)
            while !run.isDone {
                try await Task.sleep(for: .milliseconds(200))
                run = try await client.reconcile(run: run.run, isRehearsal: isRehearsal, isWhole: isWhole)
            }
            let end = run
            try self.printer.print { json in
                json.messages("differences", end.differences) { json, difference in
                    json.text("source", difference.source)
                    json.long("originalTransactionId", difference.originalTransactionID)
                    json.text("message", difference.message)
                }
                json.number("moreCount", end.moreCount)
                json.number("notificationCount", end.notificationCount)
                json.number("subscriptionCount", end.subscriptionCount)
                json.number("historyCount", end.historyCount)
                json.text("problem", end.problem)
            } text: { _ in
                let more = end.moreCount > 0 ? ["and \(end.moreCount) more"] : []
                let count = end.differences.count + Int(end.moreCount)
                let nothing =
                    end.problem.isEmpty ? "nothing differs" : "no difference in these, and not all could be asked for"
                let found =
                    count == 0
                    ? nothing
                    : "\(counted(count, "difference"))\(isRehearsal ? "" : count == 1 ? ", which is repaired" : ", which are repaired")"
                return end.differences.map { one in
                    let whose = one.originalTransactionID == 0 ? "" : "  \(one.originalTransactionID)"
                    return "\(one.source)\(whose)  \(printable(one.message))"
                } + more + [
                    "\(counted(end.notificationCount, "notification")), \(counted(end.subscriptionCount, "subscription")) and "
                        + "\(counted(end.historyCount, "history", "histories")) were looked at: \(found)."
                ]
            }
            problem = end.problem
        }
        guard problem.isEmpty else {
            throw CommandFailure(.failure, "\(printable(problem)); the server tries it again later")
        }
        return .success
    }

    /// `perch apple consumption list` and `answer`
    func consumption() async throws {
        guard self.invocation.action == .appleConsumptionAnswer else { return try await self.listConsumption() }
        guard self.settings.flag("consent") else {
            throw UsageError(
                "--consent is missing: the App Store takes no answer without the customer's consent",
                command: self.invocation.name)
        }
        guard let delivery = self.settings.text("delivery").flatMap({ ConsumptionDelivery(named: $0) }) else {
            throw UsageError("--delivery is missing: say whether it was delivered", command: self.invocation.name)
        }
        let answer = ConsumptionAnswer(
            hasConsent: true, hasSample: self.settings.flag("sample"), delivery: delivery,
            consumedMilli: UInt32(clamping: (self.settings.number("consumed") ?? 0) * 1_000),
            preference: self.settings.text("preference").flatMap { RefundPreference(named: $0) } ?? .unspecified)
        let id = self.transactionID("ID")
        try await self.withClient { client in
            _ = try await client.answerConsumption(id, answer)
            try self.printer.print { json in
                json.long("transactionId", id)
            } text: { _ in
                ["The answer about \(id) is stored; perch apple consumption list shows when the App Store has it."]
            }
        }
    }

    private func listConsumption() async throws {
        try await self.withClient { client in
            let items = try await client.consumption()
            try self.printer.print { json in
                json.messages("cases", items) { json, item in
                    json.long("transactionId", item.transactionID)
                    json.text("reason", item.reason)
                    json.instant("askedAtMs", item.asked)
                    json.instant("deadlineMs", item.deadline)
                    json.choice("state", item.state, "CONSUMPTION_STATE")
                    json.text("message", item.message)
                }
            } text: { _ in
                items.map { item in
                    let reason = item.reason.isEmpty ? "no reason given" : printable(item.reason)
                    let message = item.message.isEmpty ? "" : ": \(printable(item.message))"
                    return "\(item.transactionID)  until \(item.deadline)  \(item.state)\(message)  (\(reason))"
                } + (items.isEmpty ? ["The App Store asks nothing."] : [])
            }
        }
    }
}
