import PerchBase
import PerchModel

/// What a view shows.
enum ViewKey: Hashable {
    /// The statuses in a group; without its name, in all groups. `isSigned`: its readers want signed forms.
    case status(group: String, isSigned: Bool = false)
    case entitlement(product: String, isSigned: Bool = false)
    case products(ids: [String], locale: String, storefront: String)
    case intents
    case messages
    case entitlements

    /// Sixteen bytes that identify the view in resume tokens: the same on every loop, after a restart, on each node.
    func digest(app: AppNumber, account: [UInt8]) -> Digest {
        account.withUnsafeBytes { self.digest(app: app, account: $0) }
    }

    /// The digest for a key in a key store. Every value of a view has it in its token.
    func digest(app: AppNumber, account: UnsafeRawBufferPointer) -> Digest {
        self.named.withUnsafeBytes { Self.digest(app: app, account: account, named: $0) }
    }

    static func digest(app: AppNumber, account: UnsafeRawBufferPointer, named: UnsafeRawBufferPointer) -> Digest {
        var mixer = DigestMixer()
        mixer.mix(UInt64(app), UInt64(account.count))
        mixer.mix(account)
        mixer.mix(named)
        return mixer.digest
    }

    /// The digest in event cursors and page tokens, which clients keep for weeks: it never changes. Slower than `digest`.
    func lastingDigest(app: AppNumber, account: [UInt8]) -> Digest {
        let named = self.named
        return withUnsafeTemporaryAllocation(byteCount: 8 + account.count + named.count, alignment: 8) { buffer in
            var whole = NamedBytes(buffer)
            whole.put(app)
            account.withUnsafeBytes { whole.add($0) }
            named.withUnsafeBytes { whole.append($0) }
            return Digest(of: whole.written.bytes)
        }
    }

    /// What the key adds to the bytes that name a view, after the account.
    var named: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 + self.partBytes) { buffer, count in
            var named = NamedBytes(UnsafeMutableRawBufferPointer(buffer))
            switch self {
            case .status(let group, let isSigned):
                named.put((isSigned ? 7 : 1) as UInt8)
                named.add(group)
            case .entitlement(let product, let isSigned):
                named.put((isSigned ? 8 : 2) as UInt8)
                named.add(product)
            case .products(let ids, let locale, let storefront):
                named.put(3 as UInt8)
                named.add(locale)
                named.add(storefront)
                for id in ids { named.add(id) }
            case .intents:
                named.put(4 as UInt8)
            case .messages:
                named.put(5 as UInt8)
            case .entitlements:
                named.put(6 as UInt8)
            }
            count = named.written.count
        }
    }

    /// Whether its readers want signed forms.
    var isSigned: Bool {
        switch self {
        case .status(_, let isSigned), .entitlement(_, let isSigned): isSigned
        case .products, .intents, .messages, .entitlements: false
        }
    }

    /// Bytes that it holds in memory, as far as the caller determines them.
    var heldBytes: Int {
        /// Short texts are stored inline; others are an object.
        func bytes(_ text: String) -> Int { text.utf8.count > 15 ? 32 + text.utf8.count : 0 }
        switch self {
        case .status(let text, _), .entitlement(let text, _): return bytes(text)
        case .products(let ids, let locale, let storefront):
            let list = 32 + ids.count * MemoryLayout<String>.stride
            return ids.reduce(list + bytes(locale) + bytes(storefront)) { $0 + bytes($1) }
        case .intents, .messages, .entitlements: return 0
        }
    }

    /// Bytes of the texts in the digest's input, each with its length before it.
    private var partBytes: Int {
        switch self {
        case .status(let text, _), .entitlement(let text, _): 4 + text.utf8.count
        case .products(let ids, let locale, let storefront):
            ids.reduce(8 + locale.utf8.count + storefront.utf8.count) { $0 + 4 + $1.utf8.count }
        case .intents, .messages, .entitlements: 0
        }
    }
}

/// The input of a view's digest, in memory of sufficient size.
private struct NamedBytes {
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self.memory[..<self.count]) }

    /// A number, big endian.
    mutating func put<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        self.memory.storeBytes(of: number.bigEndian, toByteOffset: self.count, as: Number.self)
        self.count += MemoryLayout<Number>.size
    }

    /// Appends bytes with their length before them.
    mutating func add(_ part: UnsafeRawBufferPointer) {
        self.put(UInt32(part.count))
        self.append(part)
    }

    mutating func append(_ part: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: self.memory[self.count...]).copyMemory(from: part)
        self.count += part.count
    }

    mutating func add(_ text: String) {
        text.utf8Span.span.withUnsafeBytes { self.add($0) }
    }
}
