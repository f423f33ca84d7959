public import PerchBase
public import PerchModel
import PerchWire

/// The state of a state stream: the three states of StoreKit, with the last good value.
public enum EntitlementTaskState<Value: Hashable & Sendable>: Hashable, Sendable {
    /// There is no value yet.
    case loading
    /// There is no value now. The next good load is a success again, unless the failure is final.
    case failure(EntitlementTaskFailure, last: Value?)
    /// The complete value. An empty value is a value: never subscribed, not entitled.
    case success(Value, info: ValueInfo)
    /// The value is still that of the token given to `EntitlementTask.since(_:)`. Only the first state of such a stream.
    case unchanged(info: ValueInfo)

    /// The newest good value: the current one, or the last before a failure.
    public var value: Value? {
        switch self {
        case .loading, .unchanged: nil
        case .failure(_, let last): last
        case .success(let value, _): value
        }
    }

    /// Position, cause and forecast of the value, with `success` and `unchanged`.
    public var info: ValueInfo? {
        switch self {
        case .success(_, let info), .unchanged(let info): info
        case .loading, .failure: nil
        }
    }
}

extension EntitlementTaskState {
    /// The same state, with what `transform` makes of its value. A failure keeps its last good value, transformed too.
    public func map<Other: Hashable & Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> EntitlementTaskState<Other> {
        switch self {
        case .loading: return .loading
        case .failure(let failure, let last):
            guard let last else { return .failure(failure, last: nil) }
            return .failure(failure, last: try transform(last))
        case .success(let value, let info): return .success(try transform(value), info: info)
        case .unchanged(let info): return .unchanged(info: info)
        }
    }
}

extension EntitlementTaskState where Value == Verified<Transaction>? {
    /// The transaction that entitles the account to the product, with the result of its verification; nil where there is none, or
    /// none is known. An unverified one entitles to nothing.
    public var transaction: Verified<Transaction>? { self.value ?? nil }
}

/// The reason why a stream has no value now.
public struct EntitlementTaskFailure: Hashable, Sendable, CustomStringConvertible {
    /// Reason for programs: `LOAD_FAILED`, `STORE_FAILED`, or that of the server's refusal.
    public var reason: PerchError.Reason
    /// Message for users; safe to log.
    public var message: String
    /// The refusal of the server. Nil while the stream is open and only its value is missing.
    public var error: PerchError?
    /// Whether the stream ends with this failure, because asking again gets the same answer.
    public var isFinal: Bool

    /// Creates a failure from its parts, for tests.
    public init(
        reason: PerchError.Reason, message: String, error: PerchError? = nil, isFinal: Bool = false
    ) {
        self.reason = reason
        self.message = message
        self.error = error
        self.isFinal = isFinal
    }

    static func final(_ error: PerchError) -> EntitlementTaskFailure {
        EntitlementTaskFailure(reason: error.reason, message: error.message, error: error, isFinal: true)
    }

    /// The error of the server, or reason and message.
    public var description: String { self.error?.description ?? "\(self.reason): \(self.message)" }
}

/// Position, cause and forecast of a value. None of it is part of the value.
public struct ValueInfo: Hashable, Sendable {
    /// Revision, then instant of the app's clock.
    public var position: Position
    /// Commit time of that revision, by the wall clock.
    public var committed: Instant
    /// Cause of the latest change.
    public var cause: Cause
    /// The next change that time alone makes; nil if only new facts can change the value.
    public var forecast: Forecast?
    /// Opaque token with which a stream resumes after this value.
    public var token: [UInt8]
    /// The history that the position belongs to: the epoch of the store, which changes with a restore from a backup. Positions,
    /// tokens and cursors of another epoch mean nothing in this one. 0 from a server that does not say it.
    public var epoch: UInt32 { self.position.epoch }
    /// Whether the value is empty and the catalogue has no group or product of the requested name.
    public var isNotInCatalog = false

    /// Creates value information from its parts, for tests.
    public init(position: Position, committed: Instant, cause: Cause, forecast: Forecast? = nil, token: [UInt8] = []) {
        self.position = position
        self.committed = committed
        self.cause = cause
        self.forecast = forecast
        self.token = token
    }

    init(_ info: PerchWire.ValueInfo) {
        self.init(
            position: info.position, committed: info.committed, cause: info.cause, forecast: info.forecast,
            token: info.token)
        self.isNotInCatalog = info.isNotInCatalog
    }
}

/// The answer of a read: a value and its position.
public struct Snapshot<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// Position, cause and forecast of the value.
    public var info: ValueInfo

    /// Creates a snapshot from its parts, for tests.
    public init(_ value: Value, info: ValueInfo) {
        self.value = value
        self.info = info
    }
}

/// A value and the position of the server when it answered.
public struct Positioned<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// Position of the server when it answered.
    public var position: Position
    /// Whether the catalogue has no group or product of the requested name.
    public var isNotInCatalog = false

    /// Creates a positioned value from its parts, for tests.
    public init(_ value: Value, position: Position) {
        self.value = value
        self.position = position
    }

    init(_ value: Value, position: Position, isNotInCatalog: Bool) {
        self.init(value, position: position)
        self.isNotInCatalog = isNotInCatalog
    }
}
