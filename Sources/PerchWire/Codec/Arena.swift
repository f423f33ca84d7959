import CPerchProto
import Glibc
import PerchBase
import PerchModel

/// Memory for the structures of one message: allocated by moving a pointer, freed all at once.
///
/// A handle: `MessageCodec` creates and destroys it. Reading stops at the limit: protobuf-c gets a failed allocation.
/// Writing continues, because its size is bounded by the value's, and the codec refuses the result.
struct Arena {
    /// Behind a pointer, because C keeps its address.
    private let state: UnsafeMutablePointer<State>
    /// What protobuf-c is given.
    let allocator: UnsafeMutablePointer<ProtobufCAllocator>

    fileprivate struct State {
        var chunk: UnsafeMutableRawPointer
        var used = 0
        var capacity: Int
        /// Bytes of all chunks.
        var total: Int
        let limit: Int
        /// Chunks before the current one. Empty for nearly every message.
        var full: [UnsafeMutableRawPointer] = []
        var isWriting = false
        var isOverLimit = false
        var omitsSignatures = false
        var epoch: UInt32 = 0
        /// The copy of the first text with a NUL, where C ends it.
        var cutText: UnsafeRawPointer?
    }

    /// Bytes of the chunk kept between messages: enough for any request, or a list of about fifty statuses.
    private static let chunkBytes = 64 * 1024
    /// Maximum size to which chunks grow; a larger chunk holds one long field.
    private static let chunkBytesMax = 1024 * 1024

    init(limit: Int) {
        let chunk = UnsafeMutableRawPointer.allocate(byteCount: Self.chunkBytes, alignment: 16)
        self.state = .allocate(capacity: 1)
        self.state.initialize(
            to: State(chunk: chunk, capacity: Self.chunkBytes, total: Self.chunkBytes, limit: limit))
        self.allocator = .allocate(capacity: 1)
        self.allocator.initialize(
            to: ProtobufCAllocator(
                alloc: allocateInArena, free: { _, _ in }, allocator_data: UnsafeMutableRawPointer(self.state)))
    }

    func destroy() {
        for chunk in self.state.pointee.full { chunk.deallocate() }
        self.state.pointee.chunk.deallocate()
        self.state.deinitialize(count: 1).deallocate()
        self.allocator.deinitialize(count: 1).deallocate()
    }

    /// Frees everything. `isWriting`: the next message is written from our own values.
    func reset(isWriting: Bool, omitsSignatures: Bool = false) {
        if self.state.pointee.capacity != Self.chunkBytes || !self.state.pointee.full.isEmpty {
            self.state.pointee.full.append(self.state.pointee.chunk)
            for chunk in self.state.pointee.full { chunk.deallocate() }
            self.state.pointee.full = []
            self.state.pointee.chunk = .allocate(byteCount: Self.chunkBytes, alignment: 16)
            self.state.pointee.capacity = Self.chunkBytes
            self.state.pointee.total = Self.chunkBytes
        }
        self.state.pointee.used = 0
        self.state.pointee.isWriting = isWriting
        self.state.pointee.isOverLimit = false
        self.state.pointee.omitsSignatures = omitsSignatures
        self.state.pointee.cutText = nil
    }

    /// True after a message needed more than the limit.
    var isOverLimit: Bool { self.state.pointee.isOverLimit }

    /// Whether to omit the fields that each signing changes: signing dates, JWS, device verification.
    var omitsSignatures: Bool { self.state.pointee.omitsSignatures }

    /// Written into positions that have none.
    var epoch: UInt32 {
        get { self.state.pointee.epoch }
        nonmutating set { self.state.pointee.epoch = newValue }
    }

    /// The copy of the first text with a NUL: C ends it there, so a request with it must not be sent.
    var cutText: UnsafeRawPointer? { self.state.pointee.cutText }

    /// Bytes used, if one chunk was enough; nil for larger messages.
    var usedBytesOfOneChunk: Int? { self.state.pointee.full.isEmpty ? self.state.pointee.used : nil }

