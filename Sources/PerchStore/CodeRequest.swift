/// A code of the console that every node of the storage knows, by a name that does not reveal it.
package enum CodeRequest: Hashable, Sendable {
    /// Keeps what waits for the code, for `Limits.consoleCodeMilliseconds`.
    case keep([UInt8], sealed: [UInt8])
    /// Hands that out, once.
    case take([UInt8])
}
