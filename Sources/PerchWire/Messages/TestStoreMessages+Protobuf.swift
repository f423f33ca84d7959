import CPerchProto
import PerchBase
import PerchModel

extension BuyProductRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__BuyProductRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.quantity = self.quantity
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BuyProductRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            quantity: message.pointee.quantity, idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension BuyProductResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__BuyProductResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
        message.pointee.already_held = self.wasHeld ? 1 : 0
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__BuyProductResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            wasHeld: message.pointee.already_held != 0
        )
    }
}

extension RefundTransactionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__RefundTransactionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.transaction_id = self.transactionID
        message.pointee.reason = .init(self.reason)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RefundTransactionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            transactionID: message.pointee.transaction_id, reason: RevocationReason(message.pointee.reason),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension SetAutoRenewRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetAutoRenewRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.transaction_id = self.transactionID
        message.pointee.enabled = self.isEnabled ? 1 : 0
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetAutoRenewRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            transactionID: message.pointee.transaction_id, isEnabled: message.pointee.enabled != 0,
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension ForceRenewalRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ForceRenewalRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ForceRenewalRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension ExpireSubscriptionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ExpireSubscriptionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExpireSubscriptionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension ChangedTransaction {
    func write(to message: UnsafeMutablePointer<Perch__V1__RefundTransactionResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__ForceRenewalResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__RefundTransactionResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) }
        )
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ForceRenewalResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) }
        )
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__FinishResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__SetAutoRenewResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__ExpireSubscriptionResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__SetTimeRateResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FinishResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetAutoRenewResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ExpireSubscriptionResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetTimeRateResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }
}

extension ClockRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetClockRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetClockRequest>) {
        self.init(app: read(message.pointee.app) { AppReference($0) } ?? AppReference())
    }
}

extension ClockState {
    func write(to message: UnsafeMutablePointer<Perch__V1__Clock>, _ arena: Arena) {
        message.pointee.now_ms = self.now.milliseconds
        message.pointee.frozen = self.isFrozen ? 1 : 0
        message.pointee.offset_ms = self.offsetMilliseconds
        message.pointee.time_rate = self.timeRate
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__Clock>) {
        self.init(
            now: Instant(milliseconds: message.pointee.now_ms), isFrozen: message.pointee.frozen != 0,
            offsetMilliseconds: message.pointee.offset_ms, timeRate: message.pointee.time_rate
        )
    }
}

extension ClockResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetClockResponse>, _ arena: Arena) {
        if !self.clock.isBlank { message.pointee.clock = arena.message { self.clock.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetClockResponse>) {
        self.init(clock: read(message.pointee.clock) { ClockState($0) } ?? ClockState())
    }
}

extension SetClockRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetClockRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        self.change?.write(to: message, arena)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetClockRequest>) {
        self.init(app: read(message.pointee.app) { AppReference($0) } ?? AppReference(), change: ClockChange(message))
    }
}

extension SetClockResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetClockResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        if !self.clock.isBlank { message.pointee.clock = arena.message { self.clock.write(to: $0, arena) } }
        message.pointee.settled_count = self.settledCount
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetClockResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            clock: read(message.pointee.clock) { ClockState($0) } ?? ClockState(),
            settledCount: message.pointee.settled_count
        )
    }
}

extension SetTimeRateRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__SetTimeRateRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.time_rate = self.timeRate
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SetTimeRateRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(), timeRate: message.pointee.time_rate
        )
    }
}
