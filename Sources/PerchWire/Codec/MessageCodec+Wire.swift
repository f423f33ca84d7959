import CPerchProto
import PerchBase

// The messages of the transport itself.

extension MessageCodec {
    package func decodeHello(_ bytes: borrowing RawSpan) throws(MessageError) -> Hello {
        if let hello = bytes.withUnsafeBytes({ QuickReader.hello($0) }) { return hello }
        return Hello(try self.request(Perch__Wire__V1__Hello.self, bytes))
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
        try self.write(Perch__Wire__V1__Beat.self) { beat.write(to: &$0) }
    }

    /// A bookmark as the message of any stream: its field has the same number in all of them.
    package func encode(bookmark: Bookmark) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__SubscriptionStatusTaskResponse.self) {
            $0.message(15) { bookmark.write(to: &$0) }
        }
    }

    package func encode(_ drain: Drain) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Drain.self) { drain.write(to: $0, arena) }
    }

    // MARK: Calls

    /// Reads a call without copying its request: a catalogue file stays in the received buffer.
    package func decodeCall(_ bytes: borrowing RawSpan) throws(MessageError) -> Call {
        try bytes.withUnsafeBytes { buffer throws(MessageError) in
            if let call = QuickReader.call(buffer) { return call }
            _ = try MessageScan.check(
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

    /// Writes a call of any path with the caller's request bytes.
    package func encodeCall(
        path: String, timeoutMilliseconds: UInt64 = 0, metadata: [Metadata] = [], request: UnsafeRawBufferPointer
    ) throws(MessageError) -> Encoded {
        let arena = self.arena
        return try self.pack(Perch__Wire__V1__Call.self, borrowedBytes: request.count) { message in
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
    /// Converts what the scan has found well-formed.
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
