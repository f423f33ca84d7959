public import PerchBase
public import PerchModel
import PerchWire

/// What a state stream has to show: StoreKit's three states, with the last good value kept.
public enum EntitlementTaskState<Value: Hashable & Sendable>: Hashable, Sendable {
    /// There is no value yet.
    case loading
    /// There is no value now, and why. The next good load is a success again, unless the failure is final.
    case failure(EntitlementTaskFailure, last: Value?)
    /// The value, whole. An empty value is a value: never subscribed, not entitled.
    case success(Value, info: ValueInfo)
    /// The value is still the one that the token of `EntitlementTask.since(_:)` stands for; whoever kept the token knows
    /// it. Comes only before the first value of such a stream.
    case unchanged(info: ValueInfo)

    /// The newest good value: this one, or the last before a failure.
    public var value: Value? {
        switch self {
        case .loading, .unchanged: nil
        case .failure(_, let last): last
        case .success(let value, _): value
        }
    }

    /// Where the value stands, with success.
    public var info: ValueInfo? {
        switch self {
        case .success(_, let info), .unchanged(let info): info
        case .loading, .failure: nil
        }
    }
}

/// Why a stream has no value now.
public struct EntitlementTaskFailure: Hashable, Sendable, CustomStringConvertible {
    /// For programs: `LOAD_FAILED`, `STORE_FAILED`, or why the server refused the stream.
    public var reason: String
    /// For people; safe to log.
    public var message: String
    /// The server refused the stream. Nil where it keeps the stream open and only the value is missing.
    public var error: PerchError?
    /// The stream ends with this: asking again would be answered the same.
    public var isFinal: Bool

    public init(reason: String, message: String, error: PerchError? = nil, isFinal: Bool = false) {
        self.reason = reason
        self.message = message
        self.error = error
        self.isFinal = isFinal
    }

    public var description: String { self.error?.description ?? "\(self.reason): \(self.message)" }
}

/// Where a value stands, and what is known about its future. No part of it is part of the value.
public struct ValueInfo: Hashable, Sendable {
    /// Revision, then instant of the app's clock.
    public var position: Position
    /// When that revision was committed, by the wall clock.
    public var committed: Instant
    /// What led to the value.
    public var cause: Cause
    /// When the value will change by itself if nothing happens, and to what; nil if only new facts can change it.
    public var forecast: Forecast?
    /// Opaque: what the stream resumes by.
    public var token: [UInt8]

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
    }
}

/// The answer of a read: a value, and where it stands.
public struct Snapshot<Value: Hashable & Sendable>: Hashable, Sendable {
    public var value: Value
    public var info: ValueInfo

    public init(_ value: Value, info: ValueInfo) {
        self.value = value
        self.info = info
    }
}

/// A value, and how far the server had come when it answered.
public struct Positioned<Value: Hashable & Sendable>: Hashable, Sendable {
    public var value: Value
    public var position: Position

    public init(_ value: Value, position: Position) {
        self.value = value
        self.position = position
    }
}
