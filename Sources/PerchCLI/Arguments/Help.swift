/// Writes the help of a command from its row of the table.
package enum Help {
    /// `perch help exit-codes`.
    package static let exitCodesTopic = "exit-codes"
    /// `perch help connection`.
    package static let connectionTopic = "connection"
    /// Columns of help in a pipe.
    package static let pipeColumns = 80
    /// The widest text that is easy to read.
    private static let columnsMax = 100

    /// Columns for help on this console.
    package static func columns(of console: any Console) -> Int {
        console.isTerminal ? min(max(console.size.columns, 60), Self.columnsMax) : Self.pipeColumns
    }

    package static func text(for path: [CommandSpec], width: Int = Self.pipeColumns) -> String {
        Page(width: width).text(for: path)
    }

    /// `perch help exit-codes`.
    package static func exitCodes(width: Int = Self.pipeColumns) -> String {
        Page(width: width).exitCodes()
    }

    /// `perch help connection`.
    package static func connection(width: Int = Self.pipeColumns) -> String {
        Page(width: width).connection()
    }
}

/// Help of one width.
private struct Page {
    let width: Int

    private static let indent = 2
    /// The column of explanations. Behind a longer name they begin on the next line.
    private static let column = 30

    func text(for path: [CommandSpec]) -> String {
        let command = path[path.count - 1]
        let name = Invocation.name(of: path)
        var lines = self.wrapped(command.summary, from: 0)
        for paragraph in command.discussion { lines += [""] + self.wrapped(paragraph, from: 0) }
        lines += [""] + self.wrapped("Usage: " + Self.usage(of: command, called: name), from: 0, further: 7)
        if command.action != nil, !command.commands.isEmpty { lines.append("       \(name) COMMAND") }

        let commands = command.commands.filter { !$0.isHidden }
        let longest = commands.map(\.name.count).max() ?? 0
        let column = min(Self.column, Self.indent + longest + 2)
        for heading in Self.headings(commands.map { $0.heading ?? "Commands" }) {
            lines += ["", "\(heading):"]
            for each in commands where (each.heading ?? "Commands") == heading {
                lines += self.row(each.name, each.summary, at: column)
            }
        }
        if !command.operands.isEmpty {
            lines += ["", "Arguments:"]
            for operand in command.operands { lines += self.row(Self.shown(operand), Self.explained(operand)) }
        }
        lines += self.options(of: command, isRoot: path.count == 1)
        if !command.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in command.examples {
                lines += self.pasteable(example.line) + self.wrapped(example.meaning, from: 6)
            }
        }
        if path.count == 1 {
            lines += [""]
            lines += self.wrapped(
                "`\(name) COMMAND --help` explains a command, `\(name) help \(Help.connectionTopic)` how commands find a "
                    + "server, `\(name) help \(Help.exitCodesTopic)` the exit codes.", from: 0)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func options(of command: CommandSpec, isRoot: Bool) -> [String] {
        var lines: [String] = []
        let own = command.options.filter { $0.group == .own }
        for heading in Self.headings(own.map { $0.heading ?? OptionSpec.Group.own.rawValue }) {
            lines += ["", "\(heading):"]
            for option in own where (option.heading ?? OptionSpec.Group.own.rawValue) == heading {
                lines += self.row(Self.shown(option), Self.explained(option))
            }
        }
        if command.options.contains(where: { $0.group == .client }) {
            lines += ["", "\(OptionSpec.Group.client.rawValue):"]
            lines += self.wrapped(
                "`perch help \(Help.connectionTopic)` explains --server, --context, --tls-ca, --credentials-file and the others.",
                from: Self.indent)
            for option in command.options where option.group == .client && option.name == "timeout" {
                lines += self.row(Self.shown(option), Self.explained(option))
            }
        }
        lines += ["", "\(OptionSpec.Group.general.rawValue):"]
        for option in command.options where option.group == .general {
            lines += self.row(Self.shown(option), Self.explained(option))
        }
        lines += self.row("-h, --help", "Print this help.")
        if isRoot { lines += self.row("-V, --version", "Print the version.") }
        return lines
    }

    func exitCodes() -> String {
        var lines = ["What the exit code of perch means", ""]
        for code in ExitCode.allCases {
            let number = String(code.rawValue)
            let meanings = self.wrapped(code.meaning, from: 6)
            lines.append("  " + number.padded(to: 4) + meanings[0].dropFirst(6))
            lines += meanings.dropFirst()
        }
        lines += [""]
        lines += self.wrapped(
            "A reader that goes away, as in `perch watch ... | head -1`, has had enough: that is 0.", from: 0)
        return lines.joined(separator: "\n") + "\n"
    }

    func connection() -> String {
        var lines = ["How commands find a server", ""]
        lines += self.wrapped(
            "Each command that asks a server has these options. An option on the command line comes before the environment "
                + "(PERCH_SERVER and so on), the environment before the context that `perch context use` chose, and "
                + "that before the default.", from: 0)
        lines += [""]
        for option in CommandTable.client { lines += self.row(Self.shown(option), Self.explained(option)) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Each once, in the order of their first mention.
    private static func headings(_ all: [String]) -> [String] {
        all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// A command line that a shell takes as it stands, on several lines where it is long.
    private func pasteable(_ line: String) -> [String] {
        guard line.count + Self.indent > self.width else { return ["  " + line] }
        // Two columns for the backslash.
        let rows = Page(width: self.width - 2).wrapped(line, from: Self.indent, further: 6)
        return rows.dropLast().map { $0 + " \\" } + rows.suffix(1)
    }

    private static func usage(of command: CommandSpec, called name: String) -> String {
        guard command.action != nil else { return "\(name) COMMAND" }
        let operands = command.operands.map { operand in
            switch operand.arity {
            case .one: operand.name
            case .optional: "[\(operand.name)]"
            case .many: "\(operand.name)..."
            case .any: "[\(operand.name)...]"
            }
        }
        return ([name] + operands + ["[options]"]).joined(separator: " ")
    }

    private static func shown(_ operand: OperandSpec) -> String {
        operand.arity == .many || operand.arity == .any ? "\(operand.name)..." : operand.name
    }

    private static func shown(_ option: OptionSpec) -> String {
        let short = option.short.map { "-\($0), " } ?? ""
        let value = option.placeholder.isEmpty ? "" : " \(option.placeholder)"
        return "\(short)--\(option.name)\(value)"
    }

    private static func explained(_ operand: OperandSpec) -> String {
        guard case .choice(let choices, _) = operand.kind else { return operand.help }
        return "\(operand.help) One of: \(choices.joined(separator: ", "))."
    }

    private static func explained(_ option: OptionSpec) -> String {
        var text = option.help
        if case .choice(let choices, _) = option.kind { text += " One of: \(choices.joined(separator: ", "))." }
        var notes: [String] = []
        if let standard = option.defaultText { notes.append("default \(standard)") }
        if let variable = option.environmentName { notes.append(variable) }
        return notes.isEmpty ? text : "\(text) [\(notes.joined(separator: ", "))]"
    }

    private func row(_ left: String, _ right: String, at column: Int = Self.column) -> [String] {
        let head = String(repeating: " ", count: Self.indent) + left
        var lines = self.wrapped(right, from: column)
        guard head.count + 2 <= column else { return [head] + lines }
        lines[0] = head.padded(to: column) + lines[0].dropFirst(column)
        return lines
    }

    /// Words on lines that begin at a column, and all but the first at `further`. At least one line.
    private func wrapped(_ text: String, from column: Int, further: Int? = nil) -> [String] {
        var lines: [String] = []
        var margin = column
        var line = String(repeating: " ", count: margin)
        for word in text.split(separator: " ") {
            if line.count > margin, line.count + 1 + word.count > self.width {
                lines.append(line)
                margin = further ?? column
                line = String(repeating: " ", count: margin)
            }
            line += (line.count > margin ? " " : "") + word
        }
        return lines + [line]
    }
}
