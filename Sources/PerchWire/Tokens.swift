package import PerchBase

// Values that callers send back. They are opaque to callers, so the layout is private: a version, the fields in big
// endian, a CRC32C. A token is no secret and no permission: a caller who changes one gets a value that they could have
// requested, or a refusal.

/// Why a token was refused. `token` is its kind: resume token, event cursor, page token.
package enum TokenError: Error, Equatable, Sendable, CustomStringConvertible {
    case length(token: String, found: Int, expected: Int)
    case version(token: String, found: UInt8, expected: UInt8)
    case checksum(token: String)

    package var description: String {
        switch self {
        case .length(let token, let found, let expected):
            "the \(token) has \(found) bytes, it should have \(expected); start again without one"
        case .version(let token, let found, let expected):
            "the \(token) has version \(found), this server reads \(expected); start again without one"
        case .checksum(let token): "the \(token) is damaged, its checksum does not fit; start again without one"
        }
    }

    package var reason: ErrorReason {
        switch self {
        case .length(let token, _, _), .version(let token, _, _), .checksum(let token):
            token == ResumeToken.name ? .tokenMalformed : .cursorMalformed
        }
    }
}

/// Identifies a value of a state stream. A caller that sends it back gets what changed since.
package struct ResumeToken: Hashable, Sendable {
    package var store: StoreIdentity
    package var epoch: UInt32
    package var app: UInt32
    /// Digest of the view's key: account and group, account and product, or the list of products.
    package var view: Digest
    package var position: Position
    /// Of the value.
    package var digest: Digest

    package static let name = "resume token"
    /// Each kind of token has versions of its own. Version 1 had another digest of the view.
    private static let version: UInt8 = 8
    package static let byteCount = 1 + 16 + 4 + 4 + 16 + 16 + 16 + 4

    package init(
        store: StoreIdentity, epoch: UInt32, app: UInt32, view: Digest, position: Position, digest: Digest
    ) {
        self.store = store
        self.epoch = epoch
        self.app = app
        self.view = view
        self.position = position
        self.digest = digest
    }

    package var bytes: [UInt8] {
        [UInt8](token: Self.version, byteCount: Self.byteCount) { self.put(into: &$0) }
    }

    /// Writes the token into memory of `byteCount` bytes, because a pushed value has no array of its own for it.
    func write(into memory: UnsafeMutableRawBufferPointer) {
        var writer = TokenWriter(memory, version: Self.version)
        self.put(into: &writer)
        writer.finish()
    }

    private func put(into writer: inout TokenWriter) {
        writer.put(self.store.high, self.store.low)
        writer.put(self.epoch)
        writer.put(self.app)
        writer.put(self.view.high, self.view.low)
        writer.put(self.position.revision, UInt64(bitPattern: self.position.asOf.milliseconds))
        writer.put(self.digest.high, self.digest.low)
    }

    package init(_ bytes: [UInt8]) throws(TokenError) {
        var reader = try TokenReader(bytes, Self.name, version: Self.version, byteCount: Self.byteCount)
        self.store = StoreIdentity(high: reader.word(), low: reader.word())
        self.epoch = reader.half()
        self.app = reader.half()
        self.view = Digest(high: reader.word(), low: reader.word())
        self.position = Position(revision: reader.word(), asOf: Instant(milliseconds: Int64(bitPattern: reader.word())))
        self.digest = Digest(high: reader.word(), low: reader.word())
    }
}

/// A position in the events of an account: a stream continues with the events after it.
package struct EventCursor: Hashable, Sendable {
    package var store: StoreIdentity
    package var epoch: UInt32
    /// Digest of the app and the account.
    package var view: Digest
    package var revision: UInt64
    /// Within its revision.
    package var ordinal: UInt32

    package static let name = "event cursor"
    private static let version: UInt8 = 2
    package static let byteCount = 1 + 16 + 4 + 16 + 8 + 4 + 4

    package init(store: StoreIdentity, epoch: UInt32, view: Digest, revision: UInt64, ordinal: UInt32) {
        self.store = store
        self.epoch = epoch
        self.view = view
        self.revision = revision
        self.ordinal = ordinal
    }

    package var bytes: [UInt8] {
        [UInt8](token: Self.version, byteCount: Self.byteCount) { writer in
            writer.put(self.store.high, self.store.low)
            writer.put(self.epoch)
            writer.put(self.view.high, self.view.low)
            writer.put(self.revision)
            writer.put(self.ordinal)
        }
    }

    package init(_ bytes: [UInt8]) throws(TokenError) {
        var reader = try TokenReader(bytes, Self.name, version: Self.version, byteCount: Self.byteCount)
        self.store = StoreIdentity(high: reader.word(), low: reader.word())
        self.epoch = reader.half()
        self.view = Digest(high: reader.word(), low: reader.word())
        self.revision = reader.word()
        self.ordinal = reader.half()
    }
}

