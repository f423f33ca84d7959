import PerchBase
import PerchIdentity
import PerchTLS
import PerchTesting

/// The bytes of a stranger on a TLS port: arbitrary bytes, or the flights of a real client with some bytes changed.
/// Only a client with a complete handshake is accepted, with the identity of its certificate.
///
/// A first byte of 1, 3, 5 or 7 selects edits of a real client's flights, four bytes each. With any other first byte,
/// the second byte selects how the rest is split. Bit 1: clients are asked for a certificate. Bit 2: a real client
/// begins a new session instead of resuming the last one. So most inputs need only the server, which costs a fifth of a
/// client and a server.
///
/// OpenSSL itself is the system's, without AddressSanitizer except for its calls of the C library. The target checks
/// the layer around it, and that it accepts no stranger.
final class TLSTarget: FuzzTarget {
    static let name = "tls"
    static let reaches = ["PerchTLS", "CPerchTLS"]

    private static let authority = MadeCertificate.authority()
    private static let server = MadeCertificate.server(of: TLSTarget.authority)
    private static let client = MadeCertificate("anna", names: "DNS:anna.example.com", issuer: TLSTarget.authority)

    /// The contexts are made once: a connection costs some microseconds, a context a millisecond.
    private let open: TLSContext
    private let mutual: TLSContext
    private let callers: TLSContext
    private let window = TLSWindow()
    private let clientWindow = TLSWindow()
    private let record = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.tlsRecordBytes, alignment: 16)
    private static let tickets = TicketKeys(secret: [UInt8](repeating: 7, count: 32), wall: Instant(milliseconds: 0))
    /// A real client came through: it is resumed by the next, as most are. One is without a certificate, one with.
    private var openSession: TLSSession?
    private var mutualSession: TLSSession?
    private var inputs = 0
    /// Inputs between two of which an untouched client is served.
    private static let inputsPerWitness = 4_096
    /// Bytes that a server sends before it knows its peer: its certificate, a ticket, an alert.
    private static let answerBytesMax = 16 * 1024
    private static let message = Array("perch/1 in the clear".utf8)

    init() {
        do throws(TLSError) {
            var files = TLSContext.ServerFiles(certificates: Self.server.certificate, key: Self.server.key)
            self.open = try TLSContext(server: files, tickets: Self.tickets)
            files.clientAuthorities = Self.authority.certificate
            self.mutual = try TLSContext(server: files, tickets: Self.tickets)
            var own = TLSContext.ClientFiles()
            own.authorities = Self.authority.certificate
            own.certificates = Self.client.certificate
            own.key = Self.client.key
            self.callers = try TLSContext(client: own)
        } catch {
            fatalError("fuzz: TLS cannot be set up: \(error)")
        }
    }

    deinit { self.record.deallocate() }

    static func seeds() -> [[UInt8]] {
        let target = TLSTarget()
        let hello = target.hello()
        let old = Self.helloOfTLS12()
        let flight = Self.flightOfTLS12()
        return [
            [0, 255] + hello, [2, 16] + hello, [0, 255] + old, [0, 255] + old + flight, [2, 255] + old + flight,
            [0, 255] + hello.prefix(60), [0, 255, 0x15, 3, 1, 0, 2, 1, 0],
            [0, 255] + Array("GET / HTTP/1.1\r\n\r\n".utf8),
            // Untouched, one changed byte in each flight, some put in, some left out, a flight that is cut short.
            [1], [3], [1, 0, 0, 11, 1], [3, 1, 0, 5, 0x80], [1, 2, 0, 9, 3], [3, 9, 0, 5, 2], [3, 12, 0, 90, 0],
            [5], [7], [5, 0, 0, 11, 1], [7, 1, 0, 5, 0x80], [7, 1, 2, 0, 1], [7, 9, 0, 5, 2],
        ]
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        self.inputs += 1
        var isThrough = false
        let context = first & 2 == 0 ? self.open : self.mutual
        if first & 1 != 0, first < 8 {
            isThrough =
                self.converse(
                    with: context, isMutual: first & 2 != 0, resumes: first & 4 == 0, edits: bytes.dropFirst()) == .done
        } else {
            self.listen(to: Array(bytes.dropFirst(2)), pieces: Int(bytes.dropFirst().first ?? 255), context)
        }
        // Earlier connections must leave no state for the next one.
        guard self.inputs % Self.inputsPerWitness == 1 else { return isThrough }
        hold(
            self.converse(with: self.mutual, isMutual: true, resumes: true, edits: []) == .done,
            "another client is not served")
        return isThrough
    }

    /// Plays a stranger who does not have the server's key: no bytes may complete the handshake.
    private func listen(to bytes: [UInt8], pieces: Int, _ context: TLSContext) {
        let connection = self.accept(context)
        defer { connection.free() }
        let size = pieces == 255 ? max(1, bytes.count) : max(1 + pieces, bytes.count / 8)
        var at = 0
        var answered = 0
        bytes.withUnsafeBytes { input in
            while at < input.count {
                let end = min(input.count, at + size)
                self.window.take(UnsafeRawBufferPointer(rebasing: input[at..<end]))
                at = end
                let step = self.window.handshake(connection)
                answered += self.window.output.count
                self.window.clearOutput()
                hold(answered <= Self.answerBytesMax, "\(answered) bytes were said to a stranger")
                switch step {
                case .wantsInput: continue
                case .done: hold(false, "a stranger came through the handshake")
                case .failed(let error): self.check(error)
                }
                // A connection that failed stays so.
                if case .bytes = self.window.read(connection, into: self.record) {
                    hold(false, "something was read behind a failed handshake")
                }
                self.window.clearOutput()
                break
            }
        }
    }

    private func check(_ error: TLSError) {
        hold(!error.description.isEmpty && error.description.utf8.allSatisfy { $0 >= 0x20 }, "a failure says nothing")
        hold(error.fault != .file && error.fault != .memory, "a stranger's bytes are \(error.fault)")
    }

    private func accept(_ context: TLSContext) -> TLSConnection {
        do throws(TLSError) {
            self.window.clearOutput()
            return try self.window.accept(context)
        } catch {
            fatalError("fuzz: no connection can be made: \(error)")
        }
    }

    // MARK: A real client

    private enum Outcome { case done, failed }

    /// A client that makes a handshake and says something, with what it sends changed on its way.
    @discardableResult
    private func converse(
        with context: TLSContext, isMutual: Bool, resumes: Bool, edits: ArraySlice<UInt8>
    ) -> Outcome {
        let server = self.accept(context)
        defer { server.free() }
        var client: TLSClientSide
        let session = isMutual ? self.mutualSession : self.openSession
        do throws(TLSError) {
            client = try TLSClientSide(
                self.clientWindow, self.callers, to: TLSServerName("localhost"), session: resumes ? session : nil)
        } catch {
            fatalError("fuzz: a client cannot begin: \(error)")
        }
        defer { client.free() }
        var edits = FlightEdits(edits)
        var isThrough = false
        var read: [UInt8] = []
        // A handshake has three flights of a client at most, and one more brings the message.
        for _ in 0..<5 {
            let flight = edits.edit(client.output)
            client.output.removeAll(keepingCapacity: true)
            guard self.take(flight, server, &isThrough, &read) else { break }
            let answer = Array(self.window.output)
            self.window.clearOutput()
            var hasEnded = false
            if !answer.isEmpty {
                let event = answer.withUnsafeBytes { client.received($0, established: {}, taken: { _ in }) }
                hasEnded = event != .continues
            }
            if hasEnded || (isThrough && !read.isEmpty) { break }
            if client.isEstablished { _ = Self.message.withUnsafeBytes { client.seal($0) } }
            if client.output.isEmpty { break }
        }
        if isThrough {
            // An accepted client has its certificate's identity; a changed flight must be refused.
            let names = server.peer?.names
            hold(!isMutual || names == ["anna.example.com"], "\(names ?? []) came through for anna")
        }
        hold(Self.isMessages(read), "\(read.count) bytes were read that the client has not said")
        if edits.isEmpty {
            hold(isThrough && !read.isEmpty, "an untouched client is not served")
            if let session = client.takeSession() {
                if isMutual { self.mutualSession = session } else { self.openSession = session }
            }
        }
        return isThrough ? .done : .failed
    }

    /// Gives the server a flight; false if the connection is over.
    private func take(
        _ flight: [UInt8], _ server: TLSConnection, _ isThrough: inout Bool, _ read: inout [UInt8]
    ) -> Bool {
        flight.withUnsafeBytes { input in
            self.window.take(input)
            if !isThrough {
                switch self.window.handshake(server) {
                case .done: isThrough = true
                case .wantsInput: return true
                case .failed(let error):
                    self.check(error)
                    return false
                }
            }
            while true {
                switch self.window.read(server, into: self.record) {
                case .bytes(let count): read += self.record[..<count]
                case .wantsInput: return true
                case .closed: return false
                case .failed(let error):
                    self.check(error)
                    return false
                }
            }
        }
    }

    /// Whether the bytes are the client's message, once or several times, each complete.
    private static func isMessages(_ bytes: [UInt8]) -> Bool {
        bytes.count % Self.message.count == 0
            && bytes.indices.allSatisfy { bytes[$0] == Self.message[$0 % Self.message.count] }
    }

    private func hello() -> [UInt8] {
        do throws(TLSError) {
            let client = try TLSClientSide(self.clientWindow, self.callers, to: TLSServerName("localhost"))
            defer { client.free() }
            return client.output
        } catch {
            fatalError("fuzz: a client cannot begin: \(error)")
        }
    }
}

