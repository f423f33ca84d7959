import PerchJSON
import PerchWire

/// How data is printed.
package enum OutputFormat: String, Sendable, CaseIterable {
    /// Lines for people. Their wording is no contract.
    case text
    /// One indented document for each answer, or each value of a watch.
    case json
    /// The same, each on one line. A list has a line for each element.
    case ndjson

    var layout: JSONWriter.Layout { self == .json ? .indented : .compact }
}

/// Prints answers of a command in the format of --output.
struct Printer: Sendable {
    let console: any Console
    let format: OutputFormat

    var text: TextWriter { TextWriter(isColoured: self.console.isColoured) }

    /// One answer or value.
    func print(
        json: (inout DocumentWriter) -> Void, text: (TextWriter) -> [String]
    ) throws(ReaderGone) {
        switch self.format {
        case .text: try self.lines(text(self.text))
        case .json, .ndjson: try self.console.data(DocumentWriter.document(self.format.layout, json))
        }
    }

    /// One answer that is a message of the contract.
    func print(_ answer: Response, text: (TextWriter) -> [String]) throws(ReaderGone) {
        try self.print(json: { $0.message(answer) }, text: text)
    }

    /// A complete list: one document, or a line for each element of the list at `path`.
    func list(_ path: String, of answer: Response, text: (TextWriter) -> [String]) throws(ReaderGone) {
        guard self.format == .ndjson else { return try self.print(answer, text: text) }
        for element in DocumentWriter.elements(path, of: answer) { try self.console.data(element) }
    }

    func lines(_ lines: [String]) throws(ReaderGone) {
        guard !lines.isEmpty else { return }
        try self.console.data(lines.map { $0 + "\n" }.joined())
    }
}
