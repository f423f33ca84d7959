internal import CPerchMachine

/// Who gives out the memory of this process.
package enum Allocator {
    /// `jemalloc`, as release builds are linked, or `libc`: what a change costs and a connection takes depends on it.
    package static let name = String(cString: perch_allocator())
}
