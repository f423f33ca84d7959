import Glibc
import PerchBase
import PerchLoop

/// Measures the disk cost that no commit can avoid: 16 KiB appended to a file, and an fdatasync.
struct SyncProbe {
    private var times = LatencyHistogram()

    /// Nil if no file can be created or synced; the server will report the reason.
    ///
    /// A slow disk is probed less often than `Limits.benchSyncCount`, but at least a fifth of that, so that the probe
    /// ends within `nanoseconds`.
    init?(in directory: String, within nanoseconds: Int64) {
        let path = "\(directory)/perch-bench.sync"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer {
            close(descriptor)
            unlink(path)
        }
        let pages = [UInt8](repeating: 0x50, count: Limits.benchSyncBytes)
        let first = Clocks.monotonic().nanoseconds
        for count in 0..<Limits.benchSyncCount {
            let began = Clocks.monotonic().nanoseconds
            if count >= Limits.benchSyncCount / 5, began - first > nanoseconds { break }
            guard write(descriptor, pages, pages.count) == pages.count, fdatasync(descriptor) == 0 else { return nil }
            self.times.record(Clocks.monotonic().nanoseconds - began)
        }
    }

    func add(to figures: inout [Figure: Double]) {
        guard !figures.isEmpty else { return }
        figures[.fsyncP50] = Double(self.times.value(atQuantile: 0.5))
        figures[.fsyncP99] = Double(self.times.value(atQuantile: 0.99))
        if let push = figures[.pushP99] {
            figures[.pushBeyondFsync] = push - Double(self.times.value(atQuantile: 0.5))
        }
    }
}
