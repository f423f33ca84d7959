import Glibc
import PerchBase
import PerchLoop
import PerchMetrics
import PerchTesting
import Testing

@testable import PerchServer

/// The receiving end of a service manager: a datagram socket with a name.
final class NotifyReceiver {
    let name: String
    private let number: Int32

    /// `name` is a path, or `@` and an abstract name.
    init(_ name: String) throws {
        self.name = name
        self.number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        try #require(self.number >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8)
        let offset = try #require(MemoryLayout<sockaddr_un>.offset(of: \.sun_path))
        withUnsafeMutableBytes(of: &address) { raw in
            for (index, byte) in bytes.enumerated() { raw[offset + index] = byte }
            if bytes[0] == UInt8(ascii: "@") { raw[offset] = 0 }
        }
        let length = socklen_t(offset + bytes.count + (bytes[0] == UInt8(ascii: "@") ? 0 : 1))
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(self.number, $0, length) }
        }
        try #require(bound == 0, "the socket \(name) cannot be bound: \(String(cString: strerror(errno)))")
    }

    deinit { close(self.number) }

    /// The datagrams received since the last call.
    func received() -> [String] {
        var messages: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(self.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count >= 0 else { return messages }
            messages.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }
}

@Suite struct `the service manager's variables` {
    @Test func `a process without a service manager has no supervision`() {
        #expect(Supervision(environment: ["HOME": "/"], processID: 7) == Supervision())
    }

    @Test func `the service manager's variables is taken from the environment`() {
        let supervision = Supervision(
            environment: [
                "NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7", "LISTEN_PID": "7",
                "LISTEN_FDS": "2", "LISTEN_FDNAMES": "perch:http", "JOURNAL_STREAM": "8:9",
            ], processID: 7)
        #expect(supervision.notifySocket == "@x")
        #expect(supervision.watchdogMicroseconds == 30_000_000)
        #expect(supervision.listeners == [.init(number: 3, name: "perch"), .init(number: 4, name: "http")])
        #expect(supervision.journalStream == "8:9")
    }

    @Test func `variables for another process are ignored`() {
        let supervision = Supervision(
            environment: ["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8", "LISTEN_PID": "8", "LISTEN_FDS": "1"],
            processID: 7)
        #expect(supervision.watchdogMicroseconds == nil)
        #expect(supervision.listeners.isEmpty)
    }

    @Test(arguments: ["0", "-1", "x", "", "\(Limits.inheritedListenersMax + 1)"])
    func `invalid variables are ignored`(_ count: String) {
        let supervision = Supervision(
            environment: ["LISTEN_PID": "7", "LISTEN_FDS": count, "WATCHDOG_USEC": "x"], processID: 7)
        #expect(supervision == Supervision())
    }

    @Test func `a socket without a name is unknown`() {
        let environment = ["LISTEN_PID": "7", "LISTEN_FDS": "\(Limits.inheritedListenersMax)"]
        let listeners = Supervision(environment: environment, processID: 7).listeners
        #expect(listeners.count == Limits.inheritedListenersMax)
        #expect(listeners.allSatisfy { $0.name == "unknown" })
    }

    @Test func `journald reads what the variable names, and nothing else`() throws {
        var status = stat()
        try #require(fstat(2, &status) == 0)
        var supervision = Supervision()
        #expect(!supervision.journalReads(2))
        supervision.journalStream = "\(status.st_dev):\(status.st_ino)"
        #expect(supervision.journalReads(2))
        supervision.journalStream = "\(status.st_dev):\(status.st_ino + 1)"
        #expect(!supervision.journalReads(2))
    }
}

