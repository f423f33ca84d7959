import PerchCLI

/// The program. All of its code is in `PerchCLI`. An incremental build may not recompile a file that only passes on
/// values of a struct that grew three modules below, so this file has none.
@main
enum Main {
    static func main() { Program.run() }
}
