import Foundation
import PerchBase
import Testing

/// One entry of the files in `proto/vectors`.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    /// Hexadecimal digits, with a number of repetitions.
    struct Part: Decodable, Sendable {
        let hex: String
        let count: Int

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            self.hex = try container.decode(String.self)
            self.count = try container.decode(Int.self)
        }
    }

    struct FrameSays: Decodable, Sendable {
        let number: UInt8
        let stream: UInt32
        let compressed: Bool
        let length: Int
        let message: String?
    }

    let name: String
    let message: String?
    let hex: String?
    let parts: [Part]?
    let canonical: String?
    let canonical_parts: [Part]?
    let reason: String?
    let drain: String?
    let given: String?
    let frames: [FrameSays]?
    let rest: String?

    var testDescription: String { "\(self.message ?? "frames"): \(self.name)" }

    var bytes: [UInt8] { self.hex.map(Self.bytes) ?? Self.bytes(self.parts ?? []) }

    /// The bytes that our serializer writes for the same message.
    var canonicalBytes: [UInt8] {
        self.canonical.map(Self.bytes) ?? self.canonical_parts.map(Self.bytes) ?? self.bytes
    }

    static func bytes(_ parts: [Part]) -> [UInt8] {
        parts.flatMap { part in
            let once = Self.bytes(part.hex)
            return (0..<part.count).flatMap { _ in once }
        }
    }

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        func nibble(_ digit: UInt8) -> UInt8 { digit < 0x40 ? digit & 0x0F : (digit & 0x0F) + 9 }
        return stride(from: 0, to: digits.count, by: 2).map { nibble(digits[$0]) << 4 | nibble(digits[$0 + 1]) }
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../proto/vectors")

    static func read(_ name: String) throws -> [Vector] {
        try JSONDecoder().decode([Vector].self, from: Data(contentsOf: Self.folder.appending(path: name)))
    }

    static let messageFiles = [
        "admin_service", "common", "entitlement_service", "lenient", "product", "store_operation", "stream",
        "subscription", "test_store_service", "transaction", "transaction_service", "wire",
    ].map { "messages-\($0).json" }
}
