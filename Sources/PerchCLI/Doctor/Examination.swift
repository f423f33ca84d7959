import Glibc
import PerchBase
import PerchClient
import PerchIdentity
import PerchLoop
import PerchSQLite
import PerchServer

/// The checks of `perch doctor` on this machine. They leave nothing behind.
enum Examination {
    static func descriptors() -> DoctorFinding {
        Judgement.descriptors(DescriptorLimit.raise())
    }

    static func clock() -> DoctorFinding {
        Judgement.clock(Clocks.wall())
    }

    /// The token in a file of credentials; none where the file holds something else. The client reports a file that it cannot
    /// read.
    static func credentials(_ path: String?) -> [DoctorFinding] {
        guard let path, let text = try? PerchClientOptions.Authorization.file(path: path).read(),
            let space = text.utf8.firstIndex(of: UInt8(ascii: " ")),
            let token = try? CompactToken(Array(text.utf8[text.utf8.index(after: space)...])),
            let claims = try? TokenClaims(of: token)
        else { return [] }
        return [Judgement.token(ending: claims.expires, now: Clocks.wall())]
    }

    /// The existing part of the directory of a `--store` setting.
    static func directory(ofStore setting: String) -> String {
        if Files.isDirectory(setting) { return setting }
        guard let slash = setting.lastIndex(of: "/") else { return "." }
        let parent = slash == setting.startIndex ? "/" : String(setting[..<slash])
        return parent
    }

    /// The disk of --store; else that of the working directory where no server answers. A server reports its own disk.
    static func disks(store: String?, isAnswered: Bool) -> [DoctorFinding] {
        guard let store else { return isAnswered ? [] : Self.disk(".") }
        // A database is on another machine's disk, and the server that has it open reports its heartbeats.
        if case .database = ServerSettings.StoreLocation(store) { return [] }
        return Self.store(store)
    }

    /// The disk of a `--store` setting, and whether its store exists.
    static func store(_ setting: String) -> [DoctorFinding] {
        let directory = Self.directory(ofStore: setting)
        let disk = Self.disk(directory)
        let makes =
            disk.contains { $0.level == .problem }
            ? "name the store's directory with --store; perch serve cannot make one there"
            : "check the path: perch serve would make it, and begin an empty store"
        guard !setting.hasSuffix(".db"), !Files.isDirectory(setting) else {
            return [Self.file(StorePath.path(for: setting), whereMissing: makes)] + disk
        }
        return [
            DoctorFinding(
                .warning, "store", "\(printable(setting)) is not there; the disk was tried in \(printable(directory))",
                remedy: makes)
        ] + disk
    }

    /// Whether a start would find the store. `perch restore --verify` checks its contents.
    private static func file(_ path: String, whereMissing remedy: String) -> DoctorFinding {
        if StoreFile.hasLogAlone(path) {
            return DoctorFinding(
                .problem, "store",
                "\(printable(path)) is missing or empty, but its log holds acknowledged changes",
                remedy: "put the file back beside its log, or move the log away to begin a new store")
        }
        if StoreFile.isVacant(path) {
            return DoctorFinding(
                .warning, "store", "there is no store at \(printable(path))", remedy: remedy)
        }
        return DoctorFinding(
            .ok, "store",
            "\(printable(path)) is there; a start reads it, and `perch restore --verify` checks a backup of it")
    }

    /// Writes, syncs and removes a small file, as the store does.
    static func disk(_ directory: String) -> [DoctorFinding] {
        let path = "\(directory)/.perch-doctor.\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let isThere = Files.isDirectory(directory)
            return [Judgement.failed("no file can be made", in: directory, isThere: isThere, errno: code)]
        }
        defer {
            close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 0x50, count: 4_096)
        var times: [Int64] = []
        for _ in 0..<Limits.doctorSyncCount {
            let start = Clocks.monotonic()
            let count = write(descriptor, page, page.count)
            guard count == page.count else {
                // The rest that the disk had space for.
                return [Judgement.failed("a page cannot be written", in: directory, errno: count < 0 ? errno : ENOSPC)]
            }
            guard fdatasync(descriptor) == 0 else {
                return [Judgement.failed("fdatasync failed", in: directory, errno: errno)]
            }
            times.append((Clocks.monotonic().nanoseconds - start.nanoseconds) / 1_000)
        }
        var findings = [Judgement.syncs(times, in: directory)]
        var room = statvfs()
        if fstatvfs(descriptor, &room) == 0 {
            let bytes = UInt64(room.f_bavail).multipliedReportingOverflow(by: UInt64(room.f_frsize))
            findings.append(
                Judgement.room(bytes: bytes.overflow ? .max : Int64(clamping: bytes.partialValue), in: directory))
        }
        return findings
    }

    /// The program that listens on the address, where no server of Perch answers.
    static func port(_ server: String, _ reason: String) -> DoctorFinding {
        guard case .address(let address)? = try? Destination(parsing: server), address.isLoopback || address.isWildcard
        else {
            return DoctorFinding(
                .problem, "server", reason, remedy: "start it with `perch serve`, or name another with --server")
        }
        do throws(SystemError) {
            _ = try Sockets.listen(on: address, reusePort: false)
            return DoctorFinding(
                .warning, "server", "no server answers at \(server); the port is free",
                remedy: "start one with `perch serve`, or name another with --server")
        } catch {
            return DoctorFinding(
                .problem, "server", "no perch answers at \(server), and the port cannot be used: \(error)",
                remedy: "see who has it: `ss -ltnp`; or listen elsewhere with --listen")
        }
    }
}
