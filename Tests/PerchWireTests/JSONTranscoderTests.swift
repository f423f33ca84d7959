import CPerchProto
import PerchBase
import PerchJSON
import Testing

@testable import PerchWire

/// JSON straight from a message's bytes is the JSON of its structure.
@Suite struct `a message written as JSON in one pass` {
    private let codec = MessageCodec()

    private func structured(_ bytes: [UInt8], as message: MessageDescription) throws -> String {
        let structure = try self.codec.unpack(
            message, bytes.span.bytes, singularFieldsMax: Limits.responseSingularFieldsMax)
        var writer = JSONWriter(limitBytes: .max)
        MessageJSONWriter.object(structure, as: message, to: &writer)
        return String(decoding: try writer.finish(), as: UTF8.self)
    }

    private func direct(_ bytes: [UInt8], as message: MessageDescription) -> String? {
        bytes.withUnsafeBytes { self.codec.transcoder.json(of: $0, as: message) }.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(arguments: PerchWire.Method.allCases)
    func `is the same as from its structure, for every response`(_ method: PerchWire.Method) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var samples = Samples(seed: seed)
            let bytes = Array(try self.codec.encode(samples.response(method)).message)
            let message = method.responseDescriptor
            let direct = try #require(self.direct(bytes, as: message), "seed \(seed) took the other way")
            #expect(direct == (try self.structured(bytes, as: message)), "seed \(seed)")
        }
    }

    @Test func `is the same for every canonical vector`() throws {
        var count = 0
        for file in Vector.messageFiles {
            for vector in try Vector.read(file) {
                guard let name = vector.message, let message = MessageScan.descriptions[name] else { continue }
                guard let direct = self.direct(vector.canonicalBytes, as: message) else { continue }
                #expect(direct == (try self.structured(vector.canonicalBytes, as: message)), "\(vector.name)")
                count += 1
            }
        }
        #expect(count > 400, "\(count) vectors")
    }

    private func text(_ text: String) -> [UInt8] { [0x0A, UInt8(text.utf8.count)] + Array(text.utf8) }

    @Test(arguments: [
        "", "plain", "\"\\/\u{8}\t\n\r\u{1F}\u{7F}", "\u{80}\u{9F}\u{A0}é€😀\u{C2}", "ends with \u{85}", "</script>",
    ])
    func `escapes texts as the other way does`(text: String) throws {
        // `AppRef.bundle_id`.
        let message = try #require(MessageScan.descriptions["perch.v1.AppRef"])
        let bytes = text.isEmpty ? [] : self.text(text)
        #expect(self.direct(bytes, as: message) == (try self.structured(bytes, as: message)))
    }

    @Test(
        arguments: [
            // A later field before an earlier one, a field twice, an unknown field, a NUL, a cut message, a wrong type.
            [0x10, 3, 0x0A, 1, 0x61], [0x0A, 1, 0x61, 0x0A, 1, 0x62], [0x0A, 1, 0x61, 0x78, 1], [0x0A, 1, 0],
            [0x0A, 5, 0x61],
            [0x08, 1], [0x80], [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
        ] as [[UInt8]])
    func `refuses what our encoders do not write`(bytes: [UInt8]) throws {
        let message = try #require(MessageScan.descriptions["perch.v1.AppRef"])
        #expect(self.direct(bytes, as: message) == nil)
    }

    @Test func `gives back the memory of a long document`() throws {
        let message = try #require(MessageScan.descriptions["perch.v1.AppRef"])
        let long = String(repeating: "x", count: 3 * Limits.codecBytesKept)
        var bytes: [UInt8] = [0x0A]
        var rest = long.utf8.count
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
        #expect(self.direct(bytes + Array(long.utf8), as: message)?.utf8.count == long.utf8.count + 15)
        #expect(self.direct(self.text("a"), as: message) == #"{"bundleId":"a"}"#)
    }
}
