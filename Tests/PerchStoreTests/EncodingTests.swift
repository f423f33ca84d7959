import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

/// A blob of some kind: a random value, its bytes, and what comes back from bytes.
///
/// Values are compared by all that they consist of, since two transactions may be equal and differ in signing dates.
struct Blob: Sendable, CustomTestStringConvertible {
    let name: String
    /// The value of a seed: its bytes, and a printout of it.
    let make: @Sendable (inout SeededRandom) -> (bytes: [UInt8], contents: String)
    /// The result of opening bytes under the same key, and under another one.
    let open: @Sendable ([UInt8]) throws -> String
    let openUnderOtherKey: @Sendable ([UInt8]) throws -> String

    /// Fields that the key contains are equal in all samples.
    let fixedFields: [String]

    var testDescription: String { self.name }

    static let all = [
        Blob("header", { $0.storeHeader() }, { $0.sealed() }, { bytes, _ in try StoreHeader(unsealing: bytes) }),
        Blob(
            "record", { $0.record(7) }, { $0.sealed() },
            { bytes, isOther in try AccountRecord(unsealing: bytes, of: isOther ? 8 : 7) },
            // Who orders is asked before a purchase waits, and a renewal is unreported in views only: neither is stored.
            fixed: [
                "account", "rare/some/pendingPurchases/PerchModel.PendingPurchase/order/isByApp",
                "rare/some/reported/some/originals/PerchModel.ReportedOriginal/renewal/some/info/isUnreported",
            ]),
        Blob(
            "transaction",
            { random in
                var transaction = random.transaction()
                if transaction.originalID == transaction.id { transaction.originalID = 5 }
                transaction.id = 5
                return transaction
            },
            { $0.sealed(account: 7) },
            { bytes, isOther in try Transaction(unsealing: bytes, id: 5, account: isOther ? 8 : 7) }, fixed: ["id"]),
        Blob(
            "fact", { StoredFact(account: 7, fact: $0.fact(), origin: $0.bytes(upTo: 20)) },
            { $0.sealed(at: EventPlace(revision: 3, ordinal: 1)) },
            { bytes, isOther in
                try StoredFact(
                    unsealing: bytes, at: EventPlace(revision: 3, ordinal: isOther ? 2 : 1), account: 7)
            },
            fixed: [
                "account", "fact/body/any/order/isByApp", "fact/body/any/renewal/.0/isUnreported",
                "fact/body/any/unarchived/renewal/some/info/isUnreported",
            ]),
        Blob(
            "catalogue", { $0.catalogue() }, { $0.sealed(app: 1, revision: 2) },
            { bytes, isOther in try Catalogue.unsealed(bytes, app: isOther ? 2 : 1, revision: 2) }),
        Blob(
            "app state",
            { random in
                let stored = random.appState(1, revision: 9)
                // The catalogue is another blob.
                let state = AppState(
                    number: 1, bundleID: stored.state.bundleID, environment: stored.state.environment, revision: 9,
                    effective: stored.state.effective, committed: stored.state.committed, catalogue: .empty,
                    catalogueRevision: 4, catalogueSource: stored.state.catalogueSource,
                    settings: stored.state.settings, clock: stored.state.clock)
                return StoredAppState(state: state, fileSettings: stored.fileSettings)
            },
            { $0.sealed() },
            { bytes, isOther in
                try StoredAppState.unsealed(
                    bytes, app: 1, revision: isOther ? 8 : 9, catalogueRevision: 4, catalogue: .empty)
            },
            fixed: [
                "state/catalogueRevision", "state/currency", "state/number", "state/revision", "state/storefront/id",
            ]),
        Blob(
            "answer", { $0.keptAnswer() }, { $0.sealed(to: MutationKey(app: 1, bytes: [1, 2])) },
            { bytes, isOther in
                try KeptAnswer(unsealing: bytes, to: MutationKey(app: 1, bytes: isOther ? [1] : [1, 2]))
            },
            // Its epoch is that of the server which gives it out. A refusal stands in the place of a result.
            fixed: ["position/epoch", "refusal", "result/clock/settled/failed", "result/clock/settled/renewed"]),
        Blob(
            "refused answer",
            { random in
                var answer = random.keptAnswer()
                answer.result = .none
                answer.refusal = Refusal(
                    Refusal.Reason.allCases[random.below(Refusal.Reason.allCases.count)], "\(random.next())",
                    field: "\(random.next())", found: random.below(2) == 0 ? nil : random.int64(),
                    limit: random.below(2) == 0 ? nil : random.int64())
                return answer
            }, { $0.sealed(to: MutationKey(app: 1, bytes: [1, 2])) },
            { bytes, isOther in
                try KeptAnswer(unsealing: bytes, to: MutationKey(app: 1, bytes: isOther ? [1] : [1, 2]))
            }, fixed: ["position/epoch", "result"]),
    ]

