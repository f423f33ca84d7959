import Glibc

/// The whole program: a command line in, an exit code out.
package enum Program {
    package static func run() -> Never {
        // A closed connection or pipe is an error of its call. Without this it would end the process.
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
            // The task ends the process, so it is not awaited. It is detached, because the main actor's thread waits
            // below.
            Task.detached { exit(await tool.run(job).rawValue) }
            while true { pause() }
        }
    }
}
