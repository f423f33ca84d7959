import PerchBase

/// A reusable buffer: grows as needed, and frees what exceeds the usual size.
///
/// A handle; `MessageCodec` owns it and destroys it.
struct OutputBuffer {
    private(set) var memory: UnsafeMutableRawBufferPointer

    init() {
        self.memory = .allocate(byteCount: 4096, alignment: 16)
    }

    func destroy() {
        self.memory.deallocate()
    }

    /// Space for `count` bytes; the previous contents are lost.
    mutating func begin(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let isTooSmall = count > self.memory.count
        if isTooSmall || (self.memory.count > Limits.codecBytesKept && count <= Limits.codecBytesKept) {
            self.memory.deallocate()
            // Doubles while the buffer is kept. A buffer above that size is freed soon, so it has the exact size.
            var capacity = 4096
            while capacity < count { capacity *= 2 }
            if capacity > Limits.codecBytesKept { capacity = max(count, Limits.codecBytesKept) }
            self.memory = .allocate(byteCount: capacity, alignment: 16)
        }
        return UnsafeMutableRawBufferPointer(rebasing: self.memory[..<count])
    }
}