    init<Value>(
        _ name: String, _ make: @escaping @Sendable (inout SeededRandom) -> Value,
        _ seal: @escaping @Sendable (Value) -> [UInt8],
        _ open: @escaping @Sendable ([UInt8], _ isOther: Bool) throws -> Value, fixed fields: [String] = []
    ) {
        self.name = name
        self.fixedFields = fields
        self.make = { random in
            let value = make(&random)
            return (seal(value), contents(value))
        }
        self.open = { contents(try open($0, false)) }
        self.openUnderOtherKey = { contents(try open($0, true)) }
    }
}

/// All that a value consists of, field by field.
func contents(_ value: Any) -> String {
    var text = ""
    if let catalogue = value as? Catalogue {
        // Its indexes have no order of their own.
        dump(
            (catalogue.products, catalogue.groups, catalogue.schemaVersion, catalogue.policies, catalogue.images),
            to: &text)
    } else {
        dump(value, to: &text)
    }
    return text
}

/// The fields of a printout, each with its path; `parent` for a field that has fields.
private func fields(of contents: String) -> [(path: String, value: String)] {
    var way: [Substring] = []
    var fields: [(path: String, value: String)] = []
    for line in contents.split(separator: "\n") {
        let depth = line.prefix { $0 == " " }.count / 2
        let entry = line.dropFirst(2 * depth + 2)
        let colon = entry.firstRange(of: ": ")
        way = way.prefix(depth) + [colon.map { entry[..<$0.lowerBound] } ?? entry]
        guard let colon, depth > 0 else { continue }
        let isLeaf = line.dropFirst(2 * depth).first == "-"
        // The kinds of fact count as one, since each alone is rare, and a transaction is written alike wherever it
        // stands, as is an original. An app state's catalogue is another blob.
        if way.dropFirst().starts(with: ["fact", "body"]), way.count > 3 { way[3] = "any" }
        let path = way.dropFirst().joined(separator: "/")
        let others = ["state/catalogue/", "fact/body/any/fallback/some/", "fact/body/any/gained/"]
        if others.contains(where: { path.hasPrefix($0) }) { continue }
        fields.append((path, isLeaf ? String(entry[colon.upperBound...]) : parent))
    }
    return fields
}

private let parent = "▿"
private let seedCount: UInt64 = 120
/// Enough for each field to be there both ways; thirty kinds of fact need more than other blobs.
private func variedSeedCount(_ blob: Blob) -> UInt64 { blob.name == "fact" ? 3_000 : 300 }

@Suite struct `The store's encoding` {
    @Test(arguments: Blob.all)
    func `every value comes back as it was`(_ blob: Blob) throws {
        for seed in UInt64(1)...seedCount {
            var random = SeededRandom(seed: seed)
            let (bytes, before) = blob.make(&random)
            let after = try blob.open(bytes)
            guard after != before else { continue }
            // The first different line alone: a whole printout hides it.
            let lines = zip(after.split(separator: "\n"), before.split(separator: "\n"))
            let difference = lines.first { $0 != $1 }
            Issue.record("seed \(seed): \(difference.map { "\($0), not \($1)" } ?? "one is longer")")
        }
    }

    @Test(arguments: Blob.all)
    func `the sample varies every field, so a forgotten one would be noticed`(_ blob: Blob) {
        // A field that is the same in each of many printouts was never written to.
        var values: [String: Set<String>] = [:]
        for seed in UInt64(1)...variedSeedCount(blob) {
            var random = SeededRandom(seed: seed)
            for (path, value) in fields(of: blob.make(&random).contents) {
                values[path, default: []].insert(value)
            }
        }
        let constant = values.filter { $0.value.count == 1 && $0.value != [parent] }.keys.sorted()
        #expect(constant == blob.fixedFields)
    }

