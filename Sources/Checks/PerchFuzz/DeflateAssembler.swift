/// Assembles compressed bytes (RFC 1950 and 1951) from arbitrary bytes as instructions, because a fuzzer's mutations of
/// zlib's output seldom pass the checksum. A reader must produce exactly `plain`.
///
///     0…127       literals follow, one more than the number
///     128…253     copy: a byte of length (3 to 258), two bytes of distance within the output so far
///     254         end the block, begin another
///     255         an uncompressed block: the next byte is its length
struct DeflateAssembler {
    private(set) var plain: [UInt8] = []
    private var bits = BitWriter()

    /// `plainMax` bounds the output: output beyond the tested limit costs time and shows nothing.
    init(_ instructions: ArraySlice<UInt8>, plainMax: Int) {
        var rest = instructions
        self.beginBlock(isLast: false)
        while let instruction = rest.popFirst(), self.plain.count <= plainMax {
            switch instruction {
            case ..<128:
                for byte in rest.prefix(Int(instruction) + 1) { self.literal(byte) }
                rest = rest.dropFirst(Int(instruction) + 1)
            case ..<254:
                let operands = Array(rest.prefix(3)) + [0, 0, 0]
                rest = rest.dropFirst(3)
                guard !self.plain.isEmpty else { continue }
                let back = Int(operands[1]) << 8 | Int(operands[2])
                self.copy(3 + Int(operands[0]), from: 1 + back % min(self.plain.count, 32_768))
            case 254:
                self.symbol(256)
                self.beginBlock(isLast: false)
            default:
                let bytes = rest.dropFirst().prefix(Int(rest.first ?? 0))
                rest = rest.dropFirst(1 + bytes.count)
                self.symbol(256)
                self.stored(Array(bytes))
                self.beginBlock(isLast: false)
            }
        }
        self.symbol(256)
        self.beginBlock(isLast: true)
        self.symbol(256)
    }

    /// Of one block after the other, between a header and the checksum.
    var message: [UInt8] {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in self.plain {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        let checksum = high << 16 | low
        return [0x78, 0x9C] + self.bits.whole + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (24 - 8 * $0)) }
    }

    /// With the codes that the format fixes.
    private mutating func beginBlock(isLast: Bool) {
        self.bits.put(isLast ? 1 : 0, 1)
        self.bits.put(1, 2)
    }

    private mutating func stored(_ bytes: [UInt8]) {
        self.bits.put(0, 3)
        self.bits.align()
        self.bits.put(UInt32(bytes.count), 16)
        self.bits.put(UInt32(~UInt16(bytes.count)), 16)
        for byte in bytes { self.bits.put(UInt32(byte), 8) }
        self.plain += bytes
    }

    private mutating func literal(_ byte: UInt8) {
        self.symbol(UInt32(byte))
        self.plain.append(byte)
    }

    private mutating func symbol(_ symbol: UInt32) {
        switch symbol {
        case ..<144: self.bits.putCode(0x30 + symbol, 8)
        case ..<256: self.bits.putCode(0x190 + symbol - 144, 9)
        case ..<280: self.bits.putCode(symbol - 256, 7)
        default: self.bits.putCode(0xC0 + symbol - 280, 8)
        }
    }

    private mutating func copy(_ length: Int, from distance: Int) {
        let more = UInt32(length - 3)
        if length == 258 {
            self.symbol(285)
        } else if more < 8 {
            self.symbol(257 + more)
        } else {
            let power = UInt32(31 - more.leadingZeroBitCount)
            self.symbol(257 + 4 * (power - 1) + (more >> (power - 2) & 3))
            self.bits.put(more & ((1 << (power - 2)) - 1), Int(power - 2))
        }
        let back = UInt32(distance - 1)
        if back < 4 {
            self.bits.putCode(back, 5)
        } else {
            let power = UInt32(31 - back.leadingZeroBitCount)
            self.bits.putCode(2 * power + (back >> (power - 1) & 1), 5)
            self.bits.put(back & ((1 << (power - 1)) - 1), Int(power - 1))
        }
        for _ in 0..<length { self.plain.append(self.plain[self.plain.count - distance]) }
    }

    /// Numbers come with their low bit first, codes with their high one.
    private struct BitWriter {
        private var bytes: [UInt8] = []
        private var pending: UInt32 = 0
        private var count = 0

        mutating func put(_ bits: UInt32, _ width: Int) {
            for place in 0..<width { self.put(bits >> UInt32(place)) }
        }

        mutating func putCode(_ code: UInt32, _ width: Int) {
            for place in (0..<width).reversed() { self.put(code >> UInt32(place)) }
        }

        private mutating func put(_ bit: UInt32) {
            self.pending |= (bit & 1) << UInt32(self.count)
            self.count += 1
            if self.count == 8 { self.align() }
        }

        mutating func align() {
            guard self.count > 0 else { return }
            self.bytes.append(UInt8(self.pending))
            (self.pending, self.count) = (0, 0)
        }

        var whole: [UInt8] { self.count > 0 ? self.bytes + [UInt8(self.pending)] : self.bytes }
    }
}
