import PerchClient
import PerchWire

extension PerchError {
    /// The message for a terminal: the error, with options as the command line has them, and the next step.
    func told(of command: String? = nil) -> String {
        var shown = self
        shown.message = self.namedMessage(of: command)
        return [shown.description, self.advice].compactMap { $0 }.joined(separator: "\n")
    }

    /// The error as a member `error` of a JSON document. The code has Connect's name, as in the answers to `curl`.
    func write(to json: inout DocumentWriter, of command: String? = nil) {
        json.text("code", StatusCode(rawValue: self.code.rawValue)?.connectName ?? self.code.description)
        json.text("reason", self.reason.rawValue)
        json.text("message", self.namedMessage(of: command))
        json.text("advice", self.advice ?? "")
        json.flag("mayHaveHappened", self.mayHaveHappened)
    }

    /// The message with the command instead of the method that it calls, and options instead of fields.
    private func namedMessage(of command: String?) -> String {
        var message = Self.options.reduce(self.message) { $0.replacing($1.field, with: $1.option) }
        guard let command else { return message }
        for method in Method.allCases where message.contains(method.path) {
            message = message.replacing(method.path, with: "`\(command)`")
        }
        return message
    }

    /// Whether the call is for test apps only, and the app is none.
    var isAboutTestApps: Bool { self.reason == .notATestApp }

    /// Fields of requests that options fill in.
    private static let options: [(field: String, option: String)] = [
        ("as_of.known_at_revision", "--known-at"), ("as_of.instant", "--at"),
        ("operation.buy.app_account_token", "--token"), ("settings.product.price_milliunits", "--price"),
        ("the account key in account ", "the ACCOUNT "),
    ]

    /// The option that would let the command succeed. Nil where the message names it, or where none helps.
    private var advice: String? {
        switch self.reason {
        case .connectFailed:
            "Start a server with `perch serve`, or name another with --server HOST:PORT."
        case .tlsRequired, .tlsUntrusted:
            "Give --tls-ca FILE, with the authority of the server's certificate; --tls is enough where this machine trusts it."
        case .tlsWrongName:
            "Name the server by a name of its certificate, or give that name with --tls-server-name NAME."
        case .tlsExpired: "Renew the server's certificate, or correct the clock."
        case .tlsRefused:
            "Give --tls-certificate and --tls-key: a valid certificate of an authority that the server trusts."
        case .tlsFailed: "Leave the --tls options out if the server has no TLS."
        case .tlsIncompatible: "Update what ends TLS there, or its settings."
        case .unauthenticated: "Give --credentials-file FILE; `perch token create` makes a token."
        case .deadline: "Wait longer with --timeout DURATION."
        default: nil
        }
    }
}
