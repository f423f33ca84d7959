import CPerchProto
import PerchBase

// The messages of the transport itself.

extension MessageCodec {
    package func decodeHello(_ bytes: borrowing RawSpan) throws(MessageError) -> Hello {
        Hello(try self.request(Perch__Wire__V1__Hello.self, bytes))
    }

    package func decodeWelcome(_ bytes: borrowing RawSpan) throws(MessageError) -> Welcome {
        Welcome(try self.response(Perch__Wire__V1__Welcome.self, bytes))
    }

    package func decodeStatus(_ bytes: borrowing RawSpan) throws(MessageError) -> Status {
        Status(try self.response(Perch__Wire__V1__Status.self, bytes))
    }

    package func decodeBeat(_ bytes: borrowing RawSpan) throws(MessageError) -> Beat {
        Beat(try self.response(Perch__Wire__V1__Beat.self, bytes))
    }

    package func decodeDrain(_ bytes: borrowing RawSpan) throws(MessageError) -> Drain {
        Drain(try self.response(Perch__Wire__V1__Drain.self, bytes))
    }

    package func encode(_ hello: Hello) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Hello.self) { hello.write(to: $0, arena) }
    }

    package func encode(_ welcome: Welcome) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Welcome.self) { welcome.write(to: $0, arena) }
    }

    package func encode(_ status: Status) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Status.self) { status.write(to: $0, arena) }
    }

    package func encode(_ beat: Beat) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Beat.self) { beat.write(to: $0, arena) }
    }

    package func encode(_ drain: Drain) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Drain.self) { drain.write(to: $0, arena) }
    }

    // MARK: Calls

    /// Reads a call without copying its request: a catalogue file stays where it was received.
    package func decodeCall(_ bytes: borrowing RawSpan) throws(MessageError) -> Call {
        try bytes.withUnsafeBytes { buffer throws(MessageError) in
            try MessageScan.check(
                buffer, as: Perch__Wire__V1__Call.descriptor, singularFieldsMax: Limits.protobufSingularFieldsMax)
            return Call(scanned: buffer)
        }
    }

    /// Writes a call with its request.
    package func encodeCall(
        _ request: Request, timeoutMilliseconds: UInt64 = 0, metadata: [Metadata] = []
    ) throws(MessageError) -> Encoded {
        let inner = self.setAside(try self.encode(request))
        return try self.encodeCall(
            path: request.method.path, timeoutMilliseconds: timeoutMilliseconds, metadata: metadata,
            request: UnsafeRawBufferPointer(inner))
    }

    /// Writes a call of any path with request bytes that are not ours.
    package func encodeCall(
        path: String, timeoutMilliseconds: UInt64 = 0, metadata: [Metadata] = [], request: UnsafeRawBufferPointer
    ) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Call.self) { message in
            message.pointee.method = arena.text(path)
            message.pointee.timeout_ms = timeoutMilliseconds
            (message.pointee.n_metadata, message.pointee.metadata) = arena.list(metadata) { $0.write(to: $1, arena) }
            message.pointee.request = ProtobufCBinaryData(
                len: request.count,
                data: UnsafeMutablePointer(mutating: request.baseAddress?.assumingMemoryBound(to: UInt8.self)))
        }
    }
}

extension Call {
    /// Reads what the scan has found well-formed.
    fileprivate init(scanned bytes: UnsafeRawBufferPointer) {
        self.init(path: "")
        var reader = ScannedFields(bytes, 0..<bytes.count)
        while let field = reader.next() {
            switch field.number {
            case 1: self.path = String(decoding: bytes[field.range], as: UTF8.self)
            case 2: self.timeoutMilliseconds = field.value
            case 3: self.metadata.append(Metadata(scanned: bytes, field.range))
            case 4: self.request = field.range
            default: break
            }
        }
    }
}

extension Metadata {
    fileprivate init(scanned bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.init()
        var reader = ScannedFields(bytes, range)
        while let field = reader.next() {
            switch field.number {
            case 1: self.key = String(decoding: bytes[field.range], as: UTF8.self)
            case 2: self.value = [UInt8](bytes[field.range])
            default: break
            }
        }
    }
}

/// The fields of a message that `MessageScan` has accepted: what it checked is not checked again.
private struct ScannedFields {
    private let bytes: UnsafeRawBufferPointer
    private var at: Int
    private let end: Int

    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        self.at = range.lowerBound
        self.end = range.upperBound
    }

    /// `value` of numbers, `range` of everything else.
    mutating func next() -> (number: UInt64, value: UInt64, range: Range<Int>)? {
        guard self.at < self.end else { return nil }
        let tag = self.varint()
        switch tag & 7 {
        case 0: return (tag >> 3, self.varint(), 0..<0)
        case 1: return (tag >> 3, 0, self.take(8))
        case 5: return (tag >> 3, 0, self.take(4))
        default: return (tag >> 3, 0, self.take(Int(self.varint())))
        }
    }

    private mutating func take(_ count: Int) -> Range<Int> {
        defer { self.at += count }
        return self.at..<(self.at + count)
    }

    private mutating func varint() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = self.bytes[self.at]
            self.at += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }
}