    /// Bytes held.
    var totalBytes: Int { self.state.pointee.total }

    fileprivate static func take(
        _ count: Int, from state: UnsafeMutablePointer<State>
    ) -> UnsafeMutableRawPointer? {
        let start = (state.pointee.used &+ 15) & ~15
        if count <= state.pointee.capacity &- start {
            state.pointee.used = start &+ count
            return state.pointee.chunk + start
        }
        return Self.grow(count, state)
    }

    @inline(never)
    private static func grow(_ count: Int, _ state: UnsafeMutablePointer<State>) -> UnsafeMutableRawPointer? {
        let wanted = max(count, min(state.pointee.capacity * 2, Self.chunkBytesMax))
        let left = state.pointee.limit - state.pointee.total
        var capacity = wanted
        if wanted > left {
            state.pointee.isOverLimit = count > left
            guard count <= left || state.pointee.isWriting else { return nil }
            capacity = count
        }
        state.pointee.full.append(state.pointee.chunk)
        state.pointee.chunk = .allocate(byteCount: max(capacity, 16), alignment: 16)
        state.pointee.capacity = capacity
        state.pointee.total += capacity
        state.pointee.used = count
        return state.pointee.chunk
    }

    /// Memory for messages that we write: never refused.
    private func take(_ count: Int) -> UnsafeMutableRawPointer {
        guard let memory = Self.take(count, from: self.state) else {
            preconditionFailure("the arena refused \(count) bytes to a writer")
        }
        return memory
    }
}

/// At file scope, because protobuf-c calls it as a C function.
private func allocateInArena(_ data: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? {
    Arena.take(count, from: data!.assumingMemoryBound(to: Arena.State.self))
}

// MARK: Filling structures

extension Arena {
    /// A structure with its defaults, then filled by `fill`.
    @inline(__always)
    func message<C: CMessage>(_ fill: (UnsafeMutablePointer<C>) -> Void) -> UnsafeMutablePointer<C> {
        let message = self.take(MemoryLayout<C>.size).bindMemory(to: C.self, capacity: 1)
        C.prepare(message)
        fill(message)
        return message
    }

    /// A NUL-terminated copy for C. C ends the text at a NUL inside; the codec refuses a request with one.
    func text(_ string: String) -> UnsafeMutablePointer<CChar> {
        let utf8 = string.utf8Span.span
        let memory = self.take(utf8.count &+ 1)
        utf8.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
        }
        memory.storeBytes(of: 0, toByteOffset: utf8.count, as: UInt8.self)
        let text = memory.assumingMemoryBound(to: CChar.self)
        if strlen(text) != utf8.count, self.state.pointee.cutText == nil {
            self.state.pointee.cutText = UnsafeRawPointer(memory)
        }
        return text
    }

    func bytes(_ bytes: [UInt8]) -> ProtobufCBinaryData {
        guard !bytes.isEmpty else { return ProtobufCBinaryData(len: 0, data: nil) }
        let memory = self.take(bytes.count).bindMemory(to: UInt8.self, capacity: bytes.count)
        bytes.withUnsafeBufferPointer { memory.initialize(from: $0.baseAddress!, count: $0.count) }
        return ProtobufCBinaryData(len: bytes.count, data: memory)
    }

    func texts(_ strings: [String]) -> (Int, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        self.items(strings) { self.text($0) }
    }

    func values<C: CEnumeration>(_ values: [some OpenEnumeration]) -> (Int, UnsafeMutablePointer<C>?) {
        self.items(values) { C($0) }
    }

    /// Numbers of a fixed width, as they are.
    func column<Value: FixedWidthInteger & BitwiseCopyable>(_ values: [Value]) -> (Int, UnsafeMutablePointer<Value>?) {
        guard !values.isEmpty else { return (0, nil) }
        let memory = self.take(values.count * MemoryLayout<Value>.stride).bindMemory(
            to: Value.self, capacity: values.count)
        memory.initialize(from: values, count: values.count)
        return (values.count, memory)
    }

    func list<Value, C: CMessage>(
        _ values: [Value], _ fill: (Value, UnsafeMutablePointer<C>) -> Void
    ) -> (Int, UnsafeMutablePointer<UnsafeMutablePointer<C>?>?) {
        self.items(values) { value in self.message { fill(value, $0) } }
    }

    private func items<Value, Item>(
        _ values: [Value], _ make: (Value) -> Item
    ) -> (Int, UnsafeMutablePointer<Item>?) {
        guard !values.isEmpty else { return (0, nil) }
        let memory = self.take(values.count * MemoryLayout<Item>.stride).bindMemory(
            to: Item.self, capacity: values.count)
        for index in values.indices { (memory + index).initialize(to: make(values[index])) }
        return (values.count, memory)
    }
}

