import CPerchProto
import PerchBase
import PerchModel

extension OperateRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__OperateRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
        if let operation = self.operation {
            message.pointee.operation = arena.message { operation.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OperateRequest>) throws(MessageError) {
        guard let operation = message.pointee.operation else {
            throw .missing(field: "perch.v1.OperateRequest.operation")
        }
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), idempotencyKey: [UInt8](message.pointee.idempotency_key),
            operation: try StoreOperation(operation))
    }
}

extension OperateResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__OperateResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
        if let transaction = self.transaction {
            message.pointee.transaction = arena.message { transaction.write(to: $0, arena) }
        }
        message.pointee.purchase_result = .init(self.purchaseResult)
        message.pointee.already_held = self.wasHeld ? 1 : 0
        message.pointee.number = self.number
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__OperateResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) },
            transaction: read(message.pointee.transaction) { Verified<Transaction>($0) },
            purchaseResult: PurchaseResult(message.pointee.purchase_result),
            wasHeld: message.pointee.already_held != 0, number: message.pointee.number)
    }
}

extension InspectAccountRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__InspectAccountRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.account = arena.text(self.account)
        if let atLeast = self.atLeast { message.pointee.at_least = arena.message { atLeast.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__InspectAccountRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(),
            account: String(wire: message.pointee.account), atLeast: read(message.pointee.at_least) { Position($0) })
    }
}

extension ListAccountsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAccountsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        message.pointee.page_size = self.pageSize
        message.pointee.page_token = arena.bytes(self.pageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAccountsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(), pageSize: message.pointee.page_size,
            pageToken: [UInt8](message.pointee.page_token))
    }
}

extension AccountPage {
    func write(to message: UnsafeMutablePointer<Perch__V1__ListAccountsResponse>, _ arena: Arena) {
        (message.pointee.n_accounts, message.pointee.accounts) = arena.texts(self.accounts)
        message.pointee.next_page_token = arena.bytes(self.nextPageToken)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ListAccountsResponse>) {
        self.init(
            accounts: readTexts(message.pointee.n_accounts, message.pointee.accounts),
            nextPageToken: [UInt8](message.pointee.next_page_token))
    }
}

extension ConfigureRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__ConfigureRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
        (message.pointee.n_settings, message.pointee.settings) = arena.list(self.settings) { $0.write(to: $1, arena) }
        message.pointee.idempotency_key = arena.bytes(self.idempotencyKey)
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ConfigureRequest>) throws(MessageError) {
        var settings: [AppSettingChange] = []
        for setting in UnsafeBufferPointer(start: message.pointee.settings, count: message.pointee.n_settings) {
            settings.append(try AppSettingChange(setting!))
        }
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference(), settings: settings,
            idempotencyKey: [UInt8](message.pointee.idempotency_key))
    }
}

extension SettingsRequest {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSettingsRequest>, _ arena: Arena) {
        if !self.app.isBlank { message.pointee.app = arena.message { self.app.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GetSettingsRequest>) {
        self.init(
            app: read(message.pointee.app) { AppReference($0) } ?? AppReference())
    }
}

extension SettingsList {
    func write(to message: UnsafeMutablePointer<Perch__V1__GetSettingsResponse>, _ arena: Arena) {
        (message.pointee.n_settings, message.pointee.settings) = arena.list(self.settings) { $0.write(to: $1, arena) }
    }

    /// A setting that only a newer server knows is left out.
    init(_ message: UnsafeMutablePointer<Perch__V1__GetSettingsResponse>) {
        let settings = UnsafeBufferPointer(start: message.pointee.settings, count: message.pointee.n_settings)
        self.init(settings: settings.compactMap { try? AppSettingChange($0!) })
    }
}

extension Acknowledgement {
    func write(to message: UnsafeMutablePointer<Perch__V1__FinishResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__ConfigureResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__SyncResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsResponse>, _ arena: Arena) {
        if let position = self.position { message.pointee.position = arena.message { position.write(to: $0, arena) } }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FinishResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ConfigureResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__SyncResponse>) {
        self.init(position: read(message.pointee.position) { Position($0) })
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__ManageSubscriptionsResponse>) {
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

extension FamilySharing {
    func write(to message: UnsafeMutablePointer<Perch__V1__FamilyShare>, _ arena: Arena) {
        message.pointee.original_transaction_id = self.original
        message.pointee.member_original_transaction_id = self.memberOriginal
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__FamilyShare>) {
        self.init(
            original: message.pointee.original_transaction_id,
            memberOriginal: message.pointee.member_original_transaction_id)
    }
}

extension GroupStatuses {
    func write(to message: UnsafeMutablePointer<Perch__V1__GroupStatuses>, _ arena: Arena) {
        message.pointee.group_id = arena.text(self.groupID)
        if self.statuses != SubscriptionStatuses(statuses: []) {
            message.pointee.statuses = arena.message { self.statuses.write(to: $0, arena) }
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__GroupStatuses>) {
        self.init(
            groupID: String(wire: message.pointee.group_id),
            statuses: read(message.pointee.statuses) { SubscriptionStatuses($0) } ?? SubscriptionStatuses(statuses: []))
    }
}

extension AccountInspection {
    func write(to message: UnsafeMutablePointer<Perch__V1__InspectAccountResponse>, _ arena: Arena) {
        if !self.position.isBlank { message.pointee.position = arena.message { self.position.write(to: $0, arena) } }
        (message.pointee.n_groups, message.pointee.groups) = arena.list(self.groups) { $0.write(to: $1, arena) }
        (message.pointee.n_owned, message.pointee.owned) = arena.list(self.owned) { $0.write(to: $1, arena) }
        (message.pointee.n_pending_purchases, message.pointee.pending_purchases) = arena.list(self.pendingPurchases) {
            $0.write(to: $1, arena)
        }
        (message.pointee.n_purchase_intents, message.pointee.purchase_intents) = arena.list(self.intents) {
            $0.write(to: $1, arena)
        }
        (message.pointee.n_shares, message.pointee.shares) = arena.list(self.shares) { $0.write(to: $1, arena) }
        message.pointee.storefront = arena.text(self.storefront)
        message.pointee.charges = .init(self.charges)
        message.pointee.app_transaction_id = arena.text(self.appTransactionID)
        (message.pointee.n_awaiting_sync, message.pointee.awaiting_sync) = arena.list(self.awaitingSync) {
            $0.write(to: $1, arena)
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__InspectAccountResponse>) {
        self.init(
            position: read(message.pointee.position) { Position($0) }
                ?? Position(revision: 0, asOf: Instant(milliseconds: 0)),
            groups: readList(message.pointee.n_groups, message.pointee.groups) { GroupStatuses($0) },
            owned: readList(message.pointee.n_owned, message.pointee.owned) { Verified<Transaction>($0) },
            pendingPurchases: readList(message.pointee.n_pending_purchases, message.pointee.pending_purchases) {
                PendingPurchase($0)
            },
            intents: readList(message.pointee.n_purchase_intents, message.pointee.purchase_intents) {
                PurchaseIntent($0)
            },
            shares: readList(message.pointee.n_shares, message.pointee.shares) { FamilySharing($0) },
            storefront: String(wire: message.pointee.storefront),
            charges: ChargeOutcome(message.pointee.charges),
            appTransactionID: String(wire: message.pointee.app_transaction_id),
            awaitingSync: readList(message.pointee.n_awaiting_sync, message.pointee.awaiting_sync) {
                Verified<Transaction>($0)
            })
    }
}
