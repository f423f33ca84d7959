extension Array {
    /// The first index whose element satisfies `belongs`. All elements that do must come last.
    func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
