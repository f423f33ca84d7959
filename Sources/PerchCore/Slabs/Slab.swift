/// Plain structs in one piece of memory, referred to by index: no reference counts, no boxes, no copies on write.
///
/// Owned by one loop. An index is valid from `insert` to `remove`; `generation` tells a slot's tenants apart, for
/// whoever kept an index while its tenant may have left.
struct Slab<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var marks: UnsafeMutablePointer<UInt32>
    private(set) var capacity: Int32
    /// Slots ever used.
    private(set) var extent: Int32 = 0
    private(set) var count: Int32 = 0
    private var free: [Int32] = []

    init(capacity: Int32 = 64) {
        self.capacity = capacity
        self.base = .allocate(capacity: Int(capacity))
        self.marks = .allocate(capacity: Int(capacity))
    }

    deinit {
        self.base.deallocate()
        self.marks.deallocate()
    }

    /// Odd while a slot is taken, even while it is free.
    func generation(_ index: Int32) -> UInt32 { self.marks[Int(index)] }

    func isTaken(_ index: Int32) -> Bool {
        index >= 0 && index < self.extent && self.marks[Int(index)] & 1 == 1
    }

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

    mutating func insert(_ element: Element) -> Int32 {
        let index: Int32
        if let reused = self.free.popLast() {
            index = reused
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
        self.free.append(index)
        self.count -= 1
    }

    private mutating func grow() {
        let larger = self.capacity * 2
        let base = UnsafeMutablePointer<Element>.allocate(capacity: Int(larger))
        base.moveInitialize(from: self.base, count: Int(self.extent))
        self.base.deallocate()
        self.base = base
        let marks = UnsafeMutablePointer<UInt32>.allocate(capacity: Int(larger))
        marks.moveInitialize(from: self.marks, count: Int(self.extent))
        self.marks.deallocate()
        self.marks = marks
        self.capacity = larger
    }

    /// What one more takes: itself, and its generation.
    static var bytesPerElement: Int { MemoryLayout<Element>.stride + MemoryLayout<UInt32>.stride }

    /// Bytes this slab holds.
    var memoryBytes: Int {
        Int(self.capacity) * Self.bytesPerElement + self.free.capacity * 4
    }
}
