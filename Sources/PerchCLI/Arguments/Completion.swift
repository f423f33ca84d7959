/// Completions for shells, written from the table of commands.
enum Completion {
    /// One command as a shell sees it.
    struct Page {
        var path: String
        var commands: [(name: String, summary: String)]
        var options: [OptionSpec]
        /// Words of the operands that are a choice.
        var choices: [String]
        var takesFiles: Bool
    }

    static func pages(_ root: CommandSpec) -> [Page] { Self.pages([root]) }

    private static func pages(_ path: [CommandSpec]) -> [Page] {
        let command = path[path.count - 1]
        let shown = command.commands.filter { !$0.isHidden }
        var help = OptionSpec(flag: "help", "Print help.")
        help.short = "h"
        let page = Page(
            path: Invocation.name(of: path), commands: shown.map { ($0.name, $0.summary) },
            options: command.options + [help],
            choices: command.operands.flatMap { operand -> [String] in
                if case .choice(let words, _) = operand.kind { words } else { [] }
            },
            takesFiles: command.operands.contains { ["FILE", "PATH", "TO", "DIRECTORY"].contains($0.name) })
        return [page] + shown.flatMap { Self.pages(path + [$0]) }
    }

    private static func values(of option: OptionSpec) -> [String] {
        if case .choice(let words, _) = option.kind { words } else { [] }
    }

    private static func takesFile(_ option: OptionSpec) -> Bool {
        ["FILE", "PATH", "DIR"].contains(option.placeholder)
    }

    private static func takesValue(_ option: OptionSpec) -> Bool {
        if case .flag = option.kind { false } else { true }
    }

    private static func names(of option: OptionSpec) -> [String] {
        ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
    }

    /// A word in single quotes, whatever is in it.
    private static func quoted(_ text: String, escape: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: escape) + "'"
    }

    // MARK: bash, and zsh, which share the finding of the command

    static func bash(_ pages: [Page]) -> String {
        """
        # Completion of perch for bash. Written by `perch completion bash`.
        _perch() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
            local command=perch index found='' files=''
            for ((index = 1; index < COMP_CWORD; index++)); do
                case "$command ${COMP_WORDS[index]}" in
        \(Self.paths(pages, indent: 8))) command="$command ${COMP_WORDS[index]}" ;;
                esac
            done
            case "$command $previous" in
        \(Self.valueCases(pages, indent: 4))
            *)
                case $command in
        \(Self.wordCases(pages, indent: 8))
                esac
                ;;
            esac
            COMPREPLY=($(compgen -W "$found" -- "$current"))
            if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
        }
        complete -o filenames -F _perch perch

        """
    }

    static func zsh(_ pages: [Page]) -> String {
        """
        #compdef perch
        # Completion of perch for zsh. Written by `perch completion zsh`.
        _perch() {
            local current=$words[CURRENT] previous=$words[CURRENT-1]
            local command=perch word files=''
            local -a given=("${(@)words[2,CURRENT-1]}")
            local found=''
            for word in $given; do
                case "$command $word" in
        \(Self.paths(pages, indent: 8))) command="$command $word" ;;
                esac
            done
            case "$command $previous" in
        \(Self.valueCases(pages, indent: 4))
            *)
                case $command in
        \(Self.wordCases(pages, indent: 8))
                esac
                ;;
            esac
            [[ -z $found ]] || compadd -- ${=found}
            [[ -z $files ]] || _files
        }
        if [ "$funcstack[1]" = _perch ]; then _perch "$@"; else compdef _perch perch; fi

        """
    }

    /// The commands below perch, as alternatives of a pattern.
    private static func paths(_ pages: [Page], indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        return margin + pages.dropFirst().map { "'\($0.path)'" }.joined(separator: " | \\\n\(margin)")
    }

    private static func valueCases(_ pages: [Page], indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        return pages.flatMap { page in
            page.options.filter { Self.takesValue($0) }.map { option in
                let pattern = Self.names(of: option).map { "'\(page.path) \($0)'" }.joined(separator: " | ")
                let values = Self.values(of: option)
                let what =
                    !values.isEmpty
                    ? "found='\(values.joined(separator: " "))'" : Self.takesFile(option) ? "files=yes" : ":"
                return "\(margin)\(pattern)) \(what) ;;"
            }
        }.joined(separator: "\n")
    }

    private static func wordCases(_ pages: [Page], indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        return pages.map { page in
            let options = page.options.map { "--\($0.name)" }
            let words = page.commands.map(\.name) + page.choices + options
            let files = page.takesFiles ? " files=yes" : ""
            return "\(margin)'\(page.path)') found='\(words.joined(separator: " "))'\(files) ;;"
        }.joined(separator: "\n")
    }

    // MARK: fish

    static func fish(_ pages: [Page]) -> String {
        var lines = [
            "# Completion of perch for fish. Written by `perch completion fish`.",
            "function __perch_command", "    set -l command perch",
            "    for word in (commandline -opc)[2..-1]", "        switch \"$command $word\"", "            case \\",
        ]
        lines.append(pages.dropFirst().map { "                '\($0.path)'" }.joined(separator: " \\\n"))
        lines += [
            "                set command \"$command $word\"", "        end", "    end", "    echo $command", "end",
            "complete -c perch -f",
        ]
        for page in pages {
            let there = "-n 'test (__perch_command) = \"\(page.path)\"'"
            for command in page.commands {
                lines.append(
                    "complete -c perch \(there) -a \(command.name) -d \(Self.quoted(command.summary, escape: "\\'"))")
            }
            if !page.choices.isEmpty {
                lines.append("complete -c perch \(there) -a '\(page.choices.joined(separator: " "))'")
            }
            if page.takesFiles { lines.append("complete -c perch \(there) -F") }
            for option in page.options {
                var line = "complete -c perch \(there) -l \(option.name)"
                if let short = option.short { line += " -s \(short)" }
                let values = Self.values(of: option)
                if !values.isEmpty {
                    line += " -x -a '\(values.joined(separator: " "))'"
                } else if Self.takesFile(option) {
                    line += " -r -F"
                } else if Self.takesValue(option) {
                    line += " -x"
                }
                lines.append(line + " -d " + Self.quoted(option.help, escape: "\\'"))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
