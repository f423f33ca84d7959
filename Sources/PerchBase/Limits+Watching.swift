// MARK: The log

extension Limits {
    /// Bytes of a line of the log, its end included. Fields that would go beyond are left out and counted.
    ///
    /// PIPE_BUF: a pipe takes so many at once, so lines of several threads never mix, and a pipe that says it is writable
    /// takes a whole line without making a server wait.
    package static let logLineBytes = 4_096

    /// Bytes of one value in a line of the log; what is longer is cut.
    package static let logValueBytes = 1_024

    /// Milliseconds between two lines of the same warning. Those between are counted, and the next one says how many.
    package static let logRepeatMilliseconds: Int64 = 10_000
}

// MARK: HTTP

extension Limits {
    /// Bytes of a request's line and fields; then 431, and the connection is closed. A scraper sends 300.
    package static let httpHeadBytesMax = 8 * 1024

    /// Milliseconds from the first byte of a request, or from the connect, to the end of its head; then 408. As long may
    /// a client take nothing of its answer; then it is closed.
    package static let httpHeadMilliseconds: Int64 = 5_000

    /// Milliseconds that a connection may rest between two requests; then it is closed. Prometheus asks each minute at
    /// the latest, and keeps its connection.
    package static let httpIdleMilliseconds: Int64 = 90_000

    /// Milliseconds that a client has to read the last answer before its connection is closed.
    package static let httpLingerMilliseconds: Int64 = 1_000

    /// Connections of the HTTP listener; one more is told 503 and closed. A few scrapers and a browser use ten.
    package static let httpConnectionsMax = 64

    /// Milliseconds that threads have to say how they are; then the page that waits for them says who did not, by 503.
    package static let probeMilliseconds: Int64 = 1_000

    /// Milliseconds that threads have when a call asks for the server's status; then it is told without them, and who they
    /// are. Longer than for a page: nobody decides about a restart by it.
    package static let statusMilliseconds: Int64 = 5_000

    /// Milliseconds between two looks at what has been refused since the last, for the log.
    package static let attentionMilliseconds: Int64 = 10_000
}

// MARK: What a server finds of itself

extension Limits {
    /// Milliseconds from which a commit, at the 99th percentile, is told as slow by `perch doctor`: each purchase waits
    /// for one.
    package static let slowCommitMilliseconds = 100
}

// MARK: The service manager

extension Limits {
    /// Listeners that a service manager may hand over; with more, none is taken. Two have a use.
    package static let inheritedListenersMax = 16
}
