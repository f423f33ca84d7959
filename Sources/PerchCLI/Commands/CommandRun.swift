import PerchBase
import PerchCatalogue
import PerchClient
import PerchModel
import PerchServer
import PerchTLS
import PerchWire

/// One run of a command that asks a server, or works on this machine.
struct CommandRun: Sendable {
    let invocation: Invocation
    let settings: Settings
    let console: any Console
    let printer: Printer

    init(_ job: Tool.Job, console: any Console) {
        self.invocation = job.invocation
        self.settings = job.settings
        self.console = console
        // A command that only writes a file has no --output.
        let output = job.settings.has("output") ? job.settings.text("output") : nil
        let format = output.flatMap { OutputFormat(rawValue: $0) } ?? .text
        self.printer = Printer(console: console, format: format)
    }

    // MARK: What was asked for

    /// The operand of that name. Traps if the table has none: a defect of Perch.
    func text(_ name: String) -> String {
        guard case .text(let text)? = self.values(name).first else { preconditionFailure("no operand \(name)") }
        return text
    }

    func texts(_ name: String) -> [String] {
        self.values(name).compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// The product or the transaction that an operation is about.
    var target: OperationTarget {
        OperationTarget(self.text("TARGET"))
    }

    func transactionID(_ name: String) -> TransactionID {
        guard case .transactionID(let id)? = self.values(name).first else { preconditionFailure("no operand \(name)") }
        return id
    }

    func values(_ name: String) -> [Value] {
        guard let index = self.invocation.command.operands.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("\(self.invocation.name) has no operand \(name)")
        }
        return self.invocation.operands[index]
    }

    /// The given key. Without one the client makes its own.
    var idempotencyKey: [UInt8]? { self.settings.text("idempotency-key").map { Array($0.utf8) } }

    // MARK: The server

    func makeClient() throws(PerchError) -> PerchClient {
        var options = PerchClientOptions()
        options.name = "perch/\(Tool.version)"
        if let timeout = self.settings.number("timeout"), self.isAskedOnce {
            options.callTimeout = .milliseconds(timeout)
            options.connectTimeout = min(options.connectTimeout, options.callTimeout)
        }
        options.includesJWS = self.settings.has("jws") && self.settings.flag("jws")
        options.tls = PerchClientOptions.TLS(self.settings)
        if let path = self.settings.text("credentials-file") { options.authorization = .file(path: path) }
        let named = self.settings.app
        let app = named.isBlank ? nil : AppIdentifier(bundleID: named.bundleID, environment: named.environment)
        return try PerchClient(address: self.settings.text("server") ?? "", app: app, options: options)
    }

    private var isAskedOnce: Bool {
        switch self.invocation.action {
        case .watchProducts, .watchStatus, .watchEntitlement, .watchEntitlements, .watchUpdates, .watchIntents,
            .watchMessages, .watchChanges, .storeWatch:
            false
        default: true
        }
    }

    /// Runs a body with a client, and closes the connection at its end.
    func withClient<Answer>(
        _ ask: (PerchClient) async throws -> Answer
    ) async throws -> Answer {
        let client = try self.makeClient()
        defer { client.close() }
        return try await ask(client)
    }
}

extension OperationTarget {
    /// A number is a transaction's, anything else a product.
    init(_ text: String) {
        self = UInt64(text).map { .transaction($0) } ?? .product(text)
    }
}

extension PerchClientOptions.TLS {
    /// Nil where no option of TLS is given. Any of them turns TLS on.
    init?(_ settings: Settings) {
        let authority = settings.text("tls-ca")
        let certificate = settings.text("tls-certificate")
        let key = settings.text("tls-key")
        let name = settings.text("tls-server-name")
        guard settings.flag("tls") || authority != nil || certificate != nil || key != nil || name != nil else {
            return nil
        }
        self.init(trust: authority.map { $0 == "system" ? .system : .file(path: $0) } ?? .system)
        self.serverName = name
        self.certificatePath = certificate
        self.keyPath = key
    }
}

extension Settings {
    /// TLS as a client has it, with files that are read once.
    func tls(of address: String) throws -> (context: TLSContext, name: TLSServerName)? {
        guard let tls = PerchClientOptions.TLS(self) else { return nil }
        do throws(TLSError) {
            let context = try TLSContext(
                authorityPath: tls.trust.path, certificatePath: tls.certificatePath, keyPath: tls.keyPath)
            return (context, tls.serverName.map { TLSServerName($0) } ?? TLSServerName(ofAddress: address))
        } catch {
            throw CommandFailure(.failure, "TLS: \(error)")
        }
    }

    /// The app of --bundle-id and --environment; empty without them.
    var app: AppReference {
        AppReference(
            bundleID: self.text("bundle-id") ?? "",
            environment: self.text("environment").flatMap { AppEnvironment(named: $0) } ?? .unspecified)
    }
}
