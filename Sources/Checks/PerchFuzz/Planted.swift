import PerchBase

/// A defect that is there only if it is asked for, to see that fuzzing finds one: reads a byte behind its memory. `make fuzz
/// PLANT=1`.
///
/// It lies behind all that a target refuses, in reach of one in a thousand of the inputs that it takes: nobody comes upon it
/// who does not get through, again and again, by other ways. No byte of the input tells the way there.
package func plantedDefect(behind bytes: [UInt8]) {
    guard CRC32C.checksum(bytes) % 1_024 == 0x2A5 else { return }
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
    memory.initialize(repeating: 1, count: bytes.count)
    defer { memory.deallocate() }
    if byte(of: memory, at: bytes.count) == 0xA5 { print("planted") }
}

/// Apart, so that the compiler does not see what is wrong, and leave it out.
@inline(never) private func byte(of memory: UnsafeMutablePointer<UInt8>, at index: Int) -> UInt8 { memory[index] }
