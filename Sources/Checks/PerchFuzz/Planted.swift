import PerchBase

/// A defect that exists only on request, to check that fuzzing finds one: reads a byte beyond its memory. `make fuzz
/// PLANT=1`.
///
/// The defect lies behind all refusals of a target, within reach of one in a thousand accepted inputs. A fuzzer reaches
/// it only if it passes the target often and in different ways. No single byte of the input leads there.
package func plantedDefect(behind bytes: [UInt8]) {
    guard CRC32C.checksum(bytes) % 1_024 == 0x2A5 else { return }
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
    memory.initialize(repeating: 1, count: bytes.count)
    defer { memory.deallocate() }
    if byte(of: memory, at: bytes.count) == 0xA5 { print("planted") }
}

/// A separate function, so that the compiler cannot detect the out-of-bounds read and remove it.
@inline(never) private func byte(of memory: UnsafeMutablePointer<UInt8>, at index: Int) -> UInt8 { memory[index] }
