import PerchTesting

/// Files of this checkout.
enum Repository {
    static let path: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(4).joined(separator: "/")
    }()

    static func text(_ name: String) -> String {
        String(decoding: TemporaryDirectory.read("\(Self.path)/\(name)"), as: UTF8.self)
    }
}
