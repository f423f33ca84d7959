import PerchTesting
import Testing

@testable import PerchStore

@Suite struct `a paged log` {
    /// Frees are seen by their references.
    private final class Element {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test func `is an array that never moves its elements`() {
        var random = SeededRandom(seed: 5)
        var log = PagedLog<Element>()
        defer { log.destroy() }
        var array: [Element] = []
        for step in 0..<20_000 {
            switch random.below(array.isEmpty ? 1 : 8) {
            case 6: #expect(log.removeLast() === array.removeLast())
            case 7:
                let (index, element) = (random.below(array.count), Element(step))
                log[index] = element
                array[index] = element
            default:
                let element = Element(step)
                log.append(element)
                array.append(element)
            }
            if let last = array.indices.last, step % 97 == 0 {
                #expect(log.count == array.count && log[last] === array[last] && log[last / 2] === array[last / 2])
            }
        }
        #expect(array.count > 5_000, "several pages")
        #expect(array.indices.allSatisfy { log[$0] === array[$0] })
    }

    @Test func `finds the first element from which on something holds`() {
        var log = PagedLog<Int>()
        defer { log.destroy() }
        #expect(log.partitioningIndex { $0 > 0 } == 0)
        for number in 0..<3_000 { log.append(number * 2) }
        for wanted in [-1, 0, 1, 2_047, 2_048, 5_997, 5_998, 9_999] {
            #expect(log.partitioningIndex { $0 >= wanted } == min(3_000, max(0, (wanted + 1) / 2)))
        }
    }

    @Test func `releases its elements`() {
        weak var first: Element?
        weak var last: Element?
        do {
            var log = PagedLog<Element>()
            for number in 0..<2_500 {
                let element = Element(number)
                if number == 0 { first = element }
                last = element
                log.append(element)
            }
            #expect(first != nil && last?.number == 2_499)
            log.destroy()
        }
        #expect(first == nil && last == nil)
    }
}
