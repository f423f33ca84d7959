import CPerchProto

/// A structure that protobuf-c generated.
protocol CMessage {
    var base: ProtobufCMessage { get }
    init()
    /// Sets every field to its default, and the pointer to the message's description.
    static func prepare(_ message: UnsafeMutablePointer<Self>)
}

extension CMessage {
    /// protobuf-c's description of this message: its fields, their numbers and types.
    static var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        var message = Self()
        Self.prepare(&message)
        return message.base.descriptor
    }
}

/// An enumeration that protobuf-c generated. Any number can be stored in it.
protocol CEnumeration {
    init(rawValue: UInt32)
    var rawValue: UInt32 { get }
}
