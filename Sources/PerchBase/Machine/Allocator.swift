internal import CPerchMachine

/// The process's memory allocator.
package enum Allocator {
    /// `jemalloc`, which release builds link, or `libc`. The CPU time of a change and the memory of a connection depend
    /// on it.
    package static let name = String(cString: perch_allocator())
}
