import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting

/// Blobs of the store, with a checksum that fits: what is read is written as the same bytes, and read again.
///
/// The first byte selects the type of the rest.
final class BlobsTarget: FuzzTarget {
    static let name = "blobs"
    static let reaches = ["PerchStore/Encoding"]

    static func seeds() -> [[UInt8]] {
        var random = SeededRandom(seed: 1)
        func value(_ kind: BlobKey.Kind, _ sealed: [UInt8]) -> [UInt8] {
            [kind.rawValue - 1] + sealed.dropFirst().dropLast(4)
        }
        var seeds = [value(.header, random.storeHeader().sealed())]
        for _ in 0..<3 {
            let fact = StoredFact(account: 1, fact: random.fact(), origin: random.bytes(upTo: 3))
            seeds += [
                value(.record, random.record(1).sealed()),
                value(.transaction, Self.transaction(&random).sealed(account: 1)),
                value(.fact, fact.sealed(at: Self.place)),
                value(.answer, random.keptAnswer().sealed(to: Self.answerKey)),
                value(.catalogue, random.catalogue().sealed(app: 1, revision: 1)),
                value(.appState, random.appState(1, revision: 1).sealed()),
            ]
            var script = StorageScript(seed: random.next())
            let change = script.change(size: 12)
            seeds.append(value(.change, change.sealed()))
            if let detail = CommitDetail(of: change) { seeds.append(value(.commit, detail.sealed(revision: 1))) }
        }
        return seeds
    }

    private static let place = EventPlace(revision: 1, ordinal: 1)
    private static let itemKey = ItemKey(.deadLetter, key: [1])
    private static let answerKey = MutationKey(app: 1, bytes: [1])

    private static func transaction(_ random: inout SeededRandom) -> Transaction {
        var transaction = random.transaction()
        transaction.id = 1
        return transaction
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        let kind = BlobKey.Kind.allCases[Int(first) % BlobKey.Kind.allCases.count]
        let value = Array(bytes.dropFirst())
        switch kind {
        case .header:
            return self.thereAndBack(.header, value) { (blob) throws(DecodingFault) in
                try StoreHeader(unsealing: blob).sealed()
            }
        case .record:
            return self.thereAndBack(.record(1), value) { (blob) throws(DecodingFault) in
                try AccountRecord(unsealing: blob, of: 1).sealed()
            }
        case .transaction:
            return self.thereAndBack(.transaction(1, account: 1), value) { (blob) throws(DecodingFault) in
                try Transaction(unsealing: blob, id: 1, account: 1).sealed(account: 1)
            }
        case .fact:
            return self.thereAndBack(.fact(Self.place, account: 1), value) { (blob) throws(DecodingFault) in
                try StoredFact(unsealing: blob, at: Self.place, account: 1).sealed(at: Self.place)
            }
        case .appState:
            let catalogue = TestShop.catalogue()
            return self.thereAndBack(.appState(1, revision: 1), value) { (blob) throws(DecodingFault) in
                try StoredAppState.unsealed(blob, app: 1, revision: 1, catalogueRevision: 1, catalogue: catalogue)
                    .sealed()
            }
        case .catalogue:
            return self.thereAndBack(.catalogue(1, revision: 1), value) { (blob) throws(DecodingFault) in
                try Catalogue.unsealed(blob, app: 1, revision: 1).sealed(app: 1, revision: 1)
            }
        case .image:
            // The key is a hash of the image's bytes, so a value decoded from other bytes cannot be encoded again.
            let bytes = try? ImageContent.unsealed(value, app: 1, hash: ContentHash(of: []))
            hold(bytes.map { $0.count < value.count } ?? true, "an image is longer than its blob")
            return bytes != nil
        case .revocation:
            return self.thereAndBack(.revocation([1]), value) { (blob) throws(DecodingFault) in
                try RevokedToken(unsealing: blob, id: [1]).sealed()
            }
        case .commit:
            return self.thereAndBack(.commit(1), value) { (blob) throws(DecodingFault) in
                try CommitDetail(unsealing: blob, revision: 1).sealed(revision: 1)
            }
        case .sources:
            return self.thereAndBack(.sources(1, app: 1), value) { (blob) throws(DecodingFault) in
                SourcesRow.sealed(try SourcesRow.unsealed(blob, of: 1, app: 1), of: 1, app: 1)
            }
        case .change:
            let catalogue = TestShop.catalogue()
            return self.thereAndBack(.change(1), value) { (blob) throws(DecodingFault) in
                try StoredChange(unsealing: blob, revision: 1) { _, _ in catalogue }.sealed()
            }
        case .answer:
            return self.thereAndBack(.answer(Self.answerKey), value) { (blob) throws(DecodingFault) in
                try KeptAnswer(unsealing: blob, to: Self.answerKey).sealed(to: Self.answerKey)
            }
        case .item:
            return self.thereAndBack(.item(Self.itemKey), value) { (blob) throws(DecodingFault) in
                try StoredItem(unsealing: blob, Self.itemKey).sealed()
            }
        }
    }

    private func thereAndBack(
        _ key: BlobKey, _ value: [UInt8], _ pass: ([UInt8]) throws(DecodingFault) -> [UInt8]
    ) -> Bool {
        do throws(DecodingFault) {
            let once = try pass(SealedBlob.seal(value, under: key))
            do throws(DecodingFault) {
                hold(try pass(once) == once, "a blob that we wrote is read as another")
            } catch {
                hold(false, "a blob that we wrote is refused: \(error)")
            }
            return true
        } catch {
            hold(!String(describing: error).isEmpty, "a refusal says nothing")
            return false
        }
    }
}