/// A place in the changes of an app: a stream continues with the changes after it.
package struct ChangesCursor: Hashable, Sendable {
    package var origin: TokenOrigin
    package var app: UInt32
    package var revision: UInt64
    /// Within its revision.
    package var ordinal: UInt32
    /// The last change by time: its instant on the app's clock, and the number of its account.
    package var instant: Instant
    package var account: UInt64

    package static let name = "changes cursor"
    private static let version: UInt8 = 7
    package static let byteCount = 1 + 16 + 4 + 4 + 8 + 4 + 8 + 8 + 4

    package init(
        origin: TokenOrigin, app: UInt32, revision: UInt64, ordinal: UInt32, instant: Instant, account: UInt64
    ) {
        self.origin = origin
        self.app = app
        self.revision = revision
        self.ordinal = ordinal
        self.instant = instant
        self.account = account
    }

    package var bytes: [UInt8] {
        [UInt8](token: Self.version, byteCount: Self.byteCount) { writer in
            writer.put(self.origin)
            writer.put(self.app)
            writer.put(self.revision)
            writer.put(self.ordinal)
            writer.put(UInt64(bitPattern: self.instant.milliseconds), self.account)
        }
    }

    package init(_ bytes: [UInt8]) throws(TokenError) {
        var reader = try TokenReader(bytes, Self.name, version: Self.version, byteCount: Self.byteCount)
        self.origin = reader.origin()
        self.app = reader.half()
        self.revision = reader.word()
        self.ordinal = reader.half()
        self.instant = Instant(milliseconds: Int64(bitPattern: reader.word()))
        self.account = reader.word()
    }
}

/// A place in a copy of an app's entitlements that was complete: a stream continues with the changes after it.
package struct CopyToken: Hashable, Sendable {
    package var place: ChangesCursor
    /// The revision that loaded the app's catalogue and entitlement file.
    package var catalogueRevision: UInt64
    /// Of what the call asks for, and of the settings that decide what entitles: a copy of other ones begins again.
    package var content: UInt32

    package static let name = "resume token of a copy"
    private static let version: UInt8 = 8
    package static let byteCount = ChangesCursor.byteCount + 8 + 4

    package init(place: ChangesCursor, catalogueRevision: UInt64, content: UInt32) {
        self.place = place
        self.catalogueRevision = catalogueRevision
        self.content = content
    }

    package var bytes: [UInt8] {
        [UInt8](token: Self.version, byteCount: Self.byteCount) { writer in
            writer.put(self.place.origin)
            writer.put(self.place.app)
            writer.put(self.place.revision)
            writer.put(self.place.ordinal)
            writer.put(UInt64(bitPattern: self.place.instant.milliseconds), self.place.account)
            writer.put(self.catalogueRevision)
            writer.put(self.content)
        }
    }

    package init(_ bytes: [UInt8]) throws(TokenError) {
        var reader = try TokenReader(bytes, Self.name, version: Self.version, byteCount: Self.byteCount)
        self.place = ChangesCursor(
            origin: reader.origin(), app: reader.half(), revision: reader.word(), ordinal: reader.half(),
            instant: Instant(milliseconds: Int64(bitPattern: reader.word())), account: reader.word())
        self.catalogueRevision = reader.word()
        self.content = reader.half()
    }
}

/// The store, and its epoch, that issued a token.
package struct TokenOrigin: Hashable, Sendable, CustomStringConvertible {
    package var store: StoreIdentity
    package var epoch: UInt32

    package init(store: StoreIdentity, epoch: UInt32) {
        self.store = store
        self.epoch = epoch
    }

    package var description: String { "store \(self.store) epoch \(self.epoch)" }
}

extension ResumeToken {
    package var origin: TokenOrigin { TokenOrigin(store: self.store, epoch: self.epoch) }
}

extension EventCursor {
    package var origin: TokenOrigin { TokenOrigin(store: self.store, epoch: self.epoch) }
}

/// The end of a page of transactions.
package struct PageToken: Hashable, Sendable {
    package var origin: TokenOrigin
    /// Digest of the whole request, so that a token cannot be used with another request.
    package var query: Digest
    package var purchaseDate: Instant
    package var id: UInt64

    package static let name = "page token"
    private static let version: UInt8 = 5
    package static let byteCount = 1 + 16 + 4 + 16 + 8 + 8 + 4

    package init(origin: TokenOrigin, query: Digest, purchaseDate: Instant, id: UInt64) {
        self.origin = origin
        self.query = query
        self.purchaseDate = purchaseDate
        self.id = id
    }

    package var bytes: [UInt8] {
        [UInt8](token: Self.version, byteCount: Self.byteCount) { writer in
            writer.put(self.origin)
            writer.put(self.query.high, self.query.low)
            writer.put(UInt64(bitPattern: self.purchaseDate.milliseconds))
            writer.put(self.id)
        }
    }

    package init(_ bytes: [UInt8]) throws(TokenError) {
        var reader = try TokenReader(bytes, Self.name, version: Self.version, byteCount: Self.byteCount)
        self.origin = reader.origin()
        self.query = Digest(high: reader.word(), low: reader.word())
        self.purchaseDate = Instant(milliseconds: Int64(bitPattern: reader.word()))
        self.id = reader.word()
    }
}

