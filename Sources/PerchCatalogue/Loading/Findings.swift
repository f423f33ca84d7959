import PerchBase
import PerchJSON

/// The warnings of a loader, and its current product.
struct Findings {
    private var warnings: [CatalogueWarning] = []
    private var restCount = 0
    private var restPlace = JSONPlace.start
    /// Empty outside of products.
    var productID = ""

    mutating func warn(_ reason: CatalogueWarning.Reason, at place: JSONPlace, _ message: String) {
        guard self.warnings.count < Limits.catalogueWarnings else {
            if self.restCount == 0 { self.restPlace = place }
            self.restCount += 1
            return
        }
        self.warnings.append(CatalogueWarning(reason, at: place, productID: self.productID, message: message))
    }

    func error(_ reason: CatalogueError.Reason, at place: JSONPlace, _ message: String) -> CatalogueError {
        CatalogueError(reason, at: place, productID: self.productID, message: message)
    }

    /// All warnings in the order of the file, so that a person can fix it from the top.
    var all: [CatalogueWarning] {
        var all = self.warnings.enumerated()
            .sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
            .map(\.element)
        if self.restCount > 0 {
            let message =
                "\(self.restCount) more places are odd; \(Limits.catalogueWarnings) warnings are kept; fix those first"
            all.append(CatalogueWarning(.more, at: self.restPlace, message: message))
        }
        return all
    }
}

/// The members of one object of a file. The loader takes each by its name; the rest are unknown keys.
///
/// A value of null counts as none, since files have both.
struct Fields {
    let place: JSONPlace
    private let members: [JSONMember]
    private var taken: Set<Int> = []

    /// Nil for a value that is no object.
    init?(_ value: JSONValue) {
        guard let members = value.members else { return nil }
        self.place = value.place
        self.members = members
    }

    mutating func take(_ key: String) -> JSONValue? {
        guard let index = self.members.firstIndex(where: { $0.key == key }) else { return nil }
        self.taken.insert(index)
        let value = self.members[index].value
        return value.isNull ? nil : value
    }

    /// The place of a key's value; nil without one.
    func placeOf(_ key: String) -> JSONPlace? {
        self.members.first { $0.key == key && !$0.value.isNull }?.value.place
    }

    /// A value, without taking it.
    func peek(_ key: String) -> JSONValue? { self.members.first { $0.key == key }?.value }

    /// The first unknown member.
    var firstUntaken: JSONMember? {
        self.members.enumerated().first { !self.taken.contains($0.offset) }?.element
    }

    /// Marks known keys without a use here.
    mutating func ignore(_ keys: String...) {
        for key in keys { _ = self.take(key) }
    }

    /// A text that may be missing.
    mutating func text(_ key: String, _ findings: inout Findings) -> String {
        guard let value = self.take(key) else { return "" }
        guard let text = value.string else {
            findings.warn(
                .unusableValue, at: value.place, "\(quoted(key)) should be a string, not \(value.kind); taken as empty")
            return ""
        }
        return text
    }

    /// A switch that may be missing, which means off.
    mutating func flag(_ key: String, _ findings: inout Findings) -> Bool {
        guard let value = self.take(key) else { return false }
        guard let flag = value.boolean else {
            findings.warn(
                .unusableValue, at: value.place, "\(quoted(key)) should be a boolean, not \(value.kind); taken as false"
            )
            return false
        }
        return flag
    }

    /// A list that may be missing, which means empty. Any other value refuses the file, because it hides products.
    mutating func list(_ key: String, _ findings: Findings) throws(CatalogueError) -> [JSONValue] {
        guard let value = self.take(key) else { return [] }
        guard let list = value.array else {
            throw findings.error(
                .wrongShape, at: value.place, "\(quoted(key)) should be an array, not \(value.kind)")
        }
        return list
    }

    /// A list of objects that may be lost: any other value is an empty list, with a warning.
    mutating func softList(_ key: String, _ findings: inout Findings) -> [Fields] {
        guard let value = self.take(key) else { return [] }
        guard let list = value.array else {
            findings.warn(
                .unusableValue, at: value.place, "\(quoted(key)) should be an array, not \(value.kind); taken as empty")
            return []
        }
        var result: [Fields] = []
        for element in list {
            if let fields = Fields(element) {
                result.append(fields)
            } else {
                findings.warn(
                    .leftOut, at: element.place,
                    "an entry of \(quoted(key)) should be an object, not \(element.kind); left out")
            }
        }
        return result
    }

    /// To be called last.
    func reportUnknown(in level: String, to findings: inout Findings) {
        for (index, member) in self.members.enumerated() where !self.taken.contains(index) {
            findings.warn(
                .unknownKey, at: member.place, "the key \(quoted(member.key)) is unknown in \(level); ignored")
        }
    }
}
