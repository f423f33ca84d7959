package import PerchBase

/// The kind and the key of a stored blob.
///
/// Both are part of its checksum and not of its bytes: a blob that is found under another key, or read as something
/// else, is damaged.
package struct BlobKey: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case header = 1
        case record = 2
        case transaction = 3
        case fact = 4
        case appState = 5
        case catalogue = 6
        case answer = 7
        case image = 8
        case revocation = 9
        case commit = 10
        case change = 11
        case sources = 12
        case item = 20

        /// The latest form that this version writes. It reads all forms from 1 on.
        ///
        /// A value without anything that only this form holds is written in `formBefore`, so that nodes of the version before read
        /// it while they are upgraded.
        ///
        /// Form 2 of records and facts adds the billing plan of a pending renewal. Form 3 of facts adds their source and
        /// stamp; form 3 of records adds extensions and refund requests. Form 4 of all adds what was reported, and the
        /// settings of App Store apps; app states have no form 2 and 3. Form 5 of all adds codes of offers and their redemptions,
        /// forbidden payments, app transactions, the tier of a grant, and names, unfinished transactions and read histories of reported accounts; form 5
        /// of app states adds whether the App Store is told about finished transactions and tokens.
        /// A change contains facts and records, and has the form of its facts.
        package var version: UInt8 {
            switch self {
            case .record, .fact, .change, .appState, .catalogue: 5
            default: 1
            }
        }

        /// What a version before this one reads.
        var formBefore: UInt8 {
            switch self {
            case .record, .fact, .change, .appState, .catalogue: 4
            default: 1
            }
        }
    }

    package let kind: Kind
    fileprivate let bytes: [UInt8]

    init(_ kind: Kind, _ numbers: UInt64..., name: [UInt8] = []) {
        self.kind = kind
        var writer = ByteWriter(capacity: 1 + numbers.count * 8 + name.count)
        writer.write(byte: kind.rawValue)
        for number in numbers { writer.write(fixed: number) }
        self.bytes = writer.bytes + name
    }

    package static let header = BlobKey(.header)

    package static func record(_ account: UInt64) -> BlobKey { BlobKey(.record, account) }

    /// Of an account's transaction.
    package static func transaction(_ id: UInt64, account: UInt64) -> BlobKey { BlobKey(.transaction, id, account) }

    package static func fact(_ place: EventPlace, account: UInt64) -> BlobKey {
        BlobKey(.fact, place.revision, UInt64(place.ordinal), account)
    }

    package static func appState(_ app: UInt32, revision: UInt64) -> BlobKey {
        BlobKey(.appState, UInt64(app), revision)
    }

    package static func catalogue(_ app: UInt32, revision: UInt64) -> BlobKey {
        BlobKey(.catalogue, UInt64(app), revision)
    }

    /// Of an app's image. Its hash is its name.
    package static func image(_ app: UInt32, _ hash: ContentHash) -> BlobKey {
        BlobKey(.image, UInt64(app), name: hash.bytes)
    }

    /// The key of a `CommitDetail`.
    package static func commit(_ revision: UInt64) -> BlobKey { BlobKey(.commit, revision) }

    /// The key of a whole change in a feed.
    package static func change(_ revision: UInt64) -> BlobKey { BlobKey(.change, revision) }

    /// Of what entitles an account.
    package static func sources(_ account: UInt64, app: UInt32) -> BlobKey {
        BlobKey(.sources, UInt64(app), account)
    }

    /// Of a revoked token.
    package static func revocation(_ id: [UInt8]) -> BlobKey { BlobKey(.revocation, name: id) }

    package static func answer(_ key: MutationKey) -> BlobKey {
        BlobKey(.answer, UInt64(key.app), name: key.bytes)
    }
}

/// A blob: one byte of version, the value, four bytes of CRC32C over key, version and value.
package enum SealedBlob {
    static let overheadBytes = 5

    /// Seals any bytes, whether they are a value or not. For tests of blobs with a valid checksum.
    package static func seal(_ value: [UInt8], under key: BlobKey) -> [UInt8] {
        Self.seal(key) { writer in
            for byte in value { writer.write(byte: byte) }
        }
    }

    static func seal(_ key: BlobKey, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter(capacity: 256, form: key.kind.formBefore)
        writer.write(byte: key.kind.formBefore)
        write(&writer)
        if writer.neededForm > key.kind.formBefore {
            writer = ByteWriter(capacity: 256, form: key.kind.version)
            writer.write(byte: key.kind.version)
            write(&writer)
        }
        let crc = CRC32C.checksum(writer.bytes.span.bytes, continuing: CRC32C.checksum(key.bytes))
        writer.write(fixed: crc)
        return writer.bytes
    }

    /// Checks the checksum first: only an intact blob may claim a newer form.
    static func open<Value>(
        _ bytes: [UInt8], _ key: BlobKey, _ read: (inout ByteReader) throws(DecodingFault) -> Value
    ) throws(DecodingFault) -> Value {
        guard bytes.count >= Self.overheadBytes else { throw .truncated(atOffset: bytes.count) }
        let end = bytes.count - 4
        var trailer = ByteReader(bytes, from: end, to: bytes.count)
        let stored = try trailer.fixed32()
        let computed = CRC32C.checksum(
            bytes.span.extracting(0..<end).bytes, continuing: CRC32C.checksum(key.bytes))
        guard stored == computed else { throw .checksum(stored: stored, computed: computed) }
        let version = bytes[0]
        guard (1...key.kind.version).contains(version) else {
            throw .unknownVersion(found: version, known: key.kind.version)
        }
        var reader = ByteReader(bytes, from: 1, to: end, form: version)
        let value = try read(&reader)
        try reader.finish()
        return value
    }
}
