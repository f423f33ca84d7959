/// The reason why bytes are not valid text.
package enum TextFault: Error, Equatable, Sendable {
    case notUTF8(atOffset: Int)
    case containsNUL(atOffset: Int)
}

extension RawSpan {
    /// Throws unless these bytes are well-formed UTF-8 without NUL. C libraries would cut a text at a NUL.
    package func checkText() throws(TextFault) {
        var index = 0
        let count = self.byteCount
        func byte(_ offset: Int) -> UInt8 { self.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self) }
        while index < count {
            // Eight ASCII bytes without NUL at a time: no high bit is set and no byte is zero.
            if count - index >= 8 {
                let word = self.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
                let zeros = (word &- 0x0101_0101_0101_0101) & ~word
                if (word | zeros) & 0x8080_8080_8080_8080 == 0 {
                    index += 8
                    continue
                }
            }
            let lead = byte(index)
            if lead == 0 { throw .containsNUL(atOffset: index) }
            if lead < 0x80 {
                index += 1
                continue
            }
            let (length, floor, ceiling): (Int, UInt8, UInt8)
            switch lead {
            case 0xC2...0xDF: (length, floor, ceiling) = (2, 0x80, 0xBF)
            case 0xE0: (length, floor, ceiling) = (3, 0xA0, 0xBF)
            case 0xE1...0xEC, 0xEE...0xEF: (length, floor, ceiling) = (3, 0x80, 0xBF)
            case 0xED: (length, floor, ceiling) = (3, 0x80, 0x9F)
            case 0xF0: (length, floor, ceiling) = (4, 0x90, 0xBF)
            case 0xF1...0xF3: (length, floor, ceiling) = (4, 0x80, 0xBF)
            case 0xF4: (length, floor, ceiling) = (4, 0x80, 0x8F)
            default: throw .notUTF8(atOffset: index)
            }
            guard index + length <= count, (floor...ceiling).contains(byte(index + 1)) else {
                throw .notUTF8(atOffset: index)
            }
            var follower = 2
            while follower < length {
                guard byte(index + follower) & 0xC0 == 0x80 else { throw .notUTF8(atOffset: index) }
                follower += 1
            }
            index += length
        }
    }
}
