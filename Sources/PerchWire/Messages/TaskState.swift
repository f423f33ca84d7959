/// One message of a state stream, or the answer of the same view's read.
package enum TaskState<Value: Hashable & Sendable>: Hashable, Sendable {
    /// Only the first message of a call without a token.
    case loading
    /// A state, not the end: the next successful load pushes success.
    case failure(Failure, ValueInfo)
    case success(Value, ValueInfo)
    /// The value equals the token's.
    case unchanged(ValueInfo)
}