extension CEnumeration {
    init(_ value: some OpenEnumeration) {
        self.init(rawValue: UInt32(bitPattern: value.rawValue))
    }
}

// MARK: Reading structures

extension OpenEnumeration {
    init(_ value: some CEnumeration) {
        self.init(rawValue: Int32(bitPattern: value.rawValue))
    }
}

extension String {
    /// Text that the scan has found well-formed.
    init(wire text: UnsafeMutablePointer<CChar>?) {
        if let text, text.pointee != 0 { self.init(cString: text) } else { self.init() }
    }
}

extension [UInt8] {
    init(_ data: ProtobufCBinaryData) {
        self.init(UnsafeBufferPointer(start: data.data, count: data.data == nil ? 0 : data.len))
    }
}

/// A nested message, or nil if it is absent.
@inline(__always)
func read<C: CMessage, Value>(
    _ message: UnsafeMutablePointer<C>?, _ make: (UnsafeMutablePointer<C>) -> Value
) -> Value? {
    guard let message else { return nil }
    return make(message)
}

func readList<C: CMessage, Value>(
    _ count: Int, _ messages: UnsafeMutablePointer<UnsafeMutablePointer<C>?>?,
    _ make: (UnsafeMutablePointer<C>) -> Value
) -> [Value] {
    UnsafeBufferPointer(start: messages, count: count).map { make($0!) }
}

func readTexts(_ count: Int, _ texts: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String] {
    UnsafeBufferPointer(start: texts, count: count).map { String(wire: $0) }
}

func readValues<C: CEnumeration, Value: OpenEnumeration>(_ count: Int, _ values: UnsafeMutablePointer<C>?) -> [Value] {
    UnsafeBufferPointer(start: values, count: count).map { Value($0) }
}

func readColumn<Value: FixedWidthInteger & BitwiseCopyable>(
    _ count: Int, _ values: UnsafeMutablePointer<Value>?
) -> [Value] {
    Array(UnsafeBufferPointer(start: values, count: count))
}

/// Values whose reading may refuse.
func readEach<C: CMessage, Value>(
    _ count: Int, _ messages: UnsafeMutablePointer<UnsafeMutablePointer<C>?>?,
    _ make: (UnsafeMutablePointer<C>) throws(MessageError) -> Value
) throws(MessageError) -> [Value] {
    var values: [Value] = []
    for message in UnsafeBufferPointer(start: messages, count: count) { values.append(try make(message!)) }
    return values
}

/// Values that this version knows; a newer server may list others.
func readKnown<C: CMessage, Value>(
    _ count: Int, _ messages: UnsafeMutablePointer<UnsafeMutablePointer<C>?>?,
    _ make: (UnsafeMutablePointer<C>) throws(MessageError) -> Value
) -> [Value] {
    UnsafeBufferPointer(start: messages, count: count).compactMap { try? make($0!) }
}

/// Nil for an empty value.
func notBlank(_ text: String) -> String? { text.isEmpty ? nil : text }
func notBlank(_ instant: Instant) -> Instant? { instant.milliseconds == 0 ? nil : instant }
func notBlank<Value: OpenEnumeration>(_ value: Value) -> Value? { value.rawValue == 0 ? nil : value }
