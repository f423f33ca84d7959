import PerchBase

/// The request of a command line.
package enum ParsedCommand: Sendable {
    case run(Invocation)
    case help(path: [CommandSpec])
    case helpOnExitCodes
    case helpOnConnection
    case version
}

/// A command with the values of its command line. `Settings` adds the environment, a file and the defaults.
package struct Invocation: Sendable {
    /// From `perch` down to the command itself.
    package let path: [CommandSpec]
    package let action: Action
    /// The given options, by name.
    package let written: [String: Value]
    /// In the order of the command's operands; those of a `many` all together.
    package let operands: [[Value]]

    package var command: CommandSpec { self.path[self.path.count - 1] }
    package var name: String { Self.name(of: self.path) }

    package static func name(of path: [CommandSpec]) -> String {
        path.map(\.name).joined(separator: " ")
    }
}

/// Reads a command line by the table of commands. Pure: no environment, no files, no output.
///
/// Options stand anywhere behind their command, as `--name value` or `--name=value`; `--` ends them. No name can be
/// abbreviated, so a new option never changes the meaning of an old script.
package struct ArgumentParser {
    private let root: CommandSpec

    package init(_ root: CommandSpec) {
        self.root = root
    }

    package func parse(_ arguments: [String]) throws(UsageError) -> ParsedCommand {
        if arguments.isEmpty { return .help(path: [self.root]) }
        if arguments.first == "help" { return try self.parseHelp(Array(arguments.dropFirst())) }
        var path = [self.root]
        var words: [String] = []
        var written: [String: Value] = [:]
        var optionsEnded = false
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            index += 1
            let command = path[path.count - 1]
            if optionsEnded || argument == "-" || !argument.hasPrefix("-") {
                if words.isEmpty, !optionsEnded, let next = command.commands.first(where: { $0.name == argument }) {
                    path.append(next)
                    continue
                }
                if !command.commands.isEmpty, command.operands.isEmpty {
                    throw self.unknownCommand(argument, in: path)
                }
                words.append(argument)
                continue
            }
            if argument == "--" {
                optionsEnded = true
                continue
            }
            let (name, inline) = Self.split(argument)
            if argument == "-h" || name == "help" { return .help(path: path) }
            if name == "version" || argument == "-V", path.count == 1 { return .version }
            let spec = try self.option(argument, name, in: path)
            let text: String
            if let inline {
                text = inline
            } else if case .flag = spec.kind {
                text = "true"
            } else if index < arguments.count, Self.isValue(arguments[index], of: spec.kind) {
                text = arguments[index]
                index += 1
            } else {
                throw UsageError(
                    "--\(spec.name) needs a value: --\(spec.name) \(spec.placeholder)",
                    command: Invocation.name(of: path))
            }
            if spec.isRepeatable {
                let value = try Self.value(of: spec.kind, text, called: "--\(spec.name)", in: path)
                guard case .list(let values)? = written[spec.name] else {
                    written[spec.name] = .list([value])
                    continue
                }
                written[spec.name] = .list(values + [value])
                continue
            }
            guard written[spec.name] == nil else {
                throw UsageError("--\(spec.name) is given twice", command: Invocation.name(of: path))
            }
            written[spec.name] = try Self.value(of: spec.kind, text, called: "--\(spec.name)", in: path)
        }
        return .run(try self.invocation(path, words, written))
    }

    private func parseHelp(_ words: [String]) throws(UsageError) -> ParsedCommand {
        if words == [Help.exitCodesTopic] { return .helpOnExitCodes }
        if words == [Help.connectionTopic] { return .helpOnConnection }
        var path = [self.root]
        for word in words where word != "--help" && word != "-h" {
            guard let next = path[path.count - 1].commands.first(where: { $0.name == word }) else {
                throw self.unknownCommand(
                    word, in: path, and: path.count == 1 ? [Help.exitCodesTopic, Help.connectionTopic] : [])
            }
            path.append(next)
        }
        return .help(path: path)
    }

    private func invocation(
        _ path: [CommandSpec], _ words: [String], _ written: [String: Value]
    ) throws(UsageError) -> Invocation {
        let command = path[path.count - 1]
        guard let action = command.action else {
            let names = command.commands.filter { !$0.isHidden }.map(\.name)
            throw UsageError(
                "\(Invocation.name(of: path)) needs a command: \(alternatives(names))",
                command: Invocation.name(of: path))
        }
        try Self.requireAccount(before: words, in: path)
        var operands: [[Value]] = []
        var rest = words[...]
        for spec in command.operands {
            let count = spec.arity == .many || spec.arity == .any ? rest.count : min(1, rest.count)
            guard count > 0 || spec.arity == .optional || spec.arity == .any else {
                throw UsageError(
                    "\(Invocation.name(of: path)) needs \(spec.name): \(spec.help.lowercasedFirst)",
                    command: Invocation.name(of: path))
            }
            var values: [Value] = []
            for word in rest.prefix(count) {
                values.append(try Self.value(of: spec.kind, word, called: spec.name, in: path))
            }
            operands.append(values)
            rest = rest.dropFirst(count)
        }
        if let extra = rest.first {
            // The first word may be a command that is misspelt, where the command has operands of its own too.
            let meant = nearest(to: words[0], in: command.commands.filter { !$0.isHidden }.map(\.name))
            throw UsageError(
                "\(Invocation.name(of: path)) takes \(Self.count(of: command.operands)), and \(quoted(extra)) is one more",
                suggesting: meant.map { "`\(Invocation.name(of: path)) \($0)`" }, command: Invocation.name(of: path))
        }
        return Invocation(path: path, action: action, written: written, operands: operands)
    }

    /// Whether a word behind an option is its value, and not the next option.
    private static func isValue(_ word: String, of kind: ValueKind) -> Bool {
        if !word.hasPrefix("-") || word == "-" { return true }
        return kind.takesNegative && word.dropFirst().first?.isNumber == true
    }

    /// Refuses the form that commands of an account once had, `perch store refund 7`, with the form that they have now.
    private static func requireAccount(before words: [String], in path: [CommandSpec]) throws(UsageError) {
        let command = path[path.count - 1]
        let operands = command.operands
        guard words.count >= 1, operands.count == words.count + 1, operands[0].name == CommandTable.account.name,
            operands[1].kind.isOfTransaction, let number = words.first, UInt64(number) != nil,
            zip(operands.dropFirst(), words).allSatisfy({ (try? $0.kind.parse($1)) != nil })
        else { return }
        let name = Invocation.name(of: path)
        throw UsageError(
            "\(name) takes the account first, then the transaction",
            suggesting: "`\(([name, operands[0].name] + words.map(printable)).joined(separator: " "))`", command: name)
    }

    private static func count(of operands: [OperandSpec]) -> String {
        switch operands.count {
        case 0: "no argument"
        case 1: "one argument, \(operands[0].name)"
        default: "\(operands.count) arguments, \(operands.map(\.name).joined(separator: " "))"
        }
    }

    /// `--name=value` in its two parts.
    private static func split(_ argument: String) -> (name: String, value: String?) {
        let bare = argument.hasPrefix("--") ? argument.dropFirst(2) : argument.dropFirst(1)
        guard argument.hasPrefix("--"), let equals = bare.firstIndex(of: "=") else { return (String(bare), nil) }
        return (String(bare[..<equals]), String(bare[bare.index(after: equals)...]))
    }

    private func option(_ argument: String, _ name: String, in path: [CommandSpec]) throws(UsageError) -> OptionSpec {
        let options = path[path.count - 1].options
        let isLong = argument.hasPrefix("--")
        let found = options.first { isLong ? $0.name == name : $0.short.map { String($0) } == name }
        if let found { return found }
        let shown = isLong ? "--\(name)" : argument
        let suggestion =
            Self.hint(for: name, in: path)
            ?? nearest(to: name, in: options.map(\.name) + ["help"] + (path.count == 1 ? ["version"] : []))
            .map { "--\($0)" }
        throw UsageError(
            "\(Invocation.name(of: path)) has no option \(printable(shown))", suggesting: suggestion,
            command: Invocation.name(of: path))
    }

    /// The option of this command that other programs call by that name.
    private static func hint(for name: String, in path: [CommandSpec]) -> String? {
        let command = path[path.count - 1]
        func has(_ option: String) -> Bool { command.options.contains { $0.name == option } }
        let isGroup = command.action == nil
        switch name {
        case "json", "ndjson":
            if has("output") { return "--output \(name)" }
            return isGroup ? "`\(Invocation.name(of: path)) COMMAND --output \(name)`" : nil
        case "port", "p", "host", "address", "addr", "bind", "url", "listen":
            if has("listen") { return "--listen 127.0.0.1:PORT" }
            return has("server") ? "--server HOST:PORT" : nil
        case "verbose", "v", "debug": return has("log-level") ? "--log-level debug" : nil
        case "db", "data", "data-dir", "dir": return has("store") ? "--store PATH" : nil
        case "token", "password", "credentials", "auth":
            return has("credentials-file") ? "--credentials-file FILE" : nil
        case "ca", "cacert", "ca-file": return has("tls-ca") ? "--tls-ca FILE" : nil
        default: return nil
        }
    }

    /// Commands of that name further down: `perch store buy` for `perch buy`.
    private static func paths(to word: String, below path: [CommandSpec]) -> [String] {
        // Commands of `perch bench` have names of others, and measure them.
        path[path.count - 1].commands.filter { !$0.isHidden && $0.name != "bench" }.flatMap { next -> [String] in
            let there = path + [next]
            let found = next.commands.filter { $0.name == word && !$0.isHidden }.map {
                Invocation.name(of: there + [$0])
            }
            return found + Self.paths(to: word, below: there)
        }
    }

    private func unknownCommand(_ word: String, in path: [CommandSpec], and more: [String] = []) -> UsageError {
        let name = Invocation.name(of: path)
        let commands = path[path.count - 1].commands.filter { !$0.isHidden }.map(\.name) + more
        // The shortest first, because `app` is closer to `apps` than to `app-transaction`.
        let elsewhere = Self.paths(to: word, below: path).map { "`\($0)`" }
        let suggestion =
            elsewhere.isEmpty
            ? nearest(to: word, in: commands.sorted { $0.count < $1.count }).map { "`\(name) \($0)`" }
            : alternatives(elsewhere)
        return UsageError("\(name) has no command \(quoted(word))", suggesting: suggestion, command: name)
    }

    private static func value(
        of kind: ValueKind, _ text: String, called name: String, in path: [CommandSpec]
    ) throws(UsageError) -> Value {
        do {
            return try kind.parse(text)
        } catch {
            throw UsageError(
                "\(name) \(error.description)", suggesting: error.suggestion, command: Invocation.name(of: path))
        }
    }
}
