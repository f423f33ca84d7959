/// An array that never moves its elements: it grows by a page.
///
/// An array that doubles copies everything each time, which stops the store for as long as it has elements. Appending and
/// reading cost the same for both. A handle: its owner destroys it, and must not copy it.
struct PagedLog<Element> {
    private var pages: [UnsafeMutablePointer<Element>] = []
    private(set) var count = 0

    private static var pageBits: Int { 10 }
    private static var pageCount: Int { 1 << Self.pageBits }

    func destroy() {
        for (number, page) in self.pages.enumerated() {
            page.deinitialize(count: min(Self.pageCount, max(0, self.count - number << Self.pageBits)))
            page.deallocate()
        }
    }

    @inline(__always)
    private func place(_ index: Int) -> UnsafeMutablePointer<Element> {
        precondition(index >= 0 && index < self.count, "index \(index) of a log of \(self.count)")
        return self.pages[index >> Self.pageBits] + (index & (Self.pageCount - 1))
    }

    subscript(index: Int) -> Element {
        @inline(__always) _read { yield self.place(index).pointee }
        @inline(__always) _modify { yield &self.place(index).pointee }
    }

    @inline(__always)
    mutating func append(_ element: consuming Element) {
        if self.count >> Self.pageBits == self.pages.count { self.addPage() }
        (self.pages[self.count >> Self.pageBits] + (self.count & (Self.pageCount - 1))).initialize(to: element)
        self.count += 1
    }

    private mutating func addPage() { self.pages.append(.allocate(capacity: Self.pageCount)) }

    mutating func removeLast() -> Element {
        let last = self.place(self.count - 1).move()
        self.count -= 1
        return last
    }

    /// The first index from which on `belongs` holds; it must hold for all elements behind one for which it does.
    func partitioningIndex(_ belongs: (borrowing Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if belongs(self.place(middle).pointee) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
