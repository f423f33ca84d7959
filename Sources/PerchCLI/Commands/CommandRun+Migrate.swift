import PerchBase
import PerchLoop
import PerchServer
import PerchStore

extension CommandRun {
    /// `perch store migrate`
    func migrate() throws {
        guard let from = self.settings.text("from"), let to = self.settings.text("to") else {
            throw UsageError("perch store migrate needs --from PATH and --to URL", command: self.invocation.name)
        }
        guard case .database = ServerSettings.StoreLocation(to) else {
            throw UsageError(
                "--to is \(printable(to)); give the address of a database: postgres://USER@HOST/DATABASE",
                command: self.invocation.name)
        }
        let began = Clocks.monotonic()
        var told: (table: String, rows: Int64) = ("", 0)
        do throws(ServerError) {
            let header = try StoreMigration.run(from: from, to: to) { table, done, count in
                // Some ten lines a table.
                guard table != told.table || done == count || done - told.rows >= count / 10 else { return }
                told = (table, done)
                self.console.talk("\(table): \(done) of \(count)")
            }
            let seconds = Double(Clocks.monotonic().milliseconds(since: began)) / 1_000
            self.console.talk(
                "the store is in the database, at revision \(header.revision) and with epoch \(header.epoch), after \(seconds) s"
            )
            self.console.talk("perch serve --store \(shellWord(to))")
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }
}
