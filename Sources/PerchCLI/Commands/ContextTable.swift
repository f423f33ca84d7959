import Glibc
import PerchBase

/// The rows of `perch context`.
enum ContextTable {
    static let context: CommandSpec = {
        var context = CommandSpec("context", "Save connections under names, and choose one.")
        context.discussion = [
            "A context holds the options of the connection: the server, its authority, and the file with the credentials. It "
                + "never holds a secret itself. The file is $XDG_CONFIG_HOME/perch/contexts, or ~/.config/perch/contexts, with "
                + "mode 0600."
        ]
        let name = OperandSpec("NAME", .text, .one, "The context's name.")
        context.commands = [
            CommandTable.leaf(
                "add", "Save a connection, or replace the one of that name; the first is used at once.", .contextAdd,
                [name], CommandTable.client.filter { $0.name != "context" }.map { $0.notInEnvironment() }),
            CommandTable.leaf("use", "Use this context where no other is named.", .contextUse, [name], []),
            CommandTable.leaf(
                "list", "List the contexts; a star marks the one in use.", .contextList, [], [CommandTable.output]),
            CommandTable.leaf("remove", "Remove a context. Files that it names stay.", .contextRemove, [name], []),
        ]
        context.examples = [
            (
                "perch context add staging --server perch.staging.example.com:7447 --tls-ca ca.pem --credentials-file "
                    + "me.token", "Save a connection."
            ),
            ("perch context use staging", "Use it from now on."),
            ("perch get apps --context staging", "Or for one command."),
        ]
        return context
    }()
}

extension CommandRun {
    /// `perch context …`
    func context() throws {
        guard let path = Contexts.path(Process.environment) else {
            throw UsageError("contexts need a place: set HOME or XDG_CONFIG_HOME", command: self.invocation.name)
        }
        var contexts = try Contexts.read(at: path) { (path) throws(FileFault) in
            try Files.read(path, limitBytes: Limits.settingsFileBytesMax)
        }
        switch self.invocation.action {
        case .contextList: return try self.list(contexts)
        case .contextAdd: try self.add(to: &contexts)
        case .contextUse:
            contexts.current = try self.existing(in: contexts)
        case .contextRemove:
            let name = try self.existing(in: contexts)
            contexts[name] = nil
            if contexts.current == name { contexts.current = nil }
        default: preconditionFailure("\(self.invocation.action) is nothing about contexts")
        }
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        mkdir(String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)]), 0o700)
        mkdir(directory, 0o700)
        do throws(FileFault) {
            try Files.replace(path, with: Array(contexts.text.utf8), for: .owner)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        self.console.talk(
            "perch: " + (contexts.current.map { "the context in use is \(printable($0))" } ?? "no context is in use"))
    }

    private func existing(in contexts: Contexts) throws(UsageError) -> String {
        let name = self.text("NAME")
        guard contexts[name] != nil else {
            throw UsageError(
                "there is no context \(quoted(name)); `perch context list` shows what there is",
                suggesting: nearest(to: name, in: contexts.all.map(\.name)), command: self.invocation.name)
        }
        return name
    }

    private func add(to contexts: inout Contexts) throws(UsageError) {
        let name = self.text("NAME")
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isName, name.utf8.count <= 64 else {
            throw UsageError(
                "NAME is \(quoted(name)), it should be at most 64 letters, digits, dots, hyphens and underscores",
                command: self.invocation.name)
        }
        var options: [String: String] = [:]
        for option in Contexts.options {
            guard let spec = self.invocation.command.options.first(where: { $0.name == option }),
                let value = self.invocation.written[option]
            else { continue }
            let text = spec.kind.text(of: value)
            // Commands run elsewhere.
            options[option] = Contexts.files.contains(option) && text != "system" ? Self.absolute(text) : text
        }
        guard !options.isEmpty else {
            throw UsageError(
                "a context needs an option of the connection, such as --server HOST:PORT", command: self.invocation.name
            )
        }
        contexts[name] = options
        if contexts.current == nil { contexts.current = name }
    }

    private func list(_ contexts: Contexts) throws {
        try self.printer.print { json in
            json.messages("contexts", contexts.all) { json, context in
                json.text("name", context.name)
                json.flag("current", context.name == contexts.current)
                for option in Contexts.options { json.text(option, context.options[option] ?? "") }
            }
        } text: { _ in
            let width = contexts.all.map(\.name.count).max() ?? 0
            return contexts.all.map { context in
                let options = Contexts.options.compactMap { option in
                    context.options[option].map { option == "server" ? $0 : "--\(option) \($0)" }
                }
                let mark = context.name == contexts.current ? "*" : " "
                return "\(mark) \(context.name.padded(to: width))  \(printable(options.joined(separator: " ")))"
            }
        }
        if contexts.all.isEmpty {
            self.console.talk("no contexts; `perch context add NAME --server HOST:PORT` saves one")
        }
    }
}
