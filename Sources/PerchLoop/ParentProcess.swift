internal import CPerchLinux
internal import Glibc

/// The process that started this one.
package enum ParentProcess {
    /// From now on, this process is killed when the thread that started it ends, and so when that process does.
    ///
    /// A parent that has ended before is noticed too: init, or whoever adopts orphans, is the parent then.
    package static func bind() throws(SystemError) {
        _ = try SystemCall.check("PR_SET_PDEATHSIG") { Int(perch_end_with_parent()) }
        if getppid() == 1 { exit(1) }
    }
}
