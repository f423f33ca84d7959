import PerchBase
import PerchWire

/// Options of the calls that a task makes, beside the arguments of each call.
///
///     try await PerchClient.$callOptions.withValue(CallOptions(deadline: .now + .seconds(2))) {
///         let bought = try await client.purchase("gold.monthly", account: "anna")
///         return try await client.namedEntitlements(account: "anna", atLeast: bought.position)
///     }
public struct CallOptions: Hashable, Sendable {
    /// Timeout of calls without their own; nil for that of the client.
    public var timeout: Duration?
    /// The instant at which every call has ended, whatever its timeout. So several calls share one limit.
    public var deadline: ContinuousClock.Instant?
    /// Sent beside each request. `authorization` holds for the call instead of the connection's credentials; the server
    /// ignores what it does not know.
    public var metadata: [String: String]

    /// Creates options; without arguments they change nothing.
    public init(
        timeout: Duration? = nil, deadline: ContinuousClock.Instant? = nil, metadata: [String: String] = [:]
    ) {
        self.timeout = timeout
        self.deadline = deadline
        self.metadata = metadata
    }
}

extension PerchClient {
    /// The options of the calls of this task and its children.
    @TaskLocal public static var callOptions = CallOptions()
}

extension CallOptions {
    /// Milliseconds that a call may take; 0 where its deadline has passed.
    func milliseconds(_ timeout: Duration?, else clientMilliseconds: Int64) -> Int64 {
        let own = (timeout ?? self.timeout)?.wholeMilliseconds ?? clientMilliseconds
        guard let deadline else { return own }
        return min(own, (deadline - .now).wholeMilliseconds)
    }
}

extension [Metadata] {
    /// In the order of their names.
    init(_ entries: [String: String]) throws(PerchError) {
        self = []
        for (name, value) in entries.sorted(by: { $0.key < $1.key }) {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw PerchError(
                    code: .invalidArgument, reason: .fieldInvalid,
                    message: "the name of a metadata entry is empty or has a character that is not printable ASCII")
            }
            self.append(Metadata(key: name.lowercased(), value: [UInt8](value.utf8)))
        }
    }
}
