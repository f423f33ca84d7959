import Glibc

/// Where the store's file lies for a `--store` setting: in a directory of its own, or the file itself if it ends in
/// `.db`.
package enum StorePath {
    package static let fileName = "perch.db"

    /// Makes the directory where there is none; a directory that cannot be made is reported by whoever opens the file.
    package static func file(for setting: String) -> String {
        if !setting.hasSuffix(".db") { mkdir(setting, 0o700) }
        return Self.path(for: setting)
    }

    /// The same, and makes nothing.
    package static func path(for setting: String) -> String {
        if setting.hasSuffix(".db") { return setting }
        return setting.hasSuffix("/") ? setting + Self.fileName : "\(setting)/\(Self.fileName)"
    }

    /// Whether `file` makes something for this setting.
    package static func makesDirectory(for setting: String) -> Bool {
        var status = stat()
        return !setting.hasSuffix(".db") && stat(setting, &status) != 0
    }

    /// Takes back what `file` made and nobody has put anything into.
    package static func forgetDirectory(of setting: String) { rmdir(setting) }
}
