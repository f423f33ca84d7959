import PerchWire

/// The scan before protobuf-c, protobuf-c, and our values: every message of the contract, by the first byte.
///
/// Encodes a decoded message and decodes it again: both encodings must be equal.
final class MessagesTarget: FuzzTarget {
    static let name = "messages"
    static let reaches = ["PerchWire/Codec", "PerchWire/Messages", "CPerchProto"]

    private let codec = MessageCodec()

    /// Requests, responses, then the messages of the transport.
    private static let transport = 6

    static func seeds() -> [[UInt8]] {
        // The empty message of each kind; what a message may consist of is found from there.
        (0..<(Method.allCases.count * 2 + Self.transport)).map { [UInt8($0), 10, 2, 8, 1, 16, 1, 26, 0] }
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let kind = bytes.first else { return false }
        let payload = Array(bytes.dropFirst())
        let methods = Method.allCases
        let index = Int(kind) % (methods.count * 2 + Self.transport)
        if index < methods.count {
            return self.thereAndBack(payload) { (codec, bytes) throws(MessageError) in
                [UInt8](try codec.encode(try codec.decodeRequest(methods[index], bytes.span.bytes)).message)
            }
        } else if index < methods.count * 2 {
            let method = methods[index - methods.count]
            return self.thereAndBack(payload) { (codec, bytes) throws(MessageError) in
                [UInt8](try codec.encode(try codec.decodeResponse(method, bytes.span.bytes)).message)
            }
        } else if index == methods.count * 2 + Self.transport - 1 {
            // Read in place, and never written by a server.
            return (try? self.codec.decodeCall(payload.span.bytes).path) != nil
        } else {
            return self.thereAndBack(payload) { (codec, bytes) throws(MessageError) in
                switch index - methods.count * 2 {
                case 0: [UInt8](try codec.encode(try codec.decodeHello(bytes.span.bytes)).message)
                case 1: [UInt8](try codec.encode(try codec.decodeWelcome(bytes.span.bytes)).message)
                case 2: [UInt8](try codec.encode(try codec.decodeStatus(bytes.span.bytes)).message)
                case 3: [UInt8](try codec.encode(try codec.decodeBeat(bytes.span.bytes)).message)
                default: [UInt8](try codec.encode(try codec.decodeDrain(bytes.span.bytes)).message)
                }
            }
        }
    }

    private func thereAndBack(
        _ bytes: [UInt8], _ pass: (MessageCodec, [UInt8]) throws(MessageError) -> [UInt8]
    ) -> Bool {
        do throws(MessageError) {
            let once = try pass(self.codec, bytes)
            do throws(MessageError) {
                hold(try pass(self.codec, once) == once, "a message that we wrote is read as another")
            } catch {
                hold(false, "a message that we wrote is refused: \(error)")
            }
            return true
        } catch {
            hold(!error.description.isEmpty, "a refusal says nothing")
            return false
        }
    }
}
