import CPerchFuzzDriver
import Glibc
import PerchFuzz

/// Passes libFuzzer's inputs to one target. Built by Tests/Fuzz/run alone.
@main
enum Fuzz {
    struct Chosen {
        var target: any FuzzTarget
        var isPlanted: Bool
    }

    /// Set once, before the first input; libFuzzer has one thread.
    nonisolated(unsafe) static var chosen: Chosen?

    static func main() {
        // For Tests/Fuzz/run: writes the seeds.
        if let folder = getenv("PERCH_FUZZ_SEEDS").map({ String(cString: $0) }) {
            for target in fuzzTargets { Self.write(target.seeds(), to: "\(folder)/\(target.name)") }
            return
        }
        let name = getenv("PERCH_FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let type = fuzzTargets.first(where: { $0.name == name }) else {
            fatalError("PERCH_FUZZ_TARGET is '\(name)', there are \(fuzzTargets.map { $0.name })")
        }
        self.chosen = Chosen(target: type.init(), isPlanted: getenv("PERCH_FUZZ_PLANT") != nil)
        var count = CommandLine.argc
        var arguments = Optional(CommandLine.unsafeArgv)
        exit(
            withUnsafeMutablePointer(to: &arguments) { pointer in
                pointer.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1) {
                    LLVMFuzzerRunDriver(&count, $0, takeInput)
                }
            })
    }
}

extension Fuzz {
    private static func write(_ seeds: [[UInt8]], to folder: String) {
        mkdir(folder, 0o755)
        for (index, seed) in seeds.enumerated() {
            guard let file = fopen("\(folder)/seed-\(index)", "wb") else { fatalError("\(folder) cannot be written") }
            fwrite(seed, 1, seed.count, file)
            fclose(file)
        }
    }
}

/// At file scope: C calls it.
private func takeInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let chosen = Fuzz.chosen else { fatalError("libFuzzer began before us") }
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let isTaken = chosen.target.run(bytes)
    if isTaken, chosen.isPlanted { plantedDefect(behind: bytes) }
    return 0
}
