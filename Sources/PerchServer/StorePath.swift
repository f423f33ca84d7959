import Glibc

/// The path of the store's file for a `--store` setting: in a new directory, or the file itself if it ends in `.db`.
package enum StorePath {
    package static let fileName = "perch.db"

    /// Creates the directory if it is missing. Opening the file later reports a directory that could not be created.
    package static func file(for setting: String) -> String {
        if !setting.hasSuffix(".db") { mkdir(setting, 0o700) }
        return Self.path(for: setting)
    }

    /// The same, and makes nothing.
    package static func path(for setting: String) -> String {
        if setting.hasSuffix(".db") { return setting }
        return setting.hasSuffix("/") ? setting + Self.fileName : "\(setting)/\(Self.fileName)"
    }

    /// Whether `file` creates a directory for this setting.
    package static func makesDirectory(for setting: String) -> Bool {
        var status = stat()
        return !setting.hasSuffix(".db") && stat(setting, &status) != 0
    }

    /// Removes the directory that `file` created, if it is still empty.
    package static func forgetDirectory(of setting: String) { rmdir(setting) }
}
