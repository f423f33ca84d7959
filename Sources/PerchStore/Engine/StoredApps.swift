package import PerchModel

/// The apps of a store by number. Numbers start at 1 without gaps, so a lookup is an index.
package struct StoredApps: Sendable {
    private var places: [StoredAppState?] = []

    package init() {}

    package subscript(number: AppNumber) -> StoredAppState? {
        get { Int(number) < self.places.count ? self.places[Int(number)] : nil }
        set {
            while self.places.count <= Int(number) { self.places.append(nil) }
            self.places[Int(number)] = newValue
        }
    }

    /// All numbers up to the greatest. A number may have no app.
    var numbers: Range<AppNumber> { 0..<AppNumber(self.places.count) }

    /// In the order of their numbers.
    package var states: [AppState] { self.places.compactMap { $0?.state } }

    package var isEmpty: Bool { self.places.allSatisfy { $0 == nil } }

    /// The number of the next app.
    var next: AppNumber { max(1, AppNumber(self.places.count)) }
}
