internal import CPerchLinux

/// What the kernel writes where a process crashes: all of its memory.
package enum CoreDump {
    /// Called once the process holds a secret that is worth more than a crash's traces.
    package static func forbid() throws(SystemError) {
        _ = try SystemCall.check("PR_SET_DUMPABLE") { Int(perch_write_no_core()) }
    }
}
