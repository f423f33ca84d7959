import Glibc

/// What Linux tells of a process: read from /proc, nothing where it may not be read.
package struct ProcessFigures: Hashable, Sendable {
    /// Seconds of processor time, of all threads.
    package var cpuSeconds: Double
    package var residentBytes: Int

    package init?(process: Int32) {
        guard let stat = Self.text("/proc/\(process)/stat"), let statm = Self.text("/proc/\(process)/statm"),
            let cpu = Self.cpuTicks(ofStat: stat)
        else { return nil }
        let words = statm.split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { return nil }
        self.cpuSeconds = Double(cpu) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        self.residentBytes = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Fields 14 and 15, user and system. The name, field 2, may hold anything, blanks and brackets too.
    static func cpuTicks(ofStat text: String) -> Int? {
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return nil }
        return user + system
    }

    /// A small file, whole.
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

/// The machine, for who reads a report later: figures of different machines, or of a busy one, do not compare.
package struct MachineFigures: Hashable, Sendable {
    package var kernel = ""
    package var processorName = ""
    package var processors = 0
    /// Of the last minute.
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

    /// Kernel memory of all TCP sockets of the machine, in bytes: `mem` of /proc/net/sockstat counts pages.
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
