/// What the sender sends through: libcurl, or a fake of the network in tests. Used by the sender's thread, but for `wake`.
package protocol SenderNetwork: Sendable {
    /// Begins an attempt. A fault ends it at once.
    func begin(_ request: SenderRequest, number: UInt64, authorization: String?) -> SenderFault?
    /// Moves what is under way, and returns what has ended.
    func advance() -> [(number: UInt64, result: SenderResult)]
    /// Waits until something has happened, `wake`, or the time.
    func wait(milliseconds: Int32)
    /// Ends a wait, the next one if there is none. Any thread may call it.
    func wake()
    /// Ends everything that is under way. Nothing is called afterwards.
    func close()
}

/// Whom the sender may talk to, beside public servers over https.
package struct SenderRules: Hashable, Sendable {
    /// Addresses that are not public may be connected to.
    package var allowsPrivateAddresses = false
    /// Plain http may be sent to loopback addresses.
    package var allowsLoopbackHTTP = false
    /// A file with the authorities that are trusted instead of the system's.
    package var authoritiesPath: String?

    package init() {}
}
