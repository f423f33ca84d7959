package import PerchBase
package import PerchModel

/// One message of a state stream, or the answer of the same view's read.
package enum TaskState<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The first message of a call without a token, and only there.
    case loading
    /// A state, not the end: the next good load pushes success.
    case failure(Failure, ValueInfo)
    case success(Value, ValueInfo)
    /// The value is the one of the token.
    case unchanged(ValueInfo)
}

/// Why a value could not be computed.
package struct Failure: Hashable, Sendable {
    /// One word of the table of `ErrorReason`.
    package var reason: String
    /// For people.
    package var message: String

    package init(reason: String = "", message: String = "") {
        self.reason = reason
        self.message = message
    }
}

/// Where a value stands. No part of it is part of the value's equality or digest.
package struct ValueInfo: Hashable, Sendable {
    package var position: Position
    /// When that revision was committed, by the wall clock.
    package var committed: Instant
    package var cause: Cause
    /// Nil when only new facts can change the value.
    package var forecast: Forecast?
    /// A `ResumeToken`, encoded; empty for none.
    package var token: [UInt8]

    package init(
        position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0)),
        committed: Instant = Instant(milliseconds: 0), cause: Cause = .unspecified, forecast: Forecast? = nil,
        token: [UInt8] = []
    ) {
        self.position = position
        self.committed = committed
        self.cause = cause
        self.forecast = forecast
        self.token = token
    }

    /// Says nothing, and is left out of a message.
    var isBlank: Bool {
        self.position.isBlank && self.committed.milliseconds == 0 && self.cause == .unspecified && self.forecast == nil
            && self.token.isEmpty
    }
}

/// Names an app.
package struct AppReference: Hashable, Sendable {
    package var bundleID: String
    /// Unspecified where the bundle identifier has exactly one.
    package var environment: AppEnvironment

    package init(bundleID: String = "", environment: AppEnvironment = .unspecified) {
        self.bundleID = bundleID
        self.environment = environment
    }

    /// Left out: the one app of the identity, or of the server, is meant.
    package var isBlank: Bool { self.bundleID.isEmpty && self.environment == .unspecified }
}

/// What became of a purchase.
package struct PurchaseResult: OpenEnumeration {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let names = ["unspecified", "success", "userCancelled", "pending"]
    package static let success = Self(rawValue: 1)
    package static let userCancelled = Self(rawValue: 2)
    package static let pending = Self(rawValue: 3)
}

/// How a message may be compressed.
package struct Encoding: OpenEnumeration {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let names = ["unspecified", "identity", "zlib"]
    package static let identity = Self(rawValue: 1)
    package static let zlib = Self(rawValue: 2)
}

/// What to do with an app's clock.
package enum ClockChange: Hashable, Sendable {
    case freeze
    case resume
    case advanceBy(milliseconds: Int64)
    case advanceTo(Instant)
    /// To the next instant at which something is due for this account.
    case advanceToBoundary(account: String)
}

/// A call as its frame carries it. `request` is a range of the frame's message: a catalogue file is not copied to be
/// looked at.
package struct Call: Hashable, Sendable {
    /// What is called; nil where there is no such method.
    package var method: Method?
    private var unknownPath = ""
    /// 0 for no deadline.
    package var timeoutMilliseconds: UInt64
    package var metadata: [Metadata]
    /// Offsets into the bytes that were decoded.
    package var request: Range<Int>

    package init(path: String, timeoutMilliseconds: UInt64 = 0, metadata: [Metadata] = [], request: Range<Int> = 0..<0)
    {
        self.timeoutMilliseconds = timeoutMilliseconds
        self.metadata = metadata
        self.request = request
        self.path = path
    }

    /// A call of a method that there is, as it was read: its path is not looked up again.
    init(_ method: Method?) {
        self.method = method
        self.timeoutMilliseconds = 0
        self.metadata = []
        self.request = 0..<0
    }

    /// As the caller wrote it.
    package var path: String {
        get { self.method?.path ?? self.unknownPath }
        set {
            self.method = Method(path: newValue)
            self.unknownPath = self.method == nil ? newValue : ""
        }
    }
}