    @Test(arguments: Blob.all)
    func `cut at any byte it is refused`(_ blob: Blob) {
        for seed in UInt64(1)...8 {
            var random = SeededRandom(seed: seed)
            let bytes = blob.make(&random).bytes
            let accepted = (0..<bytes.count).filter { !self.refuses(blob, Array(bytes.prefix($0))) }
            #expect(accepted == [], "seed \(seed), of \(bytes.count) bytes")
        }
    }

    @Test(arguments: Blob.all)
    func `a blob with one flipped bit is refused`(_ blob: Blob) {
        for seed in UInt64(1)...3 {
            var random = SeededRandom(seed: seed)
            let bytes = blob.make(&random).bytes
            let accepted = (0..<bytes.count * 8).filter { bit in
                var flipped = bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                return !self.refuses(blob, flipped)
            }
            #expect(accepted == [], "seed \(seed), bits")
        }
    }

    /// Plain, since an expectation for each of a hundred thousand bits would take longer than reading them.
    private func refuses(_ blob: Blob, _ bytes: [UInt8]) -> Bool {
        do {
            _ = try blob.open(bytes)
            return false
        } catch {
            return error is DecodingFault
        }
    }

    @Test(arguments: Blob.all.filter { $0.name != "header" })
    func `a blob under another key is refused`(_ blob: Blob) {
        var random = SeededRandom(seed: 1)
        let bytes = blob.make(&random).bytes
        #expect(throws: DecodingFault.self) { try blob.openUnderOtherKey(bytes) }
    }

    /// The latest form that is read, as the refusal of a later one names it.
    private func latestForm(of blob: Blob) throws -> UInt8? {
        var random = SeededRandom(seed: 1)
        let bytes = try self.resealed(blob.make(&random).bytes, as: blob) { $0[0] = .max }
        do {
            _ = try blob.open(bytes)
        } catch DecodingFault.unknownVersion(_, let known) {
            return known
        }
        return nil
    }

    @Test(arguments: Blob.all)
    func `an intact blob of a newer form is refused by its number`(_ blob: Blob) throws {
        var random = SeededRandom(seed: 1)
        let bytes = blob.make(&random).bytes
        // A value without anything of the latest form is written in the one before.
        let known = try #require(try self.latestForm(of: blob))
        #expect(known >= bytes[0])
        for form in [0, known + 1] {
            let other = try self.resealed(bytes, as: blob) { $0[0] = form }
            #expect(throws: DecodingFault.unknownVersion(found: form, known: known)) { try blob.open(other) }
        }
    }

    @Test func `a newer form asks for a newer version, and anything else for a backup`() {
        let newer = StorageError(.unknownVersion(found: 9, known: 5), in: "account 7")
        #expect(newer == .newerForm("account 7: it has form 9, this version knows 5"))
        #expect(newer.description.contains("run that version or a newer one") && !newer.isPassing)
        #expect(!newer.description.contains("damaged"))
        for fault in [DecodingFault.unknownVersion(found: 0, known: 5), .trailing(bytes: 3)] {
            #expect(StorageError(fault, in: "account 7").description.contains("is damaged: account 7: "))
        }
    }

    @Test(arguments: Blob.all)
    func `bytes with a true checksum and any contents are read or refused, and never trap`(_ blob: Blob) throws {
        var read = 0
        var refused = 0
        for seed in UInt64(1)...300 {
            var random = SeededRandom(seed: seed)
            let bytes = blob.make(&random).bytes
            let damaged = try self.resealed(bytes, as: blob) { payload in
                for _ in 0...random.below(3) {
                    let index = 1 + random.below(payload.count - 1)
                    switch random.below(4) {
                    case 0: payload[index] ^= 1 << UInt8(random.below(8))
                    case 1: payload[index] = 0xFF
                    case 2: payload.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                    default: if payload.count > 2 { payload.remove(at: index) }
                    }
                }
            }
            do {
                _ = try blob.open(damaged)
                read += 1
            } catch {
                #expect(error is DecodingFault, "seed \(seed): \(error)")
                refused += 1
            }
        }
        #expect(read > 0 && refused > 0, "read \(read), refused \(refused)")
    }

