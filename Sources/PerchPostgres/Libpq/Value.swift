/// A parameter of a statement, in PostgreSQL's binary form.
enum Value {
    case null
    case integer(Int64)
    case bytes([UInt8])
    /// One column of many rows.
    case integers([Int64?])
    case blobs([[UInt8]])

    /// A number to search for. Numbers from 2^63 on are never stored (see `stored`), and compare as 2^63-1.
    static func number(_ value: UInt64) -> Self { .integer(Int64(clamping: value)) }

    static func text(_ value: String) -> Self { .bytes(Array(value.utf8)) }
}

extension Int64 {
    /// A number to store. Traps from 2^63-1 on: no counter of the store comes near.
    init(stored value: UInt64) {
        precondition(value < UInt64(Int64.max), "number \(value) cannot be stored, the greatest is 2^63-2")
        self = Int64(value)
    }
}

/// Parameters of one command, one after another in one buffer.
struct Parameters {
    private(set) var bytes: [UInt8] = []
    private(set) var offsets: [Int32] = []
    /// -1 for null.
    private(set) var lengths: [Int32] = []

    // The types of array elements.
    private static let bigint: Int32 = 20
    private static let bytea: Int32 = 17

    init(_ values: [Value]) {
        for value in values {
            let start = self.bytes.count
            self.offsets.append(Int32(start))
            if case .null = value {
                self.lengths.append(-1)
                continue
            }
            self.append(value)
            self.lengths.append(Int32(self.bytes.count - start))
        }
    }

    private mutating func append(_ value: Value) {
        switch value {
        case .null: break
        case .integer(let number): self.append(number)
        case .bytes(let blob): self.bytes += blob
        case .integers(let column):
            self.beginArray(of: Self.bigint, count: column.count, hasNull: column.contains { $0 == nil })
            for number in column {
                if let number {
                    self.append(Int32(8))
                    self.append(number)
                } else {
                    self.append(Int32(-1))
                }
            }
        case .blobs(let column):
            self.beginArray(of: Self.bytea, count: column.count, hasNull: false)
            for blob in column {
                self.append(Int32(blob.count))
                self.bytes += blob
            }
        }
    }

    private mutating func beginArray(of type: Int32, count: Int, hasNull: Bool) {
        self.append(Int32(count == 0 ? 0 : 1))
        self.append(Int32(hasNull ? 1 : 0))
        self.append(type)
        guard count > 0 else { return }
        self.append(Int32(count))
        self.append(Int32(1))
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { self.bytes.append(contentsOf: $0) }
    }
}
