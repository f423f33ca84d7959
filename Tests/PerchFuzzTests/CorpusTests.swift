import PerchFuzz
import PerchTesting
import Testing

/// Replays the fuzzing corpora: a few kilobytes for each target, including past findings. `make fuzz` searches for more.
@Suite struct `inputs that fuzzing found` {
    private static let corpora = String("\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/"))
    private static let names = fuzzTargets.map { $0.name }

    private static func folder(_ name: String) -> String { "/\(Self.corpora)/Fuzz/Corpora/\(name)" }

    @Test(arguments: names)
    func `cause no crash, whole or truncated`(_ name: String) throws {
        let type = try #require(fuzzTargets.first { $0.name == name })
        let files = TemporaryDirectory.names(in: Self.folder(name))
        #expect(!files.isEmpty, "the corpus of \(name) is missing")
        let target = type.init()
        var bytes = 0
        for file in files {
            let input = TemporaryDirectory.read("\(Self.folder(name))/\(file)")
            bytes += input.count
            target.run(input)
            for part in 1...4 { target.run(Array(input.prefix(input.count * part / 5))) }
        }
        #expect(bytes < 64 * 1024, "the corpus of \(name) has \(bytes) bytes: merge it, see Tests/Fuzz/run")
    }

    @Test(arguments: names)
    func `include valid seeds, and other bytes are refused`(_ name: String) throws {
        let type = try #require(fuzzTargets.first { $0.name == name })
        let target = type.init()
        let taken = type.seeds().filter { target.run($0) }
        #expect(!taken.isEmpty, "\(name) accepts none of its own seeds")
        #expect(!target.run([0xFE, 0xFD, 0xFC]))
    }
}
