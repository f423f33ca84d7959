import PerchBase
import PerchModel
import PerchServer
import Testing

@testable import PerchCLI

/// The settings of a `perch serve` line, with an environment and one file.
private func resolved(
    _ line: String, _ environment: [String: String] = [:], file: String? = nil
) throws -> Settings {
    let sources = Settings.Sources(environment: environment) { (path) throws(FileFault) in
        guard let file, path == "perch.conf" else { throw FileFault("\(path) could not be read: no such file") }
        return Array(file.utf8)
    }
    return try Settings(try parsed(line), root: CommandTable.root, from: sources)
}

struct BadFile: CustomTestStringConvertible {
    let text: String
    let message: String
    var suggestion: String?

    init(_ text: String, _ message: String, suggesting suggestion: String? = nil) {
        self.text = text
        self.message = message
        self.suggestion = suggestion
    }

    var testDescription: String { self.text }
}

@Suite struct `settings` {
    @Test func `flags are over the environment, over the file, over the defaults`() throws {
        let file = "drain = 4s\nlinger = 4s\nloops = 4\n"
        let environment = ["PERCH_DRAIN": "3s", "PERCH_LINGER": "3s", "PERCH_CONFIG": "perch.conf"]
        let settings = try resolved("serve --drain 2500ms", environment, file: file)
        #expect(settings.entry("drain") == .init(value: .number(2_500), origin: .commandLine))
        #expect(settings.entry("linger") == .init(value: .number(3_000), origin: .environment(name: "PERCH_LINGER")))
        #expect(settings.entry("loops") == .init(value: .number(4), origin: .file(path: "perch.conf", line: 3)))
        #expect(settings.entry("write-stall") == .init(value: .number(30_000), origin: .standard))
        #expect(settings.entry("catalog") == nil)
    }

    @Test func `a flag takes back what the environment said`() throws {
        let environment = ["PERCH_ALLOW_UNAUTHENTICATED": "true"]
        #expect(try resolved("serve", environment).flag("allow-unauthenticated"))
        #expect(try !resolved("serve --allow-unauthenticated=false", environment).flag("allow-unauthenticated"))
    }

    @Test func `a variable that is empty is not set`() throws {
        #expect(try resolved("serve", ["PERCH_STORE": ""]).text("store") == "memory")
    }

    @Test func `a file may start with a byte order mark`() throws {
        let settings = try resolved("serve --config perch.conf", file: "\u{FEFF}listen = 127.0.0.1:1\n")
        #expect(settings.text("listen") == "127.0.0.1:1")
    }

    @Test func `a file has comments, blank lines, odd spacing and lines of Windows`() throws {
        let file = "# ours\r\n\r\n  listen=127.0.0.1:1   # near\r\n\tstore =  /srv/a#b \r\ncatalog = My Shop.storekit"
        let settings = try resolved("serve --config perch.conf", file: file)
        #expect(settings.text("listen") == "127.0.0.1:1")
        #expect(settings.text("store") == "/srv/a#b")
        #expect(settings.text("catalog") == "My Shop.storekit")
        #expect(settings.entry("catalog")?.origin == .file(path: "perch.conf", line: 5))
    }

    @Test(arguments: [
        BadFile("lisen = :1", "perch.conf, line 1: there is no setting \"lisen\"", suggesting: "listen"),
        BadFile("\nPERCH_LISTEN = :1", "perch.conf, line 2: there is no setting \"PERCH_LISTEN\""),
        BadFile("--listen = :1", "perch.conf, line 1: there is no setting \"--listen\"", suggesting: "listen"),
        BadFile("config = other", "perch.conf, line 1: there is no setting \"config\""),
        BadFile("show-config = true", "perch.conf, line 1: there is no setting \"show-config\""),
        BadFile("listen", "perch.conf, line 1: \"listen\" has no `=`; a line is `name = value`"),
        BadFile("= x", "perch.conf, line 1: there is no setting \"\""),
        BadFile("loops = 1\nloops = 1", "perch.conf, line 2: loops is set already in line 1"),
        BadFile("store =", "perch.conf, line 1: store is empty"),
        BadFile("store = # none", "perch.conf, line 1: store is empty"),
        BadFile(
            "store = \"/srv/perch\"",
            "perch.conf, line 1: the value of store stands in quotes, which would be part of it; leave them out",
            suggesting: "store = /srv/perch"),
        BadFile(
            "listen = ''",
            "perch.conf, line 1: the value of listen stands in quotes, which would be part of it; leave them out",
            suggesting: "listen = "),
        BadFile("loops = many", "perch.conf, line 1: loops is \"many\", it should be a number"),
        BadFile(
            "environment = sandbax",
            "perch.conf, line 1: environment is \"sandbax\", it can be production, sandbox or xcode",
            suggesting: "sandbox"),
        BadFile(
            "drain = 2", "perch.conf, line 1: drain is \"2\", which has no unit; there are ms, s, m, h, d, w, mo, y",
            suggesting: "2s"),
        BadFile(
            "allow-unauthenticated",
            "perch.conf, line 1: \"allow-unauthenticated\" has no `=`; a line is `name = value`"),
    ])
    func `a file that cannot be followed is refused with its line`(_ bad: BadFile) {
        let error = #expect(throws: UsageError.self) { try resolved("serve --config perch.conf", file: bad.text) }
        #expect(error?.message == bad.message)
        #expect(error?.suggestion == bad.suggestion)
    }

