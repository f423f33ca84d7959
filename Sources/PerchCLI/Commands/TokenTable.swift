import PerchBase
import PerchIdentity
import PerchModel

/// The rows of `perch token`.
enum TokenTable {
    static let token: CommandSpec = {
        var token = CommandSpec("token", "Create, inspect and revoke the tokens of clients.")
        token.discussion = [
            "A token is a signed text with the identity of a client: its app, its scope, its end. A copy of the token has the "
                + "same rights, so keep it in files that only the client can read, and never on a command line.",
            "Scopes hold one another: read, then write (buy and finish), test (make things happen in a test app), admin "
                + "(run the server). Beside them stands ingest: submit what the App Store signed, and nothing else. Admin holds "
                + "it too.",
        ]
        token.commands = [Self.create, Self.inspect, Self.revoke, Self.key]
        token.examples = [
            ("perch token key create --to main.jwk", "A key to sign with, and its public half beside it."),
            (
                "perch token create --key main.jwk --app com.example.app --to backend.token",
                "A token that lets its holder read, for thirty days."
            ),
            ("perch serve --token-keys main.pub.jwk", "A server that asks for tokens."),
            ("perch watch status alice plus --credentials-file backend.token", "A client that shows it."),
        ]
        return token
    }()

    private static let to = OptionSpec(
        "to", .text, "FILE", "Where to put it, readable for you alone; standard output if left out.")

    private static let create: CommandSpec = {
        var create = CommandTable.leaf(
            "create", "Sign a token.", .tokenCreate, [],
            [
                OptionSpec("key", .text, "FILE", "The key to sign with: a JWK or PEM file that only you can read."),
                OptionSpec(
                    "app", .text, "ID",
                    "The bundle identifier of the app that it is for; `*` for every app and the server itself. May be "
                        + "given several times."
                ).repeatable(),
                OptionSpec(
                    "environment", .environment, "NAME", default: "xcode",
                    "The store behind the app."),
                OptionSpec(
                    "scope", .text, "NAMES", default: "read",
                    "The rights of the token: a scope and those before it in read, write, test, admin; or ingest, or both with a comma: "
                        + "read,ingest."),
                OptionSpec("account", .text, "ACCOUNT", "The only account that it is for; every one if not given."),
                OptionSpec("subject", .text, "NAME", "The name of its holder, for logs and quotas."),
                OptionSpec(
                    "expires", .duration(1_000...Limits.commandTimeoutMilliseconds * 10), "DURATION", default: "30d",
                    "How long it is valid, from now on."),
                OptionSpec(
                    "audience", .text, "NAME", default: Authenticator.standardAudience,
                    "The server that it is for: its --token-audience."),
                OptionSpec(
                    "issuer", .text, "NAME", default: "perch",
                    "The claim iss: the server's --token-issuer, if it has one."),
                Self.to,
            ])
        create.examples = [
            (
                "perch token create --key main.jwk --app com.example.app --account alice --expires 1h",
                "A token for the app on alice's phone."
            )
        ]
        return create
    }()

    private static let inspect: CommandSpec = {
        var inspect = CommandTable.leaf(
            "inspect", "Say what a token says, and, with the server's keys, whether it would be taken.",
            .tokenInspect,
            [OperandSpec("FILE", .text, .one, "The file with the token, or - for standard input.")],
            [
                OptionSpec("token-keys", .text, "PATH", "The server's --token-keys: a file, or a directory of them."),
                OptionSpec(
                    "token-audience", .text, "NAME", default: Authenticator.standardAudience, "The server's audience."),
                OptionSpec("token-issuer", .text, "NAME", "The server's issuer, if it asks for one."),
                OptionSpec(
                    "token-life", .duration(Limits.tokenLifeMillisecondsRange), "DURATION", default: "400d",
                    "How far in the future a token may end at the server."),
                CommandTable.output,
            ])
        inspect.discussion = [
            "Without keys the command does not check the signature, and says so. With keys it ends with 4 where the server "
                + "would refuse the token. Only a server knows whether it is revoked and whether its app exists: use the "
                + "token in a call."
        ]
        return inspect
    }()

    private static let revoke: CommandSpec = {
        var revoke = CommandTable.leaf(
            "revoke", "Take a token back before its end.", .tokenRevoke, [],
            CommandTable.asking([
                OptionSpec(
                    "token-file", .text, "FILE", "The token to revoke; only its identifier goes to the server."),
                OptionSpec("id", .text, "ID", "Or its identifier, which `perch token inspect` shows."),
            ]))
        revoke.discussion = [
            "The streams of its holder end within five seconds. The server keeps the revocation until the token ends, and at "
                + "least for its --token-life; by --id alone it keeps it for ever. The command needs credentials with the "
                + "scope admin for every app."
        ]
        return revoke
    }()

    private static let key: CommandSpec = {
        var key = CommandSpec("key", "Keys that tokens are signed with.")
        var create = CommandTable.leaf(
            "create", "Make a key.", .tokenKeyCreate, [],
            [
                OptionSpec(
                    "algorithm", .choice(["es256", "eddsa", "hs256"]), "NAME", default: "es256",
                    "es256 and eddsa have a public half for servers; with hs256 every verifier can also sign."),
                OptionSpec(
                    "id", .text, "ID", "Its ID in tokens; the file's name without its ending if not given."),
                OptionSpec("to", .text, "FILE", "Where to put it, such as keys/main.jwk, readable for you alone."),
            ])
        create.discussion = [
            "The public half goes beside it, as FILE with .pub before its ending: that is all that a server needs, in a "
                + "directory of its own. To change keys, give servers the new one beside the old, sign with the new one, and "
                + "take the old one away when its last token has ended."
        ]
        key.commands = [create]
        return key
    }()
}
