import CPerchZlib
import PerchBase

/// Why compressed bytes were refused. The connection must be closed.
package enum InflateError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLong(limitBytes: Int)
    case ratio(compressedBytes: Int, limitBytes: Int)
    /// The stream does not end.
    case truncated(compressedBytes: Int)
    /// The stream ended before the bytes did.
    case trailingBytes(Int)
    /// Not zlib (RFC 1950), or its checksum is wrong.
    case corrupt(atByte: Int)
    /// The machine has no memory for zlib's own work.
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

/// One zlib stream that inflates, and the memory for its output.
final class Inflater {
    /// Behind a pointer, because zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var output = OutputBuffer()
    /// Whether zlib has allocated its own memory for the stream. Requested with the first message, and again after a
    /// failure.
    private var hasBegun = false
    private let isGzip: Bool

    /// `prepare` can replace the stream's allocation functions, for tests of a machine without memory.
    init(isGzip: Bool = false, prepare: (UnsafeMutablePointer<z_stream>) -> Void = { _ in }) {
        self.isGzip = isGzip
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        prepare(self.stream)
    }

    private func begin() throws(InflateError) {
        if self.hasBegun {
            precondition(inflateReset(self.stream) == Z_OK, "a zlib stream lost its state")
            return
        }
        // Expected codes: OK; MEM_ERROR; VERSION_ERROR for a wrong libz.
        let code = self.isGzip ? perch_inflate_init_gzip(self.stream) : perch_inflate_init(self.stream)
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
    /// The limit and the ratio give one maximum before inflating. The buffer has that size plus one byte, and the extra
    /// byte shows that there was more. So a message never costs more than its limit plus zlib's own 40 KiB. Untouched
    /// pages take no memory.
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
            // Expected codes: STREAM_END; OK with more to do; BUF_ERROR if the input ended or the output is full;
            // DATA_ERROR and NEED_DICT for invalid input; MEM_ERROR, because zlib allocates the window at first use.
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
