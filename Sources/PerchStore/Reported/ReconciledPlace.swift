package import PerchBase
package import PerchModel

/// How far the App Store was asked for what it did not deliver to an app.
package struct ReconciledPlace: Hashable, Sendable {
    /// Notifications that failed were fetched up to here; nil: never.
    package var notifications: Instant?
    /// Subscriptions were looked through for their ends up to here; nil: never.
    package var ends: Instant?
    /// The key that the App Store accepted last; empty for none.
    package var acceptedKey = ""

    package init() {}

    package func item(_ app: AppNumber) -> StoredItem {
        var writer = ByteWriter()
        writer.write(self.notifications?.milliseconds ?? 0)
        writer.write(self.ends?.milliseconds ?? 0)
        writer.write(self.acceptedKey)
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
        } catch {
            return nil
        }
    }
}
