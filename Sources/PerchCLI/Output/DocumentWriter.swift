import PerchBase
import PerchJSON
import PerchModel
import PerchWire

/// Writes one JSON document of a command.
///
/// An answer of a server is written by `message(_:)`, as canonical proto3 JSON from the contract's own descriptions. The
/// other methods write documents that the contract does not have, such as the findings of `perch doctor`. These follow the
/// same rules: lowerCamelCase names, defaults left out, 64-bit numbers as strings.
struct DocumentWriter {
    private var json: JSONWriter

    private init(_ layout: JSONWriter.Layout) {
        self.json = JSONWriter(limitBytes: .max, layout: layout)
    }

    /// One document with a line break behind it.
    static func document(_ layout: JSONWriter.Layout, _ write: (inout DocumentWriter) -> Void) -> String {
        var writer = DocumentWriter(layout)
        writer.object(write)
        do {
            return String(decoding: try writer.json.finish(), as: UTF8.self) + "\n"
        } catch {
            preconditionFailure("a document without limit overflowed: \(error)")
        }
    }

    /// The elements of a list in a response, each as a document on one line. `path` leads to the list by JSON names.
    static func elements(_ path: String, of response: Response) -> [String] {
        do {
            return try MessageCodec().jsonElements(path, of: response).map {
                String(decoding: $0, as: UTF8.self) + "\n"
            }
        } catch {
            preconditionFailure("an answer that was read cannot be written: \(error)")
        }
    }

    // MARK: Messages of the contract

    /// The members of a response.
    mutating func message(_ response: Response) {
        do {
            try MessageCodec().writeJSONMembers(of: response, to: &self.json)
        } catch {
            preconditionFailure("an answer that was read cannot be written: \(error)")
        }
    }

    /// A response as a member.
    mutating func message(_ name: String, _ response: Response) {
        self.message(name) { $0.message(response) }
    }

    // MARK: Own documents

    private mutating func object(_ write: (inout DocumentWriter) -> Void) {
        self.json.beginObject()
        write(&self)
        self.json.endObject()
    }

    mutating func message(_ name: String, _ write: (inout DocumentWriter) -> Void) {
        self.json.key(name)
        self.object(write)
    }

    mutating func messages<Value>(
        _ name: String, _ values: [Value], _ write: (inout DocumentWriter, Value) -> Void
    ) {
        guard !values.isEmpty else { return }
        self.json.key(name)
        self.json.beginArray()
        for value in values { self.object { write(&$0, value) } }
        self.json.endArray()
    }

    mutating func text(_ name: String, _ value: String) {
        if !value.isEmpty { self.json.member(name, value) }
    }

    mutating func texts(_ name: String, _ values: [String]) {
        guard !values.isEmpty else { return }
        self.json.key(name)
        self.json.beginArray()
        for value in values { self.json.string(value) }
        self.json.endArray()
    }

    mutating func flag(_ name: String, _ value: Bool) {
        if value { self.json.member(name, true) }
    }

    /// int32 and uint32.
    mutating func number(_ name: String, _ value: some FixedWidthInteger) {
        if value != 0 { self.json.member(name, value) }
    }

    /// int64 and uint64.
    mutating func long(_ name: String, _ value: some FixedWidthInteger) {
        if value != 0 { self.json.member(name, String(value)) }
    }

    mutating func double(_ name: String, _ value: Double) {
        guard value != 0 else { return }
        self.json.key(name)
        self.json.double(value)
    }

    /// A number that may be absent, and is written even if it is 0.
    mutating func long(_ name: String, ifAny value: (some FixedWidthInteger)?) {
        if let value { self.json.member(name, String(value)) }
    }

    /// An instant, in milliseconds. The epoch means absent, like every default.
    mutating func instant(_ name: String, _ value: Instant) { self.long(name, value.milliseconds) }

    mutating func instant(_ name: String, ifAny value: Instant?) { self.long(name, ifAny: value?.milliseconds) }

    /// A value of an enumeration of the contract, with the contract's name: `RENEWAL_STATE_IN_GRACE_PERIOD`.
    mutating func choice(_ name: String, _ value: some OpenEnumeration, _ prefix: String) {
        guard value.rawValue != 0 else { return }
        guard value.isKnown else { return self.json.member(name, value.rawValue) }
        var word = ""
        for letter in value.description { word += (letter.isUppercase ? "_" : "") + letter.uppercased() }
        self.json.member(name, prefix + "_" + word)
    }
}
