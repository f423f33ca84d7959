import PerchBase

/// A frame with its payload, still compressed if its header says so.
package struct Frame: Hashable, Sendable {
    package var header: FrameHeader
    package var payload: [UInt8]

    package init(header: FrameHeader, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }
}

/// Turns received bytes into frames, for the client and for tests. The server reads in place.
///
///     waiting for a header ──nine bytes──▶ waiting for its payload ──all of it──▶ a frame, and again;   any ──fault──▶ failed
///
/// Holds appended bytes until `next` returns them: after a nil, at most one partial frame.
package struct FrameDecoder: Sendable {
    private let lengthLimit: Int
    private var bytes: [UInt8] = []
    /// Offset of the next frame. Earlier bytes are dropped at the next `append`.
    private var start = 0
    private var failure: FrameError?

    package init(lengthLimit: Int = Limits.frameBytesMax) {
        self.lengthLimit = lengthLimit
    }

    /// Bytes of an incomplete frame.
    package var bufferedByteCount: Int { self.bytes.count - self.start }

    package mutating func append(_ more: [UInt8]) {
        self.append(more.span.bytes)
    }

    package mutating func append(_ more: borrowing RawSpan) {
        if self.start > 0 {
            self.bytes.removeSubrange(..<self.start)
            self.start = 0
        }
        more.withUnsafeBytes { self.bytes.append(contentsOf: $0) }
    }

    /// The next whole frame; nil if it is incomplete. After an error, every call throws the same error.
    package mutating func next() throws(FrameError) -> Frame? {
        if let failure = self.failure { throw failure }
        let header: FrameHeader?
        do {
            header = try FrameHeader.read(from: self.bytes.span.bytes, at: self.start, lengthLimit: self.lengthLimit)
        } catch {
            self.failure = error
            throw error
        }
        guard let header, self.bufferedByteCount >= FrameHeader.byteCount + header.length else { return nil }
        let payloadStart = self.start + FrameHeader.byteCount
        let end = payloadStart + header.length
        let frame = Frame(header: header, payload: Array(self.bytes[payloadStart..<end]))
        if end == self.bytes.count {
            self.bytes = []
            self.start = 0
        } else {
            self.start = end
        }
        return frame
    }
}