@Suite struct `the service manager` {
    private let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)

    private func names() -> [String] {
        [TemporaryDirectory().path + ".notify", "@perch-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"]
    }

    @Test func `the service manager is notified by datagrams, at a path and at an abstract name`() throws {
        for name in self.names() {
            let receiver = try NotifyReceiver(name)
            defer { unlink(name) }
            var supervision = Supervision()
            supervision.notifySocket = name
            supervision.watchdogMicroseconds = 20_000_000
            let manager = ServiceManager(supervision, log: self.log)
            #expect(manager.isThere)
            #expect(manager.watchdogInterval == 10_000_000_000)
            manager.ready("serving")
            manager.tell("serving")
            manager.tell("serving: 3 connections")
            manager.ping()
            manager.stopping("stopping")
            #expect(
                receiver.received() == [
                    "READY=1\nSTATUS=serving", "STATUS=serving: 3 connections", "WATCHDOG=1",
                    "STOPPING=1\nSTATUS=stopping",
                ])
            #expect(manager.pings == 1)
        }
    }

    @Test func `the service manager is notified of a reload, with its clock`() throws {
        let receiver = try NotifyReceiver("@perch-test-\(getpid())-\(UInt64.random(in: 0 ... .max))")
        let socket = try #require(NotifySocket(path: receiver.name))
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        socket.sendReloading()
        let lines = try #require(receiver.received().first).split(separator: "\n")
        #expect(lines[0] == "RELOADING=1")
        let microseconds = try #require(Int64(lines[1].dropFirst("MONOTONIC_USEC=".count)))
        #expect(microseconds >= Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
        #expect(microseconds < Int64(time.tv_sec + 60) * 1_000_000)
    }

    @Test func `a service manager that cannot be notified costs nothing`() throws {
        let socket = try #require(NotifySocket(path: "/nowhere/notify"))
        #expect(!socket.send(["READY=1"]))
        #expect(NotifySocket(path: "vsock:2:1234") == nil)
        #expect(NotifySocket(path: "@") == nil)
        let long = try #require(NotifySocket(path: "/" + String(repeating: "a", count: 200)))
        #expect(!long.send(["READY=1"]))
    }

    @Test func `a process without a notification socket has no watchdog`() {
        var supervision = Supervision()
        supervision.watchdogMicroseconds = 20_000_000
        let manager = ServiceManager(supervision, log: self.log)
        #expect(!manager.isThere)
        #expect(manager.watchdogInterval == nil)
        manager.ping()
        #expect(manager.pings == 0)
    }
}

@Suite struct `an inherited listener` {
    @Test func `an inherited listener keeps its address, and each loop gets a descriptor of it`() throws {
        let original = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        let address = Sockets.localAddress(original.number)
        let listener = try InheritedListener(original.number, name: "perch")
        #expect(listener.address == address)
        let copy = try listener.duplicate()
        #expect(copy.number != original.number)
        #expect(Sockets.localAddress(copy.number) == address)
        #expect(fcntl(original.number, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(original.number, F_GETFL) & O_NONBLOCK != 0)
    }

    @Test func `that is no listener of TCP is refused by name`() throws {
        let file = open("/dev/null", O_RDONLY)
        let datagram = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let idle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let local = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        for number in [file, datagram, idle, local, 9_999] {
            #expect(throws: InheritedFault.notAListener(number, name: "x")) {
                try InheritedListener(number, name: "x")
            }
        }
        for number in [file, datagram, idle, local] { close(number) }
    }

    @Test func `an inherited listener takes the place of the one in the settings`() throws {
        let original = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        let http = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        var settings = ServerSettings()
        settings.listen = "192.0.2.1:7447"
        settings.supervision.listeners = [
            .init(number: original.number, name: "perch.socket"), .init(number: http.number, name: "http"),
        ]
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        let listeners = try Listeners(settings, log: log)
        #expect(listeners.isInherited)
        #expect(listeners.isHTTPOn)
        var loops = try listeners.open(loops: 2)
        let first = try loops.next()
        #expect(Sockets.localAddress(first.number) == Sockets.localAddress(original.number))
        let page = try listeners.openHTTP()
        #expect(Sockets.localAddress(page.number) == Sockets.localAddress(http.number))
    }

    @Test func `a second inherited listener of one kind is refused`() throws {
        let one = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        let other = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        var settings = ServerSettings()
        settings.supervision.listeners = [.init(number: one.number, name: "a"), .init(number: other.number, name: "b")]
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        let error = #expect(throws: ServerError.self) { try Listeners(settings, log: log) }
        #expect(error?.description.contains("FileDescriptorName=http") == true)
    }
}

