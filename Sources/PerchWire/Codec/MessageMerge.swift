import CPerchProto

/// Rewrites a message so that no nested message comes in pieces.
///
/// If a singular message field comes twice, protobuf merges the two, and the second wins where they disagree.
/// protobuf-c 1.4.1 drops the numbers of the first, and joins lists at quadratic cost. Concatenating the bytes of the
/// pieces means the same, and protobuf-c reads that correctly. No serializer writes such messages, so this code aims at
/// correctness, not speed. `MessageScan` must have accepted the bytes.
struct MessageMerge {
    private typealias Descriptor = UnsafePointer<ProtobufCMessageDescriptor>
    private let bytes: UnsafeRawBufferPointer

    static func merged(
        _ bytes: UnsafeRawBufferPointer, as descriptor: UnsafePointer<ProtobufCMessageDescriptor>
    ) -> [UInt8] {
        MessageMerge(bytes: bytes).message([0..<bytes.count], descriptor)
    }

    private enum Part {
        /// Copied as it is.
        case plain(Range<Int>)
        case message(field: Int, pieces: [Range<Int>])
        /// A later member of the same oneof replaced it.
        case replaced
    }

    private func message(_ pieces: [Range<Int>], _ descriptor: Descriptor) -> [UInt8] {
        var parts: [Part] = []
        /// The index of a singular message field's part in the output, by the field's index.
        var places: [Int: Int] = [:]
        for piece in pieces {
            var reader = ScannedFields(self.bytes, piece)
            while let scanned = reader.next() {
                let index = (0..<Int(descriptor.pointee.n_fields)).first {
                    UInt64(descriptor.pointee.fields[$0].id) == scanned.number
                }
                guard let index else { continue }
                let field = descriptor.pointee.fields[index]
                if field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue != 0 {
                    for (other, place) in places where other != index {
                        let isSameOneof = descriptor.pointee.fields[other].quantifier_offset == field.quantifier_offset
                        if isSameOneof,
                            descriptor.pointee.fields[other].flags & PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue != 0
                        {
                            parts[place] = .replaced
                            places[other] = nil
                        }
                    }
                }
                guard field.type == PROTOBUF_C_TYPE_MESSAGE else {
                    parts.append(.plain(scanned.whole))
                    continue
                }
                if field.label != PROTOBUF_C_LABEL_REPEATED {
                    if let place = places[index], case .message(_, let earlier) = parts[place] {
                        parts[place] = .message(field: index, pieces: earlier + [scanned.range])
                        continue
                    }
                    places[index] = parts.count
                }
                parts.append(.message(field: index, pieces: [scanned.range]))
            }
        }
        var output: [UInt8] = []
        for part in parts {
            switch part {
            case .plain(let range): output.append(contentsOf: self.bytes[range])
            case .replaced: break
            case .message(let index, let pieces):
                let field = descriptor.pointee.fields[index]
                let inner = self.message(
                    pieces, field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self))
                Self.append(UInt64(field.id) << 3 | 2, to: &output)
                Self.append(UInt64(inner.count), to: &output)
                output += inner
            }
        }
        return output
    }

    private static func append(_ value: UInt64, to output: inout [UInt8]) {
        var value = value
        while value > 0x7F {
            output.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: value))
    }
}
