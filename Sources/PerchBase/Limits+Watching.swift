// MARK: The log

extension Limits {
    /// Bytes of a log line, its newline included. Further fields are dropped and counted.
    ///
    /// PIPE_BUF: a pipe accepts that many bytes atomically. Lines of several threads never mix, and a writable pipe
    /// takes a whole line without blocking the server.
    package static let logLineBytes = 4_096

    /// Bytes of one value in a log line. A longer one is cut.
    package static let logValueBytes = 1_024

    /// Milliseconds between two lines of the same warning. Those in between are counted, and the next line gives their
    /// number.
    package static let logRepeatMilliseconds: Int64 = 10_000
}

// MARK: HTTP

extension Limits {
    /// Bytes of a request's line and fields. More get 431, and the connection is closed. A scraper sends 300.
    package static let httpHeadBytesMax = 8 * 1024

    /// Milliseconds from the connect, or from a request's first byte, to the end of its head; later is answered with
    /// 408. A client that reads nothing of its answer for as long is closed.
    package static let httpHeadMilliseconds: Int64 = 5_000

    /// Idle milliseconds between two requests before the connection is closed. Prometheus scrapes at least every minute
    /// and keeps its connection.
    package static let httpIdleMilliseconds: Int64 = 90_000

    /// Milliseconds that a client has to read the last answer before its connection is closed.
    package static let httpLingerMilliseconds: Int64 = 1_000

    /// Connections of the HTTP listener. With one more, the oldest that waits for a request, of the address that holds most,
    /// gets 503 and is closed. A few scrapers and a browser use ten.
    package static let httpConnectionsMax = 64

    /// Milliseconds that threads have to report their health. Then the waiting page answers 503 and names the missing
    /// threads.
    package static let probeMilliseconds: Int64 = 1_000

    /// Milliseconds that threads have to answer a status call. Then the call reports without the missing threads and
    /// names them. It exceeds `probeMilliseconds`, because no restart depends on it.
    package static let statusMilliseconds: Int64 = 5_000

    /// Milliseconds between two checks for new refusals to log.
    package static let attentionMilliseconds: Int64 = 10_000
}

// MARK: Findings of a server about itself

extension Limits {
    /// Commit latency at p99, in milliseconds, from which `perch doctor` reports slow commits. Each purchase waits for
    /// a commit.
    package static let slowCommitMilliseconds = 100
}

// MARK: The service manager

extension Limits {
    /// Listeners that a service manager may pass. More are all rejected; a server has use for two.
    package static let inheritedListenersMax = 16
}
