import PerchModel
import PerchStore
import PerchWire

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

    /// The app that a request means for every caller: the only one, or one named in full. Nil where it depends.
    func app(_ reference: AppReference?) -> AppState? {
        if let only = self.only { return reference.map { only.fits($0) } ?? true ? only : nil }
        guard let reference, reference.environment != .unspecified, !reference.bundleID.isEmpty else { return nil }
        for place in self.states.indices {
            if let state = self.states[place], state.fits(reference) { return state }
        }
        return nil
    }

    /// All apps, by number.
    var all: [AppState] { self.states.compactMap { $0 } }

    /// The apps of lists: all but guests, by number.
    var listed: [AppState] { self.all.filter { !$0.isGuest } }
}
