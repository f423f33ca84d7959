package import PerchStore

/// Why a database could not be opened as a store. Nothing was changed in it.
package enum PostgresOpenError: Error, Equatable, CustomStringConvertible {
    case noLibrary(String)
    case url(String)
    case password
    case parameter(String)
    case unreachable(place: String, String)
    /// libpq cannot use the address, a file that it names, or what the server offers: no later attempt can succeed.
    case setting(place: String, String)
    /// The server is reached, and lets this user not in.
    case notAdmitted(place: String, String)
    case noDatabase(place: String, String)
    case pooler(place: String)
    case readOnly(place: String)
    /// Its log lacks what nodes of this machine have shown, and a host of the list that is out of reach may have it.
    case lacksShown(place: String, revision: UInt64, epoch: UInt32)
    case oldServer(place: String, version: Int)
    case losesCommits(place: String, setting: String)
    case noRights(place: String, String)
    /// Tables in the schema `perch` that are not Perch's.
    case foreign(place: String, String)
    /// A migration needs a database without a store.
    case hasStore(place: String)
    case storage(place: String, StorageError)

    /// No host said anything: the network may be gone.
    var isSilence: Bool {
        guard case .unreachable(_, let reason) = self else { return false }
        return reason.contains(PostgresError.silence)
    }

    /// Whether a later attempt may succeed with nothing repaired meanwhile: the database starts, or a standby takes over.
    package var isPassing: Bool {
        switch self {
        case .unreachable, .readOnly, .lacksShown: true
        case .storage(_, let error): error.isPassing
        default: false
        }
    }

    /// The reason in few words, without an address.
    package var kind: String {
        if case .readOnly = self { return "every server that answers only reads" }
        if case .lacksShown = self {
            return "the server that writes lacks what was shown, and another one is out of reach"
        }
        return "no server of it can be reached"
    }

    package var description: String {
        switch self {
        case .noLibrary(let reason):
            "a store on PostgreSQL needs libpq, which is not on this machine (\(reason)); install it: apt-get install libpq5"
        case .url(let reason):
            "--store is no address of a database: \(reason); write postgres://USER@HOST:PORT/DATABASE, or "
                + "postgres:///?service=NAME"
        case .password:
            "the address of the database has a password in it, which every list of processes shows; put it in a file that only this "
                + "user reads, name that with PGPASSFILE, and leave it out of the address"
        case .parameter(let keyword):
            "the address of the database sets \(keyword), which Perch sets itself; leave it out"
        case .unreachable(let place, let reason):
            "the database at \(place) cannot be reached: \(reason); start it, or name its host and port in --store"
        case .setting(let place, let reason):
            "the database at \(place) cannot be reached so: \(reason); correct --store, or what libpq reads beside it "
                + "(PGSERVICEFILE, the files of sslrootcert, sslcert and sslkey)"
        case .notAdmitted(let place, let reason):
            "PostgreSQL at \(place) lets this user not in: \(reason); check the user in --store, the file of PGPASSFILE, and "
                + "pg_hba.conf"
        case .noDatabase(let place, let reason):
            "there is no such database at \(place): \(reason); create it: createdb --owner USER DATABASE"
        case .pooler(let place):
            "a pooler such as pgbouncer answers at \(place); Perch needs sessions of its own, for locks and notifications: name "
                + "PostgreSQL's own host and port in --store (its port is usually 5432)"
        case .readOnly(let place):
            "PostgreSQL at \(place) only reads: it is a standby, or default_transaction_read_only is on; name the primary in "
                + "--store, or all hosts, and Perch finds it: postgres://USER@HOST1,HOST2/DATABASE"
        case .lacksShown(let place, let revision, let epoch):
            "PostgreSQL at \(place) lacks revision \(revision) of epoch \(epoch), which nodes of this machine have shown: it may be an old "
                + "primary, and a host of the list that is out of reach may have it; if that one is gone for good, leave it out of --store"
        case .oldServer(let place, let version):
            "PostgreSQL at \(place) is version \(version / 10_000), Perch needs 13 or newer; upgrade it"
        case .losesCommits(let place, let setting):
            "PostgreSQL at \(place) runs with \(setting), so it may lose what it has confirmed; set it to on in postgresql.conf, "
                + "and restart PostgreSQL"
        case .noRights(let place, let reason):
            "this user lacks a right in the database at \(place): \(reason); as the database's owner run: "
                + "CREATE SCHEMA perch AUTHORIZATION the_user"
        case .foreign(let place, let what):
            "the schema perch of the database at \(place) is not Perch's: \(what); name another database in --store"
        case .hasStore(let place):
            "the database at \(place) has a store already; name another database, or drop its schema perch"
        case .storage(let place, let error):
            "the database at \(place): \(error)"
        }
    }
}
