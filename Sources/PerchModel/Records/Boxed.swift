/// A value behind a reference, for fields that most values do not have. An absent one takes eight bytes.
package final class Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

extension Boxed: CustomReflectable {
    /// Shows the value, without the storage behind it.
    package var customMirror: Mirror { Mirror(reflecting: self.value) }
}

/// The rarely set fields of a type. If all have their defaults, nothing is stored.
protocol Rare: Hashable, Sendable {
    init()
}

extension Optional {
    /// Changes rare fields, and keeps a box only if a field differs from its default.
    mutating func change<Value: Rare>(_ body: (inout Value) -> Void) where Wrapped == Boxed<Value> {
        var value = self?.value ?? Value()
        body(&value)
        self = value == Value() ? nil : Boxed(value)
    }
}
