import PerchModel
package import PerchStore

// Items: what no record and no fact holds.
extension SQLiteStorage {
    package func item(_ key: ItemKey) throws(StorageError) -> StoredItem? {
        try self.first(.item, Self.values(key)) { (row) throws(StorageError) in
            try Self.unsealing("an item") { () throws(DecodingFault) in try StoredItem(unsealing: row.bytes(0), key) }
        }
    }

    package func items(
        _ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int
    ) throws(StorageError) -> [StoredItem] {
        var items: [StoredItem] = []
        guard limit > 0 else { return items }
        try self.run(.items, Self.values(ItemKey(kind, group: group, key: key))) { (row) throws(StorageError) in
            let key = ItemKey(kind, group: group, key: row.bytes(0))
            items.append(
                try Self.unsealing("an item") { () throws(DecodingFault) in
                    try StoredItem(unsealing: row.bytes(1), key)
                })
            return items.count < limit
        }
        return items
    }

    package func itemCount(_ kind: ItemKind, group: [UInt8]) throws(StorageError) -> Int {
        try self.first(.itemCount, [.integer(Int64(kind.rawValue)), .bytes(group)]) { Int($0.int64(0)) } ?? 0
    }

    func write(_ side: SideWrites) throws(StorageError) {
        for item in side.items { try self.write(.setItem, Self.values(item.key) + [.bytes(item.sealed())]) }
        for key in side.removedItems { try self.write(.removeItem, Self.values(key)) }
        for key in side.removedAliases {
            try self.write(.removeAlias, [.integer(Int64(key.app)), .bytes(key.bytes)])
        }
    }

    private static func values(_ key: ItemKey) -> [Statement.Value] {
        [.integer(Int64(key.kind.rawValue)), .bytes(key.group), .bytes(key.key)]
    }
}
