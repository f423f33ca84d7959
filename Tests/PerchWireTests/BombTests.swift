import CPerchZlib
import Glibc
import PerchBase
import Testing

@testable import PerchWire

/// Bytes that zlib has allocated through the hooks, now and at most.
private final class Taken {
    private var sizes: [UnsafeMutableRawPointer: Int] = [:]
    private(set) var most = 0
    private var now = 0

    func take(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let memory = calloc(1, bytes) else { return nil }
        self.sizes[memory] = bytes
        self.now += bytes
        self.most = max(self.most, self.now)
        return memory
    }

    func giveBack(_ memory: UnsafeMutableRawPointer?) {
        guard let memory, let bytes = self.sizes.removeValue(forKey: memory) else { return }
        self.now -= bytes
        free(memory)
    }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> Taken {
        Unmanaged<Taken>.fromOpaque(pointer!).takeUnretainedValue()
    }
}

private func take(_ taken: UnsafeMutableRawPointer?, _ count: UInt32, _ size: UInt32) -> UnsafeMutableRawPointer? {
    Taken.at(taken).take(Int(count) * Int(size))
}

private func giveBack(_ taken: UnsafeMutableRawPointer?, _ memory: UnsafeMutableRawPointer?) {
    Taken.at(taken).giveBack(memory)
}

/// Few bytes that would become many.
private struct Bomb: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var compressed: [UInt8]
    var limit: Int
    var error: InflateError

    static func squeezed(_ plain: [UInt8], level: Int32 = 9) -> [UInt8] {
        var count = compressBound(UInt(plain.count))
        var output = [UInt8](repeating: 0, count: Int(count))
        precondition(compress2(&output, &count, plain, UInt(plain.count), level) == Z_OK)
        return Array(output[..<Int(count)])
    }

    static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var samples = Samples(seed: seed)
        var words = (0..<(count + 7) / 8).map { _ in samples.next() }
        return words.withUnsafeMutableBytes { Array($0.prefix(count)) }
    }

    /// The error for compressed bytes that inflate beyond a limit.
    init(_ name: String, _ plain: [UInt8], limit: Int, level: Int32 = 9) {
        let compressed = Self.squeezed(plain, level: level)
        let byRatio = max(Limits.inflateRatioFreeBytes, compressed.count * Limits.inflateRatioMax)
        precondition(plain.count > min(limit, byRatio), "\(name) is no bomb")
        self.testDescription = "\(name), \(compressed.count) to \(plain.count) bytes, at most \(limit)"
        self.compressed = compressed
        self.limit = limit
        self.error =
            limit <= byRatio
            ? .tooLong(limitBytes: limit) : .ratio(compressedBytes: compressed.count, limitBytes: byRatio)
    }

    /// Forty: four limits, one of them odd, times ten fillings.
    static let all: [Bomb] = [Limits.requestBytesMax, 262_144, 1_000_003, Limits.frameBytesMax].flatMap { limit in
        let more = limit + 1
        let part = Self.noise(600, seed: UInt64(limit))
        func repeated(_ piece: [UInt8], _ count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + piece.count)
            while bytes.count < count { bytes += piece }
            bytes.removeLast(bytes.count - count)
            return bytes
        }
        func mixed(_ noiseBytes: Int, _ zeroBytes: Int) -> [UInt8] {
            repeated(Self.noise(noiseBytes, seed: 7) + [UInt8](repeating: 0, count: zeroBytes), more)
        }
        return [
            Bomb("zeros", [UInt8](repeating: 0, count: more), limit: limit),
            Bomb("zeros, twice as many as allowed", [UInt8](repeating: 0, count: 2 * limit), limit: limit),
            Bomb("one byte over and over", [UInt8](repeating: 0xFF, count: more), limit: limit, level: 1),
            Bomb("two bytes over and over", repeated([1, 2], more), limit: limit),
            Bomb("text over and over", repeated(Array("what was bought, and when; ".utf8), more), limit: limit),
            Bomb("noise over and over", repeated(part, more), limit: limit),
            Bomb("noise and zeros, one to ten", mixed(1_000, 10_000), limit: limit),
            Bomb("noise and zeros, one to fifty", mixed(1_000, 50_000), limit: limit),
            Bomb("noise, which does not compress", Self.noise(more, seed: 3), limit: limit, level: 1),
            Bomb("zeros after whole blocks of noise", part + [UInt8](repeating: 0, count: limit), limit: limit),
        ]
    }
}

@Suite struct `a decompression bomb` {
    @Test func `a decompression bomb is one of forty`() {
        #expect(Bomb.all.count == 40)
        #expect(Set(Bomb.all.map(\.testDescription)).count == 40)
    }

    @Test(arguments: Bomb.all)
    fileprivate func `a decompression bomb costs no more than its limit and 64 KiB, and is refused for what it is`(
        _ bomb: Bomb
    ) throws {
        let taken = Taken()
        let inflater = Inflater { stream in
            stream.pointee.zalloc = take
            stream.pointee.zfree = giveBack
            stream.pointee.opaque = Unmanaged.passUnretained(taken).toOpaque()
        }
        #expect(throws: bomb.error) {
            try bomb.compressed.withUnsafeBytes { _ = try inflater.inflate($0, limit: bomb.limit) }
        }
        // The output has no other size before, and none after.
        #expect(inflater.output.memory.count + taken.most <= max(bomb.limit, Limits.codecBytesKept) + 64 * 1024)
        #expect(inflater.output.memory.count <= max(bomb.limit + 1, Limits.codecBytesKept))
        let plain = [UInt8](repeating: 7, count: 5_000)
        let after = try Bomb.squeezed(plain).withUnsafeBytes { [UInt8](try inflater.inflate($0, limit: bomb.limit)) }
        #expect(after == plain, "the next message is read")
    }
}
