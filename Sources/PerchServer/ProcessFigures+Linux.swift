import Glibc
import PerchLoop

extension ProcessFigures {
    /// Reads the figures from the kernel. A missing figure stays 0, because a container may hide /proc.
    mutating func readKernel() {
        self.descriptorsLimit = DescriptorLimit.current
        self.descriptorsOpen = Self.openDescriptors()
        var usage = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &usage) == 0 {
            self.processorSeconds = Double(usage.tv_sec) + Double(usage.tv_nsec) * 1e-9
        }
        let pages = Self.words("/proc/self/statm").compactMap { Int64($0) }
        if pages.count > 1 {
            let page = Int64(sysconf(Int32(_SC_PAGESIZE)))
            self.virtualBytes = pages[0] * page
            self.residentBytes = pages[1] * page
        }
        // The name may contain spaces, so fields are counted after it: the 18th is the number of threads.
        let fields = Self.text("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
        if fields.count > 17 { self.threads = Int(fields[17]) ?? 0 }
    }

    /// Linux 6.2 has the number as the size of the directory; older kernels need a listing.
    private static func openDescriptors() -> Int {
        var status = stat()
        guard stat("/proc/self/fd", &status) == 0 else { return 0 }
        if status.st_size > 0 { return Int(status.st_size) }
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without `.`, `..`, and the listing's own descriptor.
        return max(0, count - 3)
    }

    private static func words(_ path: String) -> [Substring] { Self.text(path).split(separator: " ") }

    /// The first kilobyte of a file of /proc.
    private static func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : ""
    }
}
