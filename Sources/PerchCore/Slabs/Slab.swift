import PerchBase

/// Plain structs in one block of memory, referred to by index: no reference counts, no boxes, no copy on write.
///
/// Owned by one loop. An index is valid from `insert` to `remove`. `generation` distinguishes successive elements of a
/// slot, for holders of an old index.
///
/// In `GrowingMemory`: memory beyond `extent` was never touched and uses no pages yet.
struct Slab<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var marks: UnsafeMutablePointer<UInt32>
    private(set) var capacity: Int32
    /// Slots ever used.
    private(set) var extent: Int32 = 0
    private(set) var count: Int32 = 0
    /// The last freed slot, which contains the one freed before it, and so on; -1: none is free.
    private var firstFree: Int32 = -1

    init(capacity: Int32 = 64) {
        precondition(MemoryLayout<Element>.size >= MemoryLayout<Int32>.size, "a free slot has no room for the next one")
        self.capacity = capacity
        self.base = GrowingMemory.resized(nil, from: 0, to: Int(capacity))
        self.marks = GrowingMemory.resized(nil, from: 0, to: Int(capacity))
    }

    deinit {
        GrowingMemory.free(self.base, Int(self.capacity))
        GrowingMemory.free(self.marks, Int(self.capacity))
    }

    /// Odd while a slot is used, even while it is free.
    @inline(__always)
    func generation(_ index: Int32) -> UInt32 { self.marks[Int(index)] }

    @inline(__always)
    func isTaken(_ index: Int32) -> Bool {
        index >= 0 && index < self.extent && self.marks[Int(index)] & 1 == 1
    }

    @inline(__always)
    func isTaken(_ index: Int32, generation: UInt32) -> Bool {
        self.isTaken(index) && self.marks[Int(index)] == generation
    }

    subscript(index: Int32) -> Element {
        @inline(__always)
        unsafeAddress {
            assert(self.isTaken(index), "slot \(index) is free")
            return UnsafePointer(self.base + Int(index))
        }
        @inline(__always)
        unsafeMutableAddress {
            assert(self.isTaken(index), "slot \(index) is free")
            return self.base + Int(index)
        }
    }

    /// Prefetches a slot: see `Prefetch`.
    @inline(__always)
    func prefetch(_ index: Int32) {
        Prefetch.bytes(self.base + Int(index), MemoryLayout<Element>.stride)
    }

    mutating func insert(_ element: Element) -> Int32 {
        let index: Int32
        if self.firstFree >= 0 {
            index = self.firstFree
            self.firstFree = self.nextFree(index).load(as: Int32.self)
        } else {
            if self.extent == self.capacity { self.grow() }
            index = self.extent
            self.extent += 1
            (self.marks + Int(index)).initialize(to: 0)
        }
        self.marks[Int(index)] &+= 1
        (self.base + Int(index)).initialize(to: element)
        self.count += 1
        return index
    }

    mutating func remove(_ index: Int32) {
        precondition(self.isTaken(index), "slot \(index) was freed twice")
        self.marks[Int(index)] &+= 1
        self.nextFree(index).storeBytes(of: self.firstFree, as: Int32.self)
        self.firstFree = index
        self.count -= 1
    }

    /// The place in a free slot of the next free one.
    @inline(__always)
    private func nextFree(_ index: Int32) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self.base + Int(index))
    }

    private mutating func grow() {
        let before = Int(self.capacity)
        self.capacity *= 2
        self.base = GrowingMemory.resized(self.base, from: before, to: Int(self.capacity))
        self.marks = GrowingMemory.resized(self.marks, from: before, to: Int(self.capacity))
    }

    /// Bytes of one more element: itself, and its generation.
    static var bytesPerElement: Int { MemoryLayout<Element>.stride + MemoryLayout<UInt32>.stride }

    /// Bytes of this slab that were ever used; memory beyond them is untouched.
    var memoryBytes: Int { Int(self.extent) * Self.bytesPerElement }
}
