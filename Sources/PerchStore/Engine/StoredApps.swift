package import PerchModel

/// The apps of a store by their numbers, which are given out from 1 on: they stand in that order, and a look-up is an index.
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

    /// All numbers that an app may have: not each has one.
    var numbers: Range<AppNumber> { 0..<AppNumber(self.places.count) }

    /// In the order of their numbers.
    package var states: [AppState] { self.places.compactMap { $0?.state } }

    package var isEmpty: Bool { self.places.allSatisfy { $0 == nil } }

    /// The number of an app that is made now.
    var next: AppNumber { max(1, AppNumber(self.places.count)) }
}