/// The end of a page of accounts.
package struct AccountPageToken: Hashable, Sendable {
    package var origin: TokenOrigin
    package var app: UInt32
    /// The last key of the page.
    package var key: [UInt8]

    package static let name = "page token"
    private static let version: UInt8 = 6
    private static let fixedByteCount = 1 + 16 + 4 + 4 + 4

    package init(origin: TokenOrigin, app: UInt32, key: [UInt8]) {
        self.origin = origin
        self.app = app
        self.key = key
    }

    package var bytes: [UInt8] {
        [UInt8](token: Self.version, byteCount: Self.fixedByteCount + self.key.count) { writer in
            writer.put(self.origin)
            writer.put(self.app)
            writer.put(self.key)
        }
    }

    package init(_ bytes: [UInt8]) throws(TokenError) {
        let lengths = Self.fixedByteCount + 1...Self.fixedByteCount + Limits.accountKeyBytesMax
        guard lengths.contains(bytes.count) else {
            throw .length(token: Self.name, found: bytes.count, expected: lengths.upperBound)
        }
        var reader = try TokenReader(bytes, Self.name, version: Self.version, byteCount: bytes.count)
        self.origin = reader.origin()
        self.app = reader.half()
        self.key = Array(bytes[(Self.fixedByteCount - 4)..<bytes.count - 4])
    }
}

/// Writes a token into memory of its length.
private struct TokenWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private var at = 1

    init(_ memory: UnsafeMutableRawBufferPointer, version: UInt8) {
        self.memory = memory
        memory[0] = version
    }

    mutating func put(_ first: UInt64, _ second: UInt64) {
        self.put(first)
        self.put(second)
    }

    mutating func put(_ origin: TokenOrigin) {
        self.put(origin.store.high, origin.store.low)
        self.put(origin.epoch)
    }

    mutating func put(_ word: UInt64) {
        self.memory.storeBytes(of: word.bigEndian, toByteOffset: self.at, as: UInt64.self)
        self.at += 8
    }

    mutating func put(_ half: UInt32) {
        self.memory.storeBytes(of: half.bigEndian, toByteOffset: self.at, as: UInt32.self)
        self.at += 4
    }

    mutating func put(_ bytes: [UInt8]) {
        UnsafeMutableRawBufferPointer(rebasing: self.memory[self.at...]).copyBytes(from: bytes)
        self.at += bytes.count
    }

    mutating func finish() {
        let whole = UnsafeRawBufferPointer(self.memory)
        precondition(self.at + 4 == whole.count, "a token has \(self.at + 4) bytes of \(whole.count)")
        self.put(CRC32C.checksum(UnsafeRawBufferPointer(rebasing: whole[..<self.at]).bytes))
    }
}

extension [UInt8] {
    /// The bytes of a token.
    fileprivate init(token version: UInt8, byteCount: Int, _ fill: (inout TokenWriter) -> Void) {
        self.init(unsafeUninitializedCapacity: byteCount) { buffer, count in
            var writer = TokenWriter(UnsafeMutableRawBufferPointer(buffer), version: version)
            fill(&writer)
            writer.finish()
            count = byteCount
        }
    }
}

private struct TokenReader {
    private let bytes: [UInt8]
    private var at = 1

    /// Checks everything, so that all later reads succeed.
    ///
    /// A token of another kind has another length or version; the refusal names the expected kind.
    init(_ bytes: [UInt8], _ token: String, version: UInt8, byteCount: Int) throws(TokenError) {
        guard bytes.count == byteCount else {
            throw .length(token: token, found: bytes.count, expected: byteCount)
        }
        guard bytes[0] == version else { throw .version(token: token, found: bytes[0], expected: version) }
        self.bytes = bytes
        let end = byteCount - 4
        let declared = bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt32.self).bigEndian
        guard CRC32C.checksum(bytes.span.bytes.extracting(..<end)) == declared else { throw .checksum(token: token) }
    }

    mutating func word() -> UInt64 {
        defer { self.at += 8 }
        return self.bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: self.at, as: UInt64.self).bigEndian
    }

    mutating func origin() -> TokenOrigin {
        TokenOrigin(store: StoreIdentity(high: self.word(), low: self.word()), epoch: self.half())
    }

    mutating func half() -> UInt32 {
        defer { self.at += 4 }
        return self.bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: self.at, as: UInt32.self).bigEndian
    }
}
