import CPerchProto
import Glibc
import PerchBase
import PerchModel

/// Messages to bytes and back, and compression. The only caller of protobuf-c and zlib.
///
/// One for each thread: it owns the memory in which both libraries work. For a message of usual size, nothing is
/// allocated except the Swift value that is read.
package final class MessageCodec {
    /// An encoded message, within its codec: valid until the codec encodes again. Copy it to keep it.
    package struct Encoded {
        /// Four bytes for an address, five for gRPC's prefix, then the message.
        fileprivate let memory: UnsafeMutableRawBufferPointer

        /// The message alone.
        package var message: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: self.memory[FrameHeader.byteCount...])
        }

        /// gRPC's Length-Prefixed-Message, which all transports share.
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
    /// A second buffer for digests and for requests within calls, so that the last encoded message stays valid.
    private var scratch = OutputBuffer()
    /// Behind a pointer, so that its many uses are not checked for exclusive access.
    private let hot = UnsafeMutablePointer<Hot>.allocate(capacity: 1)
    private var deflater: Deflater?
    private var inflater: Inflater?
    private var gzipInflater: Inflater?

    private struct Hot {
        /// Writes the messages of the push path. A second writer makes their digests, so that the written message stays
        /// valid.
        var writer: PushWriter
        var digestWriter: PushWriter
        var last: Encoded?
    }

    /// Writes encoded messages as JSON.
    let transcoder = JSONTranscoder()

    /// The bytes of recent transactions; only in a codec that answers and pushes.
    private let transactions: TransactionBytes?
    private let sales: SaleBytes?
    /// The cache of names; only in a codec that reads requests.
    let names: RecentTexts?

    /// `serves`: keeps names and transactions for reuse, because a server's loop reads the same names and writes the
    /// same transactions several times. `epoch`: of the server's store, for the positions that it gives out.
    package init(serves: Bool = false, epoch: UInt32 = 0) {
        self.transactions = serves ? TransactionBytes() : nil
        self.sales = serves ? SaleBytes() : nil
        self.names = serves ? RecentTexts() : nil
        self.hot.initialize(
            to: Hot(
                writer: PushWriter(known: self.transactions, sales: self.sales, epoch: epoch),
                digestWriter: PushWriter(known: self.transactions, sales: self.sales)))
        self.arena.epoch = epoch
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
        self.sales?.destroy()
        self.names?.destroy()
    }

    // MARK: Encoding

    /// `borrowedBytes`: the bytes that the structures reference outside the arena.
    func pack<C: CMessage>(
        _ type: C.Type, borrowedBytes: Int = 0, _ fill: (UnsafeMutablePointer<C>) -> Void
    ) throws(MessageError) -> Encoded {
        self.arena.reset(isWriting: true)
        let message: UnsafeMutablePointer<C> = self.arena.message(fill)
        return try self.pack(
            UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self), borrowedBytes: borrowedBytes)
    }

    /// A request. C ends a text at a NUL: the rest would be lost, and the text could name another account.
    func packRequest<C: CMessage>(
        _ type: C.Type, _ fill: (UnsafeMutablePointer<C>) -> Void
    ) throws(MessageError) -> Encoded {
        self.arena.reset(isWriting: true)
        let message: UnsafeMutablePointer<C> = self.arena.message(fill)
        if let text = self.arena.cutText {
            throw .hasNUL(
                field: C.descriptor.path(to: text, in: message) ?? C.descriptor.fullName,
                atByte: strlen(text.assumingMemoryBound(to: CChar.self)))
        }
        return try self.pack(
            UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self), borrowedBytes: 0)
    }

    /// A message of the push path, written by hand. `type` names it in a refusal.
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

    /// An upper bound of a message's length, without measuring each field if the bound is good enough.
    ///
    /// Measuring costs as much as packing. But no field packs into more than three times its bytes in the arena: an
    /// enumeration of four bytes packs into a tag of two (field numbers stay below 2,048) and a number of ten; text has
    /// a pointer of eight for its tag and length. Large messages are measured, so that their memory is not three times
    /// too large.
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

    /// The last encoded message, compressed: nil if it is shorter than `Limits.compressBytesMin`, or would not shrink.
    /// The plain form stays valid.
    package func compressed() -> Encoded? {
        self.hot.pointee.last.flatMap { self.compressed($0.message) }
    }

    /// A previously encoded message, compressed: nil if it is too short or would not shrink.
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

    /// A message's structure, in the arena: valid until the codec's next use.
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

    /// Copies everything it keeps of `bytes` into the arena. Nil if that is full.
    private func unpack(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, scanned bytes: UnsafeRawBufferPointer
    ) -> UnsafeMutablePointer<ProtobufCMessage>? {
        protobuf_c_message_unpack(
            descriptor, self.arena.allocator, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    /// Bytes of memory used by the last message, for tests and a gauge.
    package var arenaBytes: Int { self.arena.totalBytes }

    // MARK: Compression

    /// A message as gzip (RFC 1952) behind gRPC's prefix: nil as for `compressed`.
    ///
    /// gzip and zlib hold the same deflated bytes between different ends.
    package func gzipped(_ message: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let zlib = self.compressed(message)?.message else { return nil }
        return Self.gzip(zlib, of: message)
    }

    /// The gzip form of a message whose zlib form is known.
    package static func gzip(_ zlib: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> [UInt8]? {
        let deflated = zlib[2..<(zlib.count - 4)]
        let count = Gzip.head.count + deflated.count + 8
        guard count < message.count else { return nil }
        var bytes: [UInt8] = [1]
        bytes.reserveCapacity(5 + count)
        withUnsafeBytes(of: UInt32(count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: Gzip.head)
        bytes.append(contentsOf: deflated)
        withUnsafeBytes(of: Gzip.checksum(message).littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: message.count).littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The bytes of a compressed message, valid until the next call. Stops at `limit`.
    package func inflate(
        _ bytes: borrowing RawSpan, limit: Int = Limits.frameBytesMax, isGzip: Bool = false
    ) throws(InflateError) -> UnsafeRawBufferPointer {
        let inflater = (isGzip ? self.gzipInflater : self.inflater) ?? Inflater(isGzip: isGzip)
        if isGzip { self.gzipInflater = inflater } else { self.inflater = inflater }
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

    /// Packs a value of the push path.
    @inline(__always)
    func digest(_ fill: (inout PushWriter) -> Void) -> Digest {
        self.hot.pointee.digestWriter.begin(omitsSignatures: true)
        fill(&self.hot.pointee.digestWriter)
        return Digest(ofValue: UnsafeRawBufferPointer(self.hot.pointee.digestWriter.written()).bytes)
    }

    /// The digest of an entitlement to a transaction without rare fields.
    func digest(ofPlain transaction: Transaction) -> Digest {
        self.hot.pointee.digestWriter.begin(omitsSignatures: true)
        return self.hot.pointee.digestWriter.digest(ofPlain: transaction)
    }

    /// Copies `inner` to a buffer that the next message does not overwrite.
    func setAside(_ inner: Encoded) -> UnsafeMutableRawBufferPointer {
        let memory = self.scratch.begin(inner.message.count)
        memory.copyMemory(from: inner.message)
        return memory
    }
}
