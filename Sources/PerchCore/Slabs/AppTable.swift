import PerchModel

/// The apps of a store by their numbers, which are given out from 1 on: a look-up is an index, not a hash.
struct AppTable {
    private var states: [AppState?] = []
    private(set) var count = 0

    init(_ apps: [AppState]) {
        for app in apps { self[app.number] = app }
    }

    subscript(number: AppNumber) -> AppState? {
        @inline(__always)
        get { Int(number) < self.states.count ? self.states[Int(number)] : nil }
        set {
            while self.states.count <= Int(number) { self.states.append(nil) }
            self.count += (newValue == nil ? 0 : 1) - (self.states[Int(number)] == nil ? 0 : 1)
            self.states[Int(number)] = newValue
        }
    }

    /// In the order of their numbers.
    var all: [AppState] { self.states.compactMap { $0 } }

    /// The one that there is, where there is one only.
    var only: AppState? { self.count == 1 ? self.states.last ?? nil : nil }
}
