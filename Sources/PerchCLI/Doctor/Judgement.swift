import Glibc
package import PerchBase
package import PerchClient
import PerchWire

/// Turns measurements of `perch doctor` into findings. Pure.
package enum Judgement {
    package static func descriptors(_ limit: Int) -> DoctorFinding {
        let connections = max(0, limit - Limits.descriptorsReserved)
        let found =
            "a server started from here may open \(limit), so it takes at most \(connections) connections "
            + "(\(Limits.httpConnectionsMax) fewer with --http)"
        let remedy =
            "raise LimitNOFILE= in the systemd unit, or `ulimit -Hn` of the shell, to the connections you expect"
        // The usual default of a shell is about a thousand.
        if limit < 2 * Limits.descriptorsReserved {
            return DoctorFinding(.problem, "descriptors", found, remedy: remedy)
        }
        return limit <= 1_024
            ? DoctorFinding(.warning, "descriptors", found, remedy: remedy)
            : DoctorFinding(.ok, "descriptors", found)
    }

    /// The check that allows any version of SQLite: see PerchSQLite.
    package static func sqlite(version: String) -> DoctorFinding {
        DoctorFinding(
            .ok, "sqlite",
            "version \(version); the store opens the file with one connection, and the WAL defect of versions before 3.51.3 "
                + "needs two")
    }

    /// `microseconds` of each sync, in any order; at least one.
    package static func syncs(_ microseconds: [Int64], in directory: String) -> DoctorFinding {
        let sorted = microseconds.sorted()
        let median = sorted[sorted.count / 2]
        let worst = sorted[sorted.count - 1]
        let found =
            "\(sorted.count) times fdatasync in \(printable(directory)): median \(Self.shown(median)), longest "
            + Self.shown(worst)
        guard median / 1_000 >= Limits.doctorSyncWarningMilliseconds else { return DoctorFinding(.ok, "fsync", found) }
        return DoctorFinding(
            .warning, "fsync", found,
            remedy: "each purchase waits for one: put the store on a faster disk; under load many share one sync")
    }

    package static func room(bytes: Int64, in directory: String) -> DoctorFinding {
        let found = "\(roughBytes(bytes)) free in \(printable(directory))"
        guard bytes < Int64(Limits.storeRoomWantedBytes) else { return DoctorFinding(.ok, "disk", found) }
        return DoctorFinding(
            .problem, "disk", found, remedy: "free some space: on a full disk the store refuses purchases")
    }

    /// A file could not be created, written or synced. `isThere`: the directory exists.
    package static func failed(
        _ what: String, in directory: String, isThere: Bool = true, errno code: Int32
    ) -> DoctorFinding {
        let found = "\(what) in \(printable(directory)): \(String(cString: strerror(code)))"
        let remedy =
            switch code {
            case ENOSPC, EDQUOT: "free some space: a full disk refuses purchases, until there is some again"
            case ENOENT where isThere:
                "name a directory on a disk with --store, such as /var/lib/perch: the file system there takes no new files"
            case ENOENT, ENOTDIR: "make the directory, or name another with --store"
            case EACCES, EPERM: "give the directory to the user that runs the server, or run this as that user"
            case EROFS: "name a directory on another disk with --store: this one is read-only"
            default: "check the disk with `dmesg`: a store there could acknowledge nothing"
            }
        return DoctorFinding(.problem, "disk", found, remedy: remedy)
    }

    /// A program listens at an address, but has not reported its status.
    package static func unanswered(_ server: String, _ error: PerchError) -> DoctorFinding {
        func problem(_ found: String, _ remedy: String) -> DoctorFinding {
            DoctorFinding(.problem, "server", "\(found): \(error)", remedy: remedy)
        }
        let known = ErrorReason(error.reason)
        switch error.reason {
        case .unauthenticated:
            return problem(
                "the server at \(server) asks who you are",
                "give --credentials-file FILE, with a token of scope admin for every app: "
                    + "`perch token create --app '*' --scope admin`")
        case .authorizationUnreadable:
            return problem(
                "the server at \(server) was not asked", "name a file that this user can read with --credentials-file")
        case .tlsFiles:
            return problem(
                "the server at \(server) was not asked",
                "name PEM files that this user can read with --tls-ca, --tls-certificate and --tls-key")
        case .addressInvalid:
            return problem("the server at \(server) was not asked", "give --server HOST:PORT, such as 127.0.0.1:7447")
        case .loopFailed:
            return problem("the server at \(server) was not asked", "raise the limit that it names, then ask again")
        case .tlsRequired:
            return problem(
                "the server at \(server) speaks TLS only",
                "give --tls-ca FILE, the authority of its certificate; or --tls, where this system trusts it")
        case .tlsUntrusted:
            return problem(
                "the certificate of what listens at \(server) is of no trusted authority",
                "give --tls-ca FILE, the authority of its certificate")
        case .tlsWrongName:
            return problem(
                "the certificate of what listens at \(server) has another name",
                "name the server by a name of its certificate, or give that name with --tls-server-name")
        case .tlsExpired:
            return problem(
                "the certificate of what listens at \(server) is not valid at this time",
                "renew it, or correct the clock")
        case .tlsIncompatible:
            return problem(
                "what listens at \(server) has no version of TLS that this client has",
                "update what ends TLS there, or its settings")
        case .tlsRefused:
            return problem(
                "the server at \(server) wants another certificate of its clients, or one",
                "give --tls-certificate and --tls-key, of an authority that stands in its --tls-client-ca")
        case .tlsFailed:
            return problem("there is no TLS with what listens at \(server)", "leave TLS out if it speaks none")
        default: break
        }
        switch error.code {
        case .permissionDenied:
            return problem(
                "the server at \(server) answers administrators only",
                "give --credentials-file FILE, with a token of scope admin for every app: "
                    + "`perch token create --app '*' --scope admin`")
        case .unauthenticated:
            return problem(
                "the server at \(server) does not take these credentials",
                "`perch token inspect FILE --token-keys KEYS` says what it finds wrong; or create a new one")
        default:
            // A reason of the contract comes from a server of Perch. A deadline or silence can come from any program.
            guard let known, ![.deadline, .cancelled].contains(known) else {
                return problem(
                    "what listens at \(server) did not answer as a server",
                    "read its log; if it is another program, choose another port with --listen")
            }
            return problem("the server at \(server) did not report its status", "follow its message, or read its log")
        }
    }

    /// A token in the file of credentials, by its end alone.
    package static func token(ending expires: Instant, now: Instant) -> DoctorFinding {
        let rest = expires.milliseconds(since: now)
        let limit = Limits.tokenLifeMilliseconds
        if rest <= 0 {
            return DoctorFinding(
                .problem, "credentials", "the token ended at \(expires)",
                remedy: "put a new one into the file: `perch token create`")
        }
        if rest > limit {
            return DoctorFinding(
                .warning, "credentials",
                "the token ends at \(expires), in \(rest / 86_400_000) days; a server accepts \(limit / 86_400_000) days, unless its --token-life is longer",
                remedy: "sign one that ends sooner: `perch token create --expires 30d`")
        }
        return DoctorFinding(.ok, "credentials", "the token ends at \(expires)")
    }

    package static func clock(_ now: Instant) -> DoctorFinding {
        // A clock before this program existed, or a century later: the battery is empty.
        let first = CivilTime(year: 2025, month: 1, day: 1).instant
        let last = CivilTime(year: 2125, month: 1, day: 1).instant
        guard now < first || now >= last else { return DoctorFinding(.ok, "clock", "\(now)") }
        return DoctorFinding(
            .problem, "clock", "the clock of this machine says \(now)",
            remedy: "set it, and keep it by NTP: `timedatectl set-ntp true`; a store's clock never goes back")
    }

    private static func shown(_ microseconds: Int64) -> String {
        let tenths = microseconds / 100
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

/// Bytes for people: three digits or so, and a unit.
func roughBytes(_ bytes: Int64) -> String {
    var size = bytes
    for unit in ["B", "KiB", "MiB", "GiB"] {
        guard size >= 10_240 else { return "\(size) \(unit)" }
        size /= 1_024
    }
    return "\(size) TiB"
}
