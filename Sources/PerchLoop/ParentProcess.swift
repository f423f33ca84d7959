internal import CPerchLinux
internal import Glibc

/// The process that started this one.
package enum ParentProcess {
    /// Makes the kernel kill this process when the thread that started it ends, and so when that process ends.
    ///
    /// If the parent has already ended, this process exits: its parent is then init, or another process that adopts
    /// orphans.
    package static func bind() throws(SystemError) {
        _ = try SystemCall.check("PR_SET_PDEATHSIG") { Int(perch_end_with_parent()) }
        if getppid() == 1 { exit(1) }
    }
}
