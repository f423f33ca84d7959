import PerchBase

/// Sees what a client does, for logs, metrics and traces. Every method has an empty default.
///
/// `callBegins` and `callEnded` run in the task of the call, so that task-local values, such as a trace's context, are
/// those of the caller. The other methods run on the thread of all clients, and must return at once.
public protocol PerchClientObserver: Sendable {
    /// A call begins. Entries that are added to `metadata` are sent with it.
    func callBegins(_ call: ObservedCall, metadata: inout [String: String])
    /// A call has ended after `duration`, with its repetitions; `error` is nil for a success.
    func callEnded(_ call: ObservedCall, after duration: Duration, error: PerchError?)
    /// The connection has another state.
    func connectionChanged(to state: ConnectionState)
    /// Something happened that operators want to read.
    func log(_ line: ClientLogLine)
}

extension PerchClientObserver {
    /// Does nothing.
    public func callBegins(_ call: ObservedCall, metadata: inout [String: String]) {}
    /// Does nothing.
    public func callEnded(_ call: ObservedCall, after duration: Duration, error: PerchError?) {}
    /// Does nothing.
    public func connectionChanged(to state: ConnectionState) {}
    /// Does nothing.
    public func log(_ line: ClientLogLine) {}
}

/// A call that an observer sees.
public struct ObservedCall: Hashable, Sendable {
    /// Unique in this process.
    public var id: UInt64
    /// The service of the contract, such as `perch.v1.EntitlementService`.
    public var service: String
    /// The method of the service, such as `GetEntitlements`.
    public var method: String

    /// Creates a call from its parts, for tests.
    public init(id: UInt64, service: String, method: String) {
        self.id = id
        self.service = service
        self.method = method
    }

    init(id: UInt64, path: String) {
        let parts = path.split(separator: "/")
        self.init(id: id, service: String(parts.first ?? ""), method: String(parts.last ?? ""))
    }
}

/// A line for the log of the program that has the client. It contains no account, token or credential.
public struct ClientLogLine: Hashable, Sendable {
    /// How important a line is.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// For developers.
        case debug
        /// What happens in normal operation, seldom.
        case info
        /// The client goes on, with older values or later answers.
        case warning
        /// The client cannot go on without a change of its settings.
        case error
    }

    /// How important the line is.
    public var level: Level
    /// What happened, as a sentence.
    public var message: String
    /// The numbers and names of the message.
    public var metadata: [String: String]

    /// Creates a line from its parts, for tests.
    public init(level: Level, message: String, metadata: [String: String] = [:]) {
        self.level = level
        self.message = message
        self.metadata = metadata
    }

    /// Nil for states that tell operators nothing.
    init?(_ state: ConnectionState) {
        switch state {
        case .idle, .connecting: return nil
        case .closed: self.init(level: .debug, message: "the client is closed")
        case .connected(let server):
            self.init(
                level: .info, message: "connected to perch \(server.version)",
                metadata: ["version": server.version, "epoch": "\(server.epoch)", "revision": "\(server.revision)"])
        case .waiting(let until, let reason):
            self.init(
                level: .warning, message: "no connection: \(reason.message)",
                metadata: ["reason": reason.reason.rawValue, "next_attempt": "\(until)"])
        case .refused(let reason):
            self.init(
                level: .error, message: "the client is refused for good: \(reason.message)",
                metadata: ["reason": reason.reason.rawValue])
        }
    }

    init(_ failure: EntitlementTaskFailure) {
        self.init(
            level: failure.isFinal && failure.reason != .closed ? .error : .warning,
            message: failure.isFinal
                ? "a stream has ended: \(failure.message)" : "a stream has no value: \(failure.message)",
            metadata: ["reason": failure.reason.rawValue])
    }
}
