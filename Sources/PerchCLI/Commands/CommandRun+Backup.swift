import Glibc
import PerchBase
import PerchClient
import PerchLoop
import PerchSQLite
import PerchServer

extension CommandRun {
    /// `perch backup`
    func backUp() async throws {
        let path = Self.absolute(self.text("FILE"))
        try await self.withClient { client in
            let summary = try await client.backup(to: path)
            try self.printer.print { json in
                json.text("path", path)
                json.long("revision", summary.revision)
                json.long("byteCount", summary.byteCount)
                json.long("durationMs", Self.whole(summary.duration, .milliseconds(1)))
                json.long("longestStallUs", Self.whole(summary.longestStall, .microseconds(1)))
            } text: { _ in
                [
                    "\(printable(path)): revision \(summary.revision), \(summary.byteCount) bytes, in "
                        + "\(Self.seconds(summary.duration)) s; the store was kept from other work for at most "
                        + "\(Self.milliseconds(summary.longestStall)) ms at a time"
                ]
            }
        }
    }

    /// `perch restore`
    func restore() throws {
        let backup = self.text("FILE")
        let setting = self.texts("TO").first
        guard setting != nil || self.settings.flag("verify") else {
            throw UsageError(
                "perch restore needs TO, the place of the store; or --verify, to check FILE only",
                command: self.invocation.name)
        }
        // The same rules as for perch serve --store: else the server would not find the restored store.
        guard setting != "memory" else {
            throw UsageError(
                "a store in memory ends with its server, and cannot be restored; name a directory, or ./memory",
                command: self.invocation.name)
        }
        do throws(StoreRestoreError) {
            guard let setting else {
                let contents = try StoreRestore.verify(backup)
                return try self.tell(contents, nil, "\(printable(backup)) is whole")
            }
            let isNew = StorePath.makesDirectory(for: setting)
            let path = StorePath.file(for: setting)
            let restored: RestoredStore
            do throws(StoreRestoreError) {
                restored = try StoreRestore.restore(
                    backup, to: path, replaces: self.settings.flag("force"), now: Clocks.wall())
            } catch {
                // A failed restore leaves nothing behind.
                if isNew { StorePath.forgetDirectory(of: setting) }
                throw error
            }
            try self.tell(restored.contents, restored.revocations, "\(printable(path)) is restored")
            if case .unreadable(let why) = restored.revocations {
                self.console.talk(
                    "perch: the tokens that were revoked since the backup could not be read (\(why)); revoke them once "
                        + "more with perch token revoke")
            }
            self.console.talk("perch serve --store \(shellWord(setting))")
        } catch {
            throw CommandFailure(.failure, error.description)
        }
    }

    private func tell(
        _ contents: StoreContents, _ revocations: CarriedRevocations?, _ result: String
    ) throws(StoreRestoreError) {
        var carried: Int?
        if case .carried(let count)? = revocations { carried = count }
        do {
            try self.printer.print { json in
                json.text("storeId", contents.identity.description)
                json.number("epoch", contents.epoch)
                json.long("revision", contents.revision)
                json.long("schema", UInt64(contents.schema))
                json.long("pageCount", UInt64(contents.pages))
                json.long("appCount", UInt64(contents.apps))
                json.long("accountCount", UInt64(contents.accounts))
                json.long("transactionCount", UInt64(contents.transactions))
                json.long("factCount", UInt64(contents.facts))
                if let carried { json.long("revocationsCarried", UInt64(carried)) }
            } text: { _ in
                [
                    "\(result): store \(contents.identity) epoch \(contents.epoch), revision \(contents.revision)",
                    "\(contents.pages) pages, \(contents.apps) apps, \(contents.accounts) accounts, "
                        + "\(contents.transactions) transactions and \(contents.facts) facts bear their checksums",
                ] + (carried.map { ["tokens that were revoked since the backup and stay revoked: \($0)"] } ?? [])
            }
        } catch {
            throw .failed(path: "standard output", what: "\(error)")
        }
    }

    /// An absolute path, because the server has another working directory.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return "\(String(cString: directory))/\(path)"
    }

    private static func whole(_ duration: Duration, _ unit: Duration) -> UInt64 { UInt64(max(0, duration / unit)) }

    private static func seconds(_ duration: Duration) -> String {
        "\((duration / .milliseconds(10)).rounded() / 100)"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\((duration / .microseconds(10)).rounded() / 100)"
    }
}
