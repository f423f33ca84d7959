import CPerchFuzzDriver
import Glibc
import PerchFuzz

/// Hands what libFuzzer makes up to one target. Built by Tests/Fuzz/run alone.
@main
enum Fuzz {
    struct Chosen {
        var target: any FuzzTarget
        var isPlanted: Bool
        var inputs = 0
    }

    /// Of the inputs that look for the planted defect, the target takes one in so many: some need a millisecond for one, and
    /// what they reach themselves would draw the fuzzer elsewhere.
    static let inputsPerTargetWhilePlanted = 16

    /// Set once, before the first input; libFuzzer has one thread.
    nonisolated(unsafe) static var chosen: Chosen?

    static func main() {
        // For Tests/Fuzz/run: where fuzzing starts from.
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
    if chosen.isPlanted {
        plantedDefect(bytes)
        Fuzz.chosen?.inputs += 1
        guard chosen.inputs % Fuzz.inputsPerTargetWhilePlanted == 0 else { return 0 }
    }
    chosen.target.run(bytes)
    return 0
}
