import CPerchZlib

/// One zlib stream that compresses, made once: making one costs as much as compressing several kilobytes.
final class Deflater {
    /// Behind a pointer: zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        // Codes to expect: OK; MEM_ERROR, when the process is beyond help; VERSION_ERROR for a wrong libz.
        let code = perch_deflate_init(self.stream, Z_DEFAULT_COMPRESSION)
        precondition(code == Z_OK, "zlib could not begin to compress: \(code)")
    }

    deinit {
        deflateEnd(self.stream)
        self.stream.deinitialize(count: 1).deallocate()
    }

    /// The number of bytes written; nil if they do not fit into `output`.
    func deflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
        precondition(deflateReset(self.stream) == Z_OK, "a zlib stream lost its state")
        self.stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        self.stream.pointee.avail_in = UInt32(input.count)
        self.stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        self.stream.pointee.avail_out = UInt32(output.count)
        // Codes to expect: STREAM_END; OK or BUF_ERROR when the output is full.
        guard CPerchZlib.deflate(self.stream, Z_FINISH) == Z_STREAM_END else { return nil }
        return output.count - Int(self.stream.pointee.avail_out)
    }
}
