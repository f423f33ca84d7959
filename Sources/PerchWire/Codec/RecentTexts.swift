import PerchBase

/// A cache of texts that requests repeat: the names of apps and products. A recent text is compared, which costs a few
/// words, instead of checked, decoded and allocated.
///
/// A hash table of fixed size by a text's first and last bytes; a new text replaces the old one in its slot. A handle,
/// like `OutputBuffer`: `MessageCodec` owns it and destroys it.
struct RecentTexts {
    private let texts: UnsafeMutablePointer<String>
    /// Changes whenever another text takes a place.
    private let versions: UnsafeMutablePointer<UInt32>
    /// The bytes of each text, by slot: equal bytes are valid UTF-8, because these were.
    private let memory: UnsafeMutableRawPointer

    init() {
        precondition(Limits.recentTexts.nonzeroBitCount == 1, "places are found by the bits of a number")
        self.texts = .allocate(capacity: Limits.recentTexts)
        self.texts.initialize(repeating: "", count: Limits.recentTexts)
        self.versions = .allocate(capacity: Limits.recentTexts)
        self.versions.initialize(repeating: 0, count: Limits.recentTexts)
        self.memory = .allocate(byteCount: Limits.recentTexts * Limits.recentTextBytesMax, alignment: 64)
    }

    func destroy() {
        self.texts.deinitialize(count: Limits.recentTexts)
        self.texts.deallocate()
        self.versions.deallocate()
        self.memory.deallocate()
    }

    /// The text of these bytes; nil for an empty range.
    func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard let base = bytes.baseAddress, (8...Limits.recentTextBytesMax).contains(bytes.count) else {
            return String(checking: bytes)
        }
        let place = Self.place(of: base, bytes.count)
        let kept = self.memory + place * Limits.recentTextBytesMax
        if self.texts[place].utf8.count == bytes.count, Self.areEqual(kept, base, bytes.count) {
            return self.texts[place]
        }
        return self.keep(bytes, base, at: place) ? self.texts[place] : nil
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, _ base: UnsafeRawPointer, at place: Int) -> Bool {
        guard let text = String(checking: bytes) else { return false }
        self.texts[place] = text
        self.versions[place] &+= 1
        (self.memory + place * Limits.recentTextBytesMax).copyMemory(from: base, byteCount: bytes.count)
        return true
    }

    /// Where these bytes stand as a text; nil where they are none, or of a length that is not kept.
    func place(of bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress, (1...Limits.recentTextBytesMax).contains(bytes.count) else { return nil }
        let place = Self.place(of: base, bytes.count)
        let kept = self.memory + place * Limits.recentTextBytesMax
        if self.texts[place].utf8.count == bytes.count, Self.areEqual(kept, base, bytes.count) { return place }
        return self.keep(bytes, base, at: place) ? place : nil
    }

    /// A text at its place, as long as the place has this version.
    subscript(place: Int) -> String { self.texts[place] }
    func version(of place: Int) -> UInt32 { self.versions[place] }

    @inline(__always)
    private static func place(of base: UnsafeRawPointer, _ count: Int) -> Int {
        let (first, last): (UInt64, UInt64)
        if count >= 8 {
            first = base.loadUnaligned(as: UInt64.self)
            last = base.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else {
            first = Self.short(base, count)
            last = first
        }
        let mixed = (first ^ (last << 7 | last >> 57) ^ UInt64(count)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> UInt64(64 - Limits.recentTexts.trailingZeroBitCount))
    }

    /// Fewer than eight bytes as one number.
    @inline(__always)
    private static func short(_ base: UnsafeRawPointer, _ count: Int) -> UInt64 {
        var word: UInt64 = 0
        for offset in 0..<count { word = word << 8 | UInt64(base.load(fromByteOffset: offset, as: UInt8.self)) }
        return word
    }

    /// For eight bytes or more: compares eight at a time; the last eight overlap if the length is no multiple.
    @inline(__always)
    private static func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
        guard count >= 8 else { return Self.short(left, count) == Self.short(right, count) }
        func differ(at offset: Int) -> Bool {
            left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        var offset = 0
        while offset < count - 8 {
            if differ(at: offset) { return false }
            offset += 8
        }
        return !differ(at: count - 8)
    }
}

extension String {
    /// The text of these bytes; nil if they are not UTF-8 or contain a NUL.
    init?(checking bytes: UnsafeRawBufferPointer) {
        do {
            try bytes.bytes.checkText()
        } catch {
            return nil
        }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
