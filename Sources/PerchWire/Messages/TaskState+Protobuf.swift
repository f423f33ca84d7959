import CPerchProto
import PerchModel

/// A response that carries a task's state. All such responses share field numbers. A read has two of the states,
/// `failure` and `success`.

/// The response of a read: a value, or the reason for its absence.
protocol ReadMessage: CMessage {
    associatedtype Case: CEnumeration
    associatedtype Body: CMessage
    var info: UnsafeMutablePointer<Perch__V1__ValueInfo>! { get set }
    var state_case: Case { get set }
    var failure: UnsafeMutablePointer<Perch__V1__Failure>! { get set }
    var success: UnsafeMutablePointer<Body>! { get set }
}

/// The response of a stream, which has all four states.
protocol StreamMessage: ReadMessage {
    var loading: UnsafeMutablePointer<Perch__V1__Loading>! { get set }
    var unchanged: UnsafeMutablePointer<Perch__V1__Unchanged>! { get set }
}

/// The states by their field number in the contract.
enum StateField: UInt32 {
    case loading = 1
    case failure = 2
    case success = 3
    case unchanged = 4
}

extension ReadMessage {
    var field: StateField? {
        get { StateField(rawValue: self.state_case.rawValue) }
        set { self.state_case = Case(rawValue: newValue?.rawValue ?? 0) }
    }
}

extension TaskState {
    typealias Write<Body> = (Value, UnsafeMutablePointer<Body>) -> Void

    func write<Message: StreamMessage>(
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

    func write<Message: ReadMessage>(
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

    /// Nil if no state was sent. The response of a read lacks the fields of states that only streams have.
    init<Message: ReadMessage>(
        of message: UnsafeMutablePointer<Message>, _ value: (UnsafeMutablePointer<Message.Body>) -> Value
    ) throws(MessageError) {
        let info = read(message.pointee.info) { ValueInfo($0) } ?? ValueInfo()
        switch message.pointee.field {
        case .loading: self = .loading
        case .unchanged: self = .unchanged(info)
        case .failure: self = .failure(Failure(message.pointee.failure), info)
        case .success: self = .success(value(message.pointee.success), info)
        case nil: throw .missing(field: String(cString: Message.descriptor.pointee.name) + ".state")
        }
    }
}
