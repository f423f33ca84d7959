import PerchBase
import PerchJSON
import PerchModel

extension CatalogueLoader {
    /// The failures in a file, in order. Older switches become failures of purchases.
    mutating func failures(_ fields: inout Fields) -> [FileFailure] {
        let names = self.failureNames(&fields)
        var failures = self.legacyFailure(&fields, names).map { [$0] } ?? []
        for entry in fields.softList("_storeKitErrors", &self.findings) {
            var entry = entry
            guard let failure = self.failure(&entry, names) else { continue }
            // The list is the newer word for the same thing.
            failures.removeAll { $0.api == failure.api && $0.type == Self.legacy }
            guard !failures.contains(where: { $0.api == failure.api }) else {
                self.findings.warn(
                    .leftOut, at: entry.place, "a second failure of \(quoted(failure.api.rawValue)); left out")
                continue
            }
            failures.append(failure)
        }
        return failures
    }

    private static let legacy = "legacy"

    private mutating func failure(_ entry: inout Fields, _ names: FailureNames) -> FileFailure? {
        let name = entry.text("name", &self.findings)
        let isEnabled = entry.flag("enabled", &self.findings)
        let current = entry.take("current")
        entry.reportUnknown(in: "a failure", to: &self.findings)
        guard let api = FileFailure.API(rawValue: name) else {
            let known = FileFailure.API.allCases.map { quoted($0.rawValue) }.joined(separator: ", ")
            self.findings.warn(
                .leftOut, at: entry.place, "there is no call \(quoted(name)) that could fail; the calls are \(known)")
            return nil
        }
        var failure = FileFailure(api: api, isEnabled: isEnabled)
        guard let current else { return failure }
        guard var chosen = Fields(current) else {
            self.findings.warn(
                .unusableValue, at: current.place,
                "\"current\" should be an object with type and index, not \(current.kind); taken as none")
            return failure
        }
        failure.type = chosen.text("type", &self.findings)
        failure.index = chosen.take("index").flatMap { self.integer($0, "index") }
        chosen.reportUnknown(in: "an error", to: &self.findings)
        guard let index = failure.index, let error = names.name(failure.type, index), !error.isEmpty else {
            self.findings.warn(
                .unusableValue, at: current.place,
                "the error \(failure.index.map { "\($0)" } ?? "without an index") of type \(quoted(failure.type)) is "
                    + "unknown; taken as none")
            return failure
        }
        failure.errorName = error
        if failure.isArmed { self.reportArmed(failure, at: entry.place) }
        return failure
    }

    /// Warns of an armed failure, because the reason for a failing call is easy to overlook in a file.
    private mutating func reportArmed(_ failure: FileFailure, at place: JSONPlace) {
        self.findings.warn(
            .armedFailure, at: place,
            "the failure \(quoted(failure.api.rawValue)) is armed, with \(failure.errorName)")
    }

    /// `_failTransactionsEnabled` and `_storeKitError`, of the schemas before the list. A switch without an error fails
    /// with the one that says least; an error without the switch fails, if it is one.
    private mutating func legacyFailure(_ fields: inout Fields, _ names: FailureNames) -> FileFailure? {
        let switchPlace = fields.placeOf("_failTransactionsEnabled")
        let isOn = fields.flag("_failTransactionsEnabled", &self.findings)
        let error = fields.take("_storeKitError")
        let index = error.flatMap { self.integer($0, "_storeKitError") }
        if let error, index == nil {
            self.findings.warn(
                .unusableValue, at: error.place,
                "\"_storeKitError\" is \(Self.found(error)), expected an integer; used as 0, no error")
        }
        guard isOn || (index ?? 0) != 0 else { return nil }
        var failure = FileFailure(
            api: .purchase, isEnabled: switchPlace == nil || isOn, type: Self.legacy, index: index ?? 0,
            errorName: "unknown")
        if let error, let index, index != 0 {
            failure.errorName = names.name(Self.legacy, index) ?? ""
            if failure.errorName.isEmpty {
                self.findings.warn(
                    .unusableValue, at: error.place, "\"_storeKitError\" \(index) is unknown; taken as none")
            }
        }
        if failure.isArmed { self.reportArmed(failure, at: switchPlace ?? error?.place ?? fields.place) }
        return failure
    }

    /// The file's own order of errors, if it has one.
    private mutating func failureNames(_ fields: inout Fields) -> FailureNames {
        var names = FailureNames.documented
        guard let value = fields.take("perch") else { return names }
        guard var ours = Fields(value) else {
            self.findings.warn(
                .unusableValue, at: value.place, "\"perch\" should be an object, not \(value.kind); ignored")
            return names
        }
        let table = ours.take("errorNames")
        ours.reportUnknown(in: "our settings", to: &self.findings)
        guard let table else { return names }
        guard let members = table.members else {
            self.findings.warn(
                .unusableValue, at: table.place, "\"errorNames\" should be an object, not \(table.kind); ignored")
            return names
        }
        for member in members {
            let list = member.value.array?.compactMap(\.string) ?? []
            let unknown = list.first { !$0.isEmpty && !names.known.contains($0) }
            guard names.types.contains(FailureNames.current(member.key)), list.count == member.value.array?.count,
                unknown == nil
            else {
                let found = unknown.map { "; there is no error \(quoted($0))" } ?? ""
                self.findings.warn(
                    .unusableValue, at: member.place,
                    "\(quoted(member.key)) should be one of \(names.types.joined(separator: ", ")) with a list of names "
                        + "of errors\(found); ignored")
                continue
            }
            names.override(member.key, list)
        }
        return names
    }
}
