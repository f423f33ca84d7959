/// A defect that is there only if it is asked for, to see that fuzzing finds one: reads a byte behind its memory when the
/// input begins with four certain bytes. `make fuzz PLANT=1`.
package func plantedDefect(_ bytes: [UInt8]) {
    guard bytes.count >= 4, bytes[0] == 0x70 else { return }
    guard bytes[1] == 0x6C, bytes[2] == 0x61 else { return }
    guard bytes[3] == 0x6E else { return }
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
    memory.initialize(repeating: 1, count: bytes.count)
    defer { memory.deallocate() }
    if byte(of: memory, at: bytes.count) == 0xA5 { print("planted") }
}

/// Apart, so that the compiler does not see what is wrong, and leave it out.
@inline(never) private func byte(of memory: UnsafeMutablePointer<UInt8>, at index: Int) -> UInt8 { memory[index] }
