import PerchBase

/// `perch backup` and `perch restore`.
enum BackupTable {
    static let backup: CommandSpec = {
        var backup = CommandTable.leaf(
            "backup", "Copy the store of a running server into a new file, while it serves.", .backup,
            [
                OperandSpec(
                    "FILE", .text, .one,
                    "Where to, on the server's machine, and where it may write. Nothing may be there.")
            ],
            CommandTable.asking())
        backup.discussion = [
            "The copy holds one revision, whole: that of the moment when it is complete. Streams and calls go on; the store "
                + "is kept from them for some milliseconds at a time. FILE has its name only when it is whole and on the disk.",
            "A large store takes longer than an answer may: give --timeout, or look into the server's log, where the end is "
                + "reported too. A client that stops waiting does not stop the copy.",
        ]
        backup.examples = [
            ("perch backup /var/lib/perch/monday.db", "Copy the store, to where the unit lets the server write."),
            ("perch restore --verify /var/lib/perch/monday.db", "See that the copy can be restored."),
        ]
        return backup
    }()

    static let restore: CommandSpec = {
        var restore = CommandTable.leaf(
            "restore", "Make a store of a backup, after reading and checking all of it. No server is asked.", .restore,
            [
                OperandSpec("FILE", .text, .one, "The backup."),
                OperandSpec(
                    "TO", .text, .optional,
                    "The store: a directory, or a file that ends in .db, as with perch serve --store."),
            ],
            [
                OptionSpec(flag: "verify", "Check the backup. Without TO that is all, and nothing is written."),
                OptionSpec(
                    flag: "force",
                    "Put it in the place of a store that is there, which is kept beside it as FILE.replaced."),
                CommandTable.output,
            ])
        restore.discussion = [
            "The command checks every page, record, fact and transaction against its checksum. It refuses a backup that is "
                + "damaged or of a newer version of Perch, and then writes nothing.",
            "The restored store begins a new epoch: older tokens and cursors are refused with TOKEN_OTHER_STORE. Clients "
                + "that stay connected restart their watches automatically. Their streams of transactions end, and a command "
                + "with an older token ends too: remove its file, and read the history of transactions again.",
            "Revoked tokens of the replaced store stay revoked. Without a readable one, tokens that were revoked "
                + "since the backup are valid again: revoke them once more, with perch token revoke.",
            "Run as root, it gives the store to the owner of the directory.",
        ]
        restore.examples = [
            ("perch restore --verify perch-monday.db", "Is it whole?"),
            ("perch restore perch-monday.db /var/lib/perch", "Make a store of it, then start perch serve."),
        ]
        return restore
    }()
}
