import CPerchProto
import CPerchZlib
import Glibc
import PerchBase
import Testing

@testable import PerchWire

/// An allocator that fails from the n-th request on, reachable from functions at file scope.
private final class Scarce {
    var left: Int
    var taken = 0
    var refused = 0

    init(_ left: Int) { self.left = left }

    func take() -> Bool {
        self.taken += 1
        self.left -= 1
        if self.left < 0 { self.refused += 1 }
        return self.left >= 0
    }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> Scarce {
        Unmanaged<Scarce>.fromOpaque(pointer!).takeUnretainedValue()
    }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

private func takeForZlib(_ scarce: UnsafeMutableRawPointer?, _ count: UInt32, _ size: UInt32)
    -> UnsafeMutableRawPointer?
{
    Scarce.at(scarce).take() ? calloc(Int(count), Int(size)) : nil
}

private func giveBackFromZlib(_ scarce: UnsafeMutableRawPointer?, _ memory: UnsafeMutableRawPointer?) { free(memory) }

private func takeForMessage(_ scarce: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? {
    Scarce.at(scarce).take() ? malloc(count) : nil
}

@Suite struct `the codec without memory` {
    private static func prepare(_ scarce: Scarce) -> (UnsafeMutablePointer<z_stream>) -> Void {
        { stream in
            stream.pointee.zalloc = takeForZlib
            stream.pointee.zfree = giveBackFromZlib
            stream.pointee.opaque = scarce.pointer
        }
    }

    private static let text = Array(String(repeating: "what was bought, and when; ", count: 200).utf8)

    private static func compressed() -> [UInt8] {
        let codec = MessageCodec()
        return Self.text.withUnsafeBytes { [UInt8](codec.compressed($0)!.message) }
    }

    @Test func `a message is not inflated, and says so, whichever of zlib's wishes is refused`() {
        let compressed = Self.compressed()
        var refusals = 0
        for left in 0..<8 {
            let scarce = Scarce(left)
            let inflater = Inflater(prepare: Self.prepare(scarce))
            func inflate() -> Result<[UInt8], InflateError> {
                compressed.withUnsafeBytes { bytes in
                    do throws(InflateError) {
                        return .success([UInt8](try inflater.inflate(bytes, limit: 1 << 20)))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            let first = inflate()
            #expect(first == (scarce.refused == 0 ? .success(Self.text) : .failure(.noMemory)))
            refusals += scarce.refused == 0 ? 0 : 1
            // Memory is available again: the same inflater continues.
            scarce.left = 100
            #expect(inflate() == .success(Self.text))
        }
        #expect(refusals > 0 && refusals < 8)
    }

    @Test func `a message goes plain, whichever of zlib's wishes is refused`() {
        var refusals = 0
        for left in 0..<8 {
            let scarce = Scarce(left)
            let deflater = Deflater(prepare: Self.prepare(scarce))
            func deflate() -> Int? {
                var output = [UInt8](repeating: 0, count: Self.text.count)
                return output.withUnsafeMutableBytes { into in
                    Self.text.withUnsafeBytes { deflater.deflate($0, into: into) }
                }
            }
            let count = deflate()
            #expect((count == nil) == (scarce.refused > 0))
            refusals += count == nil ? 1 : 0
            scarce.left = 100
            #expect(deflate() != nil)
        }
        #expect(refusals > 0 && refusals < 8)
    }

    @Test(arguments: Method.allCases)
    func `a request is refused, whichever of protobuf-c's wishes is`(_ method: PerchWire.Method) throws {
        let codec = MessageCodec()
        var samples = Samples(seed: 5)
        let request = samples.request(method)
        let bytes = [UInt8](try codec.encode(request).message)
        let usual = codec.arena.allocator.pointee
        var left = 0
        while true {
            let scarce = Scarce(left)
            codec.arena.allocator.pointee.alloc = takeForMessage
            codec.arena.allocator.pointee.allocator_data = scarce.pointer
            defer { codec.arena.allocator.pointee = usual }
            do throws(MessageError) {
                #expect(try codec.decodeRequest(method, bytes.span.bytes) == request)
                #expect(scarce.refused == 0, "something was not there, and nobody minded")
                break
            } catch {
                #expect(scarce.refused > 0)
                #expect(!error.description.isEmpty)
            }
            left += 1
            try #require(left < 10_000)
        }
        #expect(left > 0)
        #expect(try codec.decodeRequest(method, bytes.span.bytes) == request, "the codec goes on")
    }
}
