package import PerchBase
package import PerchModel

/// A value of the App Store that was not taken, although its outer signature was good.
package struct DeadLetter: Hashable, Sendable {
    package var received: Instant
    /// A word of the table of errors.
    package var reason: String
    package var message: String
    package var bundleID: String
    /// Apple's name.
    package var environment: String
    /// Empty for a value that is no notification.
    package var notificationType: String
    /// As it came.
    package var jws: String
    /// Whom it is about: originals and names of customers, as `about` writes them. None in letters of earlier versions.
    package var about: [String]

    package init(
        received: Instant, reason: String, message: String, bundleID: String, environment: String,
        notificationType: String, jws: String, about: [String] = []
    ) {
        self.received = received
        self.reason = reason
        self.message = message
        self.bundleID = bundleID
        self.environment = environment
        self.notificationType = notificationType
        self.jws = jws
        self.about = about
    }

    package static func about(original: TransactionID) -> String { "o\(original)" }

    package static func about(_ alias: AccountAlias) -> String {
        switch alias {
        case .appAccountToken(let token): "k" + token
        case .appTransactionID(let id): "n" + id
        }
    }

    /// Its item. `isStrange`: no app of this server has its name. The same value that comes again has the same key.
    package func item(signed: Instant, isStrange: Bool) -> StoredItem {
        var writer = ByteWriter()
        writer.write(self.received.milliseconds)
        for text in [
            self.reason, self.message, self.bundleID, self.environment, self.notificationType, self.jws,
        ] { writer.write(text) }
        writer.write(UInt64(self.about.count))
        for name in self.about { writer.write(name) }
        let group = isStrange ? Self.strange : Self.known
        return StoredItem(ItemKey(.deadLetter, group: group, signed: signed, jws: self.jws), writer.bytes)
    }

    /// The groups of dead letters: each has its own limit.
    package static let known: [UInt8] = [0]
    package static let strange: [UInt8] = [1]

    /// Reads an item; nil if it is damaged, which its checksum would have shown before.
    package init?(_ item: StoredItem) {
        var reader = ByteReader(item.value)
        do throws(DecodingFault) {
            self.init(
                received: Instant(milliseconds: try reader.int64()), reason: try reader.string(),
                message: try reader.string(), bundleID: try reader.string(), environment: try reader.string(),
                notificationType: try reader.string(), jws: try reader.string())
            guard reader.remaining > 0 else { return }
            for _ in 0..<(try reader.uint64()) { self.about.append(try reader.string()) }
        } catch {
            return nil
        }
    }

    /// The key as a text for people and programs.
    package static func id(of key: ItemKey) -> String {
        (key.group + key.key).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// Nil for a text that is no identifier of a dead letter.
    package static func key(ofID text: String) -> ItemKey? {
        ItemKey(ofID: text).flatMap { $0.kind == .deadLetter ? $0 : nil }
    }
}

extension ItemKey {
    private static let signedKeyByteCount = 16

    /// The key of a value as it was signed: by its time, and the same for the same value.
    init(_ kind: ItemKind, group: [UInt8], signed: Instant, jws: String) {
        var key = ByteWriter()
        key.write(fixed: UInt64(bitPattern: signed.milliseconds))
        key.write(fixed: Digest(of: Array(jws.utf8)).high)
        self.init(kind, group: group, key: key.bytes)
    }

    /// The key of a dead letter or a notification, of its identifier: nil for a text that is neither.
    package init?(ofID text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * (1 + Self.signedKeyByteCount) else { return nil }
        var key: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard digits[place] != UInt8(ascii: "+"), digits[place] != UInt8(ascii: "-"),
                let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
            else { return nil }
            key.append(byte)
        }
        let group = Array(key[..<1])
        let kinds: [[UInt8]: ItemKind] = [
            DeadLetter.known: .deadLetter, DeadLetter.strange: .deadLetter, KeptNotification.group: .notification,
        ]
        guard let kind = kinds[group] else { return nil }
        self.init(kind, group: group, key: Array(key[1...]))
    }
}
