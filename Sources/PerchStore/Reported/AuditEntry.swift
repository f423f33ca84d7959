package import PerchBase
package import PerchModel

/// An administrative or test change: who asked for it, from where, and what it was.
package struct AuditEntry: Hashable, Sendable {
    /// By the wall clock.
    package var at: Instant
    /// Who called; never a secret.
    package var subject: String
    /// The address of the connection; empty for this machine.
    package var address: String
    package var method: String
    /// The operation within the method, or what it was about.
    package var what: String
    /// Empty for a change of the store itself.
    package var bundleID: String
    package var environment: String
    /// The account that was changed; 0 for none. A number, so that erasing an account leaves no key in the trail.
    package var account: AccountNumber = 0
    /// Its present key, which readers of the trail are given. Never stored.
    package var accountKey = ""

    package init(
        at: Instant, subject: String, address: String, method: String, what: String, bundleID: String,
        environment: String
    ) {
        self.at = at
        self.subject = subject
        self.address = address
        self.method = method
        self.what = what
        self.bundleID = bundleID
        self.environment = environment
    }

    /// The subject of calls to a server that asks for no credentials.
    package static let everyone = "everyone"

    /// The name of who called, without the key of the credentials: `ada` of `"ada" by main`.
    package var author: String { Self.author(of: self.subject) }

    package static func author(of subject: String) -> String {
        guard subject.hasPrefix("\""), let end = subject.dropFirst().firstIndex(of: "\"") else { return subject }
        return String(subject[subject.index(after: subject.startIndex)..<end])
    }

    /// The item of an entry: its key is its revision.
    func item(revision: UInt64) -> StoredItem {
        var writer = ByteWriter()
        writer.write(self.at.milliseconds)
        for text in [self.subject, self.address, self.method, self.what, self.bundleID, self.environment] {
            writer.write(text)
        }
        if self.account != 0 {
            writer.write(self.account)
            writer.write(self.accountKey)
        }
        return StoredItem(Self.key(ofRevision: revision), writer.bytes)
    }

    package static func key(ofRevision revision: UInt64) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: revision)
        return ItemKey(.audit, key: key.bytes)
    }

    package static func revision(of key: ItemKey) -> UInt64 { key.key.reduce(0) { $0 << 8 | UInt64($1) } }

    /// Reads an item; nil if it is damaged, which its checksum would have shown before.
    package init?(_ item: StoredItem) {
        var reader = ByteReader(item.value)
        do throws(DecodingFault) {
            self.init(
                at: Instant(milliseconds: try reader.int64()), subject: try reader.string(),
                address: try reader.string(), method: try reader.string(), what: try reader.string(),
                bundleID: try reader.string(), environment: try reader.string())
            // Entries of earlier versions end here.
            guard reader.remaining > 0 else { return }
            self.account = try reader.uint64()
            self.accountKey = try reader.string()
        } catch {
            return nil
        }
    }
}

extension StoredChange {
    /// Writes who asked for the change, if it is an administrator's or a test's. `account`: whose change it is.
    mutating func note(_ audit: AuditEntry?, _ account: AccountNumber? = nil) {
        guard var audit else { return }
        audit.account = account ?? 0
        var side = self.side ?? SideWrites()
        side.items.append(audit.item(revision: self.revision))
        self.side = side
    }
}
