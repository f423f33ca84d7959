import CPerchProto
import PerchBase
import PerchModel

extension ProductsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ProductsTaskRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        (message.pointee.n_product_ids, message.pointee.product_ids) = arena.texts(self.productIDs)
        message.pointee.locale = arena.text(self.locale)
        message.pointee.storefront = arena.text(self.storefront)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetProductsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        (message.pointee.n_product_ids, message.pointee.product_ids) = arena.texts(self.productIDs)
        message.pointee.locale = arena.text(self.locale)
        message.pointee.storefront = arena.text(self.storefront)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ProductsTaskRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            productIDs: readTexts(message.pointee.n_product_ids, message.pointee.product_ids),
            locale: String(wire: message.pointee.locale), storefront: String(wire: message.pointee.storefront),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetProductsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            productIDs: readTexts(message.pointee.n_product_ids, message.pointee.product_ids),
            locale: String(wire: message.pointee.locale), storefront: String(wire: message.pointee.storefront),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension SubscriptionStatusRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.group_id = arena.text(self.groupID)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.group_id = arena.text(self.groupID)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), groupID: String(wire: message.pointee.group_id),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), groupID: String(wire: message.pointee.group_id),
            atLeast: read(message.pointee.at_least) { Position($0) },
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf()
        )
    }
}

extension CurrentEntitlementRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            atLeast: read(message.pointee.at_least) { Position($0) },
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf()
        )
    }
}

extension ListCurrentEntitlementsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
        if !self.asOf.isBlank { message.pointee.as_of = arena.message { self.asOf.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), atLeast: read(message.pointee.at_least) { Position($0) },
            asOf: read(message.pointee.as_of) { AsOf($0) } ?? AsOf()
        )
    }
}

extension EntitlementList {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsResponse>, _ arena: Arena) {
        (message.pointee.n_transactions, message.pointee.transactions) = arena.list(self.transactions) {
            $0.write(to: $1, arena)
        }
        if !self.info.isBlank { message.pointee.info = arena.message { self.info.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListCurrentEntitlementsResponse>) {
        self.init(

            transactions: readList(message.pointee.n_transactions, message.pointee.transactions) {
                Verified<Transaction>($0)
            },
            info: read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        )
    }
}

extension GetImageRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetImageRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.image_id = arena.text(self.imageID)
        message.pointee.known_hash = arena.bytes(self.knownHash)
        if let position = self.atLeast { message.pointee.at_least = arena.message { position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetImageRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            imageID: String(wire: message.pointee.image_id), knownHash: [UInt8](message.pointee.known_hash),
            atLeast: read(message.pointee.at_least) { Position($0) })
    }
}

extension ImageAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetImageResponse>, _ arena: Arena) {
        message.pointee.content_hash = arena.bytes(self.contentHash)
        message.pointee.content_type = arena.text(self.contentType)
        message.pointee.unchanged = self.isUnchanged ? 1 : 0
        message.pointee.content = arena.bytes(self.content)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetImageResponse>) {
        self.init(
            contentHash: [UInt8](message.pointee.content_hash), contentType: String(wire: message.pointee.content_type),
            isUnchanged: message.pointee.unchanged != 0, content: [UInt8](message.pointee.content))
    }
}
