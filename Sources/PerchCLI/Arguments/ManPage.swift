/// Man pages in troff, written from the table of commands: `perch.1`, and one for each command below it.
struct ManPage {
    let name: String
    let text: String

    static func all(_ root: CommandSpec) -> [ManPage] {
        [Self.root(root)] + root.commands.filter { !$0.isHidden }.map { Self.command([root, $0]) }
    }

    private static func head(_ name: String, _ summary: String) -> [String] {
        [
            ".\\\" Written by `make man` from the table of commands.",
            ".TH \(name.uppercased()) 1 \"\" \"perch \(Tool.version)\" \"Perch\"", ".SH NAME",
            Self.text("\(name) \\- \(summary)", isMarked: true),
        ]
    }

    private static func root(_ root: CommandSpec) -> ManPage {
        var lines = Self.head("perch", root.summary)
        lines += [".SH SYNOPSIS", ".B perch", ".I COMMAND", "[options]", ".SH COMMANDS"]
        for command in root.commands where !command.isHidden {
            lines += [".TP", "\\fBperch\\-\(Self.escaped(command.name))\\fR(1)", Self.text(command.summary)]
        }
        lines += [".SH CONNECTION", "Each command that asks a server has these options."]
        for option in CommandTable.client { lines += Self.item(option) }
        lines += [".SH EXIT STATUS"]
        for code in ExitCode.allCases { lines += [".TP", ".B \(code.rawValue)", Self.text(code.meaning)] }
        lines += Self.examples(root)
        return ManPage(name: "perch", text: lines.joined(separator: "\n") + "\n")
    }

    private static func command(_ path: [CommandSpec]) -> ManPage {
        let command = path[path.count - 1]
        let name = path.map(\.name).joined(separator: "-")
        var lines = Self.head(name, command.summary)
        lines += [".SH SYNOPSIS"] + Self.synopsis(path)
        if !command.discussion.isEmpty {
            lines += [".SH DESCRIPTION"] + Self.paragraphs(command.discussion).dropFirst()
        }
        lines += Self.arguments(command, heading: ".SH")
        for below in command.commands where !below.isHidden { lines += Self.section(path + [below]) }
        lines += Self.examples(command)
        lines += [".SH SEE ALSO", "\\fBperch\\fR(1), whose section CONNECTION has the options of the connection."]
        return ManPage(name: name, text: lines.joined(separator: "\n") + "\n")
    }

    private static func section(_ path: [CommandSpec]) -> [String] {
        let command = path[path.count - 1]
        var lines = [".SH \(Self.escaped(Invocation.name(of: path)).uppercased())", Self.text(command.summary)]
        lines += [".PP"] + Self.synopsis(path) + Self.paragraphs(command.discussion)
        lines += Self.arguments(command, heading: ".SS")
        for example in command.examples {
            lines += [".PP", Self.text(example.meaning), ".PP", ".EX", Self.escaped(example.line), ".EE"]
        }
        return lines + command.commands.filter { !$0.isHidden }.flatMap { Self.section(path + [$0]) }
    }

    private static func synopsis(_ path: [CommandSpec]) -> [String] {
        let command = path[path.count - 1]
        let name = Self.escaped(Invocation.name(of: path))
        guard command.action != nil else { return ["\\fB\(name)\\fR \\fICOMMAND\\fR"] }
        let operands = command.operands.map { operand in
            switch operand.arity {
            case .one: "\\fI\(operand.name)\\fR"
            case .optional: "[\\fI\(operand.name)\\fR]"
            case .many: "\\fI\(operand.name)\\fR..."
            case .any: "[\\fI\(operand.name)\\fR...]"
            }
        }
        return [(["\\fB\(name)\\fR"] + operands + ["[options]"]).joined(separator: " ")]
    }

    private static func paragraphs(_ texts: [String]) -> [String] { texts.flatMap { [".PP", Self.text($0)] } }

    private static func arguments(_ command: CommandSpec, heading: String) -> [String] {
        var lines: [String] = []
        if !command.operands.isEmpty {
            lines.append("\(heading) ARGUMENTS")
            for operand in command.operands {
                lines += [".TP", ".I \(operand.name)", Self.text(operand.help + Self.choices(operand.kind))]
            }
        }
        let options = command.options.filter { $0.group != .client || $0.name == "timeout" }
        guard !options.isEmpty else { return lines }
        return lines + ["\(heading) OPTIONS"] + options.flatMap { Self.item($0) }
    }

    private static func item(_ option: OptionSpec) -> [String] {
        let short = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
        let value = option.placeholder.isEmpty ? "" : " \\fI\(Self.escaped(option.placeholder))\\fR"
        var text = option.help + Self.choices(option.kind)
        if let standard = option.defaultText { text += " Default: \(standard)." }
        if let variable = option.environmentName { text += " Environment: \(variable)." }
        return [".TP", "\(short)\\fB\\-\\-\(Self.escaped(option.name))\\fR\(value)", Self.text(text)]
    }

    private static func choices(_ kind: ValueKind) -> String {
        if case .choice(let words, _) = kind { " One of: \(words.joined(separator: ", "))." } else { "" }
    }

    private static func examples(_ command: CommandSpec) -> [String] {
        guard !command.examples.isEmpty else { return [] }
        let lines = command.examples.flatMap {
            [".PP", Self.text($0.meaning), ".PP", ".EX", Self.escaped($0.line), ".EE"]
        }
        return [".SH EXAMPLES"] + lines.dropFirst()
    }

    /// A line of text: one that begins with a dot or an apostrophe would be a request.
    private static func text(_ text: String, isMarked: Bool = false) -> String {
        let escaped = isMarked ? text : Self.escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            default: result.append(character)
            }
        }
        return result
    }
}
