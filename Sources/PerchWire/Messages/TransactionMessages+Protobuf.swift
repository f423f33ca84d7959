import CPerchProto
import PerchBase
import PerchModel

extension PurchaseRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if self.order != .blank { message.pointee.order = arena.message { self.order.write(to: $0, arena) } }
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account),
            order: read(message.pointee.order) { PurchaseOrder($0) } ?? .blank,
            idempotencyKey: [UInt8](message.pointee.idempotency_key))
    }
}

extension PurchaseResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        message.pointee.result = .init(self.result)
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
        message.pointee.already_held = self.wasHeld ? 1 : 0
        message.pointee.pending_number = self.pendingNumber
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) }, result: PurchaseResult(message.pointee.result),
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            wasHeld: message.pointee.already_held != 0, pendingNumber: message.pointee.pending_number)
    }
}

extension FinishRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__FinishRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.transaction_id = self.transactionID
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FinishRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), transactionID: message.pointee.transaction_id,
            idempotencyKey: [UInt8](message.pointee.idempotency_key)
        )
    }
}

extension ListTransactionsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListTransactionsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        message.pointee.include_finished_consumables = self.includesFinishedConsumables ? 1 : 0
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListTransactionsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            includesFinishedConsumables: message.pointee.include_finished_consumables != 0,
            pageSize: message.pointee.page_size, pageToken: [UInt8](message.pointee.page_token),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension ListUnfinishedRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListUnfinishedRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListUnfinishedRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), pageSize: message.pointee.page_size,
            pageToken: [UInt8](message.pointee.page_token), atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension TransactionPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListTransactionsResponse>, _ arena: Arena) {
        (message.pointee.n_transactions, message.pointee.transactions) = arena.list(self.transactions) {
            $0.write(to: $1, arena)
        }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__ListUnfinishedResponse>, _ arena: Arena) {
        (message.pointee.n_transactions, message.pointee.transactions) = arena.list(self.transactions) {
            $0.write(to: $1, arena)
        }
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListTransactionsResponse>) {
        self.init(

            transactions: readList(message.pointee.n_transactions, message.pointee.transactions) {
                Verified<Transaction>($0)
            },
            nextPageToken: [UInt8](message.pointee.next_page_token),
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0))
        )
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListUnfinishedResponse>) {
        self.init(

            transactions: readList(message.pointee.n_transactions, message.pointee.transactions) {
                Verified<Transaction>($0)
            },
            nextPageToken: [UInt8](message.pointee.next_page_token),
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0))
        )
    }
}

extension LatestTransactionRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.product_id = arena.text(self.productID)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), productID: String(wire: message.pointee.product_id),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension LatestTransaction {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionResponse>, _ arena: Arena) {
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetLatestTransactionResponse>) {
        self.init(
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0))
        )
    }
}

extension TransactionUpdatesRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.cursor = arena.bytes(self.cursor)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), cursor: [UInt8](message.pointee.cursor),
            atLeast: read(message.pointee.at_least) { Position($0) }
        )
    }
}

extension TransactionEvent {
    func write(to message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesResponse>, _ arena: Arena) {
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
        message.pointee.kind = .init(self.kind)
        message.pointee.cursor = arena.bytes(self.cursor)
        message.pointee.revision = self.revision
        message.pointee.commit_time_ms = self.committed.milliseconds
        message.pointee.origin_client_id = arena.bytes(self.originClientID)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__TransactionUpdatesResponse>) {
        self.init(
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            kind: TransactionEventKind(message.pointee.kind), cursor: [UInt8](message.pointee.cursor),
            revision: message.pointee.revision, committed: Instant(milliseconds: message.pointee.commit_time_ms),
            originClientID: [UInt8](message.pointee.origin_client_id)
        )
    }
}
