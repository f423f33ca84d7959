/// What is kept of each app, by its number. They are given out from 1 on, so a look is an index and not a hash.
///
/// Inlinable, because store and loops look into one of their own for every change.
package struct AppTable<App> {
    @usableFromInline var places: [App?] = []
    package private(set) var count = 0

    package init() {}

    package subscript(number: AppNumber) -> App? {
        @inlinable
        get { Int(number) < self.places.count ? self.places[Int(number)] : nil }
        set {
            while self.places.count <= Int(number) { self.places.append(nil) }
            self.count += (newValue == nil ? 0 : 1) - (self.places[Int(number)] == nil ? 0 : 1)
            self.places[Int(number)] = newValue
        }
    }

    /// All numbers that an app may have: not each has one.
    package var numbers: Range<AppNumber> { 0..<AppNumber(self.places.count) }

    /// The number of an app that is made now.
    package var next: AppNumber { max(1, AppNumber(self.places.count)) }

    /// In the order of their numbers.
    package var all: [App] { self.places.compactMap { $0 } }

    package var isEmpty: Bool { self.count == 0 }

    /// The one that there is, where there is one only.
    @inlinable
    package var only: App? {
        guard self.count == 1 else { return nil }
        for place in self.places.indices.reversed() {
            if let app = self.places[place] { return app }
        }
        return nil
    }
}

extension AppTable: Sendable where App: Sendable {}
