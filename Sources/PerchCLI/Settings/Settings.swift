import PerchBase

/// The values of a command, each with its origin. Flags come before the environment, then the context, a file, and
/// defaults.
package struct Settings: Sendable {
    package enum Origin: Hashable, Sendable, CustomStringConvertible {
        case commandLine
        case environment(name: String)
        case file(path: String, line: Int)
        /// Of `perch context`.
        case context(name: String)
        case standard

        package var description: String {
            switch self {
            case .commandLine: "command line"
            case .environment(let name): "environment, \(name)"
            case .file(let path, let line): "\(path), line \(line)"
            case .context(let name): "context \(name)"
            case .standard: "default"
            }
        }
    }

    package struct Entry: Hashable, Sendable {
        package let value: Value
        package let origin: Origin
    }

    private let command: CommandSpec
    /// By name; what has neither a value nor a default is not there.
    private let entries: [String: Entry]
    /// Variables that begin with `PERCH_` and are links to services, by name.
    package let ignoredVariables: [String]

    /// Whether the command's table has such an option.
    func has(_ name: String) -> Bool {
        self.command.options.contains { $0.name == name }
    }

    /// Traps for an option that the command's table does not have: a defect of Perch.
    package func entry(_ name: String) -> Entry? {
        precondition(
            self.has(name), "\(self.command.name) has no option --\(name) to ask for"
        )
        return self.entries[name]
    }

    package func text(_ name: String) -> String? {
        guard case .text(let text) = self.entry(name)?.value else { return nil }
        return text
    }

    package func number(_ name: String) -> Int64? {
        guard case .number(let number) = self.entry(name)?.value else { return nil }
        return number
    }

    /// Of an option that may be given several times.
    package func texts(_ name: String) -> [String] {
        guard case .list(let values) = self.entry(name)?.value else { return [] }
        return values.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    package func flag(_ name: String) -> Bool {
        self.entry(name)?.value == .flag(true)
    }
}

extension Settings {
    /// Sources of settings besides the command line.
    package struct Sources {
        package var environment: [String: String]
        /// Reads a whole file.
        package var readFile: (String) throws(FileFault) -> [UInt8]

        package init(environment: [String: String], readFile: @escaping (String) throws(FileFault) -> [UInt8]) {
            self.environment = environment
            self.readFile = readFile
        }
    }

    package init(_ invocation: Invocation, root: CommandSpec, from sources: Sources) throws(UsageError) {
        let command = invocation.command
        self.ignoredVariables = try Self.requireKnown(sources.environment, root: root)
        var entries: [String: Entry] = [:]
        for option in command.options {
            if case .flag = option.kind { entries[option.name] = Entry(value: .flag(false), origin: .standard) }
            if let standard = option.defaultText {
                do {
                    entries[option.name] = Entry(value: try option.kind.parse(standard), origin: .standard)
                } catch {
                    preconditionFailure("the default of --\(option.name) \(error)")
                }
            }
        }
        var above: [String: Entry] = [:]
        for option in command.options {
            // An empty variable counts as unset: `PERCH_STORE= perch serve`.
            guard let name = option.environmentName, let text = sources.environment[name], !text.isEmpty else {
                continue
            }
            do {
                above[option.name] = Entry(value: try option.kind.parse(text), origin: .environment(name: name))
            } catch {
                throw UsageError("\(name) \(error.description)", suggesting: error.suggestion, command: invocation.name)
            }
        }
        for (name, value) in invocation.written { above[name] = Entry(value: value, origin: .commandLine) }
        if command.options.contains(where: \.isSetting), case .text(let path) = above["config"]?.value {
            let file = try SettingsFile(at: path, of: command, called: invocation.name, readFile: sources.readFile)
            entries.merge(file.entries) { $1 }
        }
        if command.options.contains(where: { $0.name == "context" && $0.group == .client }) {
            entries.merge(try Self.context(above, command, sources)) { $1 }
        }
        entries.merge(above) { $1 }
        self.command = command
        self.entries = entries
    }

    /// The values of the context of --context, or of the one that `perch context use` chose.
    private static func context(
        _ above: [String: Entry], _ command: CommandSpec, _ sources: Sources
    ) throws(UsageError) -> [String: Entry] {
        var named: String?
        if case .text(let name)? = above["context"]?.value { named = name }
        guard let path = Contexts.path(sources.environment) else {
            guard let named else { return [:] }
            throw UsageError("there is no context \(quoted(named)): neither HOME nor XDG_CONFIG_HOME is set")
        }
        let contexts = try Contexts.read(at: path, sources.readFile)
        guard let name = named ?? contexts.current else { return [:] }
        guard let options = contexts[name] else {
            throw UsageError(
                "there is no context \(quoted(name)) in \(printable(path)); `perch context list` shows what there is",
                suggesting: nearest(to: name, in: contexts.all.map(\.name)))
        }
        var entries: [String: Entry] = [:]
        for (key, text) in options {
            guard let option = command.options.first(where: { $0.name == key }) else { continue }
            do throws(ValueKind.Mismatch) {
                entries[key] = Entry(value: try option.kind.parse(text), origin: .context(name: name))
            } catch {
                throw UsageError(
                    "\(key) of the context \(quoted(name)) \(error)", suggesting: error.suggestion,
                    command: "perch context")
            }
        }
        return entries
    }

    /// Refuses variables that begin with PERCH_ and are no settings. Returns those of service links, which it ignores.
    private static func requireKnown(
        _ environment: [String: String], root: CommandSpec
    ) throws(UsageError) -> [String] {
        let known = Set(Self.variables(of: root))
        var ignored: [String] = []
        // Sorted, so that the first refusal is deterministic.
        for name in environment.keys.sorted() where name.hasPrefix("PERCH_") && !known.contains(name) {
            if name.hasPrefix("PERCH_TEST_") { continue }
            if ServiceLink.explains(name, environment[name] ?? "") {
                ignored.append(name)
                continue
            }
            throw UsageError(
                "the environment has \(printable(name)), which is no setting of perch; correct it or unset it",
                suggesting: Self.secrets.contains(name)
                    ? "PERCH_CREDENTIALS_FILE"
                    : nearest(to: String(name.dropFirst(6)), in: known.sorted().map { String($0.dropFirst(6)) })
                        .map { "PERCH_\($0)" })
        }
        return ignored
    }

    /// Variables in which people put secrets. They are never read.
    private static let secrets: Set = ["PERCH_TOKEN", "PERCH_CREDENTIALS", "PERCH_AUTHORIZATION"]

    private static func variables(of command: CommandSpec) -> [String] {
        command.options.compactMap(\.environmentName) + command.commands.flatMap { Self.variables(of: $0) }
    }

    /// Each setting as a line of a settings file, with its origin as a comment.
    package func listing() -> String {
        let rows = self.command.options.filter(\.isSetting).map { option in
            let entry = self.entries[option.name]
            let line = entry.map { "\(option.name) = \(option.kind.text(of: $0.value))" } ?? "# \(option.name) ="
            return (line, entry.map { "\($0.origin)" } ?? "not set")
        }
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "\($0.padded(to: width))  # \($1)\n" }.joined()
    }
}

extension ValueKind {
    /// The text that `parse` reads as this value.
    func text(of value: Value) -> String {
        switch (self, value) {
        case (_, .flag(let value)): value ? "true" : "false"
        case (_, .text(let text)): text
        case (.bytes, .number(let number)): byteCount(number)
        case (.duration, .number(let number)): exactly(milliseconds: number)
        case (_, .number(let number)): String(number)
        case (_, .transactionID(let id)): String(id)
        case (_, .list(let values)): values.map { self.text(of: $0) }.joined(separator: " ")
        case (_, .duration(let length)):
            length.months == 0
                ? exactly(milliseconds: length.milliseconds)
                : "\(length.months)mo" + (length.milliseconds == 0 ? "" : exactly(milliseconds: length.milliseconds))
        }
    }
}