/// The edits of a client's flights: which flight and how, where, and with which value.
///
///     flight + 4 × kind   place (two bytes)   value
///
/// Kinds: 0 mixes a byte with the value, 1 inserts that number of bytes, 2 removes that number, 3 ends the flight
/// there.
private struct FlightEdits {
    private let edits: [UInt8]
    private var flight: UInt8 = 0

    init(_ edits: ArraySlice<UInt8>) { self.edits = Array(edits.prefix(8 * 4)) }

    var isEmpty: Bool { self.edits.count < 4 }

    mutating func edit(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for edit in stride(from: 0, to: self.edits.count - 3, by: 4) where self.edits[edit] % 4 == self.flight {
            guard !bytes.isEmpty else { break }
            let place = (Int(self.edits[edit + 1]) << 8 | Int(self.edits[edit + 2])) % bytes.count
            let value = self.edits[edit + 3]
            switch self.edits[edit] / 4 % 4 {
            case 0: bytes[place] ^= value
            case 1: bytes.insert(contentsOf: [UInt8](repeating: value, count: Int(value)), at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(value)))
            default: bytes.removeSubrange(place...)
            }
        }
        self.flight += 1
        return bytes
    }
}

// MARK: By hand

// A client of TLS 1.2, whose second flight is in the clear: so a stranger's certificate and key are looked at. The client
// of ours would speak TLS 1.3.
extension TLSTarget {
    private static func long(_ bytes: [UInt8], digits: Int) -> [UInt8] {
        (0..<digits).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * (digits - 1 - $0))) } + bytes
    }

    private static func record(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [kind, 3, 3] + Self.long(bytes, digits: 2)
    }

    private static func handshake(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        Self.record(22, [kind] + Self.long(bytes, digits: 3))
    }

    private static func helloOfTLS12() -> [UInt8] {
        func numbers(_ numbers: [UInt16]) -> [UInt8] { numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }
        func extension_(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] { [0, number] + Self.long(bytes, digits: 2) }
        let extensions =
            extension_(0, Self.long([0] + Self.long(Array("localhost".utf8), digits: 2), digits: 2))
            + extension_(10, Self.long(numbers([0x17, 0x1D]), digits: 2)) + extension_(11, [1, 0])
            + extension_(13, Self.long(numbers([0x0403, 0x0804, 0x0401]), digits: 2))
            + extension_(16, Self.long(Self.long(Array("perch/1".utf8), digits: 1), digits: 2)) + extension_(35, [])
        return Self.handshake(
            1,
            [3, 3] + (0..<32).map { UInt8($0) } + [0] + Self.long(numbers([0xC02B, 0xC02C, 0xCCA9]), digits: 2) + [
                1, 0,
            ]
                + Self.long(extensions, digits: 2))
    }

    /// Certificate, a key (the generator of P-256 itself), ChangeCipherSpec, and something for Finished.
    private static func flightOfTLS12() -> [UInt8] {
        let lines = String(decoding: Self.client.certificate, as: UTF8.self).split(separator: "\n")
        let text = lines.filter { !$0.hasPrefix("-") }.joined().compactMap { letter -> UInt8? in
            switch letter {
            case "+": UInt8(ascii: "-")
            case "/": UInt8(ascii: "_")
            case "=": nil
            default: letter.asciiValue
            }
        }
        let certificate = Base64URL.decode(text) ?? []
        let generator: [UInt8] = [
            0x04, 0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2, 0x77,
            0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96, 0x4F, 0xE3, 0x42,
            0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16, 0x2B, 0xCE, 0x33, 0x57, 0x6B,
            0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
        ]
        return Self.handshake(11, Self.long(Self.long(certificate, digits: 3), digits: 3))
            + Self.handshake(16, Self.long(generator, digits: 1)) + Self.record(20, [1])
            + Self.record(22, [UInt8](repeating: 0x3C, count: 40))
    }
}
