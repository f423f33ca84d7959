/// A row of the table of commands: operands, options and action. Help, parsing and suggestions all read it.
package struct CommandSpec: Sendable {
    package let name: String
    /// One line, in the list of its parent.
    package let summary: String
    /// Paragraphs above the arguments in its own help.
    package var discussion: [String] = []
    package var operands: [OperandSpec] = []
    package var options: [OptionSpec] = []
    package var commands: [CommandSpec] = []
    /// The command's action; nil for a group, which requires one of its `commands`.
    package var action: Action?
    /// Whole command lines, each with what it does.
    package var examples: [(line: String, meaning: String)] = []
    /// The command works, but help does not list it.
    package var isHidden = false
    /// Its section in the parent's help; nil for the common one.
    package var heading: String?

    package init(_ name: String, _ summary: String) {
        self.name = name
        self.summary = summary
    }
}

/// A positional argument.
package struct OperandSpec: Sendable {
    package enum Arity: Sendable { case one, optional, many, any }

    /// In capitals, as help shows it.
    package let name: String
    package let kind: ValueKind
    package let arity: Arity
    package let help: String

    package init(_ name: String, _ kind: ValueKind = .text, _ arity: Arity = .one, _ help: String) {
        self.name = name
        self.kind = kind
        self.arity = arity
        self.help = help
    }
}

/// An option of a command, or a setting: flag, environment variable and line of a file have one name.
package struct OptionSpec: Sendable {
    package enum Group: String, Sendable, CaseIterable {
        case own = "Options"
        case client = "Connection"
        case general = "General options"
    }

    /// Without dashes.
    package let name: String
    package var short: Character?
    package let kind: ValueKind
    /// The name of the value in help; empty for a flag.
    package let placeholder: String
    /// Parsed by `kind`, like a value that a person writes. Nil where a missing value has a meaning.
    package var defaultText: String?
    /// The variable `PERCH_…` sets it too.
    package var hasEnvironment = false
    /// May be given several times.
    package var isRepeatable = false
    /// May stand in the file of `--config`.
    package var isSetting = false
    package var group = Group.own
    /// Its section in the command's help; nil for the common one.
    package var heading: String?
    package let help: String

    package init(
        _ name: String, _ kind: ValueKind, _ placeholder: String = "", default defaultText: String? = nil,
        _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.placeholder = placeholder
        self.defaultText = defaultText
        self.help = help
    }

    /// An option without a value.
    package init(flag name: String, _ help: String) {
        self.init(name, .flag, "", help)
    }

    package var environmentName: String? {
        self.hasEnvironment ? Self.environmentName(of: self.name) : nil
    }

    package static func environmentName(of name: String) -> String {
        "PERCH_" + String(name.map { $0 == "-" ? "_" : $0 }).uppercased()
    }

    func inEnvironment() -> OptionSpec {
        var copy = self
        copy.hasEnvironment = true
        return copy
    }

    func notInEnvironment() -> OptionSpec {
        var copy = self
        copy.hasEnvironment = false
        copy.defaultText = nil
        copy.group = .own
        return copy
    }

    func asSetting() -> OptionSpec {
        var copy = self.inEnvironment()
        copy.isSetting = true
        return copy
    }

    func repeatable() -> OptionSpec {
        var copy = self
        copy.isRepeatable = true
        return copy
    }

    func short(_ letter: Character) -> OptionSpec {
        var copy = self
        copy.short = letter
        return copy
    }

    func heading(_ heading: String) -> OptionSpec {
        var copy = self
        copy.heading = heading
        return copy
    }

    func group(_ group: Group) -> OptionSpec {
        var copy = self
        copy.group = group
        return copy
    }
}
