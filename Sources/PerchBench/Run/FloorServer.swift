internal import CPerchFloor
internal import Glibc
internal import PerchBase

/// The baseline server as a process: `perch bench floor-server`.
package enum FloorServer {
    package static let valueBytes = 32...16 * 1024 * 1024
    package static let answerBytes = 0...16_000

    /// Serves until it is killed. Returns a reason only if it cannot start.
    ///
    /// `store` is a directory in which every change is made durable before it is answered.
    package static func run(port: UInt16, valueBytes: Int, answerBytes: Int, store: String?) -> String {
        func run(_ store: UnsafePointer<CChar>?) -> String {
            var settings = perch_floor_settings(
                port: port, value_bytes: UInt32(valueBytes), answer_bytes: UInt32(answerBytes), store: store,
                log_bytes: UInt32(Limits.storeLogBytes))
            let code = perch_floor_run(&settings)
            return "the baseline server cannot serve on 127.0.0.1:\(port): \(String(cString: strerror(code)))"
        }
        guard let store else { return run(nil) }
        return store.withCString { run($0) }
    }
}
