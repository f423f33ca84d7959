/// The rows of `perch scenario`.
enum ScenarioTable {
    private static let files = OperandSpec(
        "FILE", .text, .many, "Scenarios; a directory stands for every file in it that ends in .scenario.")

    static let scenario: CommandSpec = {
        var scenario = CommandSpec("scenario", "Play scenarios: dated steps and expected pushes, as plain text.")
        scenario.discussion = [
            "The language is described in proto/scenario/README.md, with its grammar and examples."
        ]
        scenario.commands = [Self.run, Self.check]
        return scenario
    }()

    private static let run: CommandSpec = {
        var run = CommandTable.leaf(
            "run", "Play scenarios against a server, and say what differed.", .scenarioRun, [Self.files],
            [
                OptionSpec(
                    "server", .address, "HOST:PORT",
                    "A server that runs already; one is started for each scenario if not given, with a store in memory and "
                        + "a clock frozen at the scenario's start."),
                OptionSpec("bundle-id", .text, "ID", "The app, of --server; not needed where the server has one.")
                    .group(.client),
                CommandTable.environment.group(.client),
                OptionSpec("credentials-file", .text, "FILE", "A file with the credentials, of --server.").group(
                    .client),
            ] + CommandTable.tls.map { $0.group(.client) } + [
                OptionSpec("junit", .text, "FILE", "Write the results to this file too, as JUnit's XML."),
                OptionSpec(flag: "quiet", "Print only what differed."),
                CommandTable.output,
            ])
        run.discussion = [
            "Every stream that a scenario mentions is watched over the wire from its beginning; no step waits for time to "
                + "pass. Differences are printed as FILE:LINE:COLUMN with the expected and the seen value.",
            "A server of --server is changed for good: its catalogue, settings and clock become those of the scenario. "
                + "Accounts get names of their own. Where its clock is past the scenario's start, all dates of the "
                + "scenario are read later, by a multiple of four years, so that months keep their lengths.",
            "Ends with 1 if anything differed, or a scenario could not be read or played.",
        ]
        run.examples = [
            ("perch scenario run grace.scenario", "Start a server, play, and say what differed."),
            ("perch scenario run Tests/Scenarios --output ndjson", "A line of JSON for each file, for a program."),
        ]
        return run
    }()

    private static let check: CommandSpec = {
        var check = CommandTable.leaf(
            "check", "Read scenarios and say what is wrong with them. No server is asked.", .scenarioCheck,
            [Self.files],
            [
                OptionSpec(
                    "catalog", .text, "FILE",
                    "Write the catalogue of the one scenario to this file, for `perch serve --catalog`."),
                CommandTable.output,
            ])
        check.discussion = ["Ends with 1 if a scenario has a mistake."]
        check.examples = [
            ("perch scenario check grace.scenario --catalog Grace.storekit", "Serve the scenario's products by hand.")
        ]
        return check
    }()
}
