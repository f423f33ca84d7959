/// The failure of a command: a message for people, and an exit code for scripts.
struct CommandFailure: Error, Equatable, CustomStringConvertible {
    let code: ExitCode
    /// The fault and the next step.
    let description: String

    init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
