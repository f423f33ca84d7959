extension Collection<UInt8> {
    /// The bytes without a byte order mark of UTF-8 in front. Some editors write one, and it belongs to no text.
    package var withoutByteOrderMark: SubSequence {
        self.starts(with: [0xEF, 0xBB, 0xBF]) ? self.dropFirst(3) : self[...]
    }
}
