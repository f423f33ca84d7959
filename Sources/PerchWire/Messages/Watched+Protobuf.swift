import CPerchProto
import PerchBase

/// A message of a call of several watches.
package struct WatchedResponse: Hashable, Sendable {
    /// `indirect`, because a `Response` may be such a message itself.
    package indirect enum Content: Hashable, Sendable {
        /// A message of one watch.
        case response(Response)
        /// Every watch has said everything up to here.
        case bookmark(Bookmark)
        /// A message that a newer server understands.
        case unknown
    }

    /// The place of the watch in the request, from 0.
    package var watch: UInt32
    package var content: Content

    package init(watch: UInt32 = 0, content: Content) {
        self.watch = watch
        self.content = content
    }
}

extension Method {
    /// The field of `WatchEntry` and of `WatchResponse` that a watch of this method has; nil for a method that is no watch.
    package var watchField: UInt8? {
        switch self {
        case .productsTask: 2
        case .subscriptionStatusTask: 3
        case .currentEntitlementTask: 4
        case .entitlementsTask: 5
        case .purchaseIntents: 6
        case .messages: 7
        case .transactionUpdates: 8
        case .appChanges: 9
        default: nil
        }
    }
}

extension MessageCodec {
    /// The Length-Prefixed-Message of a `WatchResponse` around the message of one watch, which is copied as it stands.
    package static func envelope(_ message: UnsafeRawBufferPointer, watch: UInt32, field: UInt8) -> [UInt8] {
        var front: [UInt8] = []
        func append(_ number: UInt32) {
            var rest = number
            while rest > 0x7F {
                front.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            front.append(UInt8(rest))
        }
        if watch > 0 {
            front.append(1 << 3)
            append(watch)
        }
        front.append(field << 3 | 2)
        append(UInt32(message.count))
        let count = UInt32(front.count + message.count)
        var bytes: [UInt8] = [0]
        bytes.reserveCapacity(5 + Int(count))
        withUnsafeBytes(of: count.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: front)
        bytes.append(contentsOf: message)
        return bytes
    }
}

// MARK: Conversions that proto/generator cannot derive, because an entry is a request of any streaming method

extension Request {
    func write(to message: UnsafeMutablePointer<Perch__V1__WatchEntry>, _ arena: Arena) {
        switch self {
        case .productsTask(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_PRODUCTS_TASK
            message.pointee.products_task = arena.message { asked.write(to: $0, arena) }
        case .subscriptionStatusTask(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_SUBSCRIPTION_STATUS_TASK
            message.pointee.subscription_status_task = arena.message { asked.write(to: $0, arena) }
        case .currentEntitlementTask(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_CURRENT_ENTITLEMENT_TASK
            message.pointee.current_entitlement_task = arena.message { asked.write(to: $0, arena) }
        case .entitlementsTask(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_ENTITLEMENTS_TASK
            message.pointee.entitlements_task = arena.message { asked.write(to: $0, arena) }
        case .purchaseIntents(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_PURCHASE_INTENTS
            message.pointee.purchase_intents = arena.message { asked.write(to: $0, arena) }
        case .messages(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_MESSAGES
            message.pointee.messages = arena.message { asked.write(to: $0, arena) }
        case .transactionUpdates(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_TRANSACTION_UPDATES
            message.pointee.transaction_updates = arena.message { asked.write(to: $0, arena) }
        case .appChanges(let asked):
            message.pointee.request_case = PERCH__V1__WATCH_ENTRY__REQUEST_APP_CHANGES
            message.pointee.app_changes = arena.message { asked.write(to: $0, arena) }
        default:
            preconditionFailure("\(self.method.path) is no watch")
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__WatchEntry>) throws(MessageError) {
        switch message.pointee.request_case {
        case PERCH__V1__WATCH_ENTRY__REQUEST_PRODUCTS_TASK:
            self = .productsTask(ProductsRequest(message.pointee.products_task))
        case PERCH__V1__WATCH_ENTRY__REQUEST_SUBSCRIPTION_STATUS_TASK:
            self = .subscriptionStatusTask(SubscriptionStatusRequest(message.pointee.subscription_status_task))
        case PERCH__V1__WATCH_ENTRY__REQUEST_CURRENT_ENTITLEMENT_TASK:
            self = .currentEntitlementTask(CurrentEntitlementRequest(message.pointee.current_entitlement_task))
        case PERCH__V1__WATCH_ENTRY__REQUEST_ENTITLEMENTS_TASK:
            self = .entitlementsTask(AccountWatchRequest(message.pointee.entitlements_task))
        case PERCH__V1__WATCH_ENTRY__REQUEST_PURCHASE_INTENTS:
            self = .purchaseIntents(AccountWatchRequest(message.pointee.purchase_intents))
        case PERCH__V1__WATCH_ENTRY__REQUEST_MESSAGES:
            self = .messages(AccountWatchRequest(message.pointee.messages))
        case PERCH__V1__WATCH_ENTRY__REQUEST_TRANSACTION_UPDATES:
            self = .transactionUpdates(TransactionUpdatesRequest(message.pointee.transaction_updates))
        case PERCH__V1__WATCH_ENTRY__REQUEST_APP_CHANGES:
            self = .appChanges(AppChangesRequest(message.pointee.app_changes))
        default:
            throw .missing(field: "perch.v1.WatchEntry.request")
        }
    }
}

extension WatchedResponse {
    func write(to message: UnsafeMutablePointer<Perch__V1__WatchResponse>, _ arena: Arena) {
        message.pointee.watch = self.watch
        switch self.content {
        case .bookmark(let bookmark):
            message.pointee.bookmark = arena.message { bookmark.write(to: $0, arena) }
        case .unknown:
            break
        case .response(.productsTask(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_PRODUCTS_TASK
            message.pointee.products_task = arena.message { value.write(to: $0, arena) }
        case .response(.subscriptionStatusTask(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_SUBSCRIPTION_STATUS_TASK
            message.pointee.subscription_status_task = arena.message { value.write(to: $0, arena) }
        case .response(.currentEntitlementTask(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_CURRENT_ENTITLEMENT_TASK
            message.pointee.current_entitlement_task = arena.message { value.write(to: $0, arena) }
        case .response(.entitlementsTask(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_ENTITLEMENTS_TASK
            message.pointee.entitlements_task = arena.message { value.write(to: $0, arena) }
        case .response(.purchaseIntents(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_PURCHASE_INTENTS
            message.pointee.purchase_intents = arena.message { value.write(to: $0, arena) }
        case .response(.messages(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_MESSAGES
            message.pointee.messages = arena.message { value.write(to: $0, arena) }
        case .response(.transactionUpdates(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_TRANSACTION_UPDATES
            message.pointee.transaction_updates = arena.message { value.write(to: $0, arena) }
        case .response(.appChanges(let value)):
            message.pointee.response_case = PERCH__V1__WATCH_RESPONSE__RESPONSE_APP_CHANGES
            message.pointee.app_changes = arena.message { value.write(to: $0, arena) }
        case .response(let other):
            preconditionFailure("\(other.method.path) is no watch")
        }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__WatchResponse>) throws(MessageError) {
        self.init(watch: message.pointee.watch, content: try Self.carried(message))
    }

    private static func carried(
        _ message: UnsafeMutablePointer<Perch__V1__WatchResponse>
    ) throws(MessageError) -> Content {
        switch message.pointee.response_case {
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_PRODUCTS_TASK:
            .response(.productsTask(try TaskState(message.pointee.products_task)))
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_SUBSCRIPTION_STATUS_TASK:
            .response(.subscriptionStatusTask(try TaskState(message.pointee.subscription_status_task)))
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_CURRENT_ENTITLEMENT_TASK:
            .response(.currentEntitlementTask(try TaskState(message.pointee.current_entitlement_task)))
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_ENTITLEMENTS_TASK:
            .response(.entitlementsTask(try TaskState(message.pointee.entitlements_task)))
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_PURCHASE_INTENTS:
            .response(.purchaseIntents(try TaskState(message.pointee.purchase_intents)))
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_MESSAGES:
            .response(.messages(try TaskState(message.pointee.messages)))
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_TRANSACTION_UPDATES:
            .response(.transactionUpdates(TransactionEvent(message.pointee.transaction_updates)))
        case PERCH__V1__WATCH_RESPONSE__RESPONSE_APP_CHANGES:
            .response(.appChanges(FeedEvent(message.pointee.app_changes)))
        default:
            read(message.pointee.bookmark) { Bookmark($0) }.map { .bookmark($0) } ?? .unknown
        }
    }
}
