/// A value behind a reference, because most have nothing of the kind: who has not keeps eight bytes for it.
package final class Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

extension Boxed: CustomReflectable {
    /// Shows the value, not where it is kept.
    package var customMirror: Mirror { Mirror(reflecting: self.value) }
}

/// What few values of a kind have, as they keep it: nothing where all of it is as it is as a rule.
protocol Rare: Hashable, Sendable {
    init()
}

extension Optional {
    /// Changes some of what is rare, and keeps a box only where something is left.
    mutating func change<Value: Rare>(_ body: (inout Value) -> Void) where Wrapped == Boxed<Value> {
        var value = self?.value ?? Value()
        body(&value)
        self = value == Value() ? nil : Boxed(value)
    }
}
