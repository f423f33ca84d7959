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
