import PerchJSON

/// How data is printed.
package enum OutputFormat: String, Sendable, CaseIterable {
    /// Lines for people. Their wording is no contract.
    case text
    /// One indented document for each answer, or each value of a watch.
    case json
    /// The same, each on one line; of a list, each element on its own.
    case ndjson

    var layout: JSONWriter.Layout { self == .json ? .indented : .compact }
}

/// Prints what a command has to tell, in the format that was asked for.
struct Printer: Sendable {
    let console: any Console
    let format: OutputFormat

    var text: TextWriter { TextWriter(isColoured: self.console.isColoured) }

    /// One answer or value.
    func print(
        json: (inout ContractWriter) -> Void, text: (TextWriter) -> [String]
    ) throws(ReaderGone) {
        switch self.format {
        case .text: try self.lines(text(self.text))
        case .json, .ndjson: try self.console.data(ContractWriter.document(self.format.layout, json))
        }
    }

    func lines(_ lines: [String]) throws(ReaderGone) {
        guard !lines.isEmpty else { return }
        try self.console.data(lines.map { $0 + "\n" }.joined())
    }
}
