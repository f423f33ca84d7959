import PerchBase
import PerchWire

/// Compressed bytes: the output never exceeds the limit and the ratio, and our own compression inflates to the input.
/// After an odd byte the bytes are assembled by hand, so that the output is known in advance.
final class InflateTarget: FuzzTarget {
    static let name = "inflate"
    static let reaches = ["PerchWire/Compression"]

    private let codec = MessageCodec()
    /// Just beyond the size that is inflated at any ratio, so that the ratio applies; larger outputs only cost time.
    private static let limit = Limits.inflateRatioFreeBytes + 16 * 1024
    /// Outputs up to this size are always compressed again, larger ones one in sixteen times, because compressing is
    /// the slow half.
    private static let alwaysAgainBytes = 4 * 1024

    static func seeds() -> [[UInt8]] {
        let codec = MessageCodec()
        let texts = [
            Array(repeating: 0, count: 70_000), Array("the same, the same, the same, the same".utf8),
            (0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 0x9E37_79B1 >> 9) },
        ]
        let byZlib = texts.compactMap { text in
            text.withUnsafeBytes { codec.compressed($0).map { [0] + [UInt8]($0.message) } }
        }
        let copied: [UInt8] = [1, 3, 1, 2, 3, 4, 200, 30, 0, 1, 254, 255, 3, 9, 9, 9, 128, 255, 0, 3, 0, 7]
        return byZlib + [copied, [1] + Array(repeating: [0, 5, 130, 255, 0, 0], count: 40).joined()]
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        return first % 2 == 1 ? self.readByHand(bytes.dropFirst()) : self.read(Array(bytes.dropFirst()))
    }

    private static func bytesMax(of message: [UInt8]) -> Int {
        min(Self.limit, max(Limits.inflateRatioFreeBytes, message.count * Limits.inflateRatioMax))
    }

    private func readByHand(_ instructions: ArraySlice<UInt8>) -> Bool {
        let made = DeflateAssembler(instructions, plainMax: Self.limit)
        let message = made.message
        let isAllowed = made.plain.count <= Self.bytesMax(of: message)
        do throws(InflateError) {
            let inflated = [UInt8](try self.codec.inflate(message.span.bytes, limit: Self.limit))
            hold(isAllowed, "\(message.count) bytes became \(inflated.count)")
            hold(inflated == made.plain, "what was compressed by hand comes back as something else")
            return true
        } catch {
            hold(!isAllowed, "\(message.count) bytes for \(made.plain.count) are refused: \(error.description)")
            return false
        }
    }

    private func read(_ bytes: [UInt8]) -> Bool {
        do throws(InflateError) {
            let inflated = try self.codec.inflate(bytes.span.bytes, limit: Self.limit)
            hold(inflated.count <= Self.bytesMax(of: bytes), "\(bytes.count) bytes became \(inflated.count)")
            // By the input alone, so that a finding is one again.
            let isAgain = inflated.count <= Self.alwaysAgainBytes || CRC32C.checksum(bytes) % 16 == 0
            guard isAgain else { return true }
            let plain = [UInt8](inflated)
            guard let again = plain.withUnsafeBytes({ self.codec.compressed($0).map { [UInt8]($0.message) } }) else {
                return true
            }
            // A better compression than the fuzzer's may be beyond the ratio.
            let back = (try? self.codec.inflate(again.span.bytes, limit: Self.limit)).map { [UInt8]($0) }
            hold(back == nil || back == plain, "what was compressed comes back as something else")
            return true
        } catch {
            hold(!error.description.isEmpty, "a refusal says nothing")
            return false
        }
    }
}
