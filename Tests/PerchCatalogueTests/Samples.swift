import Glibc

/// Files of this checkout.
enum Samples {
    /// Real files of other projects: see `Tests/Samples/SOURCES.md`.
    static let names = [
        "RevenueCat--purchases-flutter--RevenueCast_PurchaseTesterTypescriptConfiguration",
        "RevenueCat--purchases-ios--PurchaseTesterStoreKitConfiguration",
        "RevenueCat--purchases-ios--UnitTestsConfiguration",
        "RevenueCat--react-native-purchases--RevenueCast_PurchaseTesterTypescriptConfiguration",
        "RevenueCat--storekit2-demo-app--Step1Configuration",
        "circles-project--circles-ios--Products",
        "jaywcjlove--StoreKitHelper--Configuration",
        "xmliszt--joodle--Store",
    ]

    static func real(_ name: String) throws -> [UInt8] {
        try Self.read(Self.checkout + "/Tests/Samples/\(name).storekit")
    }

    /// The catalogue that `make run` serves.
    static func ours() throws -> [UInt8] {
        try Self.read(Self.checkout + "/deploy/sample.storekit")
    }

    private static let checkout: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/")
    }()

    struct Unreadable: Error {
        let path: String
        let code: Int32
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw Unreadable(path: path, code: errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }
}
