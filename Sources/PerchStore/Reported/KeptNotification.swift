package import PerchBase
import PerchModel

/// A notification of a sandbox app that was taken, as it came, with what became of it: for people who look at what the App Store
/// says. The latest `Limits.notificationsKeptMax` are kept, each once.
package struct KeptNotification: Hashable, Sendable {
    package var received: Instant
    package var signed: Instant
    package var bundleID: String
    /// Apple's words.
    package var type: String
    package var subtype: String
    package var jws: String
    /// Whom it is about, as in a dead letter: an erased account leaves none.
    package var about: [String]
    package var outcome = ReportedOutcome()
    package var revision: UInt64 = 0

    package init(
        received: Instant, signed: Instant, bundleID: String, type: String, subtype: String, jws: String,
        about: [String]
    ) {
        self.received = received
        self.signed = signed
        self.bundleID = bundleID
        self.type = type
        self.subtype = subtype
        self.jws = jws
        self.about = about
    }

    /// The group of all of them. Their identifiers are those of dead letters, of another group.
    package static let group: [UInt8] = [2]

    /// The same notification that comes again has the same key.
    package var key: ItemKey { ItemKey(.notification, group: Self.group, signed: self.signed, jws: self.jws) }

    package var item: StoredItem {
        var writer = ByteWriter()
        writer.write(self.received.milliseconds)
        writer.write(self.signed.milliseconds)
        for text in [self.bundleID, self.type, self.subtype, self.jws] { writer.write(text) }
        writer.write(UInt64(self.about.count))
        for name in self.about { writer.write(name) }
        for count in [self.outcome.news, self.outcome.stale, self.outcome.duplicates] { writer.write(UInt64(count)) }
        writer.write(self.revision)
        return StoredItem(self.key, writer.bytes)
    }

    /// Reads an item; nil if it is damaged, which its checksum would have shown before. A list has no use for the value itself: without
    /// it, `jws` is empty.
    package init?(_ item: StoredItem, withJWS: Bool = true) {
        var reader = ByteReader(item.value)
        do throws(DecodingFault) {
            self.init(
                received: Instant(milliseconds: try reader.int64()), signed: Instant(milliseconds: try reader.int64()),
                bundleID: try reader.string(), type: try reader.string(), subtype: try reader.string(),
                jws: withJWS ? try reader.string() : try reader.skipString(), about: [])
            for _ in 0..<(try reader.uint64()) { self.about.append(try reader.string()) }
            self.outcome.news = UInt32(clamping: try reader.uint64())
            self.outcome.stale = UInt32(clamping: try reader.uint64())
            self.outcome.duplicates = UInt32(clamping: try reader.uint64())
            self.revision = try reader.uint64()
        } catch {
            return nil
        }
    }
}

extension StoreEngine {
    /// Keeps a notification that came for the first time, and lets the oldest go.
    func keep(_ notification: KeptNotification, _ work: inout ReportedWork) throws(StorageError) {
        // Reports of an erased customer are not kept, and neither is the notification that had them.
        guard work.outcome.erased == 0, try self.storage.item(notification.key) == nil else { return }
        var notification = notification
        notification.outcome = work.outcome
        notification.revision = work.revision
        work.side.items.append(notification.item)
        let more =
            try self.storage.itemCount(.notification, group: KeptNotification.group) + 1 - Limits.notificationsKeptMax
        guard more > 0 else { return }
        work.side.removedItems += try self.storage.items(
            .notification, group: KeptNotification.group, after: [], limit: more
        ).map(\.key)
    }
}
