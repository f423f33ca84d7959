import CPerchProto
import PerchModel

// The messages that carry a task's state. Their numbers agree, so that a read can be shown like a stream.

extension TaskState<Products> {
    func write(to message: UnsafeMutablePointer<Perch__V1__ProductsTaskResponse>, _ arena: Arena) {
        switch self {
        case .loading:
            message.pointee.state_case = PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_LOADING
            message.pointee.loading = arena.message { _ in }
        case .unchanged(let info):
            message.pointee.state_case = PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_UNCHANGED
            message.pointee.unchanged = arena.message { _ in }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { value.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetProductsResponse>, _ arena: Arena) {
        switch self {
        case .loading, .unchanged:
            preconditionFailure("a read was answered with the state of a stream")
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__GET_PRODUCTS_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__GET_PRODUCTS_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { value.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__ProductsTaskResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_LOADING: self = .loading
        case PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_UNCHANGED: self = .unchanged(info)
        case PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__PRODUCTS_TASK_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success) { Products($0) }!, info)
        default: return nil
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__GetProductsResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__GET_PRODUCTS_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__GET_PRODUCTS_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success) { Products($0) }!, info)
        default: return nil
        }
    }
}

extension TaskState<SubscriptionStatuses> {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskResponse>, _ arena: Arena) {
        switch self {
        case .loading:
            message.pointee.state_case = PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_LOADING
            message.pointee.loading = arena.message { _ in }
        case .unchanged(let info):
            message.pointee.state_case = PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_UNCHANGED
            message.pointee.unchanged = arena.message { _ in }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { value.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusResponse>, _ arena: Arena) {
        switch self {
        case .loading, .unchanged:
            preconditionFailure("a read was answered with the state of a stream")
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__GET_SUBSCRIPTION_STATUS_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__GET_SUBSCRIPTION_STATUS_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { value.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_LOADING: self = .loading
        case PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_UNCHANGED: self = .unchanged(info)
        case PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__SUBSCRIPTION_STATUS_TASK_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success) { SubscriptionStatuses($0) }!, info)
        default: return nil
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__GET_SUBSCRIPTION_STATUS_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__GET_SUBSCRIPTION_STATUS_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success) { SubscriptionStatuses($0) }!, info)
        default: return nil
        }
    }
}

extension TaskState<Verified<Transaction>?> {
    func write(to message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskResponse>, _ arena: Arena) {
        switch self {
        case .loading:
            message.pointee.state_case = PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_LOADING
            message.pointee.loading = arena.message { _ in }
        case .unchanged(let info):
            message.pointee.state_case = PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_UNCHANGED
            message.pointee.unchanged = arena.message { _ in }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { message in
                if let value { message.pointee.transaction = arena.message { value.write(to: $0, arena) } }
            }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementResponse>, _ arena: Arena) {
        switch self {
        case .loading, .unchanged:
            preconditionFailure("a read was answered with the state of a stream")
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__GET_CURRENT_ENTITLEMENT_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__GET_CURRENT_ENTITLEMENT_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { message in
                if let value { message.pointee.transaction = arena.message { value.write(to: $0, arena) } }
            }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_LOADING: self = .loading
        case PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_UNCHANGED: self = .unchanged(info)
        case PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__CURRENT_ENTITLEMENT_TASK_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success.pointee.transaction) { Verified<Transaction>($0) }, info)
        default: return nil
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__GET_CURRENT_ENTITLEMENT_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__GET_CURRENT_ENTITLEMENT_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success.pointee.transaction) { Verified<Transaction>($0) }, info)
        default: return nil
        }
    }
}

extension TaskState<[PurchaseIntent]> {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsResponse>, _ arena: Arena) {
        switch self {
        case .loading:
            message.pointee.state_case = PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_LOADING
            message.pointee.loading = arena.message { _ in }
        case .unchanged(let info):
            message.pointee.state_case = PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_UNCHANGED
            message.pointee.unchanged = arena.message { _ in }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { value.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_LOADING: self = .loading
        case PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_UNCHANGED: self = .unchanged(info)
        case PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__PURCHASE_INTENTS_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success) { [PurchaseIntent]($0) }!, info)
        default: return nil
        }
    }
}

extension [PurchaseIntent] {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntentList>, _ arena: Arena) {
        (message.pointee.n_intents, message.pointee.intents) = arena.list(self) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntentList>) {
        self = readList(message.pointee.n_intents, message.pointee.intents) { PurchaseIntent($0) }
    }
}

extension TaskState<[StoreMessage]> {
    func write(to message: UnsafeMutablePointer<Perch__V1__MessagesResponse>, _ arena: Arena) {
        switch self {
        case .loading:
            message.pointee.state_case = PERCH__V1__MESSAGES_RESPONSE__STATE_LOADING
            message.pointee.loading = arena.message { _ in }
        case .unchanged(let info):
            message.pointee.state_case = PERCH__V1__MESSAGES_RESPONSE__STATE_UNCHANGED
            message.pointee.unchanged = arena.message { _ in }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .failure(let failure, let info):
            message.pointee.state_case = PERCH__V1__MESSAGES_RESPONSE__STATE_FAILURE
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.state_case = PERCH__V1__MESSAGES_RESPONSE__STATE_SUCCESS
            message.pointee.success = arena.message { value.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    /// Nil where no state was sent.
    init?(_ message: UnsafeMutablePointer<Perch__V1__MessagesResponse>) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.state_case {
        case PERCH__V1__MESSAGES_RESPONSE__STATE_LOADING: self = .loading
        case PERCH__V1__MESSAGES_RESPONSE__STATE_UNCHANGED: self = .unchanged(info)
        case PERCH__V1__MESSAGES_RESPONSE__STATE_FAILURE:
            self = .failure(read(message.pointee.failure) { Failure($0) }!, info)
        case PERCH__V1__MESSAGES_RESPONSE__STATE_SUCCESS:
            self = .success(read(message.pointee.success) { [StoreMessage]($0) }!, info)
        default: return nil
        }
    }
}

extension [StoreMessage] {
    func write(to message: UnsafeMutablePointer<Perch__V1__StoreMessages>, _ arena: Arena) {
        (message.pointee.n_messages, message.pointee.messages) = arena.list(self) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__V1__StoreMessages>) {
        self = readList(message.pointee.n_messages, message.pointee.messages) { StoreMessage($0) }
    }
}
