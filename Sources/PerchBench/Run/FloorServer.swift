internal import CPerchFloor
internal import Glibc

/// The bare server, as a process of its own: `perch bench floor-server`.
package enum FloorServer {
    package static let valueBytes = 32...16 * 1024 * 1024

    /// Serves until it is killed; returns only when it cannot begin, with the reason.
    package static func run(port: UInt16, valueBytes: Int) -> String {
        let code = perch_floor_run(port, UInt32(valueBytes))
        return "the floor cannot serve on 127.0.0.1:\(port): \(String(cString: strerror(code)))"
    }
}
