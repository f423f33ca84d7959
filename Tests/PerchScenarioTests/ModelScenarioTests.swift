import PerchModel
import PerchModelCheck
import Testing

@testable import PerchScenario

/// A finding of the model check is written as a scenario. Tests/Scenarios/run plays one.
@Suite("A random sequence, written as a scenario")
struct ModelScenarioTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func `the example is read without a fault`(_ seed: UInt64) {
        let actions = ModelCheck.actions(of: ModelEvent.sequence(seed: seed, count: 120))
        let text = ModelScenario.text(of: actions)
        let parsed = ScenarioParser.parse(text)
        #expect(parsed.faults.map(\.description) == [], "\(text)")
        #expect(parsed.scenario.accounts == ModelWorld.accounts)
        #expect(parsed.scenario.stepCount > 100)
        #expect(parsed.scenario.start == ModelWorld.begin)
    }

    /// A deliberately wrong law stands for a mistake: no subscription may be refunded.
    @Test func `the scenario has only the breaking steps, and names the broken law`() throws {
        let law: ModelCheck.Law = { _, after in
            let lines = after.records.compactMap { $0?.lines }.joined()
            return lines.contains { $0.latest.revocation?.type == .refundFull } ? "a subscription was refunded" : nil
        }
        var tally = ModelCheck.Tally()
        let failure = try #require(
            (1...20 as ClosedRange<UInt64>).lazy.compactMap {
                ModelCheck.live(seed: $0, events: 100, tally: &tally, law: law)
            }.first)
        #expect(failure.breach.hasSuffix("a subscription was refunded"))
        #expect(failure.actions.count <= 4, "\(failure.actions)")
        let parsed = ScenarioParser.parse(failure.scenario)
        #expect(parsed.faults.map(\.description) == [], "\(failure.scenario)")
        #expect(parsed.scenario.stepCount == failure.actions.count)
        #expect(failure.scenario.contains("# Broken: "))
        #expect(failure.scenario.contains("refund "))
    }
}
