import CPerchZlib
import PerchBase

/// Why compressed bytes were refused. The peer is not trusted again: close.
package enum InflateError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLong(limitBytes: Int)
    case ratio(compressedBytes: Int, limitBytes: Int)
    /// The stream does not end.
    case truncated(compressedBytes: Int)
    /// The stream ended before the bytes did.
    case trailingBytes(Int)
    /// Not zlib (RFC 1950), or its checksum is wrong.
    case corrupt(atByte: Int)
    /// The machine has none for zlib's own work.
    case noMemory

    package var description: String {
        switch self {
        case .tooLong(let limit): "a message inflates to more than \(limit) bytes, the limit; send less at a time"
        case .ratio(let compressed, let limit):
            "\(compressed) compressed bytes inflate to more than \(limit), which is \(Limits.inflateRatioMax):1; send it plain"
        case .truncated(let compressed): "\(compressed) compressed bytes are not a whole zlib stream; send all of it"
        case .trailingBytes(let count): "\(count) bytes follow the end of a zlib stream; send one stream a message"
        case .corrupt(let byte): "compressed bytes are corrupt at byte \(byte); zlib streams (RFC 1950) are understood"
        case .noMemory: "there is no memory to inflate a message; send it plain, or later"
        }
    }
}

/// One zlib stream that inflates, and the memory for what comes out.
final class Inflater {
    /// Behind a pointer: zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var output = OutputBuffer()
    /// Whether zlib has its own memory for the stream. Asked for with the first message, and again after a refusal.
    private var hasBegun = false

    /// `prepare` may give the stream other functions to allocate with: for tests of what happens without memory.
    init(prepare: (UnsafeMutablePointer<z_stream>) -> Void = { _ in }) {
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        prepare(self.stream)
    }

    private func begin() throws(InflateError) {
        if self.hasBegun {
            precondition(inflateReset(self.stream) == Z_OK, "a zlib stream lost its state")
            return
        }
        // Codes to expect: OK; MEM_ERROR; VERSION_ERROR for a wrong libz.
        let code = perch_inflate_init(self.stream)
        if code == Z_MEM_ERROR { throw .noMemory }
        precondition(code == Z_OK, "zlib could not begin to inflate: \(code)")
        self.hasBegun = true
    }

    deinit {
        if self.hasBegun { inflateEnd(self.stream) }
        self.stream.deinitialize(count: 1).deallocate()
        self.output.destroy()
    }

    /// All of `input`, inflated. Valid until the next call.
    ///
    /// The limit and the ratio come to one number before anything is inflated. So much room there is from the start, and
    /// one byte more, which is how it is known that there is more: a message never costs more than its limit, and what
    /// zlib itself needs, some 40 KiB. Pages of it that nothing is written to take no memory.
    func inflate(_ input: UnsafeRawBufferPointer, limit: Int) throws(InflateError) -> UnsafeRawBufferPointer {
        try self.begin()
        let byRatio = max(Limits.inflateRatioFreeBytes, input.count * Limits.inflateRatioMax)
        let allowed = min(limit, byRatio)
        let room = allowed + 1
        _ = self.output.begin(room)
        var produced = 0
        self.stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        self.stream.pointee.avail_in = UInt32(input.count)
        while true {
            self.stream.pointee.next_out = (self.output.memory.baseAddress! + produced)
                .assumingMemoryBound(to: UInt8.self)
            self.stream.pointee.avail_out = UInt32(room - produced)
            // Codes to expect: STREAM_END; OK, with more to do; BUF_ERROR when the input ended or there is no room;
            // DATA_ERROR and NEED_DICT for what is not ours; MEM_ERROR, since the window is allocated with the first use.
            let code = CPerchZlib.inflate(self.stream, Z_NO_FLUSH)
            produced = room - Int(self.stream.pointee.avail_out)
            let left = Int(self.stream.pointee.avail_in)
            if produced > allowed {
                throw limit <= byRatio
                    ? .tooLong(limitBytes: limit) : .ratio(compressedBytes: input.count, limitBytes: byRatio)
            }
            switch code {
            case Z_STREAM_END:
                if left > 0 { throw .trailingBytes(left) }
                return UnsafeRawBufferPointer(rebasing: self.output.memory[..<produced])
            case Z_OK, Z_BUF_ERROR:
                if left == 0 {
                    throw .truncated(compressedBytes: input.count)
                }
            case Z_MEM_ERROR:
                throw .noMemory
            default:
                throw .corrupt(atByte: input.count - left)
            }
        }
    }
}
