import CPerchProto
import PerchBase

extension MessageCodec {
    /// An order of a test store's customer, where it is written as every serializer writes it, without the request around
    /// it; nil: it is read as any other request.
    package func decodeOrder(_ bytes: borrowing RawSpan) -> OperateRequest? {
        bytes.withUnsafeBytes { QuickReader.operateRequest($0, names: self.names) }
    }

    func request<C: CMessage>(
        _ type: C.Type, _ bytes: borrowing RawSpan
    ) throws(MessageError) -> UnsafeMutablePointer<C> {
        try self.unpack(type, bytes, singularFieldsMax: Limits.protobufSingularFieldsMax)
    }
}
