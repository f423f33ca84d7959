import PerchBase
import PerchServer

extension CommandRun {
    /// `perch store restored`
    func declareRestored() throws {
        guard let url = self.settings.text("store") else {
            throw UsageError("perch store restored needs --store PATH or URL", command: self.invocation.name)
        }
        if case .memory = ServerSettings.StoreLocation(url) {
            throw UsageError(
                "a store in memory ends with its server, and cannot be restored; name a directory, or ./memory",
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
