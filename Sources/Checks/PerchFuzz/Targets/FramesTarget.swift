import PerchWire

/// Bytes of a connection to frames: in one piece or in many, the same frames and the same refusal.
final class FramesTarget: FuzzTarget {
    static let name = "frames"
    static let reaches = ["PerchWire/Frames"]

    static func seeds() -> [[UInt8]] {
        func frame(_ kind: FrameKind, stream: UInt32, _ payload: [UInt8], isCompressed: Bool = false) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
            bytes.withUnsafeMutableBytes {
                FrameHeader(kind: kind, stream: stream, isCompressed: isCompressed, length: payload.count).write(
                    into: $0)
            }
            return bytes + payload
        }
        return [
            FrameKind.allCases.flatMap { frame($0, stream: 7, []) },
            frame(.hello, stream: 0, [8, 1]) + frame(.call, stream: 1, [10, 0]) + frame(.cancel, stream: 1, []),
            frame(.message, stream: 0xFF_FFFF, Array(repeating: 0xA5, count: 40), isCompressed: true),
        ]
    }

    private static let lengthLimit = 4_096

    func run(_ bytes: [UInt8]) -> Bool {
        let whole = Self.read(bytes, pieces: bytes.count)
        // The first byte says how long the pieces are.
        let parts = Self.read(bytes, pieces: 1 + Int(bytes.first ?? 0) % 16)
        hold(whole.frames == parts.frames && whole.error == parts.error, "the same bytes in pieces are other frames")
        for frame in whole.frames {
            hold(frame.payload.count == frame.header.length, "a frame has not the length that its header says")
            hold(frame.header.length <= Self.lengthLimit, "a frame is longer than its limit")
            var header = [UInt8](repeating: 0, count: FrameHeader.byteCount)
            header.withUnsafeMutableBytes { frame.header.write(into: $0) }
            let read = try? FrameHeader.read(from: header.span.bytes, at: 0, lengthLimit: Self.lengthLimit)
            hold(read == frame.header, "a header is read otherwise than it was written")
        }
        return whole.error == nil && !whole.frames.isEmpty
    }

    private static func read(_ bytes: [UInt8], pieces: Int) -> (frames: [Frame], error: FrameError?) {
        var decoder = FrameDecoder(lengthLimit: Self.lengthLimit)
        var frames: [Frame] = []
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, at + max(1, pieces))
            decoder.append(Array(bytes[at..<end]))
            at = end
            do throws(FrameError) {
                while let frame = try decoder.next() { frames.append(frame) }
            } catch {
                return (frames, error)
            }
        }
        return (frames, nil)
    }
}
