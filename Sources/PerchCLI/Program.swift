import Glibc

/// The whole program: a command line in, an exit code out.
package enum Program {
    package static func run() -> Never {
        // A connection, or the reader of a pipe, that has gone is an error code of its call, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let console = StandardConsole(environment: Process.environment)
        let tool = Tool(console: console)
        switch tool.plan(Process.arguments, environment: Process.environment) {
        case .done(let code):
            exit(code.rawValue)
        case .serve(let settings):
            exit(Serve.run(settings, console: console))
        case .bench(let job):
            Interruption.remember()
            exit(tool.runBench(job, executable: Process.executable, environment: Process.environment).rawValue)
        case .run(let job):
            Interruption.endTheProcess()
            // Nobody awaits it, because the process ends with it. Detached, because the caller's thread, the main actor's,
            // waits below.
            Task.detached { exit(await tool.run(job).rawValue) }
            while true { pause() }
        }
    }
}
