/// Writes values in the store's own form: the counterpart of `ByteReader`.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []
    /// The form that is written: see `BlobKey.Kind`.
    let form: UInt8
    /// The form that the values need; greater than `form` if something could not be written.
    private(set) var neededForm: UInt8 = 0

    package init(capacity: Int = 0) {
        self.init(capacity: capacity, form: .max)
    }

    init(capacity: Int = 0, form: UInt8) {
        self.form = form
        self.bytes.reserveCapacity(capacity)
    }

    /// Whether fields that `form` added are written. `isNeeded`: one of them has another value than readers of earlier forms assume.
    mutating func has(form: UInt8, isNeeded: Bool) -> Bool {
        if isNeeded { self.neededForm = max(self.neededForm, form) }
        return self.form >= form
    }

    package mutating func write(byte: UInt8) { self.bytes.append(byte) }

    /// A kind that readers of forms before `form` do not know.
    mutating func write(byte: UInt8, since form: UInt8) {
        self.neededForm = max(self.neededForm, form)
        self.bytes.append(byte)
    }

    /// Seven bits a byte, lowest first, and no byte more than needed.
    package mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func write(_ value: UInt32) { self.write(UInt64(value)) }

    /// Zigzag, so that small numbers of either sign are short.
    package mutating func write(_ value: Int64) {
        self.write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    package mutating func write(_ value: Int32) { self.write(Int64(value)) }

    package mutating func write(_ value: Bool) { self.bytes.append(value ? 1 : 0) }

    /// The number of bytes, then the bytes.
    package mutating func write(_ value: [UInt8]) {
        self.write(UInt64(value.count))
        self.bytes.append(contentsOf: value)
    }

    package mutating func write(_ value: String) {
        var value = value
        value.withUTF8 { text in
            self.write(UInt64(text.count))
            self.bytes.append(contentsOf: text)
        }
    }

    /// Eight bytes, highest first: for random-looking numbers, where a varint would be longer.
    package mutating func write(fixed value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { self.bytes.append(contentsOf: $0) }
    }

    package mutating func write(fixed value: UInt32) {
        withUnsafeBytes(of: value.bigEndian) { self.bytes.append(contentsOf: $0) }
    }

    mutating func write(_ value: some StoreCoded) { value.write(to: &self) }

    mutating func write<Value: StoreCoded>(_ value: Value?) {
        self.write(value != nil)
        if let value { value.write(to: &self) }
    }

    mutating func write<Value: StoreCoded>(_ values: [Value]) {
        self.write(UInt64(values.count))
        for value in values { value.write(to: &self) }
    }
}
