import PerchModel
package import PerchStore

// Items: what no record and no fact holds.
extension PostgresStorage {
    package func item(_ key: ItemKey) throws(StorageError) -> StoredItem? {
        let rows = try self.read(.item, Self.values(key))
        return rows.isEmpty ? nil : try Self.item(key, rows.bytes(0, 0))
    }

    package func items(
        _ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int
    ) throws(StorageError) -> [StoredItem] {
        guard limit > 0 else { return [] }
        let bound = Self.values(ItemKey(kind, group: group, key: key)) + [.integer(Int64(limit))]
        let rows = try self.read(.items, bound)
        var items: [StoredItem] = []
        for row in 0..<rows.count {
            items.append(try Self.item(ItemKey(kind, group: group, key: rows.bytes(row, 0)), rows.bytes(row, 1)))
        }
        return items
    }

    package func itemCount(_ kind: ItemKind, group: [UInt8]) throws(StorageError) -> Int {
        Int(try self.read(.itemCount, [.integer(Int64(kind.rawValue)), .bytes(group)]).int64(0, 0))
    }

    private static func item(_ key: ItemKey, _ blob: [UInt8]) throws(StorageError) -> StoredItem {
        try Self.unsealing("an item") { () throws(DecodingFault) in try StoredItem(unsealing: blob, key) }
    }

    static func values(_ key: ItemKey) -> [Value] {
        [.integer(Int64(key.kind.rawValue)), .bytes(key.group), .bytes(key.key)]
    }
}
