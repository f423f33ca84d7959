import CPerchProto
import PerchBase
import PerchModel

extension SyncRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SyncRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SyncRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), idempotencyKey: [UInt8](message.pointee.idempotency_key))
    }
}

extension RefundRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RequestRefundRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.transaction_id = self.transactionID
        message.pointee.reason = .init(self.reason)
        message.pointee.text = arena.text(self.text)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RequestRefundRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), transactionID: message.pointee.transaction_id,
            reason: RevocationReason(message.pointee.reason), text: String(wire: message.pointee.text),
            idempotencyKey: [UInt8](message.pointee.idempotency_key))
    }
}

extension RefundAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__RequestRefundResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        message.pointee.approved = self.isApproved ? 1 : 0
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RequestRefundResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) }, isApproved: message.pointee.approved != 0,
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) })
    }
}

extension RedeemOfferCodeRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.code = arena.text(self.code)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), code: String(wire: message.pointee.code),
            productID: String(wire: message.pointee.product_id),
            idempotencyKey: [UInt8](message.pointee.idempotency_key))
    }
}

extension RedeemedCode {
    func write(to message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
        message.pointee.applies_at_renewal = self.appliesAtRenewal ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RedeemOfferCodeResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            appliesAtRenewal: message.pointee.applies_at_renewal != 0)
    }
}

extension ManageSubscriptionsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.auto_renew = self.isAutoRenewOn ? 1 : 0
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            isAutoRenewOn: message.pointee.auto_renew != 0, idempotencyKey: [UInt8](message.pointee.idempotency_key))
    }
}

extension AppTransactionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetAppTransactionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetAppTransactionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), atLeast: read(message.pointee.at_least) { Position($0) })
    }
}

extension AppTransactionAnswer {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetAppTransactionResponse>, _ arena: Arena) {
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        message.pointee.bundle_id = arena.text(self.bundleID)
        message.pointee.environment = .init(self.environment)
        message.pointee.verification_error = .init(self.failure)
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetAppTransactionResponse>) {
        self.init(
            appTransactionID: String(wire: message.pointee.app_transaction_id),
            bundleID: String(wire: message.pointee.bundle_id),
            environment: AppEnvironment(message.pointee.environment),
            failure: VerificationFailure(message.pointee.verification_error),
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0)))
    }
}

extension AccountWatchRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__MessagesRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.resume_token = arena.bytes(self.resumeToken)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) })
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__MessagesRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), resumeToken: [UInt8](message.pointee.resume_token),
            atLeast: read(message.pointee.at_least) { Position($0) })
    }
}
