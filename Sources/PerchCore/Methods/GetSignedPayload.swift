import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct GetSignedPayload: MethodHandler {
    let asked: GetSignedPayloadRequest

    func check() throws(CallRefusal) { try Check.present(self.asked.id, "id") }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        guard let key = ItemKey(ofID: self.asked.id) else {
            throw CallRefusal(
                .deadLetterUnknown, "\(printable(self.asked.id)) is no identifier of a notification or a dead letter",
                details: [.field("id")])
        }
        return .ask(.item(key))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) throws(CallRefusal) -> Step {
        guard case .items(let items, _) = found else { preconditionFailure("an item was asked for") }
        let found = items.first.flatMap { item in
            item.key.kind == .notification ? KeptNotification(item)?.jws : DeadLetter(item)?.jws
        }
        guard let jws = found else {
            throw CallRefusal(
                .deadLetterUnknown, "it is not kept any more; it may have been taken or dropped meanwhile")
        }
        return Self.step(SignedPayload(signedPayload: jws))
    }
}
