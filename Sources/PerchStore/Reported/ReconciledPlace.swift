package import PerchBase
package import PerchModel

/// How far the App Store was asked for what it did not deliver to an app.
package struct ReconciledPlace: Hashable, Sendable {
    /// Notifications that failed were fetched up to here; nil: never.
    package var notifications: Instant?
    /// Subscriptions that ended were asked about up to here, and what the App Store answered is stored; nil: never.
    package var ends: Instant?
    /// The key that the App Store accepted last; empty for none.
    package var acceptedKey = ""
    /// When the App Store was first asked; nil: never.
    package var since: Instant?
    /// When a test notification first did not arrive; nil: the last one did, or none is known.
    package var testFailed: Instant?

    package init() {}

    package func item(_ app: AppNumber) -> StoredItem {
        var writer = ByteWriter()
        writer.write(self.notifications?.milliseconds ?? 0)
        writer.write(self.ends?.milliseconds ?? 0)
        writer.write(self.acceptedKey)
        writer.write(self.since?.milliseconds ?? 0)
        writer.write(self.testFailed?.milliseconds ?? 0)
        return StoredItem(.reconciled(app), writer.bytes)
    }

    /// Reads an item; nil if it is damaged, which its checksum would have shown before.
    package init?(_ item: StoredItem) {
        var reader = ByteReader(item.value)
        do throws(DecodingFault) {
            func instant(_ milliseconds: Int64) -> Instant? {
                milliseconds == 0 ? nil : Instant(milliseconds: milliseconds)
            }
            self.notifications = instant(try reader.int64())
            self.ends = instant(try reader.int64())
            self.acceptedKey = try reader.string()
            self.since = instant(try reader.int64())
            self.testFailed = instant(try reader.int64())
        } catch {
            return nil
        }
    }
}