    @Test func `a file that is not there is refused`() {
        let error = #expect(throws: UsageError.self) { try resolved("serve --config other.conf") }
        #expect(error?.message == "--config: other.conf could not be read: no such file")
    }

    @Test(
        arguments: [
            ("PERCH_LISTN", "PERCH_LISTEN"), ("PERCH_LISTEN_ADDRESS", nil), ("PERCH_SERVE", "PERCH_SERVER"),
            ("PERCH_TOKEN", "PERCH_CREDENTIALS_FILE"), ("PERCH_", nil),
        ] as [(String, String?)])
    func `a variable that is no setting is refused, for every command`(_ name: String, _ suggestion: String?) {
        for line in ["serve", "get apps"] {
            let error = #expect(throws: UsageError.self) { try resolved(line, [name: "1"]) }
            #expect(
                error?.message == "the environment has \(name), which is no setting of perch; correct it or unset it")
            #expect(error?.suggestion == suggestion)
        }
    }

    @Test(arguments: [
        ("PERCH_SERVICE_HOST", "10.0.0.1"), ("PERCH_SERVICE_PORT", "7447"), ("PERCH_SERVICE_PORT_HTTP", "7448"),
        ("PERCH_PORT", "tcp://10.0.0.1:7447"), ("PERCH_PORT_7447_TCP", "tcp://10.0.0.1:7447"),
        ("PERCH_PORT_7447_TCP_PROTO", "tcp"), ("PERCH_PORT_7447_TCP_PORT", "7447"),
        ("PERCH_PORT_7447_TCP_ADDR", "10.0.0.1"), ("PERCH_HTTP_PORT", "tcp://10.0.0.2:7448"),
        ("PERCH_HTTP_SERVICE_HOST", "fd00::1"), ("PERCH_SERVER_PORT_7447_TCP", "tcp://[fd00::1]:7447"),
        ("PERCH_SERVER_PORT_7447_TCP_ADDR", "10.0.0.1"), ("PERCH_SERVER_SERVICE_PORT", "7447"),
    ])
    func `the links that Kubernetes sets for a service called perch are ignored and named`(
        _ name: String, _ value: String
    ) throws {
        let settings = try resolved("serve", [name: value])
        #expect(settings.text("listen") == "127.0.0.1:7447")
        #expect(settings.ignoredVariables == [name])
    }

    @Test(arguments: [
        ("PERCH_HTTP_PORT", "7448"), ("PERCH_PORT", "7447"), ("PERCH_SERVER_PORT_7447_TCP", "1"),
        ("PERCH_SERVICE_PORT", "http"), ("PERCH_LISTEN_PORT", "on"),
    ])
    func `a name of a link with another value is a mistake`(_ name: String, _ value: String) {
        #expect(throws: UsageError.self) { try resolved("serve", [name: value]) }
    }

    @Test(arguments: ["PERCH_TEST_POSTGRES", "HOME"])
    func `unrelated variables are ignored`(_ name: String) throws {
        #expect(try resolved("serve", [name: "x"]).ignoredVariables.isEmpty)
    }

    @Test func `a variable with a bad value is refused by its own name`() {
        let error = #expect(throws: UsageError.self) { try resolved("serve", ["PERCH_LOOPS": "-1"]) }
        #expect(error?.message == "PERCH_LOOPS is \"-1\", it should be a number")
    }

    @Test func `the listing names each origin, and is itself a file of the same settings`() throws {
        let line = "serve --config perch.conf --time-rate 1002 --record-cache-bytes 65536"
        let first = try resolved(line, ["PERCH_LINGER": "90s"], file: "drain = 1h")
        let listing = first.listing()
        #expect(listing.contains("linger = 1m30s "))
        #expect(listing.contains("# environment, PERCH_LINGER\n"))
        #expect(listing.contains("# perch.conf, line 1\n"))
        #expect(listing.contains("record-cache-bytes = 64KiB "))
        #expect(listing.contains("time-rate = oneRenewalEveryMinute "))
        #expect(listing.contains("# catalog = "))
        let second = try resolved("serve --config perch.conf", file: listing)
        for option in try parsed("serve").command.options where option.isSetting {
            #expect(second.entry(option.name)?.value == first.entry(option.name)?.value, "\(option.name)")
        }
    }

    @Test func `defaults are those of the server`() throws {
        let made = ServerSettings(try resolved("serve"), version: "1")
        let own = ServerSettings()
        #expect(made.listen == own.listen)
        #expect(made.store == own.store)
        #expect(made.apps.isEmpty)
        #expect(made.loops == own.loops)
        #expect(made.recordCacheBytesMax == own.recordCacheBytesMax)
        #expect(made.frameBytesMax == own.frameBytesMax)
        #expect(made.callsPerConnectionMax == own.callsPerConnectionMax)
        #expect(made.callsBytesMax == own.callsBytesMax)
        #expect(made.writeStallMilliseconds == own.writeStallMilliseconds)
        #expect(made.lingerMilliseconds == own.lingerMilliseconds)
        #expect(made.drainMilliseconds == own.drainMilliseconds)
        #expect(made.returnAfterMilliseconds == own.returnAfterMilliseconds)
        #expect(made.tls == own.tls)
        #expect(made.isPlaintextAllowed == own.isPlaintextAllowed)
        #expect(made.isUnauthenticatedAllowed == own.isUnauthenticatedAllowed)
        #expect(made.isMixingEnvironmentsAllowed == own.isMixingEnvironmentsAllowed)
        #expect(made.endsWithParent == own.endsWithParent)
    }

    @Test func `a certificate is used for everybody, unless the operator says otherwise`() throws {
        func mode(_ line: String) throws -> TLSSettings.Mode {
            ServerSettings(try resolved("serve \(line)"), version: "1").tls.mode
        }
        #expect(try mode("") == .off)
        #expect(try mode("--tls-certificate c.pem --tls-key k.pem") == .required)
        #expect(try mode("--tls-certificate c.pem --tls-key k.pem --tls allowed") == .allowed)
        #expect(try mode("--tls-certificate c.pem --tls-key k.pem --tls off") == .off)
    }

    @Test func `only an explicit setting names the app of the store`() throws {
        #expect(ServerSettings(try resolved("serve --store s"), version: "1").statedApp == nil)
        let stated = ServerSettings(try resolved("serve --store s --environment production"), version: "1").statedApp
        #expect(stated?.environment == .production && stated?.bundleID == nil)
        let named = ServerSettings(try resolved("serve --store s --bundle-id org.shop"), version: "1").statedApp
        #expect(named?.bundleID == "org.shop" && named?.environment == nil)
        let new = ServerSettings(try resolved("serve --catalog a --bundle-id org.shop"), version: "1")
        #expect(new.statedApp == nil && new.apps.first?.bundleID == "org.shop")
    }

    @Test func `every setting reaches the server`() throws {
        let made = ServerSettings(
            try resolved(
                "serve --listen 0.0.0.0:1 --store /srv/perch --catalog Shop.storekit --bundle-id org.shop "
                    + "--environment sandbox --time-rate oneHourIsOneDay --loops 3 --record-cache-bytes 1MiB "
                    + "--frame-bytes 1MiB --calls-per-connection 7 --calls-bytes 2MiB --write-stall 7s --linger 8s --drain 9s "
                    + "--return-after 6s "
                    + "--tls allowed --tls-certificate c.pem --tls-key k.pem --tls-client-ca a.pem "
                    + "--tls-client-certificates optional --tls-ticket-secret s --allow-plaintext "
                    + "--allow-unauthenticated --allow-mixed-environments --clock 1970-01-01T00:00:07Z --with-parent"),
            version: "9")
        #expect(made.listen == "0.0.0.0:1")
        #expect(made.store == .file(path: "/srv/perch"))
        #expect(made.apps.count == 1)
        #expect(made.apps.first?.bundleID == "org.shop")
        #expect(made.apps.first?.environment == .sandbox)
        #expect(made.apps.first?.catalogPath == "Shop.storekit")
        #expect(made.apps.first?.timeRate?.name == "oneHourIsOneDay")
        #expect(made.apps.first?.clock?.milliseconds == 7_000)
        #expect(made.endsWithParent)
        #expect(made.loops == 3)
        #expect(made.recordCacheBytesMax == 1 << 20)
        #expect(made.frameBytesMax == 1 << 20)
        #expect(made.callsPerConnectionMax == 7)
        #expect(made.callsBytesMax == 2 << 20)
        #expect(made.writeStallMilliseconds == 7_000)
        #expect(made.lingerMilliseconds == 8_000)
        #expect(made.drainMilliseconds == 9_000)
        #expect(made.returnAfterMilliseconds == 6_000)
        #expect(made.tls.mode == .allowed)
        #expect(made.tls.certificatePath == "c.pem")
        #expect(made.tls.keyPath == "k.pem")
        #expect(made.tls.clientAuthorityPath == "a.pem")
        #expect(made.tls.clientCertificates == .optional)
        #expect(made.tls.ticketSecretPath == "s")
        #expect(made.isPlaintextAllowed)
        #expect(made.isUnauthenticatedAllowed)
        #expect(made.isMixingEnvironmentsAllowed)
        #expect(made.version == "9")
    }
}
