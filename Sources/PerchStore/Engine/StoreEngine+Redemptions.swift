import PerchBase
import PerchModel

// How often codes of offers were redeemed, by all accounts of an app together. No record holds it.
extension StoreEngine {
    func redemptions(of name: OfferCodeName, _ app: AppNumber) throws(StorageError) -> UInt64 {
        guard let item = try self.storage.item(.redemptions(of: name, app: app)) else { return 0 }
        return item.value.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Counts what a change of a record redeemed, or took back by a deletion.
    func count(
        from before: AccountRecord, to after: AccountRecord, into stored: inout StoredChange
    ) throws(StorageError) {
        // What an erased account redeemed stays used.
        guard before.redeemedOffers != after.redeemedOffers, stored.side?.erasure == nil else { return }
        var changes: [OfferCodeName: Int64] = [:]
        for redeemed in before.redeemedOffers where !redeemed.code.isEmpty {
            changes[OfferCodeName(redeemed), default: 0] -= 1
        }
        for redeemed in after.redeemedOffers where !redeemed.code.isEmpty {
            changes[OfferCodeName(redeemed), default: 0] += 1
        }
        var side = stored.side ?? SideWrites()
        for (name, change) in changes where change != 0 {
            let key = ItemKey.redemptions(of: name, app: after.app)
            let count = Int64(clamping: try self.redemptions(of: name, after.app)) + change
            side.items.removeAll { $0.key == key }
            var writer = ByteWriter()
            writer.write(fixed: UInt64(max(0, count)))
            side.items.append(StoredItem(key, writer.bytes))
        }
        if !side.items.isEmpty { stored.side = side }
    }
}

extension OfferCodeName {
    fileprivate init(_ redeemed: RedeemedOffer) { self.init(productID: redeemed.productID, code: redeemed.code) }
}
