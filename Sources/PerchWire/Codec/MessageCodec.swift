import CPerchProto
import PerchBase

/// Messages to bytes and back, and compression. The one face of protobuf-c and zlib.
///
/// One for each thread: it owns the memory that both libraries work in, so that nothing is allocated for a message of
/// usual size beyond the Swift value that is read.
package final class MessageCodec {
    /// An encoded message, within its codec: valid until the codec encodes again. Copy it to keep it.
    package struct Encoded {
        /// Four bytes of room for an address, five of gRPC's prefix, then the message.
        fileprivate let memory: UnsafeMutableRawBufferPointer

        /// The message alone.
        package var message: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: self.memory[FrameHeader.byteCount...])
        }

        /// gRPC's Length-Prefixed-Message: what all transports share.
        package var prefixed: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: self.memory[FrameHeader.addressByteCount...])
        }

        /// The whole frame, its address written in place: valid until the next frame of this value.
        package func frame(_ kind: FrameKind, stream: UInt32) -> UnsafeRawBufferPointer {
            FrameHeader.writeAddress(kind, stream, into: self.memory)
            return UnsafeRawBufferPointer(self.memory)
        }
    }

    let arena = Arena(limit: Limits.codecArenaBytesMax)
    private var output = OutputBuffer()
    private var compressedOutput = OutputBuffer()
    /// What must not disturb the last encoded message: digests, and the requests within calls.
    private var scratch = OutputBuffer()
    /// Behind a pointer, which is not checked for exclusive access at each of the many uses.
    private let hot = UnsafeMutablePointer<Hot>.allocate(capacity: 1)
    private var deflater: Deflater?
    private var inflater: Inflater?

    private struct Hot {
        /// What the push path is written with, and its digests, which must not disturb what was written.
        var writer: PushWriter
        var digestWriter: PushWriter
        var last: Encoded?
    }

    /// Of one that answers and pushes.
    private let transactions: TransactionBytes?
    /// Of one that reads requests.
    let names: RecentTexts?

    /// `serves`: it reads the same names and writes the same transactions several times, as a server's loop does.
    package init(serves: Bool = false) {
        self.transactions = serves ? TransactionBytes() : nil
        self.names = serves ? RecentTexts() : nil
        self.hot.initialize(
            to: Hot(writer: PushWriter(known: self.transactions), digestWriter: PushWriter(known: self.transactions)))
    }

    deinit {
        self.arena.destroy()
        self.output.destroy()
        self.compressedOutput.destroy()
        self.scratch.destroy()
        self.hot.pointee.writer.destroy()
        self.hot.pointee.digestWriter.destroy()
        self.hot.deinitialize(count: 1)
        self.hot.deallocate()
        self.transactions?.destroy()
        self.names?.destroy()
    }

    // MARK: Encoding

    /// `borrowedBytes`: of what the structures point to outside the arena.
    func pack<C: CMessage>(
        _ type: C.Type, borrowedBytes: Int = 0, _ fill: (UnsafeMutablePointer<C>) -> Void
    ) throws(MessageError) -> Encoded {
        self.arena.reset(isWriting: true)
        let message: UnsafeMutablePointer<C> = self.arena.message(fill)
        return try self.pack(
            UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self), borrowedBytes: borrowedBytes)
    }

    /// A message of the push path, written by hand. `type` names it where it is refused.
    @inline(__always)
    func write<C: CMessage>(
        _ type: C.Type, _ fill: (inout PushWriter) -> Void
    ) throws(MessageError) -> Encoded {
        self.hot.pointee.writer.begin()
        fill(&self.hot.pointee.writer)
        let count = self.hot.pointee.writer.count
        guard count <= Limits.frameBytesMax else {
            throw .tooLong(
                message: String(cString: C.descriptor.pointee.name), bytes: count, limitBytes: Limits.frameBytesMax)
        }
        let memory = self.hot.pointee.writer.written(front: FrameHeader.byteCount)
        FrameHeader.writePrefix(isCompressed: false, length: count, into: memory)
        let encoded = Encoded(memory: memory)
        self.hot.pointee.last = encoded
        return encoded
    }

    private func pack(
        _ message: UnsafePointer<ProtobufCMessage>, borrowedBytes: Int
    ) throws(MessageError) -> Encoded {
        let room = self.packedBytesMax(message, borrowedBytes: borrowedBytes)
        guard room.atLeast <= Limits.frameBytesMax else {
            throw .tooLong(message: Self.name(message), bytes: room.atLeast, limitBytes: Limits.frameBytesMax)
        }
        guard !self.arena.isOverLimit else {
            throw .tooMuchMemory(message: Self.name(message), limitBytes: Limits.codecArenaBytesMax)
        }
        let memory = self.output.begin(FrameHeader.byteCount + room.atMost)
        let count = protobuf_c_message_pack(
            message, (memory.baseAddress! + FrameHeader.byteCount).assumingMemoryBound(to: UInt8.self))
        precondition(count <= room.atMost, "protobuf-c wrote \(count) bytes into \(room.atMost)")
        FrameHeader.writePrefix(isCompressed: false, length: count, into: memory)
        let encoded = Encoded(
            memory: UnsafeMutableRawBufferPointer(rebasing: memory[..<(FrameHeader.byteCount + count)]))
        self.hot.pointee.last = encoded
        return encoded
    }

    /// How long a message can get, without asking each field where that is known well enough.
    ///
    /// Measuring costs as much as packing. But no field packs into more than three times the bytes that it has in the
    /// arena: an enumeration of four bytes into a tag of two (field numbers stay below 2,048) and a number of ten, and
    /// text has a pointer of eight for its tag and length. Large messages are measured, because three times their size would be held for nothing.
    private func packedBytesMax(
        _ message: UnsafePointer<ProtobufCMessage>, borrowedBytes: Int
    ) -> (atLeast: Int, atMost: Int) {
        if borrowedBytes == 0, let used = self.arena.usedBytesOfOneChunk { return (0, 3 * used) }
        let count = protobuf_c_message_get_packed_size(message)
        return (count, count)
    }

    private static func name(_ message: UnsafePointer<ProtobufCMessage>) -> String {
        String(cString: message.pointee.descriptor.pointee.name)
    }

    /// The last encoded message, compressed: nil if it is shorter than `Limits.compressBytesMin`, or would not get
    /// smaller. The plain form stays valid beside it.
    package func compressed() -> Encoded? {
        self.hot.pointee.last.flatMap { self.compressed($0.message) }
    }

    /// A message that was encoded before, compressed: nil as above.
    package func compressed(_ message: UnsafeRawBufferPointer) -> Encoded? {
        guard message.count >= Limits.compressBytesMin else { return nil }
        let memory = self.compressedOutput.begin(FrameHeader.byteCount + message.count - 1)
        let room = UnsafeMutableRawBufferPointer(rebasing: memory[FrameHeader.byteCount...])
        let deflater = self.deflater ?? Deflater()
        self.deflater = deflater
        guard let count = deflater.deflate(message, into: room) else { return nil }
        FrameHeader.writePrefix(isCompressed: true, length: count, into: memory)
        return Encoded(memory: UnsafeMutableRawBufferPointer(rebasing: memory[..<(FrameHeader.byteCount + count)]))
    }

    // MARK: Decoding

    /// A message's structure, in the arena: to be read before anything else is done with the codec.
    func unpack<C: CMessage>(
        _ type: C.Type, _ bytes: borrowing RawSpan, singularFieldsMax: Int
    ) throws(MessageError) -> UnsafeMutablePointer<C> {
        let message = try self.unpack(C.descriptor, bytes, singularFieldsMax: singularFieldsMax)
        return UnsafeMutableRawPointer(message).assumingMemoryBound(to: C.self)
    }

    func unpack(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ bytes: borrowing RawSpan, singularFieldsMax: Int
    ) throws(MessageError) -> UnsafeMutablePointer<ProtobufCMessage> {
        self.arena.reset(isWriting: false)
        return try bytes.withUnsafeBytes { buffer throws(MessageError) in
            let hasPieces = try MessageScan.check(buffer, as: descriptor, singularFieldsMax: singularFieldsMax)
            let message =
                hasPieces
                ? MessageMerge.merged(buffer, as: descriptor).withUnsafeBytes { self.unpack(descriptor, scanned: $0) }
                : self.unpack(descriptor, scanned: buffer)
            if let message { return message }
            let name = String(cString: descriptor.pointee.name)
            if self.arena.isOverLimit { throw .tooMuchMemory(message: name, limitBytes: Limits.codecArenaBytesMax) }
            throw .malformed(field: name, atByte: 0, fault: .refused)
        }
    }

    /// Everything that is kept of `bytes` is copied into the arena. Nil when that is full.
    private func unpack(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, scanned bytes: UnsafeRawBufferPointer
    ) -> UnsafeMutablePointer<ProtobufCMessage>? {
        protobuf_c_message_unpack(
            descriptor, self.arena.allocator, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    /// Bytes of memory that the last message took: for tests and for a gauge.
    package var arenaBytes: Int { self.arena.totalBytes }

    // MARK: Compression

    /// The bytes of a compressed message, valid until the next call. Stops at `limit`.
    package func inflate(
        _ bytes: borrowing RawSpan, limit: Int = Limits.frameBytesMax
    ) throws(InflateError) -> UnsafeRawBufferPointer {
        let inflater = self.inflater ?? Inflater()
        self.inflater = inflater
        return try bytes.withUnsafeBytes { buffer throws(InflateError) in
            try inflater.inflate(buffer, limit: limit)
        }
    }

    // MARK: Digests

    func digest<C: CMessage>(_ type: C.Type, _ fill: (UnsafeMutablePointer<C>) -> Void) -> Digest {
        self.arena.reset(isWriting: true, omitsSignatures: true)
        let message: UnsafeMutablePointer<C> = self.arena.message(fill)
        let plain = UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self)
        let room = self.packedBytesMax(plain, borrowedBytes: 0).atMost
        let memory = self.scratch.begin(room)
        let count = protobuf_c_message_pack(plain, memory.baseAddress?.assumingMemoryBound(to: UInt8.self))
        precondition(count <= room, "protobuf-c wrote \(count) bytes into \(room)")
        return Digest(ofValue: UnsafeRawBufferPointer(rebasing: memory[..<count]).bytes)
    }

    /// The same of a value of the push path.
    @inline(__always)
    func digest(_ fill: (inout PushWriter) -> Void) -> Digest {
        self.hot.pointee.digestWriter.begin(omitsSignatures: true)
        fill(&self.hot.pointee.digestWriter)
        return Digest(ofValue: UnsafeRawBufferPointer(self.hot.pointee.digestWriter.written()).bytes)
    }

    /// Encodes `inner` where the next message does not overwrite it.
    func setAside(_ inner: Encoded) -> UnsafeMutableRawBufferPointer {
        let memory = self.scratch.begin(inner.message.count)
        memory.copyMemory(from: inner.message)
        return memory
    }
}
