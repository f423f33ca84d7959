import PerchModel
import PerchStore

/// The apps of a store by number. Numbers begin at 1, so a lookup is an index, not a hash.
struct AppTable {
    private var states: [AppState?] = []
    /// The only app, guests aside; nil if there are several.
    private(set) var only: AppState?

    init(_ apps: [AppState]) {
        for app in apps { self[app.number] = app }
    }

    subscript(number: AppNumber) -> AppState? {
        @inline(__always)
        get { Int(number) < self.states.count ? self.states[Int(number)] : nil }
        set {
            while self.states.count <= Int(number) { self.states.append(nil) }
            self.states[Int(number)] = newValue
            let listed = self.listed
            self.only = listed.count == 1 ? listed[0] : nil
        }
    }

    /// All apps, by number.
    var all: [AppState] { self.states.compactMap { $0 } }

    /// The apps of lists: all but guests, by number.
    var listed: [AppState] { self.all.filter { !$0.isGuest } }
}
