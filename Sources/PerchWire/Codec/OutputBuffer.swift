import PerchBase

/// Memory that is written again and again: grows to what is needed, and gives back what was more than usual.
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

    /// Room for `count` bytes, whatever was there before being lost.
    mutating func begin(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let isTooSmall = count > self.memory.count
        if isTooSmall || (self.memory.count > Limits.codecBytesKept && count <= Limits.codecBytesKept) {
            self.memory.deallocate()
            // What is kept grows by doubling, what is given back soon is as large as it has to be.
            var capacity = 4096
            while capacity < count { capacity *= 2 }
            if capacity > Limits.codecBytesKept { capacity = max(count, Limits.codecBytesKept) }
            self.memory = .allocate(byteCount: capacity, alignment: 16)
        }
        return UnsafeMutableRawBufferPointer(rebasing: self.memory[..<count])
    }
}
