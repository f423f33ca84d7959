import CPerchZlib

/// One zlib stream that compresses. Created once, because creating it costs as much as compressing several kilobytes.
final class Deflater {
    /// Behind a pointer, because zlib refuses a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether zlib has allocated its own memory for the stream. Requested with the first message, and again after a
    /// failure.
    private var hasBegun = false

    /// `prepare` can replace the stream's allocation functions, for tests of a machine without memory.
    init(prepare: (UnsafeMutablePointer<z_stream>) -> Void = { _ in }) {
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        prepare(self.stream)
    }

    private func begin() -> Bool {
        if self.hasBegun {
            precondition(deflateReset(self.stream) == Z_OK, "a zlib stream lost its state")
            return true
        }
        // Expected codes: OK; MEM_ERROR; VERSION_ERROR for a wrong libz.
        let code = perch_deflate_init(self.stream, Z_DEFAULT_COMPRESSION)
        if code == Z_MEM_ERROR { return false }
        precondition(code == Z_OK, "zlib could not begin to compress: \(code)")
        self.hasBegun = true
        return true
    }

    deinit {
        if self.hasBegun { deflateEnd(self.stream) }
        self.stream.deinitialize(count: 1).deallocate()
    }

    /// The number of bytes written. Nil if they do not fit into `output`, or zlib finds no memory: the message is then
    /// sent plain.
    func deflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
        guard self.begin() else { return nil }
        self.stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        self.stream.pointee.avail_in = UInt32(input.count)
        self.stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        self.stream.pointee.avail_out = UInt32(output.count)
        // Expected codes: STREAM_END; OK or BUF_ERROR if the output is full.
        guard CPerchZlib.deflate(self.stream, Z_FINISH) == Z_STREAM_END else { return nil }
        return output.count - Int(self.stream.pointee.avail_out)
    }
}
