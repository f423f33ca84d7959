import PerchBase
import PerchCatalogue
import PerchJSON
import PerchModel
import Testing

@Suite struct `damaged files` {
    /// Every 97th byte, and behind each character that opens, closes or separates something.
    private func cuts(of bytes: [UInt8]) -> [Int] {
        let structure = Set("{}[],:".utf8)
        return bytes.indices.filter { $0 % 97 == 0 || $0 > 0 && structure.contains(bytes[$0 - 1]) }
    }

    @Test(arguments: Samples.names)
    func `a real file cut anywhere is refused at its end, never accepted in part`(_ name: String) throws {
        let bytes = try Samples.real(name)
        let last = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
        for cut in self.cuts(of: bytes) where cut <= last {
            let error = try #require(throws: CatalogueError.self) { _ = try StoreKitFile.load(Array(bytes[..<cut])) }
            #expect(error.reason == (cut == 0 ? .emptyFile : .notJSON), "cut at \(cut): \(error)")
            let lines = bytes[..<cut].count { $0 == UInt8(ascii: "\n") } + 1
            #expect(Int(error.place.line) == lines, "cut at \(cut): \(error)")
        }
    }

    @Test(arguments: Array(zip(Samples.names, UInt64(1)...)))
    func `a real file with random damage is refused at a place in it, or is a whole catalogue`(
        _ name: String, _ seed: UInt64
    ) throws {
        let bytes = try Samples.real(name)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var takenCount = 0
        for round in 0..<400 {
            var random = SplitMix64(seed: seed << 32 | UInt64(round))
            let damaged = Self.damage(bytes, lines: lines, &random)
            do {
                let loaded = try StoreKitFile.load(damaged)
                takenCount += 1
                #expect(!loaded.catalogue.products.isEmpty, "seed \(seed), round \(round)")
                #expect(CatalogueSummary(of: loaded.catalogue) == loaded.summary, "seed \(seed), round \(round)")
                for product in loaded.catalogue.products {
                    #expect(throws: Never.self, "seed \(seed), round \(round)") { try JSONReader.read(product.json) }
                }
                #expect(loaded.warnings.map(\.place) == loaded.warnings.map(\.place).sorted())
            } catch {
                let count = damaged.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
                #expect((1...count).contains(Int(error.place.line)), "seed \(seed), round \(round): \(error)")
                #expect(
                    (1...damaged.count + 1).contains(Int(error.place.column)), "seed \(seed), round \(round): \(error)")
            }
        }
        #expect((40..<360).contains(takenCount), "the damage reaches neither only the reader nor nothing at all")
    }

    /// Makes a document whose value of number `target`, counted from the root as 1, is another one or is lost.
    private struct Swap {
        let target: Int
        let replacement: JSONValue?
        private(set) var count = 0

        init(target: Int, replacement: JSONValue?) {
            self.target = target
            self.replacement = replacement
        }

        mutating func made(of value: JSONValue) -> JSONValue? {
            self.count += 1
            if self.count == self.target { return self.replacement }
            switch value.content {
            case .array(let elements):
                var made: [JSONValue] = []
                for element in elements {
                    if let element = self.made(of: element) { made.append(element) }
                }
                return JSONValue(.array(made), at: value.place)
            case .object(let members):
                var made: [JSONMember] = []
                for member in members {
                    guard let value = self.made(of: member.value) else { continue }
                    made.append(JSONMember(key: member.key, at: member.place, value: value))
                }
                return JSONValue(.object(made), at: value.place)
            default:
                return value
            }
        }
    }

    @Test(arguments: [nil, "null", "7", "\"\"", "[7]", "{}"])
    func `a file with any one value lost or of another kind is refused, or is a whole catalogue`(_ kind: String?) throws
    {
        let root = try JSONReader.read(try Samples.real("RevenueCat--purchases-ios--UnitTestsConfiguration"))
        let replacement = try kind.map { try JSONReader.read(Array($0.utf8)) }
        var takenCount = 0
        var refusedCount = 0
        for target in 2... {
            var swap = Swap(target: target, replacement: replacement)
            guard let changed = swap.made(of: root), swap.count >= target else { break }
            var writer = JSONWriter()
            writer.value(changed)
            do {
                let loaded = try StoreKitFile.load(try writer.finish())
                takenCount += 1
                #expect(loaded.catalogue.products.count <= 7)
            } catch let error as CatalogueError {
                refusedCount += 1
                #expect(error.place >= .start && !error.message.isEmpty)
            }
        }
        #expect(takenCount > 100)
        #expect(refusedCount > 5)
    }

    /// One to three faults of the kinds that disks, editors and people make.
    private static func damage(_ bytes: [UInt8], lines: [ArraySlice<UInt8>], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            // A line lost: often still JSON, with a member less.
            var lines = lines
            lines.remove(at: lines.indices.randomElement(using: &random) ?? 0)
            bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        case 1:
            // A line twice: a key twice, or an entry twice.
            var lines = lines
            let index = lines.indices.randomElement(using: &random) ?? 0
            lines.insert(lines[index], at: index)
            bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        case 2:
            // Two lines swapped: values under the wrong keys' neighbours, brackets out of order.
            var lines = lines
            lines.swapAt(.random(in: lines.indices, using: &random), .random(in: lines.indices, using: &random))
            bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        default:
            break
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = .random(in: 0...255, using: &random)
            case 1: bytes[index] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.remove(at: index)
            default: bytes.insert(Array("{}[],:\"\\0-eu\n".utf8).randomElement(using: &random) ?? 0, at: index)
            }
        }
        return bytes
    }
}
