import PerchCLI

/// The program. All of it is in `PerchCLI`: when a struct three modules below grew, a build that is not from scratch does not
/// compile a file again that has only passed on what holds it. So this one holds nothing.
@main
enum Main {
    static func main() { Program.run() }
}
