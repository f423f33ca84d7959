/// Why a command ended without having done what it was asked for: a line for people, and the code for scripts.
struct CommandFailure: Error, Equatable, CustomStringConvertible {
    let code: ExitCode
    /// What happened, and what to do next.
    let description: String

    init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
