import CPerchProto

/// A message's description by protobuf-c.
typealias MessageDescription = UnsafePointer<ProtobufCMessageDescriptor>

/// One field of a message, read from protobuf-c's description.
struct FieldDescription {
    let pointer: UnsafePointer<ProtobufCFieldDescriptor>

    /// How many values the field has, and whether absence differs from the default.
    enum Presence {
        /// A value always; the default means absent.
        case implicit
        /// Zero or one value.
        case explicit
        /// One of several fields, of which one is set at most.
        case oneof
        case repeated
    }

    var number: UInt32 { self.pointer.pointee.id }
    var type: ProtobufCType { self.pointer.pointee.type }

    /// The name in the contract: `bundle_id`.
    var name: String { String(cString: self.pointer.pointee.name) }

    /// The name in JSON, by protobuf's rule: `bundleId`.
    var jsonName: String {
        var result = ""
        var raises = false
        for letter in self.name {
            if letter == "_" {
                raises = true
            } else {
                result += raises ? letter.uppercased() : String(letter)
                raises = false
            }
        }
        return result
    }

    var presence: Presence {
        if self.pointer.pointee.label == PROTOBUF_C_LABEL_REPEATED { return .repeated }
        if self.pointer.pointee.flags & PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue != 0 { return .oneof }
        return self.pointer.pointee.label == PROTOBUF_C_LABEL_NONE && self.type != PROTOBUF_C_TYPE_MESSAGE
            ? .implicit : .explicit
    }

    /// The message of a message field.
    var message: MessageDescription {
        self.pointer.pointee.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
    }

    /// The enumeration of an enumeration field.
    var enumeration: UnsafePointer<ProtobufCEnumDescriptor> {
        self.pointer.pointee.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self)
    }

    /// Whether the values of a repeated field are packed into one length-delimited field.
    var isPacked: Bool {
        self.presence == .repeated && self.type != PROTOBUF_C_TYPE_STRING && self.type != PROTOBUF_C_TYPE_BYTES
            && self.type != PROTOBUF_C_TYPE_MESSAGE
    }

    /// The number of values in a structure. A field without presence counts as one value.
    func count(in structure: UnsafeRawPointer) -> Int {
        let quantifier = structure + Int(self.pointer.pointee.quantifier_offset)
        switch self.presence {
        case .implicit: return 1
        case .repeated: return quantifier.load(as: Int.self)
        case .oneof: return quantifier.load(as: UInt32.self) == self.number ? 1 : 0
        case .explicit:
            let member = structure + Int(self.pointer.pointee.offset)
            if self.type == PROTOBUF_C_TYPE_MESSAGE || self.type == PROTOBUF_C_TYPE_STRING {
                return member.load(as: UnsafeRawPointer?.self) == nil ? 0 : 1
            }
            return quantifier.load(as: Int32.self) != 0 ? 1 : 0
        }
    }

    /// Where value `index` of the field lies.
    func value(_ index: Int, in structure: UnsafeRawPointer) -> UnsafeRawPointer {
        let member = structure + Int(self.pointer.pointee.offset)
        guard self.presence == .repeated else { return member }
        return member.load(as: UnsafeRawPointer.self) + index * self.stride
    }

    private var stride: Int {
        switch self.type {
        case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_MESSAGE: MemoryLayout<UnsafeRawPointer>.stride
        case PROTOBUF_C_TYPE_BYTES: MemoryLayout<ProtobufCBinaryData>.stride
        case PROTOBUF_C_TYPE_BOOL, PROTOBUF_C_TYPE_ENUM, PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32,
            PROTOBUF_C_TYPE_SFIXED32, PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_FLOAT:
            4
        default: 8
        }
    }
}

extension UnsafePointer<ProtobufCMessageDescriptor> {
    /// The fields of the message, by their numbers.
    var fields: some Collection<FieldDescription> {
        (0..<Int(self.pointee.n_fields)).lazy.map { FieldDescription(pointer: self.pointee.fields + $0) }
    }

    var fullName: String { String(cString: self.pointee.name) }

    /// The path of the field that holds a text, by the contract's names: `order.product_id`.
    func path(to text: UnsafeRawPointer, in structure: UnsafeRawPointer) -> String? {
        for field in self.fields where field.type == PROTOBUF_C_TYPE_STRING || field.type == PROTOBUF_C_TYPE_MESSAGE {
            for index in 0..<field.count(in: structure) {
                guard let value = field.value(index, in: structure).load(as: UnsafeRawPointer?.self) else { continue }
                if value == text { return field.name }
                if field.type == PROTOBUF_C_TYPE_MESSAGE, let inner = field.message.path(to: text, in: value) {
                    return "\(field.name).\(inner)"
                }
            }
        }
        return nil
    }
}

extension UnsafePointer<ProtobufCEnumDescriptor> {
    /// The name of a number; nil for one that this version does not know.
    func name(of number: Int32) -> String? {
        for index in 0..<Int(self.pointee.n_values) where self.pointee.values[index].value == number {
            return String(cString: self.pointee.values[index].name)
        }
        return nil
    }

    var names: [(name: String, number: Int32)] {
        (0..<Int(self.pointee.n_values)).map {
            (String(cString: self.pointee.values[$0].name), self.pointee.values[$0].value)
        }
    }
}
