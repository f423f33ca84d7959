import PerchModel

/// The apps of a store by number. Numbers begin at 1, so a lookup is an index, not a hash.
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

    /// All apps, by number.
    var all: [AppState] { self.states.compactMap { $0 } }

    /// The only app; nil if there are several.
    var only: AppState? { self.count == 1 ? self.states.last ?? nil : nil }
}
