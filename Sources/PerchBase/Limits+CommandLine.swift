// MARK: The command line

extension Limits {
    /// Milliseconds that `--timeout` of a command may be at most: a year, so that no arithmetic on deadlines overflows.
    package static let commandTimeoutMilliseconds: Int64 = 365 * 86_400_000

    /// Bytes of a file of settings. Beyond it, it is not one: the longest that means something has a few kilobytes.
    package static let settingsFileBytesMax = 256 * 1024

    /// Bytes of a file with the token of a watch. Beyond it, it is not one: tokens have less than 200.
    package static let tokenFileBytesMax = 4 * 1024

    /// Accounts that `perch store watch` follows at once. Each has three streams and one for each of its groups, and a
    /// connection may have 65,536; a table of more than that is read by nobody. Beyond it: the first are followed, and
    /// that is said.
    package static let storeWatchAccountsMax = 1_000

    /// Syncs that `perch doctor` measures: enough to see the usual one and a slow one, and done within a second on disks
    /// that deserve no warning.
    package static let doctorSyncCount = 20

    /// Milliseconds that a sync may take before `perch doctor` warns: each purchase waits for one.
    package static let doctorSyncWarningMilliseconds: Int64 = 20
}