@Suite struct `the listeners of a server` {
    private func refusal(_ change: (inout ServerSettings) -> Void) -> String? {
        var settings = ServerSettings()
        change(&settings)
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        do throws(ServerError) {
            _ = try Listeners(settings, log: log)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a server listens on loopback, unless the operator explicitly allows more`() {
        #expect(self.refusal { $0.http = ServerSettings.standardHTTP } == nil)
        #expect(self.refusal { $0.http = "0.0.0.0:1" }?.contains("--allow-remote-http") == true)
        #expect(self.refusal { $0.http = ":1" }?.contains("--allow-remote-http") == true)
        #expect(
            self.refusal {
                $0.http = "0.0.0.0:1"
                $0.isRemoteHTTPAllowed = true
            } == nil)
        // One permission is not the other.
        #expect(
            self.refusal {
                $0.listen = "0.0.0.0:1"
                $0.isRemoteHTTPAllowed = true
            }?.contains("--allow-plaintext") == true)
        #expect(
            self.refusal {
                $0.http = "0.0.0.0:1"
                $0.isUnauthenticatedAllowed = true
            }?.contains("--allow-remote-http") == true)
    }

    @Test func `a server listens off loopback only with TLS and authentication, or with explicit settings`() {
        func refusal(_ change: (inout ServerSettings) -> Void) -> String? {
            self.refusal { settings in
                settings.listen = "0.0.0.0:1"
                settings.tls.certificatePath = "certificate.pem"
                settings.tls.keyPath = "key.pem"
                settings.tls.mode = .required
                change(&settings)
            }
        }
        func asksClients(_ settings: inout ServerSettings) {
            settings.tls.clientAuthorityPath = "authority.pem"
            settings.tls.clientCertificates = .required
        }
        #expect(refusal { _ in }?.contains("--allow-unauthenticated") == true)
        #expect(refusal { $0.isUnauthenticatedAllowed = true } == nil)
        #expect(refusal { asksClients(&$0) } == nil)
        // The console needs to know who asks, where others can reach it.
        #expect(
            refusal {
                $0.isUnauthenticatedAllowed = true
                $0.console = .on
            }?.contains("--console on") == true)
        #expect(
            refusal {
                asksClients(&$0)
                $0.console = .on
            } == nil)
        #expect(
            refusal {
                asksClients(&$0)
                $0.tls.clientCertificates = .optional
            }?.contains("--allow-unauthenticated") == true)
        #expect(
            refusal {
                asksClients(&$0)
                $0.tls.mode = .allowed
            }?.contains("--allow-plaintext") == true)
        #expect(
            refusal {
                $0.tls = TLSSettings()
                $0.isUnauthenticatedAllowed = true
            }?.contains("--allow-plaintext") == true)
        #expect(
            refusal {
                $0.tls = TLSSettings()
                $0.isUnauthenticatedAllowed = true
                $0.isPlaintextAllowed = true
            } == nil)
    }

    @Test func `the listeners of a server has settings of TLS that belong together`() {
        func refusal(_ change: (inout TLSSettings) -> Void) -> String? {
            self.refusal { change(&$0.tls) }
        }
        #expect(refusal { $0.mode = .required }?.contains("--tls-certificate") == true)
        #expect(refusal { $0.certificatePath = "c" }?.contains("--tls is off") == true)
        #expect(refusal { $0.ticketSecretPath = "t" }?.contains("--tls-ticket-secret needs TLS") == true)
        // The message names --tls off only if the operator gave it; otherwise it names the missing certificate.
        #expect(refusal { $0.certificatePath = "c" }?.contains("leave --tls off out") == true)
        #expect(
            refusal { $0.clientCertificates = .required }?.contains("give --tls-certificate and --tls-key") == true)
        func secure(_ change: @escaping (inout TLSSettings) -> Void) -> String? {
            refusal {
                $0.mode = .allowed
                $0.certificatePath = "c"
                $0.keyPath = "k"
                change(&$0)
            }
        }
        #expect(secure { _ in } == nil)
        #expect(secure { $0.keyPath = nil }?.contains("--tls-key") == true)
        #expect(secure { $0.clientCertificates = .optional }?.contains("--tls-client-ca") == true)
        #expect(secure { $0.clientAuthorityPath = "a" }?.contains("--tls-client-certificates") == true)
    }

    @Test func `the listeners of a server is not one place for two things`() {
        #expect(self.refusal { $0.http = $0.listen }?.contains("give each its own port") == true)
        #expect(self.refusal { $0.http = "127.0.0.1" }?.hasPrefix("--http 127.0.0.1: ") == true)
    }
}
