import Glibc

/// CPU time and memory of a process, from Linux. Nil if the process may not be read.
package struct ProcessFigures: Hashable, Sendable {
    /// CPU seconds of all threads, with nanosecond resolution: /proc has hundredths, which may be 0 in a short round.
    package var cpuSeconds: Double
    package var residentBytes: Int

    package init?(process: Int32) {
        var clock = clockid_t()
        var used = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &used) == 0,
            let words = Self.text("/proc/\(process)/statm")?.split(separator: " "), words.count > 1,
            let pages = Int(words[1])
        else { return nil }
        self.cpuSeconds = Double(used.tv_sec) + Double(used.tv_nsec) / 1e9
        self.residentBytes = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Seconds that this thread was runnable while another one used the core; 0 if the kernel does not count it.
    package static func threadWaitSeconds() -> Double {
        // Nanoseconds running, nanoseconds waiting, and number of time slices.
        let words = Self.text("/proc/thread-self/schedstat")?.split(separator: " ") ?? []
        return words.count > 1 ? (Double(words[1]) ?? 0) / 1e9 : 0
    }

    /// How often this thread has slept; 0 if the kernel does not count it.
    package static func threadSleeps() -> Int {
        for line in Self.text("/proc/thread-self/status")?.split(separator: "\n") ?? []
        where line.hasPrefix("voluntary_ctxt_switches:") {
            return line.split(separator: "\t").last.flatMap { Int($0) } ?? 0
        }
        return 0
    }

    /// Reads a small file completely.
    package static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

/// The machine of a report. Figures of different machines, or of a busy one, are not comparable.
package struct MachineFigures: Hashable, Sendable {
    package var kernel = ""
    package var processorName = ""
    package var processors = 0
    /// Load average of the last minute.
    package var load = 0.0

    package init() {}

    package static func now() -> MachineFigures {
        var figures = MachineFigures()
        figures.kernel = line("/proc/sys/kernel/osrelease")
        figures.processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        figures.load = line("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) } ?? 0
        let model = ProcessFigures.text("/proc/cpuinfo")?.split(separator: "\n").first { $0.hasPrefix("model name") }
        if let model, let colon = model.firstIndex(of: ":") {
            figures.processorName = String(model[model.index(after: colon)...].drop { $0 == " " })
        }
        return figures
    }

    /// Kernel memory of all TCP sockets of the machine, in bytes; `mem` of /proc/net/sockstat counts pages.
    package static func socketBytes() -> Int {
        for line in (ProcessFigures.text("/proc/net/sockstat") ?? "").split(separator: "\n")
        where line.hasPrefix("TCP:") {
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "mem"), place + 1 < words.count, let pages = Int(words[place + 1])
            else { return 0 }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
        return 0
    }
}

private func line(_ path: String) -> String {
    String((ProcessFigures.text(path) ?? "").prefix { $0 != "\n" })
}
