import Glibc
import PerchBase

/// `perch completion`, and `perch manual`, which `make man` calls.
enum CompletionTable {
    static let completion: CommandSpec = {
        var completion = CommandTable.leaf(
            "completion", "Print the completion of a shell.", .completion,
            [OperandSpec("SHELL", .choice(["bash", "zsh", "fish"]), .one, "Which shell.")], [])
        completion.examples = [
            ("perch completion bash > ~/.local/share/bash-completion/completions/perch", "For bash."),
            ("perch completion zsh > ~/.zfunc/_perch", "For zsh; ~/.zfunc has to be in fpath before compinit."),
            ("perch completion fish > ~/.config/fish/completions/perch.fish", "For fish."),
        ]
        return completion
    }()

    static let manual: CommandSpec = {
        var manual = CommandTable.leaf(
            "manual", "Write the man pages into a directory.", .manual,
            [OperandSpec("DIRECTORY", .text, .one, "Where to; it must be there.")], [])
        manual.isHidden = true
        return manual
    }()
}

extension CommandRun {
    /// `perch completion`
    func complete() throws {
        let pages = Completion.pages(CommandTable.root)
        switch self.text("SHELL") {
        case "bash": try self.console.data(Completion.bash(pages))
        case "zsh": try self.console.data(Completion.zsh(pages))
        default: try self.console.data(Completion.fish(pages))
        }
    }

    /// `perch manual`
    func writeManual() throws {
        for page in ManPage.all(CommandTable.root) {
            do throws(FileFault) {
                try Files.replace("\(self.text("DIRECTORY"))/\(page.name).1", with: Array(page.text.utf8))
            } catch {
                throw CommandFailure(.failure, "\(error)")
            }
        }
    }
}
