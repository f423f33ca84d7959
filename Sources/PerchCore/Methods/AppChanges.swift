import PerchModel
import PerchWire

struct AppChanges: MethodHandler {
    typealias Answer = FeedEvent

    let asked: AppChangesRequest

    func check() throws(CallRefusal) {
        guard self.asked.cursor.isEmpty || !self.asked.fromOldest else {
            throw CallRefusal(
                .fieldInvalid, "from_oldest and a cursor name two places to begin; leave one of them out",
                details: [.field("from_oldest")])
        }
    }

    func begin(_ context: MethodContext) -> Step { .appChanges(self.asked) }
}
