public import CPerchMachine

/// Has the cache fetch what is looked at soon, while something else is done.
///
/// Among ten thousand accounts a line of memory is 0.1 to 0.4 us away, and a change looks at thirty of them, one behind the
/// other. Where several changes are at hand, all of them can be on their way at once: step by step, for all of them each step.
/// A hint, and nothing else: no reference is counted, since that alone would wait for the line.
public enum Prefetch {
    /// What stands at an address, whosever it is: each line that it has a part of.
    @inlinable @inline(__always)
    public static func bytes(_ address: UnsafeRawPointer, _ count: Int) {
        var offset = 0
        while offset < count {
            perch_prefetch(address + offset)
            offset &+= 64
        }
        // It does not begin where a line begins.
        perch_prefetch(address + (count &- 1))
    }

    /// The object that a reference refers to which is kept at an address: its first bytes. Nothing where there is none.
    @inlinable @inline(__always)
    public static func object(at place: UnsafeRawPointer, _ count: Int) {
        if let object = place.load(as: UnsafeRawPointer?.self) { Self.bytes(object, count) }
    }

    /// Where the fields of an object begin, behind what the runtime keeps of it.
    @inlinable public static var headerBytes: Int { 16 }

    /// Where the place of an array's next element will be, of which the first bytes are there already.
    @inlinable @inline(__always)
    public static func end(ofArrayAt place: UnsafeRawPointer, stride: Int) {
        guard let array = place.load(as: UnsafeRawPointer?.self) else { return }
        let count = array.load(fromByteOffset: Self.headerBytes, as: Int.self)
        Self.bytes(array + (2 * Self.headerBytes + count &* stride), stride)
    }
}
