/// Writes the help of a command from its row of the table, at most `width` columns wide.
package enum Help {
    /// `perch help exit-codes`.
    package static let exitCodesTopic = "exit-codes"

    private static let width = 90
    private static let indent = 2
    /// Where explanations begin; a longer name pushes its own to the next line.
    private static let column = 30

    package static func text(for path: [CommandSpec]) -> String {
        let command = path[path.count - 1]
        let name = Invocation.name(of: path)
        var lines = Self.wrapped(command.summary, from: 0)
        for paragraph in command.discussion { lines += [""] + Self.wrapped(paragraph, from: 0) }
        lines += ["", "Usage: " + Self.usage(of: command, called: name)]
        if command.action != nil, !command.commands.isEmpty { lines.append("       \(name) COMMAND") }

        let commands = command.commands.filter { !$0.isHidden }
        if !commands.isEmpty {
            lines += ["", "Commands:"]
            for each in commands { lines += Self.row(each.name, each.summary) }
        }
        if !command.operands.isEmpty {
            lines += ["", "Arguments:"]
            for operand in command.operands { lines += Self.row(Self.shown(operand), Self.explained(operand)) }
        }
        for group in OptionSpec.Group.allCases {
            var rows = command.options.filter { $0.group == group }.map { (Self.shown($0), Self.explained($0)) }
            if group == .general {
                rows.append(("-h, --help", "Print this help."))
                if path.count == 1 { rows.append(("--version", "Print the version.")) }
            }
            guard !rows.isEmpty else { continue }
            lines += ["", "\(group.rawValue):"]
            for (left, right) in rows { lines += Self.row(left, right) }
        }
        if !command.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in command.examples {
                lines += ["  \(example.line)"] + Self.wrapped(example.meaning, from: 6)
            }
        }
        if path.count == 1 {
            lines += [
                "",
                "`\(name) COMMAND --help` explains a command, `\(name) help \(Self.exitCodesTopic)` the exit codes.",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    package static func exitCodes() -> String {
        var lines = ["What the exit code of perch means", ""]
        for code in ExitCode.allCases {
            let number = String(code.rawValue)
            let meanings = Self.wrapped(code.meaning, from: 6)
            lines.append("  " + number.padded(to: 4) + meanings[0].dropFirst(6))
            lines += meanings.dropFirst()
        }
        lines += [""]
        lines += Self.wrapped(
            "A reader that goes away, as in `perch watch ... | head -1`, has had enough: that is 0.", from: 0)
        return lines.joined(separator: "\n") + "\n"
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
        guard case .choice(let choices) = operand.kind else { return operand.help }
        return "\(operand.help) One of: \(choices.joined(separator: ", "))."
    }

    private static func explained(_ option: OptionSpec) -> String {
        var text = option.help
        if case .choice(let choices) = option.kind { text += " One of: \(choices.joined(separator: ", "))." }
        var notes: [String] = []
        if let standard = option.defaultText { notes.append("default \(standard)") }
        if let variable = option.environmentName { notes.append(variable) }
        return notes.isEmpty ? text : "\(text) [\(notes.joined(separator: ", "))]"
    }

    private static func row(_ left: String, _ right: String) -> [String] {
        let head = String(repeating: " ", count: Self.indent) + left
        var lines = Self.wrapped(right, from: Self.column)
        guard head.count + 2 <= Self.column else { return [head] + lines }
        lines[0] = head.padded(to: Self.column) + lines[0].dropFirst(Self.column)
        return lines
    }

    /// Words on lines that begin at a column. At least one line.
    private static func wrapped(_ text: String, from column: Int) -> [String] {
        let margin = String(repeating: " ", count: column)
        var lines: [String] = []
        var line = margin
        for word in text.split(separator: " ") {
            if line.count > column, line.count + 1 + word.count > Self.width {
                lines.append(line)
                line = margin
            }
            line += (line.count > column ? " " : "") + word
        }
        return lines + [line]
    }
}
