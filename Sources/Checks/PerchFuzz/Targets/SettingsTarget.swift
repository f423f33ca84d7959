import PerchCLI

/// A file of settings of `perch serve`: read, or refused in a line that says where and why.
final class SettingsTarget: FuzzTarget {
    static let name = "settings"
    static let reaches = ["PerchCLI/Settings", "PerchCLI/Arguments"]

    static func seeds() -> [[UInt8]] {
        [
            "listen = 127.0.0.1:7447\nstore = memory\n", "# a comment\r\n\r\n  loops=2   # near\r\ndrain = 4s\n",
            "write-stall = 30s\nlinger = 2500ms\nallow-unauthenticated = true\n", "lisen = 1\n", "listen\n",
            "time-rate = oneRenewalEveryMinute\ncatalog = My Shop.storekit\nlisten = [::1]:0\n",
        ].map { Array($0.utf8) }
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let complaint = complaint(aboutServeSettings: bytes, at: "fuzz.conf") else { return true }
        hold(complaint.contains("fuzz.conf"), "a complaint that does not name the file: \(complaint)")
        return false
    }
}
