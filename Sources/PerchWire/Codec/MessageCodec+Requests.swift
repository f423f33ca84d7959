import CPerchProto
import PerchBase

extension MessageCodec {
    /// A plain order, as every serializer writes it, without copies of its texts; nil for any other request. Valid as long
    /// as `bytes`.
    package func decodeQuickOrder(_ bytes: UnsafeRawBufferPointer, isPurchase: Bool) -> QuickOrder? {
        self.names.flatMap { QuickReader.order(bytes, isPurchase: isPurchase, $0) }
    }

    /// The product of a quick order.
    package func name(at place: Int) -> String { self.names?[place] ?? "" }

    func request<C: CMessage>(
        _ type: C.Type, _ bytes: borrowing RawSpan
    ) throws(MessageError) -> UnsafeMutablePointer<C> {
        try self.unpack(type, bytes, singularFieldsMax: Limits.protobufSingularFieldsMax)
    }
}
