/// The items of a store in memory: by kind and group, each group sorted by key.
struct ItemTable {
    private struct Group: Hashable {
        var kind: ItemKind
        var group: [UInt8]
    }

    private var groups: [Group: [(key: [UInt8], value: [UInt8])]] = [:]

    subscript(key: ItemKey) -> [UInt8]? {
        guard let items = self.groups[Group(kind: key.kind, group: key.group)] else { return nil }
        let place = items.partitioningIndex { !$0.key.lexicographicallyPrecedes(key.key) }
        return place < items.count && items[place].key == key.key ? items[place].value : nil
    }

    /// Sets or removes an item, and returns its value before.
    @discardableResult
    mutating func set(_ key: ItemKey, _ value: [UInt8]?) -> [UInt8]? {
        Self.set(key.key, value, in: &self.groups[Group(kind: key.kind, group: key.group), default: []])
    }

    /// In place: the list of a group is as long as the audit trail.
    private static func set(_ key: [UInt8], _ value: [UInt8]?, in items: inout [(key: [UInt8], value: [UInt8])])
        -> [UInt8]?
    {
        let place = items.partitioningIndex { !$0.key.lexicographicallyPrecedes(key) }
        let before = place < items.count && items[place].key == key ? items[place].value : nil
        switch (before, value) {
        case (nil, let value?): items.insert((key, value), at: place)
        case (_?, let value?): items[place].value = value
        case (_?, nil): items.remove(at: place)
        case (nil, nil): break
        }
        return before
    }

    func items(_ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int) -> [StoredItem] {
        let items = self.groups[Group(kind: kind, group: group)] ?? []
        let place = items.partitioningIndex { key.lexicographicallyPrecedes($0.key) }
        return items[place...].prefix(limit).map { StoredItem(ItemKey(kind, group: group, key: $0.key), $0.value) }
    }

    func count(_ kind: ItemKind, group: [UInt8]) -> Int { self.groups[Group(kind: kind, group: group)]?.count ?? 0 }
}
