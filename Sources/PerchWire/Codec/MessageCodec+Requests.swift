import CPerchProto
import PerchBase

extension MessageCodec {
    /// A purchase order of a test store's customer, if it has the form that every serializer writes. Nil: read it like
    /// any other request.
    package func decodeOrder(_ bytes: borrowing RawSpan) -> OperateRequest? {
        bytes.withUnsafeBytes { QuickReader.operateRequest($0, names: self.names) }
    }

    func request<C: CMessage>(
        _ type: C.Type, _ bytes: borrowing RawSpan
    ) throws(MessageError) -> UnsafeMutablePointer<C> {
        try self.unpack(type, bytes, singularFieldsMax: Limits.protobufSingularFieldsMax)
    }
}
