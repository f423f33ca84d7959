import PerchCore
import PerchTwin
import PerchWire

extension ControlLoop {
    /// Orders a mishap of the twin, if there is one.
    func order(_ asked: OrderMishapRequest, _ bundleID: String, then: @escaping (ControlAnswer) -> Void) {
        guard let twin = self.twin else {
            return then(.refused(.noTwin, "\(TwinService.MishapRefusal.noTwin)", []))
        }
        twin.order(
            asked.kind, times: max(asked.times, 1), milliseconds: asked.delayMilliseconds, path: asked.path,
            of: bundleID
        ) { result in
            switch result {
            case .success(let waiting):
                then(.response(.orderMishap(OrderMishapResponse(waiting: UInt32(clamping: waiting)))))
            case .failure(let refusal):
                then(.refused(refusal == .tooMany ? .mishapLimit : .noTwin, "\(refusal)", []))
            }
        }
    }
}