    @Test func `a catalogue of two products of one name is refused`() throws {
        var random = SeededRandom(seed: 3)
        let product = random.catalogueProduct("same", groups: [])
        let other = random.catalogueProduct("sane", groups: [])
        let bytes = Catalogue(products: [product, other], groups: [], schemaVersion: "").sealed(app: 1, revision: 2)
        let blob = try #require(Blob.all.first { $0.name == "catalogue" })
        let twice = try self.resealed(bytes, as: blob) { payload in
            let index = try #require((0..<payload.count - 4).first { payload[$0..<$0 + 4].elementsEqual("sane".utf8) })
            payload[index + 2] = UInt8(ascii: "m")
        }
        #expect(throws: DecodingFault.self) { try blob.open(twice) }
    }

    /// Changes a blob and gives it a true checksum: found from what refusing the false one says.
    private func resealed(_ bytes: [UInt8], as blob: Blob, _ change: (inout [UInt8]) throws -> Void) throws -> [UInt8] {
        var payload = Array(bytes.dropLast(4))
        try change(&payload)
        do {
            _ = try blob.open(payload + [0, 0, 0, 0])
        } catch DecodingFault.checksum(_, let computed) {
            return payload + (0..<4).map { UInt8(truncatingIfNeeded: computed >> (24 - 8 * $0)) }
        }
        return payload + [0, 0, 0, 0]
    }
}

@Suite struct `Reading bytes` {
    @Test func `numbers of every length come back, and take no byte more than they need`() throws {
        for bits in UInt64(0)..<64 {
            for value in [UInt64(1) << bits, (UInt64(1) << bits) - 1, UInt64.max >> bits] {
                var writer = ByteWriter()
                writer.write(value)
                #expect(writer.bytes.count == max(1, (64 - value.leadingZeroBitCount + 6) / 7))
                var reader = ByteReader(writer.bytes)
                #expect(try reader.uint64() == value)
                try reader.finish()
                let signed = Int64(bitPattern: value)
                var signedWriter = ByteWriter()
                signedWriter.write(signed)
                var signedReader = ByteReader(signedWriter.bytes)
                #expect(try signedReader.int64() == signed)
            }
        }
    }

    struct Refusal: Sendable {
        let bytes: [UInt8]
        let fault: DecodingFault
    }

    @Test(arguments: [
        Refusal(bytes: [], fault: .truncated(atOffset: 0)),
        Refusal(bytes: [0x80], fault: .truncated(atOffset: 1)),
        // A last byte that adds nothing; a tenth byte of more than the one bit that is left; an eleventh.
        Refusal(bytes: [0x81, 0x00], fault: .overlong(atOffset: 0)),
        Refusal(bytes: [UInt8](repeating: 0xFF, count: 9) + [0x02], fault: .overlong(atOffset: 0)),
        Refusal(bytes: [UInt8](repeating: 0x80, count: 10) + [0x01], fault: .overlong(atOffset: 0)),
    ])
    func `a number that is cut or too long is refused at its place`(_ refusal: Refusal) {
        #expect(throws: refusal.fault) {
            var reader = ByteReader(refusal.bytes)
            _ = try reader.uint64()
        }
    }

    @Test func `a number beyond its type is refused`() {
        var writer = ByteWriter()
        writer.write(UInt64(UInt32.max) + 1)
        #expect(throws: DecodingFault.overlong(atOffset: 0)) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.uint32()
        }
        #expect(throws: DecodingFault.overlong(atOffset: 0)) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.int32()
        }
    }

    @Test func `a length is believed only as far as there are bytes for it`() {
        var writer = ByteWriter()
        writer.write(UInt64.max)
        #expect(throws: DecodingFault.self) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.blob()
        }
        #expect(throws: DecodingFault.self) {
            var reader = ByteReader(writer.bytes)
            _ = try reader.string()
        }
    }

    @Test func `text that is not UTF-8, and a flag that is neither, are refused`() {
        #expect(throws: DecodingFault.notUTF8(atOffset: 1)) {
            var reader = ByteReader([2, 0xC0, 0x80])
            _ = try reader.string()
        }
        #expect(throws: DecodingFault.invalid("flag", atOffset: 0)) {
            var reader = ByteReader([2])
            _ = try reader.bool()
        }
    }

    @Test func `bytes after the last field are refused`() throws {
        var reader = ByteReader([1, 1])
        _ = try reader.bool()
        #expect(throws: DecodingFault.trailing(bytes: 1)) { try reader.finish() }
    }
}
