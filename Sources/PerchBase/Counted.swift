/// A number with its word: `1 purchase`, `2 purchases`. `many`: the plural where it is not `one` with an s.
package func counted(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(count == 1 ? one : many ?? one + "s")"
}
