// MARK: The command line

extension Limits {
    /// Largest `--timeout` of a command, in milliseconds: a year, so that deadline arithmetic cannot overflow.
    package static let commandTimeoutMilliseconds: Int64 = 365 * 86_400_000

    /// Bytes of a settings file. A longer one is refused; the longest useful one has a few kilobytes.
    package static let settingsFileBytesMax = 256 * 1024

    /// Bytes of a file with the token of a watch. A longer one is refused; tokens have less than 200.
    package static let tokenFileBytesMax = 4 * 1024

    /// Accounts that `perch store watch` follows at once. Beyond it the command follows the first ones and prints a
    /// notice.
    ///
    /// Each account has three streams and one for each of its groups, and a connection may have 65,536 streams.
    package static let storeWatchAccountsMax = 1_000
    /// Products that `perch catalog show` asks for in one request. Each can have 256 KiB of JSON, but few have over 3 kB.
    package static let catalogShowProductsPerRequest = 100

    /// Syncs that `perch doctor` measures: enough to see a usual and a slow one, within a second on a good disk.
    package static let doctorSyncCount = 20

    /// Milliseconds above which `perch doctor` warns about a sync: each purchase waits for one.
    package static let doctorSyncWarningMilliseconds: Int64 = 20
}
