import CPerchProto
import PerchModel

// The messages that carry a task's state. Their numbers agree, so that a read can be shown like a stream.

/// The response of a read: a value, or why there is none.
private protocol ReadMessage: CMessage {
    associatedtype Case: CEnumeration
    associatedtype Body: CMessage
    var info: UnsafeMutablePointer<Perch__V1__ValueInfo>! { get set }
    var state_case: Case { get set }
    var failure: UnsafeMutablePointer<Perch__V1__Failure>! { get set }
    var success: UnsafeMutablePointer<Body>! { get set }
}

/// The response of a stream.
private protocol StreamMessage: ReadMessage {
    var loading: UnsafeMutablePointer<Perch__V1__Loading>! { get set }
    var unchanged: UnsafeMutablePointer<Perch__V1__Unchanged>! { get set }
}

/// Which of its members a message has, by the number of the field in the contract.
private enum StateField: UInt32 {
    case loading = 1
    case failure = 2
    case success = 3
    case unchanged = 4
}

extension Perch__V1__ProductsTaskResponse: StreamMessage {}
extension Perch__V1__SubscriptionStatusTaskResponse: StreamMessage {}
extension Perch__V1__CurrentEntitlementTaskResponse: StreamMessage {}
extension Perch__V1__PurchaseIntentsResponse: StreamMessage {}
extension Perch__V1__MessagesResponse: StreamMessage {}
extension Perch__V1__GetProductsResponse: ReadMessage {}
extension Perch__V1__GetSubscriptionStatusResponse: ReadMessage {}
extension Perch__V1__GetCurrentEntitlementResponse: ReadMessage {}

extension Perch__V1__ProductsTaskResponse__StateCase: CEnumeration {}
extension Perch__V1__SubscriptionStatusTaskResponse__StateCase: CEnumeration {}
extension Perch__V1__CurrentEntitlementTaskResponse__StateCase: CEnumeration {}
extension Perch__V1__PurchaseIntentsResponse__StateCase: CEnumeration {}
extension Perch__V1__MessagesResponse__StateCase: CEnumeration {}
extension Perch__V1__GetProductsResponse__StateCase: CEnumeration {}
extension Perch__V1__GetSubscriptionStatusResponse__StateCase: CEnumeration {}
extension Perch__V1__GetCurrentEntitlementResponse__StateCase: CEnumeration {}

extension ReadMessage {
    fileprivate var field: StateField? {
        get { StateField(rawValue: self.state_case.rawValue) }
        set { self.state_case = Case(rawValue: newValue?.rawValue ?? 0) }
    }
}

extension TaskState {
    fileprivate typealias Write<Body> = (Value, UnsafeMutablePointer<Body>) -> Void

    fileprivate func write<Message: StreamMessage>(
        stream message: UnsafeMutablePointer<Message>, _ arena: Arena, _ write: Write<Message.Body>
    ) {
        switch self {
        case .loading:
            message.pointee.field = .loading
            message.pointee.loading = arena.message { _ in }
        case .unchanged(let info):
            message.pointee.field = .unchanged
            message.pointee.unchanged = arena.message { _ in }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .failure, .success:
            self.write(read: message, arena, write)
        }
    }

    fileprivate func write<Message: ReadMessage>(
        read message: UnsafeMutablePointer<Message>, _ arena: Arena, _ write: Write<Message.Body>
    ) {
        switch self {
        case .loading, .unchanged:
            preconditionFailure("a read was answered with the state of a stream")
        case .failure(let failure, let info):
            message.pointee.field = .failure
            message.pointee.failure = arena.message { failure.write(to: $0, arena) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        case .success(let value, let info):
            message.pointee.field = .success
            message.pointee.success = arena.message { write(value, $0) }
            if !info.isBlank { message.pointee.info = arena.message { info.write(to: $0, arena) } }
        }
    }

    /// Nil where no state was sent. A read has no field for what only a stream says.
    fileprivate init?<Message: ReadMessage>(
        of message: UnsafeMutablePointer<Message>, _ value: (UnsafeMutablePointer<Message.Body>) -> Value
    ) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.field {
        case .loading: self = .loading
        case .unchanged: self = .unchanged(info)
        case .failure: self = .failure(Failure(message.pointee.failure), info)
        case .success: self = .success(value(message.pointee.success), info)
        case nil: return nil
        }
    }
}

// MARK: What a state is of

extension TaskState<Products> {
    func write(to message: UnsafeMutablePointer<Perch__V1__ProductsTaskResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { $0.write(to: $1, arena) }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetProductsResponse>, _ arena: Arena) {
        self.write(read: message, arena) { $0.write(to: $1, arena) }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__ProductsTaskResponse>) {
        self.init(of: message) { Products($0) }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__GetProductsResponse>) {
        self.init(of: message) { Products($0) }
    }
}

extension TaskState<SubscriptionStatuses> {
    func write(to message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { $0.write(to: $1, arena) }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusResponse>, _ arena: Arena) {
        self.write(read: message, arena) { $0.write(to: $1, arena) }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__SubscriptionStatusTaskResponse>) {
        self.init(of: message) { SubscriptionStatuses($0) }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__GetSubscriptionStatusResponse>) {
        self.init(of: message) { SubscriptionStatuses($0) }
    }
}

extension TaskState<Verified<Transaction>?> {
    func write(to message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { Self.write($0, to: $1, arena) }
    }

    func write(to message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementResponse>, _ arena: Arena) {
        self.write(read: message, arena) { Self.write($0, to: $1, arena) }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__CurrentEntitlementTaskResponse>) {
        self.init(of: message) { read($0.pointee.transaction) { Verified<Transaction>($0) } }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__GetCurrentEntitlementResponse>) {
        self.init(of: message) { read($0.pointee.transaction) { Verified<Transaction>($0) } }
    }

    private static func write(
        _ value: Verified<Transaction>?, to message: UnsafeMutablePointer<Perch__V1__CurrentEntitlement>, _ arena: Arena
    ) {
        if let value { message.pointee.transaction = arena.message { value.write(to: $0, arena) } }
    }
}

extension TaskState<[PurchaseIntent]> {
    func write(to message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsResponse>, _ arena: Arena) {
        self.write(stream: message, arena) { $0.write(to: $1, arena) }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__PurchaseIntentsResponse>) {
        self.init(of: message) { [PurchaseIntent]($0) }
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
        self.write(stream: message, arena) { $0.write(to: $1, arena) }
    }

    init?(_ message: UnsafeMutablePointer<Perch__V1__MessagesResponse>) {
        self.init(of: message) { [StoreMessage]($0) }
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
