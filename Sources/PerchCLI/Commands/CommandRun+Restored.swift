import PerchBase
import PerchServer

extension CommandRun {
    /// `perch store restored`
    func declareRestored() throws {
        guard let url = self.settings.text("store") else {
            throw UsageError("perch store restored needs --store URL", command: self.invocation.name)
        }
        guard case .database = ServerSettings.StoreLocation(url) else {
            throw UsageError(
                "--store is \(printable(url)); give the address of a database: postgres://USER@HOST/DATABASE. A backup of a store in a "
                    + "file is restored by perch restore, which does the same",
                command: self.invocation.name)
        }
        do throws(ServerError) {
            let epoch = try StoreMigration.declareRestored(url)
            self.console.talk(
                "the store has epoch \(epoch): tokens and cursors of before are refused, and numbers begin anew")
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }
}
