import PerchBase
import PerchModel

/// What a view shows.
enum ViewKey: Hashable {
    case status(group: String)
    case entitlement(product: String)
    case products(ids: [String], locale: String, storefront: String)
    case intents
    case messages

    /// Sixteen bytes that name the view in resume tokens: the same on every loop, after a restart, on each node.
    func digest(app: AppNumber, account: [UInt8]) -> Digest {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64 + account.count)
        func add(_ part: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: part)
        }
        withUnsafeBytes(of: app.bigEndian) { bytes.append(contentsOf: $0) }
        add(account)
        switch self {
        case .status(let group):
            bytes.append(1)
            add(group.utf8)
        case .entitlement(let product):
            bytes.append(2)
            add(product.utf8)
        case .products(let ids, let locale, let storefront):
            bytes.append(3)
            add(locale.utf8)
            add(storefront.utf8)
            for id in ids { add(id.utf8) }
        case .intents:
            bytes.append(4)
        case .messages:
            bytes.append(5)
        }
        return Digest(of: bytes)
    }
}
